"""How a command ends: one line on stderr and an exit code, whatever happens.

0, 1, 4   what the verb says: done, gate failed, verification failed
2, 3, 74  what it refuses (`assay.errors`)
70        an internal error: the traceback is in a file, never on the screen
130, 143  interrupted, terminated; temporary files are gone
"""

import errno
import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import TextIO

from assay.errors import AssayError, InputError, WriteError, cannot_write
from assay.names import masked, one_line, shown
from assay.signals import NAMES, raised
from assay.version import VERSION

FAULT = 70
_PIPES = (errno.EPIPE, errno.ESHUTDOWN)


def ended(run: Callable[[], int | None]) -> int:
    """Run a command and give its exit code; what it refuses, and what goes wrong, is one line on stderr."""
    with raised() as signals:
        try:
            code = run() or 0
            _flush(sys.stdout)
        except SystemExit:
            raise
        except BaseException as error:  # noqa: BLE001 - here every fault gets its exit code, a panic in Rust as well
            code = _stopped(signals[0]) if signals else _code_of(error)
    return code


def _code_of(error: BaseException) -> int:
    if isinstance(error, AssayError):
        return _said(str(error), error.exit_code)
    if isinstance(error, KeyboardInterrupt):
        return _stopped(signal.SIGINT)
    if isinstance(error, OSError) and (known := _of_the_system(error)) is not None:
        return _said(str(known), known.exit_code)
    return _said(_fault(error), FAULT)


def _of_the_system(error: OSError) -> AssayError | None:
    """The error for a file or stream that failed unexpectedly; a closed pipe is not reported."""
    if error.errno in _PIPES:
        return WriteError("")
    if error.filename is None:
        known = cannot_write("standard output", error, "")
        return known if isinstance(known, WriteError) else None
    known = cannot_write(one_line(str(error.filename)), error, "")
    if isinstance(known, WriteError):
        return known
    return InputError(f"{_short(str(error.filename))}: cannot be used ({error.strerror}); check the path.")


def _short(name: str) -> str:
    return one_line(name) if len(name) <= 255 else shown(name)


def _stopped(number: int) -> int:
    return _said(f"{NAMES[signal.Signals(number)]}; the same command starts again or goes on.", 128 + number)


def _said(message: str, code: int) -> int:
    """Print one line on stderr, if there is one; the exit code."""
    with suppress(OSError):
        _flush(sys.stdout)
    if message and sys.stderr is not None:
        with suppress(OSError, ValueError):
            sys.stderr.write(f"assay: {one_line(message)}\n")
            sys.stderr.flush()
    return code


def _flush(stream: TextIO | None) -> None:
    """Flush a stream; what cannot be written is dropped, or Python would try again at exit."""
    if stream is None or stream.closed:
        return
    try:
        stream.flush()
    except OSError:
        with suppress(OSError, ValueError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, stream.fileno())
            os.close(nowhere)
        raise


def _fault(error: BaseException) -> str:
    """An internal error in one line, with its traceback in a file."""
    import platform
    import traceback
    from tempfile import NamedTemporaryFile

    what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    what = what.splitlines()[0][:200]
    try:
        with NamedTemporaryFile(
            "w", prefix="assay-fault-", suffix=".txt", delete=False, encoding="utf-8", errors="backslashreplace"
        ) as file:
            file.write(f"assay {VERSION}, Python {platform.python_version()}, {platform.platform()}\n")
            file.write(masked(f"{sys.argv!r}\n\n"))
            file.write(masked("".join(traceback.format_exception(error))))
    except OSError as failed:
        return f"a fault in Assay itself ({what}); no file for the traceback could be written ({failed.strerror})."
    return (
        f"a fault in Assay itself ({what}); the traceback is in {file.name}: "
        "please open an issue on the project's page and attach it."
    )
