"""Every error that Assay raises on purpose.

    AssayError                 exit code
    ├── UsageError             2    an option or argument that makes no sense
    ├── InputError             3    data that is refused: unreadable, unpaired, too few
    │   └── NoPairsError       3    no unit is in both tables
    ├── WriteError             74   the disk or a pipe failed while something was written
    ├── EngineError            74   workers or their cluster failed, again and again
    └── StoreError             74   an object store failed, or went away

A message is one line: what is wrong, where (file, row, column), and what to do next. Exit code 1 is a gate that failed:
no error has it. Anything outside this tree is an internal error, exit code 70 (`assay.exit_codes`).
"""

import errno

#: What a disk says that is full, over its quota or broken; any other failure to write is about the path.
_ROOM, _MB = "make room,", 1e6
_DISK = frozenset({errno.ENOSPC, errno.EIO, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC)})


class AssayError(Exception):
    """The base: `except AssayError` catches whatever Assay refuses."""

    exit_code = 70


class UsageError(AssayError, ValueError):
    """An option or argument is wrong, whatever the data."""

    exit_code = 2


class InputError(AssayError):
    """The data is refused: nothing was computed and nothing was written."""

    exit_code = 3


class NoPairsError(InputError):
    """No unit is in every table: nothing can be compared, and nothing was."""


class WriteError(AssayError):
    """The disk is full or failed, or nobody reads the output any more: what was there before is untouched."""

    exit_code = 74

    def needing(self, size: float) -> "WriteError":
        """The same with about how many bytes a full disk needs, unless it says so already; a broken one as it is."""
        cause = self.__cause__
        if not isinstance(cause, OSError) or cause.errno == errno.EIO:
            return self
        return type(self)(str(self).replace(_ROOM, f"make room for {max(size / _MB, 0.1):,.1f} MB,", 1))


class EngineError(AssayError):
    """Workers or their cluster failed: what was finished is kept, and the same command goes on."""

    exit_code = 74


class StoreError(AssayError):
    """An object store failed: what is committed there is whole, and the same command starts again or goes on."""

    exit_code = 74


class AssayWarning(UserWarning):
    """Something that was asked for and has no effect, or another than one may expect; the command line prints it."""


def cannot_write(place: object, error: OSError, then: str, *, how: str = "written") -> AssayError:
    """The error for a file that cannot be written: about the disk, or about the path, with what to do ``then``."""
    if error.errno in _DISK:
        return WriteError(f"{place}: cannot be {how} ({error.strerror}); {_ROOM} then run the same command again.")
    return InputError(f"{place}: cannot be {how} ({error.strerror}); {then}.")
