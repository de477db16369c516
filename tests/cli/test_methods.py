"""Every method of intervals by name, in every verb that has `--method`: it is what ran, or it is refused in a line."""

from typing import get_args

import pytest

from assay.examples import copy, copy_survey
from assay.stats.records import IntervalName
from tests.cli.command import Shell

NAMES = get_args(IntervalName)
LOSSES, SCORES = "losses-base.csv losses-int3.csv", "scores-base.csv scores-int3.csv"

#: Command → what auto takes, and which methods it refuses.
VERBS: dict[str, tuple[str, set[str]]] = {
    f"compare {SCORES}": ("tango", {"agresti-coull"}),
    f"compare {LOSSES}": ("bca", {"tango", "agresti-coull"}),
    f"compare {LOSSES} --cluster document": ("t-hall", {"tango", "agresti-coull"}),
    f"rank {SCORES}": ("tango", {"agresti-coull"}),
    f"rank {LOSSES}": ("bca", {"tango", "agresti-coull"}),
    "summarize scores-base.csv": ("agresti-coull", {"tango"}),
    "summarize losses-base.csv": ("bca", {"tango", "agresti-coull"}),
    "japanese generations.csv --scripts basic": ("t-hall", {"tango", "agresti-coull"}),
    "survey survey.json predictions.csv --only baselines": ("t-hall", {"tango", "agresti-coull"}),
}


@pytest.mark.parametrize("command", VERBS)
@pytest.mark.parametrize("method", NAMES)
def test_a_method_by_name_ran_or_is_refused(shell: Shell, command: str, method: str) -> None:
    own, refused = VERBS[command]
    copy(shell.folder)
    copy_survey(shell.folder)
    arguments = (*command.split(), "--method", method, "-v")
    if method in refused:
        shell.assert_refused(*arguments, exit_code=2, parts=(f"{method} is an interval of", "leave"))
        return
    ran = shell(*arguments)
    assert ran.exit_code == 0, ran.err
    assert f"|method:{own if method == 'auto' else method}|" in ran.out
