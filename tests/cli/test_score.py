"""`assay score`: what the command line refuses before a model is loaded."""

import json

import pytest

from assay import models
from assay.cli.options import unescaped
from tests.cli.command import Shell


def test_two_models_of_one_name_are_refused(shell: Shell) -> None:
    """Their runs would have one folder, and the second would take the place of the first."""
    shell.write("a.txt", "text")
    command = ("score", "x/base", "a.txt", "--and", "y/base", "-o", "runs")
    shell.assert_refused(*command, exit_code=2, parts=["two models are called 'base'", "one by one"])
    assert not (shell.folder / "runs").exists()


def test_a_server_needs_a_name_and_a_tokenizer(shell: Shell) -> None:
    shell.write("a.txt", "text")
    command = ("score", "endpoint:http://localhost:1/v1", "a.txt", "-o", "run")
    shell.assert_refused(*command, exit_code=2, parts=["--model NAME", "--tokenizer MODEL"])


def test_windows_are_two_numbers_from_one_on(shell: Shell) -> None:
    shell.write("a.txt", "text")
    for windows in ("180", "180x", "0x5", "axb"):
        command = ("score", "nowhere", "a.txt", "-o", "run", "--windows", windows)
        shell.assert_refused(*command, exit_code=2, parts=["180x180", repr(windows)])


def test_the_options_of_a_cluster_need_one(shell: Shell) -> None:
    shell.write("a.txt", "text")
    command = ("score", str(models.path("base")), "a.txt", "-o", "run", "--address", "head:6379")
    shell.assert_refused(*command, exit_code=2, parts=["--address and --gpus-per-worker need --engine ray"])
    assert not (shell.folder / "run").exists()


def test_what_was_typed_for_a_new_line_is_one() -> None:
    assert unescaped(r"\n\n") == "\n\n"
    assert unescaped(r"a\tb") == "a\tb"


@pytest.mark.parametrize("command", [("score", "{}", "a.txt", "-o", "run"), ("japanese", "{}", "a.txt")])
@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("./models/bas", "no such folder; did you mean models/base?"),
        ("models/bas", "(where there is no such folder of models, it is a hub's name); did you mean models/base?"),
        ("/no/such/place", "no such folder; name a folder or a hub model."),
        ("nor/this/one", "no such folder; name a folder or a hub model."),
    ],
)
def test_a_model_that_is_no_folder_is_refused_before_anything_loads(
    shell: Shell, command: tuple[str, ...], name: str, hint: str
) -> None:
    shell.write("a.txt", "text")
    (shell.folder / "models" / "base").mkdir(parents=True)
    shell.write("models/base/config.json", "{}")
    shell.assert_refused(*(part.format(name) for part in command), parts=[f"{name}: ", hint])
    assert not (shell.folder / "run").exists()


def test_a_second_model_that_is_no_folder_is_refused_before_the_first_is_scored(shell: Shell) -> None:
    shell.write("a.txt", "text")
    command = ("score", str(models.path("base")), "a.txt", "--and", "./nowhere", "-o", "runs")
    shell.assert_refused(*command, parts=["./nowhere: no such folder"])
    assert not (shell.folder / "runs").exists()


def test_a_cut_that_no_text_has_is_said_and_nothing_else(shell: Shell) -> None:
    """By hand: without a start token, one token fewer is predicted of the one document."""
    pytest.importorskip("torch", reason="the extra hf is not installed")
    shell.write("a.txt", "Once there was a model.")
    base = str(models.path("base"))
    told: list[bool] = []
    for more in (("--split-on", "@@"), ("--no-bos",), ("--prefix", "none")):
        ran = shell("score", base, "a.txt", "-o", f"run{len(told)}", "--context", "64", *more)
        assert ran.exit_code == 0
        assert ("assay: --split-on @@ is in no text: the text is 1 document, as given.\n" in ran.err) is ("@@" in more)
        told.append(json.loads((shell.folder / f"run{len(told)}" / "run.json").read_text("utf-8"))["layout"]["bos"])
    assert told == [True, False, False]
