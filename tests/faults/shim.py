"""A process whose k-th file operation is its last, or fails as on a full disk.

Operations are counted inside one folder only. Python tells of every open, rename, removal and new folder (audit
events); writes, and functions whose writing Python does not see (DuckDB, safetensors, torch), are wrapped. A write is
two operations, one before each half of it, so that half a file is among the states that a kill leaves.
"""

import builtins
import errno
import io
import os
import signal
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, Literal

Kind = Literal["count", "kill", "terminate", "full"]

_WRITING = os.O_WRONLY | os.O_RDWR
_OF_OPEN = ("buffering", "encoding", "errors", "newline", "closefd", "opener")
_FULL = "No space left on device"
#: Audit events of one path and the folder it is relative to; of two paths, the second is what appears.
_ONE = {"os.remove": (0, 1), "os.rmdir": (0, 1), "os.mkdir": (0, 2), "os.chmod": (0, 2), "os.truncate": (0, None)}
_TWO = {"os.rename": (1, 3), "os.link": (1, 3), "os.symlink": (1, 2)}


class Shim:
    """Counts the operations inside ``root``, and acts at number ``at``: of all, or of those that need room."""

    def __init__(self, root: Path, kind: Kind, at: int) -> None:
        self.root, self.kind, self.at = os.path.realpath(root), kind, at
        self.count = self.needing_room = 0
        self.busy = False

    def operation(self, path: str, *, needs_room: bool, tear: str | None = None) -> None:
        """Another operation; ``tear`` is a file of which only half shall be there if this is the one."""
        if self.busy or not self._inside(path):
            return
        self.count += 1
        self.needing_room += needs_room
        if self.kind == "full" and needs_room and self.needing_room >= self.at:
            self._tear(tear)
            raise OSError(errno.ENOSPC, _FULL, path)
        if self.kind in ("kill", "terminate") and self.count == self.at:
            self._tear(tear)
            os.kill(os.getpid(), signal.SIGKILL if self.kind == "kill" else signal.SIGTERM)

    def _tear(self, path: str | None) -> None:
        if path is not None and Path(path).is_file():
            self.busy = True
            os.truncate(path, Path(path).stat().st_size // 2)
            self.busy = False

    def _inside(self, path: str) -> bool:
        return os.path.realpath(path).startswith(self.root + os.sep)

    def audit(self, event: str, values: tuple[Any, ...]) -> None:
        """A hook for `sys.addaudithook`."""
        if event == "open":
            path, _, flags = values
            if isinstance(path, str | bytes | os.PathLike) and flags & _WRITING:
                self.operation(_place(path, None), needs_room=bool(flags & os.O_CREAT))
        elif event in _ONE or event in _TWO:
            path, folder = (_ONE if event in _ONE else _TWO)[event]
            place = _place(values[path], None if folder is None else values[folder])
            self.operation(place, needs_room=event in ("os.mkdir", "os.link", "os.symlink"))

    def install(self) -> None:
        """Watch this process from now on; there is no way back, so it should be a fork."""
        plain_write, plain_sync = os.write, os.fsync

        def watched_write(handle: int, data: Any, /) -> int:
            self.operation(_of_handle(handle), needs_room=True)
            return plain_write(handle, data)

        def watched_sync(handle: Any, /) -> None:
            self.operation(_of_handle(handle if isinstance(handle, int) else handle.fileno()), needs_room=False)
            plain_sync(handle)

        def no_shortcut(*_: Any) -> int:
            raise OSError(errno.ENOTSOCK, "copied in Python, where it is seen")

        opened = self._watched_open()
        for module, name, other in (
            *((module, "open", opened) for module in (io, builtins)),
            *((os, "write", watched_write), (os, "fsync", watched_sync), (os, "sendfile", no_shortcut)),
        ):
            setattr(module, name, other)
        for function, place, failure in unseen():
            other = self._watched(function, place, failure)
            for module, name in homes(function):
                setattr(module, name, other)
        sys.addaudithook(self.audit)

    def _watched_open(self) -> Callable[..., Any]:
        shim, plain_open = self, io.open

        class Watched(io.FileIO):
            def write(self, data: Any, /) -> int:
                content, path = memoryview(data).cast("B"), _of_handle(self.fileno())
                half = len(content) // 2
                shim.operation(path, needs_room=True)
                done = super().write(content[:half])
                shim.operation(path, needs_room=True)
                return done + super().write(content[half:])

        def watched_open(file: Any, mode: str = "r", *values: Any, **named: Any) -> Any:
            if not set(mode) & set("wax+"):
                return plain_open(file, mode, *values, **named)
            taken = dict(zip(_OF_OPEN, values, strict=False)) | named
            buffering, closefd = taken.pop("buffering", -1), taken.pop("closefd", True)
            raw = Watched(file, mode.replace("b", "").replace("t", ""), closefd, taken.pop("opener", None))
            if buffering == 0:
                return raw
            buffered: Any = io.BufferedRandom(raw) if "+" in mode else io.BufferedWriter(raw)
            if "b" in mode:
                return buffered
            return io.TextIOWrapper(buffered, **taken, line_buffering=buffering == 1)

        return watched_open

    def _watched(
        self, function: Callable[..., Any], place: Callable[..., Any], failure: Callable[[OSError], Exception]
    ) -> Callable[..., Any]:
        def watched(*values: Any, **named: Any) -> Any:
            path = place(*values, **named)
            if not isinstance(path, str | os.PathLike):
                return function(*values, **named)
            target = os.fspath(path)
            self.operation(target, needs_room=False)
            found = function(*values, **named)
            try:
                self.operation(target, needs_room=True, tear=target)
            except OSError as error:
                raise failure(error) from error
            return found

        return watched


def _place(path: Any, folder: Any) -> str:
    name = os.fsdecode(path)
    return str(Path(_of_handle(folder), name)) if isinstance(folder, int) and folder >= 0 else name


def _of_handle(handle: int) -> str:
    try:
        return str(Path(f"/proc/self/fd/{handle}").readlink())
    except OSError:
        return ""


@cache
def unseen() -> list[tuple[Callable[..., Any], Callable[..., Any], Callable[[OSError], Exception]]]:
    """Functions that write without Python's knowing, where they write, and what they raise on a full disk."""
    import assay.data.readers.database

    found: list[Any] = [(assay.data.readers.database.copy_columns, lambda _, part: part, lambda error: error)]
    if "safetensors.torch" in sys.modules:
        import safetensors
        import safetensors.torch
        import torch

        text = f"Error while serializing: I/O error: {_FULL} (os error 28)"
        where = lambda *values, **named: named.get("filename") or values[1]  # noqa: E731
        found.append((safetensors.torch.save_file, where, lambda _: safetensors.SafetensorError(text)))
        text_torch = "[enforce fail at inline_container.cc:672] . unexpected pos 576 vs 534"
        where = lambda *values, **named: named.get("f") or values[1]  # noqa: E731
        found.append((torch.save, where, lambda _: RuntimeError(text_torch)))
    return found


@cache
def homes(function: Callable[..., Any]) -> list[tuple[Any, str]]:
    """Modules that know a function, and as what; slow, so it is asked once, before the first fork."""
    known = [(module, getattr(module, "__dict__", {})) for module in list(sys.modules.values())]
    return [(module, name) for module, names in known for name, value in list(names.items()) if value is function]
