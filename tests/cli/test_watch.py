"""`assay watch` again and again: what grows, what shrinks, and how long it may sleep."""

import json
import os
import time

import pytest

from tests.cli.command import Shell


def table(items: int) -> str:
    return "item,score\n" + "".join(f"q{i},{i % 3 % 2}\n" for i in range(items))


def test_table_that_shrinks_is_refused(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a harness that started anew the earlier items are gone, and the interval is of those that are there."""
    shell.write("a.csv", table(60))
    shell.write("b.csv", table(50))
    sizes = iter([55, 40])
    monkeypatch.setattr(time, "sleep", lambda _: shell.write("b.csv", table(next(sizes))))
    ran = shell("watch", "a.csv", "b.csv", "--every", "5")
    assert (ran.exit_code, ran.out) == (3, "")
    assert "a.csv, b.csv: 40 items that both models have, and 55 at the last look" in ran.err
    assert ran.err.count("Continue: ") == 2


def test_answers_that_change_are_refused(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    """An interval for all times is of answers that stay; more items do not make up for one that was scored anew."""
    shell.write("a.csv", table(60))
    shell.write("b.csv", table(50))
    changed = table(55).replace("q4,1", "q4,0").replace("q7,1", "q7,0")
    monkeypatch.setattr(time, "sleep", lambda _: shell.write("b.csv", changed))
    ran = shell("watch", "a.csv", "b.csv", "--every", "5", "--save", "found.json")
    assert (ran.exit_code, ran.out) == (3, "")
    assert "a.csv, b.csv: the item 'q4' of b was 1 at the last look and is 0, and 1 more changed; " in ran.err
    assert ran.err.endswith("a harness that started anew is watched anew.\n")
    assert not (shell.folder / "found.json").exists()


def test_items_that_are_gone_are_refused(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    shell.write("a.csv", table(60))
    shell.write("b.csv", table(50))
    monkeypatch.setattr(time, "sleep", lambda _: shell.write("b.csv", table(55).replace("q4,1\n", "")))
    ran = shell("watch", "a.csv", "b.csv", "--every", "5")
    assert (ran.exit_code, ran.out) == (3, "")
    assert "a.csv, b.csv: the item 'q4' was there at the last look, and is not any more" in ran.err


@pytest.mark.parametrize("cut", ["q40", "q40,0.", 'q40,"0'])
def test_a_line_that_is_being_written_is_left_out(shell: Shell, cut: str) -> None:
    """Also one that could be read: 0. may become 0.75."""
    shell.write("a.csv", table(60))
    shell.write("b.csv", table(40))
    asked = ("--population", "60", "--json")
    whole = shell("watch", "a.csv", "b.csv", *asked)
    shell.write("b.csv", table(40) + cut)
    for file in ("b.csv", "b=b.csv", str(shell.folder / "b.csv")):
        ran = shell("watch", "a.csv", file, *asked)
        assert (ran.exit_code, ran.out) == (0, whole.out)
        assert ran.err == f"{file.removeprefix('b=')} ends within a line, which is left out: it may still be written.\n"


def test_it_goes_on_where_lines_are_being_written(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    """A writer with a buffer leaves a part of a line at almost every look."""
    shell.write("a.csv", table(60))
    shell.write("b.csv", table(30) + "q30,0.")
    later = iter([table(45) + "q4", table(60)])
    monkeypatch.setattr(time, "sleep", lambda _: shell.write("b.csv", next(later)))
    ran = shell("watch", "a.csv", "b.csv", "--every", "5", "--population", "60", "--sentence")
    assert (ran.exit_code, ran.out) == (0, "Stop: all 60 items are there, and the difference on them is 0.\n")
    assert [said in ran.err for said in ("after 30 of 60", "after 45 of 60")] == [True, True]


def test_json_is_whole_without_the_end_of_its_line(shell: Shell) -> None:
    rows = "".join(f'{{"item": "q{i}", "score": {i % 2}}}\n' for i in range(40))
    shell.write("a.jsonl", rows)
    for written, n in ((rows, 40), (rows[:-1], 40), (rows[:-2], 39), (rows[:-9], 39)):
        shell.write("b.jsonl", written)
        assert json.loads(shell("watch", "a.jsonl", "b.jsonl", "--json").out)["n"] == n


def test_other_faults_of_a_file_that_is_being_written_name_it(shell: Shell) -> None:
    shell.write("a.csv", table(60))
    shell.write("b.csv", table(40) + "q3,1\nq4")
    ran = shell("watch", "a.csv", "b.csv")
    assert (ran.exit_code, ran.out) == (3, "")
    assert "assay: b.csv, line 42, column 'item': 'q3' is in line 5 already" in ran.err
    shell.write("b.csv", "item,sc")
    assert "assay: b.csv: the file is empty" in shell("watch", "a.csv", "b.csv").err


def test_a_last_line_without_an_end_is_read_where_nobody_writes(shell: Shell) -> None:
    day = time.time() - 86_400
    shell.write("a.csv", table(60))
    shell.write("b.csv", table(60).rstrip("\n"))
    os.utime(shell.folder / "b.csv", (day, day))
    ran = shell("watch", "a.csv", "b.csv", "--population", "60", "--sentence")
    assert (ran.exit_code, ran.err) == (0, "")
    assert ran.out.startswith("Stop: all 60 items are there")
    shell.write("b.csv", table(60) + "q60")
    os.utime(shell.folder / "b.csv", (day, day))
    shell.assert_refused("watch", "a.csv", "b.csv", parts=["b.csv, line 62: 1 cells"])


def test_one_file_needs_two_names(shell: Shell) -> None:
    shell.write("wide.csv", "item,m1,m2,m3\nq1,1,0,1\nq2,0,0,1\n")
    shell.assert_refused("watch", "wide.csv", exit_code=2, parts=["watch needs two files", "--a m1 --b m2"])


@pytest.mark.parametrize("seconds", ["0", "-1", "nan", "inf", "1e20"])
def test_no_time_to_sleep(shell: Shell, seconds: str) -> None:
    shell.write("a.csv", table(30))
    shell.assert_refused("watch", "a.csv", "a.csv", "--every", seconds, exit_code=2, parts=["--every must be above 0"])


def test_recipe_is_named_as_such(shell: Shell) -> None:
    shell.write("a.csv", table(30))
    shell.write("b.csv", table(30))
    assert "Recipe: again.sh\n" in shell("watch", "a.csv", "b.csv", "--recipe", "again.sh").err
