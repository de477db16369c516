"""Results as parts of a document, a module for each kind."""
