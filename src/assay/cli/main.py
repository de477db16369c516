"""The `assay` command: one verb per module, one place where errors become exit codes."""

import gc
import os
import sys
import warnings
from collections.abc import Iterable
from importlib import import_module
from io import TextIOWrapper
from typing import Annotated, Any, TextIO

import typer

from assay.cli.arguments import as_options
from assay.cli.plain_flags import PlainFlags, PlainGroup
from assay.cli.progress import printed, shown
from assay.errors import AssayError, AssayWarning, UsageError
from assay.exit_codes import ended
from assay.files.stores.doors import stores_open
from assay.names import visible
from assay.progress import working
from assay.version import VERSION

#: Every verb and the module of the function of that name, in the order of the help.
VERBS = {
    "summarize": "assay.cli.summarize",
    "compare": "assay.cli.compare",
    "certify": "assay.cli.certify",
    "gate": "assay.cli.gate",
    "verify": "assay.cli.verify",
    "score": "assay.cli.score",
    "generate": "assay.cli.generate",
    "context": "assay.cli.context",
    "japanese": "assay.cli.japanese",
    "tune": "assay.cli.tune",
    "rank": "assay.cli.rank",
    "survey": "assay.cli.survey",
    "reliability": "assay.cli.reliability",
    "power": "assay.cli.power",
    "watch": "assay.cli.watch",
    "calibrate": "assay.cli.calibrate",
    "keygen": "assay.cli.verify",
    "schema": "assay.cli.verify",
    "report": "assay.cli.report",
    "convert": "assay.cli.convert",
    "formats": "assay.cli.formats",
    "demo": "assay.cli.demo",
    "doctor": "assay.cli.doctor",
}

#: Verbs without large matrix products: for them BLAS need not start its threads, a tenth of what a short command takes.
_WITHOUT_BLAS = frozenset({"summarize", "compare", "certify", "verify", "context", "convert", "formats"})

#: Objects made before Python looks for cycles among them: importing makes many, and leaves nothing to be found.
_SELDOM = (100_000, 20, 20)

#: Verbs that load a model, which takes a while: on a terminal they say within a second that they have begun.
_LOADS_MODELS = frozenset({"score", "generate", "japanese", "gate", "tune"})


def command_line(verbs: Iterable[str] = VERBS) -> typer.Typer:
    """The command with these verbs: reading the options of one verb need not wait for all."""
    app = typer.Typer(
        name="assay",
        help="Model B scores better than model A. Is that real? "
        "An interval, a test and a verdict in one honest sentence.",
        epilog="Exit codes: 0 done, gate passed · 1 gate failed · 2 usage · 3 input refused · 4 verification failed · "
        "70 a fault in Assay itself · 74 the disk or a pipe failed · 130, 143 interrupted.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        cls=PlainGroup,
    )
    app.callback()(_options)
    for verb in verbs:
        found = getattr(import_module(VERBS[verb]), verb)
        if isinstance(found, typer.Typer):  # a verb with verbs of its own
            app.add_typer(found, name=verb)
        else:
            app.command(verb, cls=PlainFlags)(found)
    return app


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"assay {VERSION}")
        raise typer.Exit


def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


#: What typer raises for an option that does not exist or cannot be read: click's class, or its own copy of it.
_Misuse: type[Exception] = typer.BadParameter.__mro__[1]


def main() -> None:
    """Run the command; what Assay refuses becomes one line on stderr and its exit code."""
    for stream in (sys.stdout, sys.stderr):  # a terminal that has no × or − shows ? instead of a traceback
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")
    gc.set_threshold(*_SELDOM)
    asked = sys.argv[1:2]
    if _WITHOUT_BLAS.issuperset(asked):
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # read when numpy is imported
    sys.exit(ended(lambda: _called(asked if asked and asked[0] in VERBS else VERBS)))


def _called(verbs: Iterable[str]) -> int | None:
    with warnings.catch_warnings():
        warnings.simplefilter("always", AssayWarning)
        warnings.showwarning = _warned
        return _run(verbs)


def _warned(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """One line on stderr for what the library warns of; others warn as Python does."""
    ours = issubclass(category, AssayWarning)
    text = (
        f"assay: {as_options(str(message))}\n"
        if ours
        else warnings.formatwarning(message, category, filename, lineno, line)
    )
    if file is None:
        printed(visible(text), err=True, nl=False)
    else:
        file.write(visible(text))


def _run(verbs: Iterable[str]) -> int | None:
    name = "assay" if isinstance(verbs, dict) else " ".join(verbs)
    try:
        with stores_open(for_good=True), shown(at_once=name in _LOADS_MODELS), working(name):
            code: int | None = command_line(verbs)(standalone_mode=False)
    except _Misuse as error:
        raise UsageError(_misuse(error)) from error
    except AssayError as error:
        error.args = (as_options(str(error)),)
        raise
    except typer.Abort as error:
        raise KeyboardInterrupt from error
    except SystemExit as end:  # typer ends a command with 1, a verdict, where nobody reads the output any more
        if isinstance(end.__context__, OSError):
            raise end.__context__ from None
        raise
    return code


def _misuse(error: Any) -> str:
    """One line of what typer says in several; nothing where it has printed the help."""
    said = " ".join(error.format_message().split()).removesuffix(".")
    command = error.ctx.command_path if error.ctx else "assay"
    return f"{said}. See {command} --help." if said else ""
