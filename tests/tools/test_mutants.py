"""What is read from mutmut's folder, on one that is made up and small enough to count by hand."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from tools import mutants
from tools.mutants import Change, Mutant, explanations, main, results

# As mutmut writes it: the function as it was, and one copy of it per mutant.
GENERATED = """\
from assay.stats import other
def x_add__mutmut_orig(a: int, b: int) -> int:
    total = a + b
    return total
def x_add__mutmut_1(a: int, b: int) -> int:
    total = a - b
    return total
def x_add__mutmut_2(a: int, b: int) -> int:
    total = None
    return total
def x__wide__mutmut_orig(a: int) -> int:
    return other(
        a,
        1,
    )
def x__wide__mutmut_1(a: int) -> int:
    return other(
        a,
        2,
    )
def x__wide__mutmut_2(a: int) -> int:
    return other(
        a,
        )
class Box:
    def xǁBoxǁsize__mutmut_orig(self) -> int:
        return 1
    def xǁBoxǁsize__mutmut_1(self) -> int:
        return 2
"""
ENDED: dict[str, int | None] = {
    "x_add__mutmut_1": 1,
    "x_add__mutmut_2": -24,
    "x__wide__mutmut_1": 0,
    "x__wide__mutmut_2": 33,
    "xǁBoxǁsize__mutmut_1": 0,
}
EXPLAINED = """\
# Mutants that survive

Said before any heading.

## A limit, not a number

Why that is no hole.

```diff
@@ stats.sums _wide @@
- 1,
+ 2,

@@ stats.sums Box.size @@
-     return 1
+     return 2
```

## Nobody asks

```diff
@@ stats.sums _wide @@
- 1, )
+ )
```
"""


def folder(root: Path, ended: Mapping[str, int | None]) -> Path:
    """The mutants of `stats/sums.py`, as mutmut would have left them."""
    place = root / "mutants" / "src" / "assay" / "stats"
    place.mkdir(parents=True)
    lines = GENERATED.splitlines()
    starts = [i for i, line in enumerate(lines, start=1) if "def " in line]
    ends = [start - 1 for start in starts[1:]] + [len(lines)]
    ends[ends.index(lines.index("class Box:") + 1)] -= 1
    spans = {lines[a - 1].split("(")[0].split()[1]: [a, b] for a, b in zip(starts, ends, strict=True)}
    (place / "sums.py").write_text(GENERATED, "utf-8")
    (place / "sums.py.spans").write_text(json.dumps({"version": 1, "spans": spans}), "utf-8")
    by_key = {f"assay.stats.sums.{name}": code for name, code in ended.items()}
    (place / "sums.py.meta").write_text(json.dumps({"exit_code_by_key": by_key}), "utf-8")
    return root / "mutants"


def run(root: Path, explained: str, *options: str) -> int:
    (root / "explained.md").write_text(explained, "utf-8")
    return main(["--results", str(root / "mutants"), "--explained", str(root / "explained.md"), *options])


def test_every_mutant_by_hand(tmp_path: Path) -> None:
    assert results(folder(tmp_path, ENDED)) == [
        Mutant(Change("stats.sums", "add", "total = a + b", "total = a - b"), "killed"),
        Mutant(Change("stats.sums", "add", "total = a + b", "total = None"), "timeout"),
        Mutant(Change("stats.sums", "_wide", "1,", "2,"), "survived"),
        Mutant(Change("stats.sums", "_wide", "1, )", ")"), "survived"),  # no test calls it
        Mutant(Change("stats.sums", "Box.size", "return 1", "return 2"), "survived"),
    ]


def test_all_killed_or_explained_is_counted_by_hand(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder(tmp_path, ENDED)
    out = tmp_path / "report.md"
    assert run(tmp_path, EXPLAINED, "--out", str(out)) == 0
    assert out.read_text("utf-8") == (
        "| module | mutants | killed | survive, explained | survive, unexplained | score |\n"
        "| --- | --- | --- | --- | --- | --- |\n"
        "| `stats.sums` | 5 | 2 | 3 | 0 | 40.0 % |\n"
        "| all | 5 | 2 | 3 | 0 | 40.0 % |\n"
        "\n"
        "| why a mutant survives | mutants |\n"
        "| --- | --- |\n"
        "| A limit, not a number | 2 |\n"
        "| Nobody asks | 1 |\n"
    )
    assert out.read_text("utf-8") in capsys.readouterr().out


def test_a_survivor_that_is_not_explained_is_named_and_ends_with_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder(tmp_path, ENDED | {"x_add__mutmut_1": 0})
    assert run(tmp_path, EXPLAINED) == 1
    printed = capsys.readouterr().out
    assert "| `stats.sums` | 5 | 1 | 3 | 1 | 20.0 % |" in printed
    assert "Survived, and not explained:\n@@ stats.sums add @@\n- total = a + b\n+ total = a - b" in printed
    assert run(tmp_path, EXPLAINED, "--left") == 1
    assert capsys.readouterr().out == "@@ stats.sums add @@\n- total = a + b\n+ total = a - b\n"


def test_an_explanation_that_fits_no_survivor_is_named_and_ends_with_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder(tmp_path, ENDED | {"x__wide__mutmut_1": 1})
    assert run(tmp_path, EXPLAINED) == 1
    assert "Explained (A limit, not a number), and no survivor:\n@@ stats.sums _wide @@\n- 1,\n+ 2," in (
        capsys.readouterr().out
    )


@pytest.mark.parametrize(("code", "said"), [(None, "1 mutants: not run"), (-11, "1 mutants: ended with -11")])
def test_mutants_that_were_not_judged_are_no_success(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], code: int | None, said: str
) -> None:
    folder(tmp_path, ENDED | {"x_add__mutmut_1": code})
    assert run(tmp_path, EXPLAINED) == 1
    assert said in capsys.readouterr().out


def test_what_is_printed_as_left_can_be_read_back(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder(tmp_path, ENDED)
    assert run(tmp_path, "", "--left") == 1
    block = capsys.readouterr().out
    assert run(tmp_path, f"## Why\n\n```diff\n{block}```\n") == 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("```diff\n@@ a b @@\n- 1\n+ 2\n+ 2\n```\n", r"line 5: this mutant is explained twice:\n@@ a b @@\n- 1\n\+ 2"),
        ("```diff\n@@ a b @@\n 1\n```\n", "line 3: a diff holds lines with @@, - and \\+, not ' 1'"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_with_its_line(text: str, said: str) -> None:
    with pytest.raises(SystemExit, match=said):
        explanations(text)


def test_no_results_are_refused_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="Run `make mutations`"):
        results(tmp_path)


def test_the_file_of_the_project_can_be_read_and_every_reason_is_given_in_words() -> None:
    text = mutants.EXPLAINED.read_text("utf-8")
    explained = explanations(text)
    assert explained
    for reason in set(explained.values()):
        assert not text.split(f"## {reason}\n", 1)[1].lstrip().startswith("```")
