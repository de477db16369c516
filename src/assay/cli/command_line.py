"""The command line as typer builds it, and how it is run."""

import warnings
from collections.abc import Iterable
from importlib import import_module
from typing import Annotated, Any, TextIO

import typer

from assay.cli.arguments import as_options
from assay.cli.plain_flags import PlainFlags, PlainGroup
from assay.cli.progress import printed, shown
from assay.cli.verbs import VERBS
from assay.errors import AssayError, AssayWarning, UsageError
from assay.files.stores.doors import stores_open
from assay.names import visible
from assay.progress import working
from assay.version import VERSION

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


def called(verbs: Iterable[str]) -> int | None:
    """Run `sys.argv` with these verbs; the exit code."""
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
