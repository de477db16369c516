"""What answers cost: columns beside the score, by hand."""

from math import isnan
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from assay import Panel, pair, read_table, read_tables, summarize
from assay.data.costs import COSTS, USUAL_COSTS
from assay.data.readers import Selection
from assay.data.readers.harness.answers import Answers, AnswersLog
from assay.data.readers.harness.join_logs import sources_of
from assay.data.readers.harness.named_logs import NamedLog
from assay.errors import InputError


def table(**more: Any) -> dict[str, Any]:
    return {"item": ["a", "b", "c", "d"], "score": [1, 0, 1, 1], **more}


@pytest.mark.parametrize(("ours", "theirs"), [(ours, one) for ours, some in USUAL_COSTS.items() for one in some])
def test_usual_names_are_read_by_hand(ours: str, theirs: str) -> None:
    found = read_table(table(**{theirs.upper(): [1000, 2000, 3000, 4000]}))
    scale = 1000 if theirs.endswith("ms") else 1
    assert found.numbers[ours].tolist() == [value / scale for value in (1000.0, 2000.0, 3000.0, 4000.0)]
    assert any(f"{ours} = {theirs.upper()}" in note for note in found.notes)


def test_an_empty_cell_is_not_known_and_no_answer_is_lost() -> None:
    found = read_table(table(price=[0.5, None, "", 1.5]))
    assert [isnan(value) for value in found.numbers["price"]] == [False, True, True, False]
    assert found.lost is None


def test_a_cost_that_is_no_number_is_refused_under_our_name_and_left_out_under_another() -> None:
    with pytest.raises(InputError, match=r"row 2, column 'price': price must be a number of at least 0, but got '-1'"):
        read_table(table(price=[0.5, -1, 1, 1]))
    found = read_table(table(cost=["$1", "$2", "$3", "$4"]))
    assert "price" not in found.numbers
    assert any("column 'cost' not used" in note and "'$1'" in note for note in found.notes)


def test_a_cost_is_no_model_and_belongs_to_none_where_models_are_columns() -> None:
    wide = {"item": ["a", "b"], "base": [1, 0], "int4": [1, 1], "seconds": [3.0, 4.0]}
    for columns in (None, {"score": "*"}):
        found = read_tables([wide], columns=columns)
        assert [one.name for one in found] == ["base", "int4"]
        assert all("seconds" not in one.numbers for one in found)


def test_seconds_may_be_the_score() -> None:
    found = read_table({"item": ["a", "b"], "seconds": [3.0, 4.0]}, columns={"score": "seconds"})
    assert found.numbers["score"].tolist() == [3.0, 4.0]
    assert "seconds" not in found.numbers


def test_a_panel_has_them_by_item_and_system_by_hand() -> None:
    a = read_table(table(seconds=[1, 2, 3, None]), name="A")
    b = read_table({"item": ["d", "b", "a"], "score": [0, 1, 1], "price": [4, 2, 1]}, name="B")
    panel = pair(a, b)
    assert panel.ids.tolist() == ["a", "b", "d"]
    np.testing.assert_array_equal(panel.costs["seconds"], [[1, np.nan], [2, np.nan], [np.nan, np.nan]])
    np.testing.assert_array_equal(panel.costs["price"], [[np.nan, 1], [np.nan, 2], [np.nan, 4]])
    whole = Panel.from_tables([a, b])
    np.testing.assert_array_equal(whole.costs["seconds"][:, 0], [1, 2, 3, np.nan])
    turned = whole.pair(1, 0)
    np.testing.assert_array_equal(turned.costs["price"][:, 0], whole.costs["price"][:, 1])
    assert whole.rows(np.array([2])).costs["seconds"][0, 0] == 3


def test_runs_of_an_item_are_averaged_over_those_known_by_hand() -> None:
    rows = {"item": ["a", "a", "b", "b"], "run": [1, 2, 1, 2], "score": [1, 0, 1, 1], "seconds": [2, 4, None, 5]}
    panel = Panel.from_tables([read_table(rows, name="A")])
    assert panel.costs["seconds"][:, 0].tolist() == [3.0, 5.0]


def test_the_digest_of_a_panel_does_not_depend_on_costs() -> None:
    plain, priced = (Panel.from_tables([read_table(one, name="A")]) for one in (table(), table(price=[1, 2, 3, 4])))
    assert plain.digest == priced.digest


def test_summarize_has_the_mean_and_its_interval_against_scipy() -> None:
    seconds = [1.0, 2.5, 2.0, 4.0, 3.5, 3.0]
    found = summarize({"item": list("abcdef"), "score": [1, 0, 1, 1, 0, 1], "seconds": seconds}).models[0].costs
    estimate = found["seconds"]
    assert estimate.value == pytest.approx(np.mean(seconds))
    assert estimate.standard_error == pytest.approx(stats.sem(seconds))
    assert estimate.n == 6
    assert estimate.interval is not None
    assert estimate.interval.low < np.mean(seconds) < estimate.interval.high


def test_the_lower_limit_of_a_cost_is_not_negative() -> None:
    found = summarize({"item": list("abc"), "score": [1, 0, 1], "price": [0.0, 0.1, 9.0]}).models[0].costs["price"]
    assert found.interval is not None
    assert found.interval.low == 0.0


def test_costs_are_shown_beside_the_score(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("item,score,seconds\na,1,1.25\nb,0,1.75\n")
    lines = str(summarize(path)).splitlines()
    header = next(line for line in lines if line.startswith("model"))
    assert header.split()[-1] == "seconds"
    assert lines[lines.index(header) + 1].split()[-1] == "1.5"


class _Log(AnswersLog):
    format = "lm-eval"

    def read(self) -> Answers:
        names = [f"{self.task}-{i}" for i in range(2)]
        costs = {"tokens_out": [3.0, 5.0]} if self.task == "one" else {}
        return Answers(names, names, {"acc": [1.0, 0.0]}, costs=costs)


def test_logs_of_which_one_knows_its_costs_are_joined_by_hand() -> None:
    logs = [_Log(task, (Path(task),), "m", task, "") for task in ("one", "two")]
    (source,) = sources_of([NamedLog(None, log.label, log) for log in logs], Selection(task="*"), None)
    assert set(source.columns) >= {"item", "score", "tokens_out"}
    (costs,) = source.read([("tokens_out", "number")])
    np.testing.assert_array_equal(costs, [3.0, 5.0, np.nan, np.nan])
    assert set(COSTS) >= {"tokens_out"}
