"""Every error that Assay raises on purpose.

    AssayError                 exit code
    ├── UsageError             2    an option or argument that makes no sense
    └── InputError             3    data that is refused: unreadable, unpaired, too few

A message is one line: what is wrong, where (file, row, column), and what to do next.
"""


class AssayError(Exception):
    """The base: `except AssayError` catches whatever Assay refuses."""

    exit_code = 1


class UsageError(AssayError, ValueError):
    """An option or argument is wrong, whatever the data."""

    exit_code = 2


class InputError(AssayError):
    """The data is refused: nothing was computed and nothing was written."""

    exit_code = 3
