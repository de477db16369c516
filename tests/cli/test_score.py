"""`assay score`: what the command line refuses before a model is loaded."""

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


def test_what_was_typed_for_a_new_line_is_one() -> None:
    assert unescaped(r"\n\n") == "\n\n"
    assert unescaped(r"a\tb") == "a\tb"
