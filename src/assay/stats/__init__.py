"""Pure: arrays in, records out. numpy, scipy, numba where it is installed; of ours only errors and progress."""
