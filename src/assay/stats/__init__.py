"""Pure: arrays in, records out. numpy, scipy and numba, and nothing of ours but errors and how far work has come."""
