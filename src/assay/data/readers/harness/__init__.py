"""Files that evaluation harnesses write: one module per harness, recognised by what they hold."""
