"""`assay generate`, and `assay japanese` on prompts: files, what is said, and refusals as one line."""

import json
from pathlib import Path

import pytest

import assay
from assay import models
from assay.analyses.japanese.result import Japanese
from tests.cli.command import Shell

pytest.importorskip("torch", reason="the extra hf is not installed")

BASE = str(models.path("base"))
ROWS = [
    {"prompt": "むかし、犬が", "reference": "いました。", "id": "a"},
    {"prompt": "家は白い", "reference": "市場の家です。", "id": "b"},
    {"prompt": "今日は", "reference": "キクオン島の贈り物の日です。", "id": "c"},
]
TABLE = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in ROWS)
SHORT = ["--max-tokens", "6", "--device", "cpu"]


def test_the_table_is_that_of_the_library_and_a_second_time_it_is_there(shell: Shell) -> None:
    shell.write("prompts.jsonl", TABLE)
    ran = shell("generate", BASE, "prompts.jsonl", "-o", "said.jsonl", *SHORT)
    assert (ran.exit_code, ran.out) == (0, "base: 3 generations, 3 of them cut off at 6 tokens → said.jsonl\n")
    assert ran.err == ""  # how far it is shows on a terminal only
    decoding = assay.Decoding(max_tokens=6)
    spec = assay.ModelSpec(BASE, device="cpu")
    assay.generate(spec, "prompts.jsonl", "library.jsonl", decoding=decoding)
    assert Path("said.jsonl").read_bytes() == Path("library.jsonl").read_bytes()
    again = shell("generate", BASE, "prompts.jsonl", "-o", "said.jsonl", *SHORT)
    assert (again.out, again.err) == (ran.out, "")
    shell.assert_refused(
        "generate",
        BASE,
        "prompts.jsonl",
        "-o",
        "said.jsonl",
        "--seed",
        "1",
        *SHORT,
        parts=["seed differ", "--overwrite"],
    )


def test_prompts_are_answered_and_judged_as_their_table_is(shell: Shell) -> None:
    shell.write("prompts.jsonl", TABLE)
    ran = shell("japanese", BASE, "prompts.jsonl", "-o", "said.jsonl", "--bleu", "char", *SHORT)
    assert ran.exit_code == 0
    assert ran.err.endswith("Generations: base: 3 generations, 3 of them cut off at 6 tokens → said.jsonl\n")
    assert ran.out == shell("japanese", "said.jsonl", "--bleu", "char").out
    quantities = {value.quantity.key for value in assay.japanese("said.jsonl").systems[0].values}
    assert {"bleu/ja-mecab", "bleu/char", "chrf", "cer", "accuracy/kanji"} <= quantities


def test_without_a_file_the_temporary_one_is_named(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(shell.folder))
    shell.write("prompts.csv", "source,target\nむかし、,犬がいました。\n家は,市場の家です。\n")
    asked = ["prompts.csv", "--columns", "prompt=source,reference=target", "--bleu", "char", "--json", *SHORT]
    ran = shell("japanese", BASE, *asked)
    named = ran.err.splitlines()[-1].partition(" → ")[2]
    assert Path(named).is_relative_to(shell.folder)
    found = Japanese.from_dict(json.loads(ran.out))
    assert found.systems == assay.japanese(named, bleu=["char"]).systems


def test_two_models_are_compared_in_pairs(shell: Shell) -> None:
    shell.write("prompts.jsonl", TABLE)
    models.round_weights(BASE, "int3", bits=3)
    ran = shell("japanese", BASE, "int3", "prompts.jsonl", "-o", "said.jsonl", "--bleu", "char", "--json", *SHORT)
    found = Japanese.from_dict(json.loads(ran.out))
    assert (found.names, [(pair.a, pair.b) for pair in found.differences]) == (["base", "int3"], [("base", "int3")])
    other = shell("generate", BASE, "prompts.jsonl", "--and", "int3", "-o", "both.jsonl", *SHORT)
    assert other.out.startswith("base, int3: 6 generations")
    assert Path("both.jsonl").read_bytes() == Path("said.jsonl").read_bytes()


