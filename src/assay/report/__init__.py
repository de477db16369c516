"""Results as pages: no statistic is computed here."""
