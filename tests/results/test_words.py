"""Numbers as people write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.results import words
from assay.stats.records import Estimate, Interval


def _float(text: str) -> float:
    return float(text.replace("−", "-").replace(",", ""))


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (0.0, 4, "0"),
        (3.14159265, 4, "3.142"),
        (-0.5, 4, "−0.5"),
        (1234.5678, 6, "1234.57"),
        (0.00012345, 3, "0.000123"),
        (0.000012345, 3, "1.23e-05"),
        (1.5e200, 4, "1.5e+200"),
    ],
)
def test_significant_digits(value: float, digits: int, text: str) -> None:
    assert words.number(value, digits) == text


@pytest.mark.parametrize(
    ("low", "high", "sign", "text"),
    [
        (0.95, 1.05, False, "0.950 to 1.050"),
        (-0.0634, -0.000928, True, "−0.0634 to −0.0009"),
        (0.06284, 0.07053, True, "+0.06284 to +0.07053"),
        (-120.0, 340.0, True, "−120 to +340"),
        (0.5, 0.5, False, "0.5 to 0.5"),
        (0.0, 0.0, True, "0 to 0"),
        (-1e200, 6e200, True, "−1e+200 to +6e+200"),
        (1e-201, 4e-200, True, "+1e-201 to +4e-200"),
    ],
)
def test_intervals_show_three_digits_of_their_width(low: float, high: float, sign: bool, text: str) -> None:
    assert words.interval(Interval(low, high, 0.95, "bca"), sign=sign) == text


def test_a_rounded_zero_has_no_sign() -> None:
    assert words.placed(-0.0001, 2, sign=True) == "0.00"
    assert words.placed(0.0001, 2, sign=True) == "0.00"


@given(st.floats(-1e12, 1e12), st.floats(1e-12, 1e12))
def test_an_interval_is_readable_and_close(low: float, width: float) -> None:
    limits = Interval(low, low + width, 0.95, "bca")
    shown = [_float(part) for part in words.interval(limits).split(" to ")]
    reach = max(0.006 * (limits.high - limits.low), 6e-6 * max(abs(limits.low), abs(limits.high)))
    assert shown == pytest.approx([limits.low, limits.high], abs=reach)


@pytest.mark.parametrize(
    ("p", "text"), [(1.0, "p = 1"), (0.0456, "p = 0.046"), (3.14e-90, "p = 3.1e-90"), (1e-300, "p < 1e-299")]
)
def test_p_is_two_digits_and_never_zero(p: float, text: str) -> None:
    assert words.p_value(p) == text


@pytest.mark.parametrize(
    ("level", "text"), [(0.95, "95%"), (0.999, "99.9%"), (0.5, "50%"), (0.07, "7%"), (1.0, "100%")]
)
def test_percent(level: float, text: str) -> None:
    assert words.percent(level) == text


@pytest.mark.parametrize(("n", "text"), [(0, "0 items"), (1, "1 item"), (1319, "1,319 items")])
def test_counts(n: int, text: str) -> None:
    assert words.count(n, "item") == text


def test_a_limit_next_to_zero_does_not_look_like_zero() -> None:
    """A step-down test may tell two apart whose interval ends just beside 0: printed as 0 it would say the opposite."""
    assert words.interval(Interval(1e-11, 0.03, 0.95, "tango"), sign=True) == ">0 to +0.0300"
    assert words.interval(Interval(-0.03, -1e-11, 0.95, "tango"), sign=True) == "−0.0300 to <0"
    assert words.interval(Interval(0.0, 0.03, 0.95, "tango"), sign=True) == "0.0000 to +0.0300"
    assert words.interval(Interval(0.00003, 0.03, 0.95, "tango"), sign=True) == "+0.00003 to +0.0300"
    assert words.interval(Interval(1e-11, 0.03, 0.95, "t")) == "0.0000 to 0.0300"


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (1.00004, 1.03, "1.00004 to 1.0300"),
        (1 + 1e-11, 1.03, ">1 to 1.0300"),
        (0.97, 0.99999, "0.9700 to 0.99999"),
        (0.97, 1 - 1e-11, "0.9700 to <1"),
        (1.0, 1.03, "1.0000 to 1.0300"),
        (0.99999, 1.03, "1.0000 to 1.0300"),  # it has 1 in it, and looks so
        (1 + 9.6e-12, 1 + 1.02e-11, "1.000000000009600 to 1.000000000010200"),
    ],
)
def test_a_ratio_that_is_not_1_does_not_look_like_1(low: float, high: float, text: str) -> None:
    """1.0000000000096 to 1.0000000000102 was "1 to 1", beside "worse"."""
    assert words.interval(Interval(low, high, 0.95, "bca"), null=1.0) == text


@given(st.floats(-16, 1), st.floats(-16, 0), st.sampled_from([-1, 1]), st.sampled_from([0.0, 1.0]))
def test_an_interval_that_leaves_out_the_null_looks_so(near: float, width: float, side: int, null: float) -> None:
    ends = sorted((null + side * 10**near, null + side * (10**near + 10**width)))
    limits = Interval(ends[0], ends[1], 0.95, "bca")
    shown = words.interval(limits, sign=null == 0, null=null).split(" to ")
    for text, limit in zip(shown, ends, strict=True):
        if limit != null and text[0] not in "<>":
            assert (_float(text) > null) == (limit > null)
            assert (_float(text) < null) == (limit < null)
        elif limit != null:
            assert text == f"{'>' if limit > null else '<'}{null:g}"


@given(st.floats(0.5, 1, exclude_max=True))
def test_a_level_below_1_is_never_100_percent(level: float) -> None:
    text = words.percent(level).removesuffix("%")
    assert float(text) < 100
    assert float(text) == pytest.approx(100 * level, rel=1e-5)


@given(st.floats(0, 10), st.floats(0, 10))
def test_two_numbers_look_different_if_they_are(a: float, b: float) -> None:
    first, second = words.apart(a, b)
    assert (first == second) == (a == b)
    assert float(first) == pytest.approx(a, rel=1e-3)


@pytest.mark.parametrize(
    ("found", "sign", "text"),
    [
        (Estimate(0.0239, Interval(0.0143, 0.0687, 0.95, "F"), None, 5), False, "0.024 [0.014 to 0.069]"),
        (Estimate(0.5, Interval(-1.25, 2.25, 0.95, "t"), None, 5), True, "+0.5 [−1.2 to +2.2]"),
        (Estimate(120.0, Interval(80.0, 340.0, 0.95, "t"), None, 5), False, "120 [80 to 340]"),
        (Estimate(0.25, None, None, 5, "equal"), True, "+0.25"),
        (Estimate(None, None, None, 0, "nothing"), False, "undefined"),
        (None, False, "undefined"),
    ],
)
def test_compact_has_a_place_fewer_than_a_sentence(found: Estimate | None, sign: bool, text: str) -> None:
    assert words.compact(found, sign=sign) == text


def test_compact_limits_stand_alone() -> None:
    assert words.compact_limits(Interval(0.0143, 0.0687, 0.95, "F")) == "[0.014 to 0.069]"
    assert words.compact_limits(None) == "undefined"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0%"),
        (1.0, "100%"),
        (0.93, "93%"),
        (0.996, "99.6%"),
        (0.99999, "99.999%"),
        (0.0004, "0.04%"),
        (0.5, "50%"),
    ],
)
def test_a_share_is_never_all_or_nothing_by_rounding(value: float, text: str) -> None:
    assert words.share(value) == text


@given(st.floats(0, 1))
def test_a_share_reads_as_what_it_is(value: float) -> None:
    shown = float(words.share(value).removesuffix("%"))
    assert shown == pytest.approx(100 * value, abs=0.5)
    assert (shown == 100) == (value == 1 or 1 - value < 1e-17)


@pytest.mark.parametrize(("value", "text"), [(0.0, "<1%"), (0.004, "<1%"), (0.5, "50%"), (0.996, ">99%")])
def test_chances_are_never_certain(value: float, text: str) -> None:
    assert words.chance(value) == text


def test_p_values_in_columns_have_two_digits_or_a_dash() -> None:
    assert [words.p_alone(p) for p in (None, 0.0312, 1e-300)] == ["–", "0.031", "1e-300"]


def test_lists_of_names_end_with_how_many_more() -> None:
    assert words.listed(["a"], 4) == "a"
    assert words.listed(["a", "b", "c"], 4) == "a, b and c"
    assert words.listed(list("abcdefg"), 4) == "a, b, c and 4 others"


def test_shared_decimals_suit_the_narrowest_interval() -> None:
    wide, narrow = Interval(0.1, 0.9, 0.95, "t"), Interval(0.40, 0.43, 0.95, "t")
    assert words.decimals(narrow) == 4
    assert words.shared_decimals([wide, None, narrow], digits=3) == 4
    assert words.shared_decimals([wide, narrow], digits=2) == 3
    assert words.shared_decimals([None], digits=2) is None


def test_fixed_places_of_numbers_estimates_and_limits() -> None:
    limits = Interval(-0.25, 0.5, 0.95, "t")
    show = words.fixed(2, sign=True)
    assert show(Estimate(0.125, limits, None, 4)) == "+0.12 [−0.25 to +0.50]"
    assert (show(limits), show(0.5), show(None)) == ("[−0.25 to +0.50]", "+0.50", "–")
    assert show(Estimate(0.5, None, None, 1, "one question")) == "+0.50"
    nothing = Estimate(None, None, None, 0, "no answer")
    assert (show(nothing), words.fixed(2, undefined="undefined")(nothing)) == ("–", "undefined")
    assert words.fixed(0, percent=True)(limits) == "[−25% to 50%]"
