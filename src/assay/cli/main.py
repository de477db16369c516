"""The `assay` command: one verb per module, one place where errors become exit codes."""

import sys
from io import TextIOWrapper
from typing import Annotated, Any

import typer

from assay.cli.certify import certify
from assay.cli.compare import compare
from assay.cli.context import context
from assay.cli.score import score
from assay.cli.verify import keygen, schema, verify
from assay.errors import AssayError, UsageError
from assay.version import VERSION

app = typer.Typer(
    name="assay",
    help="Model B scores better than model A. Is that real? An interval, a test and a verdict in one honest sentence.",
    epilog="Exit codes: 0 done, gate passed · 1 gate failed · 2 usage · 3 input refused · 4 verification failed.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
for verb in (compare, certify, verify, score, context, keygen, schema):
    app.command()(verb)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"assay {VERSION}")
        raise typer.Exit


@app.callback()
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
    try:
        sys.exit(app(standalone_mode=False))
    except AssayError as error:
        _refuse(str(error), error.exit_code)
    except _Misuse as error:
        _refuse(_misuse(error), UsageError.exit_code)
    except typer.Abort:
        _refuse("interrupted; nothing was printed.", 130)


def _misuse(error: Any) -> str:
    """One line of what typer says in several; nothing where it has printed the help."""
    said = " ".join(error.format_message().split()).removesuffix(".")
    command = error.ctx.command_path if error.ctx else "assay"
    return f"{said}. See {command} --help." if said else ""


def _refuse(message: str, exit_code: int) -> None:
    if message:
        typer.echo(f"assay: {message}", err=True)
    sys.exit(exit_code)
