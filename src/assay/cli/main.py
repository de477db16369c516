"""The `assay` command: one verb per module, one place where errors become exit codes."""

import sys
from typing import Annotated

import typer

from assay.cli.certify import certify
from assay.cli.compare import compare
from assay.cli.verify import keygen, schema, verify
from assay.errors import AssayError
from assay.version import VERSION

app = typer.Typer(
    name="assay",
    help="Model B scores better than model A. Is that real? An interval, a test and a verdict in one honest sentence.",
    epilog="Exit codes: 0 done, gate passed · 1 gate failed · 2 usage · 3 input refused · 4 verification failed.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
for verb in (compare, certify, verify, keygen, schema):
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


def main() -> None:
    """Run the command; what Assay refuses becomes one line on stderr and its exit code."""
    try:
        app()
    except AssayError as error:
        typer.echo(f"assay: {error}", err=True)
        sys.exit(error.exit_code)
