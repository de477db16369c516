"""Groups of options: what the command line sees of a verb, and what the verb gets."""

from dataclasses import dataclass
from typing import Annotated

import typer
from typer.testing import CliRunner

from assay.cli.option_groups import with_groups


@dataclass(frozen=True, slots=True)
class Size:
    wide: Annotated[int, typer.Option()] = 3
    tall: Annotated[int, typer.Option()] = 4


@with_groups
def area(name: str, size: Size = Size(), times: int = 1) -> None:  # noqa: B008 - frozen
    typer.echo(f"{name} {size.wide * size.tall * times}")


def run(*arguments: str) -> str:
    app = typer.Typer()
    app.command()(area)
    return CliRunner().invoke(app, arguments).output


def test_fields_of_a_group_are_options_and_the_verb_gets_the_group() -> None:
    assert run("sheet").split() == ["sheet", "12"]
    assert run("sheet", "--wide", "5", "--times", "2").split() == ["sheet", "40"]


def test_help_has_the_fields_in_place_of_the_group() -> None:
    said = run("--help")
    assert said.index("--wide") < said.index("--tall") < said.index("--times")
    assert "--size" not in said
