"""Every argument that the library names in a message is one, and the command line has an option for it."""

import ast
import re
from collections.abc import Iterator
from dataclasses import fields
from inspect import Parameter, signature
from pathlib import Path
from typing import Any

import pytest
import typer

import assay
from assay.cli.arguments import as_options
from assay.cli.command_line import command_line
from assay.cli.verbs import VERBS
from assay.names import argument
from assay.report.serve import serve
from assay.stats.planning.plans import PlanNumbers
from assay.training.fitting import Settings
from assay.training.recorder import Schedule

ROOT = Path(assay.__file__).parent
RECORDS = {
    record.__name__: record
    for record in (
        *(
            assay.Design,
            assay.Engine,
            assay.Policy,
            assay.Goal,
            assay.Spread,
            assay.Shares,
            assay.Structure,
            assay.Plan,
            assay.SurveyPlan,
        ),
        *(
            PlanNumbers,
            assay.Decoding,
            assay.ModelSpec,
            assay.EndpointSpec,
            assay.Selection,
            assay.Targets,
            Settings,
            Schedule,
        ),
    )
}
#: Verbs of the library → their commands.
COMMANDS = {verb: (verb,) for verb in VERBS if verb in assay.__all__} | {
    "characters": ("japanese",),
    "tune": ("tune", "report"),
    "tune_run": ("tune", "run"),
    "write_report": ("report",),
}
NAMED = re.compile(r"`(?:([A-Z]\w*)\()?([a-z]\w*)(?:=[^`]*|\)?)`")


def named(file: Path) -> Iterator[tuple[str, str, int]]:
    """The arguments that a module names: the record or "", the argument, the line."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    alone = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    inside = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "argument":
            record = node.args[0].value if node.args and isinstance(node.args[0], ast.Constant) else ""
            yield from ((str(record), word.arg, node.lineno) for word in node.keywords if word.arg)
        elif isinstance(node, ast.JoinedStr | ast.Constant) and id(node) not in alone | inside:
            yield from ((found[1] or "", found[2], node.lineno) for found in NAMED.finditer(_text(node)))


def _text(node: ast.expr) -> str:
    parts = node.values if isinstance(node, ast.JoinedStr) else [node]
    return "".join(str(part.value) if isinstance(part, ast.Constant) else "…" for part in parts)


FOUND = sorted(
    (record, name, f"{file.relative_to(ROOT)}:{line}")
    for file in ROOT.rglob("*.py")
    if file.relative_to(ROOT).parts[0] != "cli"
    for record, name, line in named(file)
)


def keyword_arguments(verb: Any) -> set[str]:
    return {name for name, found in signature(verb).parameters.items() if found.kind is Parameter.KEYWORD_ONLY}


VERB_ARGUMENTS = {name: keyword_arguments(getattr(assay, name)) for name in COMMANDS} | {
    "serve": keyword_arguments(serve),
    "compare_suite": keyword_arguments(assay.compare_suite),
}


def options_of(*command: str) -> set[str]:
    found: Any = typer.main.get_command(command_line(command[:1]))
    for part in command:
        found = found.commands[part]
    return {option for parameter in found.params for option in parameter.opts}


def test_a_model_that_is_not_named_has_no_option() -> None:
    assert as_options("choose with `models=('NAME', None)`.") == "choose with --a NAME."


def test_messages_name_arguments() -> None:
    assert len(FOUND) > 90
    assert {("Selection", "task"), ("", "columns"), ("", "resamples")} <= {(record, name) for record, name, _ in FOUND}


def test_every_argument_exists() -> None:
    of_records = {name: {field.name for field in fields(record)} for name, record in RECORDS.items()}
    anywhere = set().union(*of_records.values(), *VERB_ARGUMENTS.values())
    unknown = [
        (place, record, name)
        for record, name, place in FOUND
        if name not in (of_records[record] if record else anywhere)
    ]
    assert unknown == []


def test_every_argument_has_an_option_where_a_command_has_it() -> None:
    commands = COMMANDS | {"serve": ("report",), "compare_suite": ("compare",)}
    options = {verb: options_of(*command) for verb, command in commands.items()}
    for _, name, place in FOUND:
        wanted = set(re.findall(r"(?<!\w)--?[a-z-]+", as_options(f"`{name}`")))
        own = [verb for verb, arguments in VERB_ARGUMENTS.items() if name in arguments]
        lacking = [verb for verb in own if not wanted <= options[verb]]
        assert wanted, place
        assert lacking == [], f"{place}: {name} is {wanted}, which is no option of {lacking}"
        assert own or any(wanted <= some for some in options.values()), f"{place}: {wanted} is no option"


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("`resamples`", "--resamples"),
        ("`min_n=1`", "--min-n 1"),
        ("`overwrite=True`", "--overwrite"),
        ("`evidence=FILE`", "--evidence FILE"),
        ("`bleu=['char', '13a']`", "--bleu char,13a"),
        ("`Selection(task=...)`", "--task"),
        ("`weights='any', note=TEXT`", "--weights any --note TEXT"),
        ("`models`", "--a or --b"),
        ("`models=('first', 'the second')`", "--a first --b 'the second'"),
        ("`draw=(180, 180)`", "--windows 180x180"),
        (argument(columns={"item": "", "score": "acc,none"}), "--columns 'item=,\"score=acc,none\"'"),
        (argument(columns={"score": "点数"}), "--columns score=点数"),
        (argument(cluster="it's `me`\n"), "--cluster 'it'\"'\"'s `me`\\n'"),
        ("`assay tune run` and `f(x)` and ``two`` and `x=f(3)`", None),
        (r"`task='\d'` is no escape", r"--task '\d' is no escape"),
        ("`" + "a=" + "(" * 300 + "`", None),
    ],
)
def test_arguments_become_options(said: str, shown: str | None) -> None:
    assert as_options(said) == (said if shown is None else shown)