def test_two_models_may_stand_before_a_text(shell: Shell) -> None:
    shell.write(
        "ja.txt", "今日はキクオン島の贈り物の日です。\n\n家は白い市場の家です。\n\nヘロさんは鍵を見つけます。\n"
    )
    models.round_weights(BASE, "int3", bits=3)
    same = ["--split-on", "\\n\\n", "--device", "cpu"]
    assert (
        shell("japanese", BASE, "int3", "ja.txt", *same).out
        == shell("japanese", BASE, "ja.txt", "--and", "int3", *same).out
    )


@pytest.mark.parametrize(
    ("table", "parts"),
    [
        ('{"prompt": "a"}\n{"prompt": ""}\n', ["line 2", "'prompt'", "the cell is empty"]),
        ('{"prompt": "a", "id": "x"}\n{"prompt": "b", "id": "x"}\n', ["'x'", "line 2"]),
        ('{"prompt": "a"}\n{"prompt": \n', ["line 2", "not JSON"]),
        ('{"text": "a"}\n', ["no column 'prompt'", "--columns prompt=NAME"]),
        ("", ["empty"]),
    ],
)
def test_prompts_that_cannot_be_used_are_refused(shell: Shell, table: str, parts: list[str]) -> None:
    shell.write("prompts.jsonl", table)
    shell.assert_refused("generate", BASE, "prompts.jsonl", "-o", "said.jsonl", parts=["prompts.jsonl", *parts])
    assert not list(shell.folder.glob("*said*"))


def test_what_cannot_be_generated_is_refused(shell: Shell) -> None:
    shell.write("prompts.jsonl", TABLE)
    shell.write("bare.jsonl", '{"prompt": "a"}\n')
    shell.write("text.jsonl", '{"text": "a"}\n')
    (shell.folder / "folder").mkdir()
    said = ["-o", "said.jsonl"]
    shell.assert_refused("generate", "folder", "prompts.jsonl", *said, parts=["folder", "cannot be loaded"])
    shell.assert_refused("generate", BASE, "none.jsonl", *said, parts=["none.jsonl", "no such file"])
    shell.assert_refused("generate", BASE, "prompts.jsonl", "-o", "said.txt", exit_code=2, parts=["ends in .jsonl"])
    shell.assert_refused("generate", BASE, "prompts.jsonl", "-o", "prompts.jsonl", exit_code=2, parts=["is read"])
    shell.assert_refused(
        "generate", "endpoint:http://127.0.0.1:1/v1", "prompts.jsonl", *said, exit_code=2, parts=["--model"]
    )
    shell.assert_refused(
        *("generate", "endpoint:http://127.0.0.1:1/v1", "prompts.jsonl", *said, "--model", "m"), parts=["no connection"]
    )
    shell.assert_refused(
        "generate", BASE, "prompts.jsonl", *said, "--max-tokens", "0", exit_code=2, parts=["max_tokens"]
    )
    shell.assert_refused("generate", BASE, "prompts.jsonl", *said, "--max-tokens", "999", parts=["--max-tokens", "512"])
    shell.assert_refused("japanese", BASE, "bare.jsonl", *said, parts=["no column 'reference'", "prompt and reference"])
    shell.assert_refused("japanese", BASE, "text.jsonl", exit_code=2, parts=["'prompt'", "--columns", "--field"])
    shell.assert_refused(
        "japanese", BASE, "prompts.jsonl", "--context", "9", exit_code=2, parts=["--context", "prompts"]
    )
    shell.assert_refused("japanese", BASE, "a.txt", *said, exit_code=2, parts=["is a model", "-o does nothing"])
    assert not list(shell.folder.glob("*said*"))
