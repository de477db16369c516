"""Gates: a certificate of facts, the evidence it was computed from, and how anyone checks both."""
