"""`assay watch` again and again: what grows, what shrinks, and how long it may sleep."""

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


@pytest.mark.parametrize("seconds", ["0", "-1", "nan", "inf", "1e20"])
def test_no_time_to_sleep(shell: Shell, seconds: str) -> None:
    shell.write("a.csv", table(30))
    shell.assert_refused("watch", "a.csv", "a.csv", "--every", seconds, exit_code=2, parts=["--every must be above 0"])


def test_recipe_is_named_as_such(shell: Shell) -> None:
    shell.write("a.csv", table(30))
    shell.write("b.csv", table(30))
    assert "Recipe: again.sh\n" in shell("watch", "a.csv", "b.csv", "--recipe", "again.sh").err
