"""The `assay` command: what must be done before anything large is imported, and how the process ends."""

import atexit
import gc
import os
import sys
from io import TextIOWrapper

from assay.cli.verbs import VERBS
from assay.exit_codes import ended

#: Verbs without large matrix products: for them BLAS need not start its threads, a tenth of what a short command takes.
_WITHOUT_BLAS = frozenset({"summarize", "compare", "certify", "verify", "context", "convert", "formats"})

#: Objects made before Python looks for cycles among them: importing makes many, and leaves nothing to be found.
_SELDOM = (100_000, 20, 20)


def main() -> None:
    """Run the command; what Assay refuses becomes one line on stderr and its exit code."""
    for stream in (sys.stdout, sys.stderr):  # a terminal that has no × or − shows ? instead of a traceback
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")
    gc.set_threshold(*_SELDOM)
    atexit.unregister(_leave)
    atexit.register(_leave)
    asked = sys.argv[1:2]
    if _WITHOUT_BLAS.issuperset(asked):
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # read when numpy is imported
    sys.exit(ended(lambda: _called(asked)))


def _leave() -> None:
    """Let the process end without a search for cycles, a sixth of a short command; DuckDB would report objects left."""
    if "duckdb" not in sys.modules:
        gc.freeze()


def _called(asked: list[str]) -> int | None:
    import numpy as np  # noqa: F401 - before typer: numpy's types take longer to make once typing_extensions is there

    from assay.cli.command_line import called

    return called(asked if asked and asked[0] in VERBS else VERBS)
