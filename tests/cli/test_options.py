"""What options mean: the text of a command line as the library takes it, with the library's defaults."""

from collections.abc import Callable
from dataclasses import MISSING, fields
from inspect import Parameter, signature
from typing import Any

import pytest
import typer

import assay
from assay.cli.command_line import command_line
from assay.cli.options import OptionError, bins_in, columns_of, names_in, numbers_in, windows_in
from assay.training.fitting import Settings
from tests.cli.command import Shell


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("score=acc,item=id", {"score": "acc", "item": "id"}),
        (" score = acc , item = id ", {"score": "acc", "item": "id"}),
        ('item=doc_id,"score=acc,none"', {"item": "doc_id", "score": "acc,none"}),
        ("score=a=b", {"score": "a=b"}),
        ("cluster=", {"cluster": ""}),
    ],
)
def test_columns_are_read_from_the_command_line(text: str, expected: dict[str, str]) -> None:
    assert columns_of(text) == expected


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", "nothing"),
        ("acc", "'acc'"),
        ("score=acc,", "''"),
        ("=acc", "'=acc'"),
        ("score=a,score=b", "twice"),
    ],
)
def test_columns_that_make_no_sense_are_refused(text: str, part: str) -> None:
    with pytest.raises(OptionError, match="--columns must") as caught:
        columns_of(text)
    assert part in str(caught.value)
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    ("parser", "text", "meant"),
    [
        (names_in, "scores, noise,", ["scores", "noise"]),
        (numbers_in, "3e-3,1e-4,0.003", [1e-4, 3e-3]),
        (windows_in, "180x90", (180, 90)),
        (bins_in, "log", "log"),
        (bins_in, "12", 12),
    ],
)
def test_lists_and_numbers_are_read_from_the_command_line(
    parser: Callable[[str], object], text: str, meant: object
) -> None:
    assert parser(text) == meant


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("compare", "a", "b", "--columns", "acc"), "--columns must look like score=acc,item=id, but got 'acc'"),
        (("context", "a", "--bins", "ten"), "--bins must be log or a number of bins, but got 'ten'"),
        (
            ("tune", "run", "--base", "m", "--train", "t", "--valid", "v", "-o", "r", "--lrs", "1,x"),
            "--lrs must be numbers",
        ),
        (("rank", "a", "b", "--chart", "c.gif"), ".svg, .png or .pdf"),
    ],
)
def test_an_option_that_cannot_be_read_is_refused_in_our_own_words(
    shell: Shell, arguments: tuple[str, ...], said: str
) -> None:
    assert shell.assert_refused(*arguments, exit_code=2, parts=[said]).startswith("assay: ")


#: Commands, and what of the library they hand their options to.
TAKEN: dict[tuple[str, ...], list[Any]] = {
    ("compare",): [assay.compare, assay.Design],
    ("rank",): [assay.rank, assay.Design],
    ("summarize",): [assay.Design],
    ("context",): [assay.context, assay.Design],
    ("japanese",): [assay.japanese, assay.Design, assay.Plan, assay.ModelSpec],
    ("survey",): [assay.survey, assay.Design],
    ("reliability",): [assay.reliability, assay.Goal],
    ("power",): [assay.power, assay.Goal],
    ("score",): [assay.score, assay.Plan, assay.ModelSpec, assay.EndpointSpec, assay.Engine],
    ("generate",): [assay.generate, assay.Decoding, assay.ModelSpec, assay.EndpointSpec, assay.Engine],
    ("certify",): [assay.certify, assay.Policy],
    ("verify",): [assay.verify, assay.Policy],
    ("tune", "report"): [assay.tune, assay.Design],
    ("tune", "run"): [assay.tune_run, Settings, assay.Engine],
}
#: What is left out on a command line and then the library's own, or text that is read as it.
_OTHERWISE = {("japanese", "bleu"), ("power", "power"), ("survey", "margin")} | {
    (verb, "engine") for verb in ("score", "tune", "generate", "japanese", "survey")
}


def defaults_of(taker: Any) -> dict[str, Any]:
    if isinstance(taker, type):
        return {field.name: field.default for field in fields(taker) if field.default is not MISSING}
    found = signature(taker).parameters.items()
    return {name: one.default for name, one in found if one.default is not Parameter.empty}


@pytest.mark.parametrize("command", TAKEN, ids=" ".join)
def test_defaults_are_those_of_the_library(command: tuple[str, ...]) -> None:
    found: Any = typer.main.get_command(command_line(command[:1]))
    for part in command:
        found = found.commands[part]
    options = {one.opts[0].removeprefix("--").replace("-", "_"): one.default for one in found.params}
    compared = 0
    for taker in TAKEN[command]:
        for name, default in defaults_of(taker).items():
            if name in options and (command[0], name) not in _OTHERWISE and (options[name] or default):
                compared += 1
                assert options[name] == default, f"--{name} of {' '.join(command)}"
    assert compared or command[0] in ("verify", "certify")
