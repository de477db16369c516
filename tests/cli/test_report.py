"""`assay report`: a page from saved results, and refusals as one line with nothing half-written."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assay import examples
from assay.certificate.record import Certificate
from assay.cli.arguments import as_options
from assay.cli.verbs import VERBS
from assay.examples import RUNS
from assay.report.markdown import document_text
from assay.report.saved import part_of
from tests.certificate.samples import evidence_of, issue, load, save
from tests.cli.command import Shell
from tests.data.runs.token_runs import story, write_run
from tests.report.results import data_of, renamed


def saved(shell: Shell, kind: str, name: str = "r.json") -> str:
    return shell.write(name, json.dumps(data_of(kind), ensure_ascii=False))


def files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


# ------------------------------------------------------------------------------------------ where it goes


def test_without_a_page_the_result_is_printed(shell: Shell) -> None:
    ran = shell("report", saved(shell, "scores"))
    assert (ran.exit_code, ran.err) == (0, "")
    assert ran.out.startswith("Comparison: ALPHA → BETA\n\n? No difference shown between ALPHA and BETA")
    assert data_of("scores")["signature"] in ran.out
    assert files(shell.folder) == {"r.json"}


def test_what_is_printed_is_the_document_as_text(shell: Shell) -> None:
    from assay.report.document import ReportDocument

    ran = shell("report", saved(shell, "power"), "--title", "Mine")
    assert ran.out == as_options(document_text(ReportDocument("Mine", (part_of(data_of("power")),)), 120))


def test_a_page_is_written_whole_and_said_on_stderr(shell: Shell) -> None:
    ran = shell(
        "report", saved(shell, "power"), saved(shell, "scores", "s.json"), "-o", "page.html", "--title", "<Mine>"
    )
    assert (ran.exit_code, ran.out, ran.err) == (0, "", "Written: page.html\n")
    text = (shell.folder / "page.html").read_text(encoding="utf-8")
    assert "<h1>&lt;Mine&gt;</h1>" in text
    assert text.count("<section class='part ") == 2
    assert text.endswith("</html>\n")
    assert files(shell.folder) == {"r.json", "s.json", "page.html"}


def test_markdown_is_written_by_its_name(shell: Shell) -> None:
    ran = shell("report", saved(shell, "scores"), "-o", "page.md")
    assert (ran.exit_code, ran.err) == (0, "Written: page.md\n")
    lines = (shell.folder / "page.md").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "# Comparison: ALPHA → BETA"
    assert lines[2].startswith("## ⚠️ Is B different from A?")


@pytest.mark.parametrize(("ending", "magic"), [("svg", b"<svg"), ("png", b"\x89PNG")])
def test_charts_are_files_beside_the_page(shell: Shell, ending: str, magic: bytes) -> None:
    ran = shell("report", saved(shell, "power"), "-o", "page.html", "--chart-format", ending)
    name = f"page-charts/p1-power-power.{ending}"
    assert (ran.exit_code, ran.err) == (0, f"Written: page.html\nWritten: {name}\n")
    assert (shell.folder / name).read_bytes().startswith(magic)


def test_a_folder_is_read_whole_and_what_is_left_out_is_said(shell: Shell) -> None:
    (shell.folder / "all" / "deep").mkdir(parents=True)
    saved(shell, "power", "all/b.json")
    saved(shell, "scores", "all/deep/a.json")
    shell.write("all/other.json", '{"schema": "other/1"}')
    shell.write("all/text.txt", "not looked at")
    ran = shell("report", "all", "-o", "page.html")
    assert ran.exit_code == 0
    left, written = ran.err.splitlines()
    assert left.startswith("left out: all/other.json: not a result of Assay (schema 'other/1')")
    assert written == "Written: page.html"
    assert (shell.folder / "page.html").read_text(encoding="utf-8").count("<section class='part ") == 2


def test_two_runs_write_the_same_bytes(shell: Shell) -> None:
    name = saved(shell, "leaderboard")
    for page in ("a.html", "b.html"):
        assert shell("report", name, "-o", page).exit_code == 0
    assert (shell.folder / "a.html").read_bytes() == (shell.folder / "b.html").read_bytes()


# ------------------------------------------------------------------------------------------ --save


@pytest.fixture
def verbs(shell: Shell) -> dict[str, list[str]]:
    """A command of each verb that saves."""
    examples.copy(shell.folder)
    for name in ("lora-0", "full-0"):
        shutil.copytree(RUNS / name, shell.folder / "runs" / name)
    write_run(shell.folder / "tokens", story(3, 30), called="base")
    return {
        "compare": ["losses-base.csv", "losses-int8.csv"],
        "context": ["tokens", "--resamples", "199"],
        "japanese": ["generations.csv", "--resamples", "199"],
        "tune": ["runs/lora-0", "runs/full-0"],
        "rank": ["scores-base.csv", "scores-int3.csv", "scores-bigram.csv", "--resamples", "300"],
        "reliability": ["runs-sampled.csv"],
        "summarize": ["scores-base.csv"],
        "power": ["scores-base.csv", "scores-int3.csv", "--difference", "0.02"],
    }


@pytest.mark.parametrize(
    "verb", ["compare", "context", "japanese", "tune", "rank", "reliability", "power", "summarize"]
)
def test_every_verb_saves_what_it_prints_as_json_and_a_report_shows_it(
    verb: str, shell: Shell, verbs: dict[str, list[str]]
) -> None:
    assert verb in VERBS
    ran = shell(verb, *verbs[verb], "--save", "r.json", "--json")
    assert ran.exit_code == 0, ran.err
    assert "Saved: r.json" in ran.err
    assert (shell.folder / "r.json").read_text(encoding="utf-8") == ran.out
    shown = shell("report", "r.json")
    assert (shown.exit_code, shown.err) == (0, "")
    assert json.loads(ran.out)["sentence"].splitlines()[0] in shown.out


def test_a_result_that_cannot_be_saved_is_refused(shell: Shell, verbs: dict[str, list[str]]) -> None:
    shell.write("file", "mine")
    shell.assert_refused("compare", *verbs["compare"], "--save", "file/r.json", parts=["file", "cannot be"])
    assert (shell.folder / "file").read_text(encoding="utf-8") == "mine"


def test_names_that_are_not_unicode_can_be_shown(shell: Shell) -> None:
    """JSON can hold half a character; a page cannot."""
    shell.write("r.json", json.dumps(renamed(data_of("scores"), {"ALPHA": "\udcffa"})))
    for page in ("page.html", "page.md"):
        assert shell("report", "r.json", "-o", page).exit_code == 0
        assert "�a" in (shell.folder / page).read_text(encoding="utf-8")
    assert "�a" in shell("report", "r.json").out


# ------------------------------------------------------------------------------------------ what is refused


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("", ["r.json: empty", "check"]),
        ("{", ["not JSON"]),
        ('{"schema": "assay/power/1", "a": NaN}', ["NaN is not a finite number", "saved as JSON"]),
        ('{"schema": "assay/power/1", "a": 1e999}', ["1e999 is not a finite number", "saved as JSON"]),
        ("[" * 100_000, ["nested too deeply"]),
        ("[]", ["not a result of Assay (schema 'list')"]),
        ("3", ["not a result of Assay (schema 'int')"]),
        ('{"schema": ["x"]}', ["not a result of Assay"]),
        ('{"schema": "assay/other/1"}', ["not a result of Assay (schema 'assay/other/1')", "saved as JSON"]),
        ('{"schema": "assay/power/1"}', ["damaged result of schema 'assay/power/1'", "save it again"]),
        ('{"schema": "assay/comparison/1", "systems": 3}', ["damaged result"]),
    ],
)
def test_what_is_no_result_is_refused_and_nothing_is_written(shell: Shell, text: str, parts: list[str]) -> None:
    shell.write("r.json", text)
    shell.assert_refused("report", "r.json", "-o", "page.html", "--chart-format", "svg", parts=["r.json", *parts])
    assert files(shell.folder) == {"r.json"}


def test_a_file_that_is_not_text_is_refused(shell: Shell) -> None:
    (shell.folder / "r.json").write_bytes(b"\xff\xfe\x00")
    shell.assert_refused("report", "r.json", parts=["r.json: UTF-16 text"])


def _truncated(data: dict[str, Any]) -> str:
    return json.dumps(data)[:-20]


def _without(data: dict[str, Any]) -> str:
    return json.dumps({key: value for key, value in data.items() if key != "design"})


def _number_for_sentence(data: dict[str, Any]) -> str:
    return json.dumps(data | {"sentence": 3})


def _list_for_name(data: dict[str, Any]) -> str:
    return json.dumps(data | {"systems": {"a": ["x"], "b": "y"}})


def _text_for_number(data: dict[str, Any]) -> str:
    return json.dumps(data | {"difference": data["difference"] | {"value": "0.1"}})


def _unknown_verdict(data: dict[str, Any]) -> str:
    return json.dumps(data | {"verdict": "splendid"})


@pytest.mark.parametrize(
    "damage", [_truncated, _without, _number_for_sentence, _list_for_name, _text_for_number, _unknown_verdict]
)
def test_a_damaged_result_is_refused(shell: Shell, damage: Callable[[dict[str, Any]], str]) -> None:
    shell.write("r.json", damage(data_of("scores")))
    for page in ([], ["-o", "page.html"], ["-o", "page.md"]):
        shell.assert_refused("report", "r.json", *page, parts=["r.json"])
    assert files(shell.folder) == {"r.json"}


def test_a_file_that_is_not_there_and_a_folder_without_results_are_refused(shell: Shell) -> None:
    shell.assert_refused("report", "none.json", parts=["none.json", "cannot be opened"])
    (shell.folder / "empty").mkdir()
    shell.assert_refused("report", "empty", parts=["empty: no results here", "save some as JSON"])


def test_a_page_of_another_kind_is_refused_before_anything_is_read(shell: Shell) -> None:
    shell.assert_refused("report", "none.json", "-o", "page.pdf", exit_code=2, parts=["page.pdf", ".html"])
    shell.assert_refused("report", "none.json", "--chart-format", "svg", exit_code=2, parts=["-o PAGE"])
    assert shell("report", "none.json", "--chart-format", "gif", "-o", "p.html").exit_code == 2


def test_a_page_that_cannot_be_written_is_refused(shell: Shell) -> None:
    name = saved(shell, "power")
    shell.assert_refused("report", name, "-o", "r.json/page.html", parts=["r.json", "cannot be"])
    (shell.folder / "dir.html").mkdir()
    shell.assert_refused("report", name, "-o", "dir.html", exit_code=2, parts=["dir.html", "a folder"])
    assert files(shell.folder) == {"r.json"}


# ------------------------------------------------------------------------------------------ certificates


def test_a_certificate_is_checked_before_it_is_shown(shell: Shell) -> None:
    path = issue("losses", shell.folder)
    ran = shell("report", path.name)
    assert ran.exit_code == 0
    assert Certificate.from_dict(load(path)).sentence in ran.out
    assert "every field recomputed from the evidence" in ran.out


def test_a_certificate_with_a_changed_number_is_shown_as_not_true(shell: Shell) -> None:
    path = issue("losses", shell.folder)
    document = load(path)
    claim = Certificate.from_dict(document).sentence
    document["primary_metric"]["ratio_vs_baseline"] *= 0.999
    save(path, document)
    ran = shell("report", path.name, "-o", "page.html")
    assert ran.exit_code == 0
    text = (shell.folder / "page.html").read_text(encoding="utf-8")
    assert "<section class='part bad'" in text
    assert "Is this certificate true?" in text
    assert "primary_metric.ratio_vs_baseline" in text
    assert claim not in text.partition("<script type='application/json'")[0]  # not among what is read


def test_a_certificate_that_is_none_is_shown_as_not_true(shell: Shell) -> None:
    shell.write("r.json", '{"schema": "assay/certificate/2"}')
    ran = shell("report", "r.json")
    assert ran.exit_code == 0
    assert "✗ " in ran.out
    assert "not true" in ran.out


def test_a_certificate_without_evidence_says_that_nothing_was_recomputed(shell: Shell) -> None:
    path = issue("losses", shell.folder)
    evidence_of(path).unlink()
    assert "nothing recomputed: there is no evidence" in shell("report", path.name).out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["compare", "a.csv", "b.csv", "--save", "a.csv"], "a.csv is read"),
        (["compare", "a.csv", "b.csv", "--save", "./b.csv"], "is read"),
        (["rank", "a.csv", "two=b.csv", "--markdown", "b.csv"], "is read"),
        (["rank", "a.csv", "b.csv", "--chart", "x.svg", "--save", "x.svg"], "is written already"),
        (["reliability", "a.csv", "b.csv", "--save", "b.csv"], "is read"),
        (["compare", "a.csv", "b.csv", "--save", "folder"], "a folder"),
        (["report", "in.html", "-o", "in.html"], "is read"),
    ],
)
def test_nothing_is_written_over_what_is_read(arguments: list[str], words: str, shell: Shell) -> None:
    for name in ("a", "b"):
        (shell.folder / f"{name}.csv").write_text("item,score\nq1,1\nq2,0\nq3,1\n")
    (shell.folder / "in.html").write_text("{}")
    (shell.folder / "folder").mkdir()
    before = {path: path.read_bytes() for path in shell.folder.glob("*.*")}
    ran = shell(*arguments)
    assert (ran.exit_code, ran.out) == (2, "")
    assert words in ran.err
    assert {path: path.read_bytes() for path in shell.folder.glob("*.*")} == before


def test_a_certificate_without_its_evidence_is_not_vouched_for(shell: Shell) -> None:
    base, int8 = (str(examples.path(f"losses-{name}.csv")) for name in ("base", "int8"))
    assert shell("certify", base, int8, "-o", "c.json").exit_code == 0
    assert shell("report", "c.json").out.splitlines()[2].startswith("✓ ")
    (shell.folder / "c.evidence.parquet").unlink()
    assert "? The certificate agrees with itself, but nothing was recomputed" in shell("report", "c.json").out


def test_a_result_of_a_later_version_is_called_that(shell: Shell) -> None:
    (shell.folder / "later.json").write_text('{"schema": "assay/comparison/9"}')
    ran = shell("report", "later.json")
    assert ran.exit_code == 3
    assert "another version of Assay" in ran.err


def test_a_byte_order_mark_does_no_harm_and_a_file_counts_once(shell: Shell) -> None:
    base, int8 = (str(examples.path(f"losses-{name}.csv")) for name in ("base", "int8"))
    assert shell("compare", base, int8, "--save", "new/folder/c.json").exit_code == 0
    text = (shell.folder / "new/folder/c.json").read_text("utf-8")
    (shell.folder / "new/folder/c.json").write_text("\ufeff" + text, encoding="utf-8")
    twice = shell("report", "new/folder/c.json", "new/folder/../folder/c.json")
    assert twice.exit_code == 0
    assert twice.out == shell("report", "new/folder/c.json").out
    assert shell("report", "new/folder/c.json", "-o", "deep/er/page.md").exit_code == 0
    assert (shell.folder / "deep/er/page.md").is_file()
