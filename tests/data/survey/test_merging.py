"""Coarser segments: respondents and predictions added up by hand, the same whatever was merged, and refusals."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay import Design, InputError, UsageError, survey
from assay.analyses.survey.intervals import ScoreIntervals
from assay.analyses.survey.scores import Scores
from assay.data.survey import read_predictions, read_truth
from assay.data.survey.merging import merged, merged_round, read_merging
from assay.data.survey.predictions import ERROR, OK, UNPARSEABLE, WRONG_LENGTH

ASKED: dict[str, list[Any]] = {
    "question": ["q1", "q1", "q1", "q2", "q2", "q1"],
    "segment": ["age:young", "age:middle", "age:old", "age:young", "age:old", "place:all"],
    "n": [40, 60, 100, 30, 90, 200],
    "yes": [50, 25, 80, 10, 40, 60],
    "no": [50, 75, 20, 90, 60, 40],
}
INTO = {"segment": ["age:young", "age:middle"], "into": ["age:under 60"] * 2}
GUESSED: dict[str, list[Any]] = {
    "model": ["m"] * 6,
    "question": ASKED["question"],
    "segment": ASKED["segment"],
    "yes": [40, 10, 70, 20, 50, 55],
    "no": [60, 90, 30, 80, 50, 45],
}


def test_respondents_are_added_by_hand() -> None:
    truth = read_truth(ASKED)
    found = merged(truth, read_merging(INTO, truth)).truth
    assert [one.id for one in found.segments] == ["age:under 60", "age:old", "place:all"]
    assert [one.n for one in found.segments] == [100, 100, 200]
    place = found.place["q1", "age:under 60"]
    assert found.n[place] == 100
    assert found.shares[place].tolist() == pytest.approx([0.35, 0.65])  # (20 + 15) of 100
    assert found.n[found.place["q2", "age:under 60"]] == 30  # the middle ones were not asked
    assert found.shares[found.place["q2", "age:under 60"]].tolist() == pytest.approx([0.1, 0.9])
    assert "2 segments merged into 1" in found.notes[-1]


def test_predictions_are_weighted_by_respondents_by_hand() -> None:
    truth = read_truth(ASKED)
    whole = merged(truth, read_merging(INTO, truth))
    found = whole.predictions(read_predictions([GUESSED], truth))
    row = np.flatnonzero(found.cell == whole.truth.place["q1", "age:under 60"])
    assert found.shares[row].tolist() == [pytest.approx([0.4 * 0.4 + 0.6 * 0.1, 0.4 * 0.6 + 0.6 * 0.9])]
    assert len(found) == 5
    assert set(found.status.tolist()) == {OK}


@pytest.mark.parametrize(("yes", "no", "status"), [(None, None, UNPARSEABLE), (50, None, WRONG_LENGTH)])
def test_a_part_that_failed_makes_the_whole_fail(yes: int | None, no: int | None, status: int) -> None:
    truth = read_truth(ASKED)
    whole = merged(truth, read_merging(INTO, truth))
    broken = GUESSED | {"yes": [40, yes, 70, 20, 50, 55], "no": [60, no, 30, 80, 50, 45]}
    found = whole.predictions(read_predictions([broken], truth))
    assert found.status[found.cell == whole.truth.place["q1", "age:under 60"]].tolist() == [status]


def test_a_part_without_an_answer_leaves_the_whole_without_one() -> None:
    truth = read_truth(ASKED)
    whole = merged(truth, read_merging(INTO, truth))
    some = {name: [value for i, value in enumerate(column) if i != 1] for name, column in GUESSED.items()}
    found = whole.predictions(read_predictions([some], truth))
    assert found.status[found.cell == whole.truth.place["q1", "age:under 60"]].tolist() == [ERROR]
    assert "1 answers about merged segments left out" in found.notes[-1]


def test_another_round_without_a_part_lacks_the_whole() -> None:
    truth, into = read_truth(ASKED), read_merging(INTO, read_truth(ASKED))
    assert "age:under 60" in merged_round(truth, into).segment_codes
    some = {name: [value for i, value in enumerate(column) if i != 1] for name, column in ASKED.items()}
    assert set(merged_round(read_truth(some), into).segment_codes) == {"age:old", "place:all"}


@given(st.sets(st.sampled_from(sorted(set(ASKED["segment"]))), min_size=1))
@settings(max_examples=15, deadline=None)
def test_a_segment_merged_into_its_own_name_changes_nothing(chosen: set[str]) -> None:
    truth = read_truth(ASKED)
    into = read_merging({"segment": sorted(chosen), "into": sorted(chosen)}, truth)
    whole, given_ = merged(truth, into), read_predictions([GUESSED], truth)
    assert whole.truth.digest == truth.digest
    assert whole.predictions(given_).digest == given_.digest


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"segment": ["age:new"], "into": ["x"]}, "row 1: the table has no segment 'age:new'; it has age:young"),
        ({"segment": ["age:old", "age:old"], "into": ["x", "y"]}, "'age:old' is merged into 'x' already; keep one row"),
        ({"segment": ["age:old", "place:all"], "into": ["x", "x"]}, "merge segments of one category"),
        ({"segment": ["age:old"], "into": ["age:young"]}, "'age:young' is a segment that is not merged"),
        ({"segment": ["age:old"], "into": [""]}, "the name to merge into is empty"),
        ({"segment": [""], "into": ["x"]}, "the segment is empty"),
        ({"segments": ["age:old"], "into": ["x"]}, "no column segment among its columns"),
    ],
)
def test_bad_mappings_are_refused(table: dict[str, list[str]], message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_merging(table, read_truth(ASKED))


def test_scores_alone_and_a_published_summary_cannot_be_merged(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="leave out `summary` or `merge`"):
        survey(ASKED, GUESSED, merge=INTO, summary=tmp_path / "summary.json")


def test_the_whole_report_on_coarser_segments_by_hand() -> None:
    """As if the merged answers had been in the table from the start."""
    coarse: dict[str, list[Any]] = {
        "question": ["q1", "q1", "q2", "q2", "q1"],
        "segment": ["age:under 60", "age:old", "age:under 60", "age:old", "place:all"],
        "n": [100, 100, 30, 90, 200],
        "yes": [35, 80, 10, 40, 60],
        "no": [65, 20, 90, 60, 40],
    }
    guess = {name: coarse[name] for name in ("question", "segment")}
    guess |= {"model": ["m"] * 5, "yes": [22, 70, 20, 50, 55], "no": [78, 30, 80, 50, 45]}
    only = ["scores", "intervals"]
    ours = survey(ASKED, GUESSED, merge=INTO, only=only, min_n=60)
    theirs = survey(coarse, guess, only=only, min_n=60)  # 40 young ones alone would have been left out
    found, expected = ours.analyses["scores"], theirs.analyses["scores"]
    assert isinstance(found, Scores)
    assert isinstance(expected, Scores)
    assert found.models[0].score == pytest.approx(expected.models[0].score)
    one, two = ours.analyses["intervals"], theirs.analyses["intervals"]
    assert isinstance(one, ScoreIntervals)
    assert isinstance(two, ScoreIntervals)
    assert one.models[0].corrected.value == pytest.approx(two.models[0].corrected.value)


def test_scores_by_category_are_means_over_its_segments_by_hand() -> None:
    found = survey(ASKED, GUESSED, only=["intervals"], by="category", design=Design(resamples=100))
    intervals = found.analyses["intervals"]
    assert isinstance(intervals, ScoreIntervals)
    segments = {one.part: one.score or 0.0 for one in intervals.segments}
    ages = [value for name, value in segments.items() if name.startswith("age:")]
    assert {one.part: one.score for one in intervals.categories} == {
        "age": pytest.approx(np.mean(ages)),
        "place": pytest.approx(segments["place:all"]),
    }
    assert found.tables[-1].header[:3] == ("category", "model", "score")
    only_place = next(one.corrected for one in intervals.categories if one.part == "place")
    own = next(one.corrected for one in intervals.segments if one.part == "place:all")
    assert only_place.value == pytest.approx(own.value)
    with pytest.raises(UsageError, match="`by` is shown with the intervals"):
        survey(ASKED, GUESSED, only=["scores"], by="category")
