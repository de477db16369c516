"""Answers as models write them: what the benchmark's rules read in them."""

import pytest

from assay.data.survey.parsing import keyed_percentages, percentages, shares_of


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[30.0, 53.1, 16.9]", [30.0, 53.1, 16.9]),
        ("Thinking [1, 2].\nDISTRIBUTION: [40%, 60%]", [40, 60]),
        ("distribution: [1,2,3]", [1, 2, 3]),
        ("Sure! [10, 90] and then [20, 80]", [10, 90]),
        ("[about, 20, 80]", [20, 80]),
        ("I think 45.2%, 30.1%; 24.7%", [45.2, 30.1, 24.7]),
        ("a. Yes: 45%\nb. No: 55%", [45, 55]),
        ('{"a": 45, "b": 55}', [45, 55]),
        ("A = 10%, C = 20%, B = 70%", [10, 20]),  # a line of commas comes first, as the benchmark has it
        ("b: 70\na: 30", [30, 70]),
        ("a: 30\nc: 70", None),
        ("I cannot answer that.", None),
        ("", None),
        ("[]", None),
    ],
)
def test_answers_as_they_occur(text: str, expected: list[float] | None) -> None:
    assert percentages(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"Q1": [1, 2], "Q2": [3, 4]}', [3, 4]),
        ('```json\n{"Q1": [1, 2],\n "Q2": [3, 4.5]}\n```', [3, 4.5]),
        ('{"Q1": [1, 2], "Q2": [3, 4],}', [3, 4]),  # not JSON, read by hand
        ('{"Q1": [1, 2], "Q2": [x, 4],}', [1, 2]),  # as the benchmark: the first brackets
        ("[5, 95]", [5, 95]),
        ('{"Q1": [1, 2]}', [1, 2]),
        ('{"Q2": "no"}', None),
    ],
)
def test_answers_to_several_questions(text: str, expected: list[float] | None) -> None:
    assert keyed_percentages(text, "Q2") == expected


def test_shares_sum_to_one_or_are_none() -> None:
    assert shares_of([30, 50, 20]) == [0.3, 0.5, 0.2]
    assert shares_of([0, 0]) == [0.5, 0.5]  # as the benchmark
    assert shares_of([1, -1]) is None
    assert shares_of([float("inf"), 1]) is None
    assert shares_of([1e308, 1e308]) is None
    assert shares_of([]) is None
