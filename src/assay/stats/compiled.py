"""Whether compiled loops run: where numba is installed (the extra ``fast``) and there is enough to do for them.

Every compiled loop has a twin in numpy that gives the same bits, so that nothing but the time depends on it.
"""

import warnings
from functools import lru_cache
from importlib.util import find_spec
from typing import Literal

from assay.errors import AssayWarning

Backend = Literal["auto", "numpy", "compiled"]
_WORTH_SAYING = 20  # times the work from which on loops are compiled: from here on it is seconds, not their parts


def numba_installed() -> bool:
    return find_spec("numba") is not None


def compiles(backend: Backend, work: float, above: float) -> bool:
    """Whether compiled loops do this much work, which is worth loading them for ``above`` so much."""
    if backend != "auto" or work <= above:
        return backend == "compiled"
    if numba_installed():
        return True
    if work > _WORTH_SAYING * above:
        _say_once()
    return False


@lru_cache(maxsize=1)
def _say_once() -> None:
    warnings.warn(
        "numba is not installed, so that this takes several times as long; the numbers are the same. "
        "pip install 'assay-eval[fast]' brings it.",
        AssayWarning,
        stacklevel=2,
    )
