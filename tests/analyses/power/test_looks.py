"""`power --sequential`: the items of a single look times what looking costs."""

import re
from math import ceil

import pytest

import assay
from assay.analyses.power.looks import with_looks
from assay.errors import UsageError


def test_items_by_hand() -> None:
    single = assay.power(assay.Spread(sd=0.145), difference=0.02)
    found = with_looks(single, 5)
    assert found.study is not None
    assert found.items == single.items == 415
    assert f"at most {ceil(415 * found.study.inflation)} items" in found.sentence
    assert [row[0] for row in found.table("looks").rows] == ["1", "2", "3", "4", "5"]
    looks = next(fact for fact in found.main_facts if fact.label == "with 5 looks")
    assert all(number in found.sentence for number in re.findall(r"[\d,]*\d", looks.text))  # the page says what it says
    assert assay.Power.from_dict(found.to_dict()) == found


def test_other_questions_are_refused() -> None:
    with pytest.raises(UsageError, match="plans the items for a difference"):
        with_looks(assay.power(assay.Spread(sd=0.1), items=100), 5)
    with pytest.raises(UsageError, match="looks must be from 2"):
        with_looks(assay.power(assay.Spread(sd=0.1), difference=0.05), 1)
