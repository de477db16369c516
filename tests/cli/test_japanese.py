"""`assay japanese`: both kinds of input, text and JSON on stdout, a chart in a file, refusals as one line."""

import json
import sys
from pathlib import Path

import pytest

from assay import examples, models
from assay.analyses.japanese import japanese
from assay.analyses.japanese.result import Japanese
from assay.design import Design
from tests.cli.command import Shell

GENERATIONS = "item,prediction,reference\n1,猫はいる。,猫がいる。\n2,カラ,カメラ\n3,犬だ,犬だ。\n"
TEXT = "今日はキクオン島の贈り物の日です。\n\n家は白い市場の家です。\n\nヘロさんは鍵を見つけます。\n"


def test_text_is_the_record_of_the_library(shell: Shell) -> None:
    path = str(examples.path("generations.csv"))
    ran = shell("japanese", path, "--bleu", "char", "--resamples", "200", "--seed", "4", "--level", "0.9")
    assert (ran.exit_code, ran.err) == (0, "")
    assert ran.out == str(japanese(path, bleu=["char"], design=Design(resamples=200, seed=4, level=0.9))) + "\n"


def test_json_is_the_record_of_the_library_and_files_may_be_named(shell: Shell) -> None:
    shell.write("b.csv", GENERATIONS.replace("prediction", "output").replace("カラ", ""))
    shell.write("c.csv", GENERATIONS.replace("カラ", ""))
    ran = shell("japanese", "new=c.csv", "--allow-empty", "--bleu", "char", "--scripts", "wide", "--json")
    found = Japanese.from_dict(json.loads(ran.out))
    assert (found.systems[0].name, found.scripts, found.tokenizers) == ("new", "wide", {"char": "char"})
    other = shell(
        "japanese",
        "b.csv",
        "--columns",
        "prediction=output",
        "--allow-empty",
        "--bleu",
        "char",
        "--normalize",
        "nfkc",
        "-v",
    )
    assert "|normalize:nfkc|" in other.out


@pytest.mark.parametrize(("name", "magic"), [("c.svg", b"<svg"), ("c.png", b"\x89PNG")])
def test_chart_is_written_beside_the_text(shell: Shell, name: str, magic: bytes) -> None:
    shell.write("a.csv", GENERATIONS)
    ran = shell("japanese", "a.csv", "--bleu", "char", "--chart", name)
    assert (ran.exit_code, ran.err) == (0, f"Chart: {name}\n")
    assert Path(name).read_bytes().startswith(magic)


def test_a_model_and_its_text(shell: Shell) -> None:
    pytest.importorskip("torch", reason="the extra hf is not installed")
    shell.write("ja.txt", TEXT)
    base = str(models.path("base"))
    ran = shell("japanese", base, "ja.txt", "--split-on", "\\n\\n", "--device", "cpu", "--json")
    assert ran.exit_code == 0, ran.err
    found = Japanese.from_dict(json.loads(ran.out))
    assert (found.kind, found.unit, found.n_units, found.systems[0].name) == ("characters", "document", 3, "base")
    assert ran.err == ""  # a pipe hears of no progress
    windows = shell("japanese", base, "ja.txt", "--context", "8", "--stride", "4", "--device", "cpu")
    assert "windows as clusters" in windows.out
    on_workers = shell(
        "japanese", base, "ja.txt", "--context", "8", "--stride", "4", "--device", "cpu", "--workers", "2"
    )
    assert on_workers.out == windows.out
    shell.assert_refused("japanese", base, "ja.txt", "--and", base, exit_code=2, parts=["twice"])


def test_options_of_the_other_input_are_refused(shell: Shell) -> None:
    shell.write("a.csv", GENERATIONS)
    shell.assert_refused("japanese", "a.csv", "--workers", "2", exit_code=2, parts=["a.csv is a table", "--workers"])
    shell.assert_refused("japanese", "a.csv", "--context", "8", exit_code=2, parts=["a.csv is a table", "--context"])
    shell.assert_refused("japanese", "a.csv", "--and", "b", "--field", "x", exit_code=2, parts=["--and, --field"])
    shell.assert_refused(
        "japanese", "hub/model", "x.txt", "--columns", "a=b", exit_code=2, parts=["is a model", "--columns"]
    )


def test_usage_is_refused_before_anything_is_read(shell: Shell) -> None:
    shell.write("ja.txt", TEXT)
    (shell.folder / "empty").mkdir()
    shell.assert_refused("japanese", "ja.txt", exit_code=2, parts=["a text needs a model before it"])
    shell.assert_refused("japanese", "hub/model", exit_code=2, parts=["a model needs text"])
    shell.assert_refused("japanese", "empty", "ja.txt", exit_code=2, parts=["config.json"])
    shell.assert_refused("japanese", "none.csv", "--chart", "c.gif", exit_code=2, parts=[".svg, .png or .pdf"])
    shell.assert_refused("japanese", "none.csv", "--level", "2", exit_code=2, parts=["level"])
    shell.assert_refused("japanese", exit_code=2, parts=["Missing argument"])
    shell.write("a.csv", GENERATIONS)
    shell.assert_refused("japanese", "a.csv", "--bleu", "mecab", exit_code=2, parts=["ja-mecab, char, 13a", "'mecab'"])


def test_tables_that_cannot_be_used_are_refused(shell: Shell) -> None:
    shell.assert_refused("japanese", "none.csv", parts=["none.csv", "no such file"])
    shell.write("a.csv", GENERATIONS)
    shell.write("b.csv", GENERATIONS.replace("3,", "4,"))
    shell.assert_refused("japanese", "a.csv", "b.csv", "--bleu", "char", parts=["item '3' (and 1 more)"])
    shell.write("c.csv", "item,score\n1,2\n")
    shell.assert_refused("japanese", "c.csv", parts=["no column 'prediction'", "item, score"])


def test_missing_extras_are_named_with_the_command_that_installs_them(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    shell.write("a.csv", GENERATIONS)
    shell.write("ja.txt", TEXT)
    monkeypatch.setitem(sys.modules, "sacrebleu.tokenizers.tokenizer_ja_mecab", None)
    shell.assert_refused("japanese", "a.csv", exit_code=2, parts=["pip install 'assay-eval[ja]'"])
    monkeypatch.setitem(sys.modules, "assay.scoring.hf", None)
    base = str(models.path("base"))
    shell.assert_refused("japanese", base, "ja.txt", exit_code=2, parts=["pip install 'assay-eval[hf]'"])
