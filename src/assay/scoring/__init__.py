"""From a model and text to losses."""
