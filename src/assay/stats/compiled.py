"""Whether compiled loops run: where numba is installed (the extra ``fast``) and there is enough to do for them.

Every compiled loop has a twin in numpy that gives the same bits (limits of exact intervals: the same to 1e-8 standard
errors), so that nothing but the time depends on it.
Loops are compiled once on a machine and kept by numba. What numpy does in less than some seconds never compiles them.
"""

import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from assay.errors import AssayWarning
from assay.progress import working

Backend = Literal["auto", "numpy", "compiled"]
#: Times the work from which on compiled loops are loaded: from here on numpy takes seconds, not their parts, so that
#: loops are worth compiling, or a word where they cannot be.
_SECONDS = 20


def numba_installed() -> bool:
    return find_spec("numba") is not None


def compiles(backend: Backend, work: float, above: float, loop: str) -> bool:
    """Whether compiled loops do this much work.

    A ``loop`` (module.function) that is kept is loaded for ``above`` so much; one that is not, for a multiple of it.
    """
    if backend != "auto" or work <= above:
        return backend == "compiled"
    if numba_installed():
        return work > _SECONDS * above or kept(loop)
    if work > _SECONDS * above:
        _say_once()
    return False


def compiling(loop: str) -> AbstractContextManager[Any]:
    """While a loop runs: say that it is compiled first, where that is so."""
    return nullcontext() if kept(loop) else working("compiling loops, once on this machine")


def kept(loop: str) -> bool:
    """Whether numba need not compile this loop any more: it has, here or in another process."""
    module, _, name = loop.rpartition(".")
    if module in sys.modules and len(getattr(sys.modules[module], name).signatures):
        return True
    found = find_spec(module)
    if found is None or found.origin is None:
        return False
    source = Path(found.origin)
    return any(file.stat().st_mtime >= source.stat().st_mtime for file in _files(source, name))


def _files(source: Path, name: str) -> Iterator[Path]:
    """Where numba keeps what it compiled: where it is told to, beside the code, or in a folder of the user's."""
    told = os.environ.get("NUMBA_CACHE_DIR")
    pattern = f"{source.stem}.{name}-*.nbi"
    if told:
        yield from Path(told).glob(f"{source.parent.name}_*/{pattern}")
        return
    yield from (source.parent / "__pycache__").glob(pattern)
    yield from (Path.home() / ".cache" / "numba").glob(f"{source.parent.name}_*/{pattern}")


@lru_cache(maxsize=1)
def _say_once() -> None:
    warnings.warn(
        "numba is not installed, so that this takes several times as long; the numbers are the same. "
        "pip install 'assay-eval[fast]' brings it.",
        AssayWarning,
        stacklevel=2,
    )
