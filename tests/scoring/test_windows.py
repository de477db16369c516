"""The plan of windows against its specification, written out token by token."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import InputError, UsageError
from assay.scoring.windows import Cut, Layout, batches_of, drawn_windows, windows_of
from tests.scoring.lm_eval_windows import get_rolling_token_windows

CUTS: tuple[Cut, ...] = ("rolling", "fresh")


@st.composite
def layouts(draw: st.DrawFn, cuts: tuple[Cut, ...] = CUTS) -> Layout:
    context = draw(st.integers(3, 24))
    stride = draw(st.none() | st.integers(1, context))
    return Layout(context, stride, draw(st.booleans()), draw(st.sampled_from(cuts)))


@given(length=st.integers(0, 80), context=st.integers(2, 24), stride=st.none() | st.integers(1, 24), data=st.data())
def test_rolling_windows_against_lm_eval(length: int, context: int, stride: int | None, data: st.DataObject) -> None:
    step = min(stride or context, context)
    ids = data.draw(st.lists(st.integers(0, 50), min_size=length, max_size=length))
    layout = Layout(context, step, bos=True)
    rows = [(layout.row(np.array(ids, dtype=np.int64), w, 99), w.tokens) for w in windows_of([length], layout)]
    ours = [(row[:-1], row[len(row) - tokens :]) for row, tokens in rows]
    assert ours == list(get_rolling_token_windows(ids, 99, context, context - step + 1))


@given(lengths=st.lists(st.integers(0, 80), max_size=5), layout=layouts(("rolling",)))
def test_rolling_windows_predict_every_token_once_by_hand(lengths: list[int], layout: Layout) -> None:
    predicted = []
    for window in windows_of(lengths, layout):
        row = layout.row(np.arange(lengths[window.document]), window, 99 if layout.bos else None)
        fed = len(row) - 1
        assert 1 <= fed <= layout.context
        is_first = window.first == (0 if layout.bos else 1)
        assert is_first or fed == layout.context  # reaches back to a full context, or goes on from one
        assert window.first - window.start >= (0 if layout.bos and is_first else 1)
        predicted += [(window.document, token) for token in range(window.first, window.stop)]
    wanted = [(at, token) for at, length in enumerate(lengths) for token in range(0 if layout.bos else 1, length)]
    assert predicted == wanted


@given(lengths=st.lists(st.integers(0, 80), max_size=5), layout=layouts(("fresh",)))
def test_each_token_is_predicted_once_and_the_right_ones_never_against_the_specification(
    lengths: list[int], layout: Layout
) -> None:
    predicted: list[tuple[int, int]] = []
    for window in windows_of(lengths, layout):
        assert window.length + layout.bos <= layout.context
        assert window.tokens >= 1
        predicted += [(window.document, token) for token in range(window.first, window.stop)]
    assert len(predicted) == len(set(predicted))
    for document, length in enumerate(lengths):
        never = set(range(length)) - {token for at, token in predicted if at == document}
        without_context = set() if layout.overlaps else set(range(layout.step, length, layout.step))
        first = set() if layout.bos else {0}
        assert never == (without_context | first) & set(range(length))


@given(lengths=st.lists(st.integers(1, 80), min_size=1, max_size=4), layout=layouts(("fresh",)))
def test_overlapping_windows_give_the_promised_context(lengths: list[int], layout: Layout) -> None:
    for window in windows_of(lengths, layout):
        if window.start > 0:
            assert window.first - window.start >= max(layout.room - layout.step, 1)


@given(lengths=st.lists(st.integers(0, 300), max_size=6), layout=layouts(), budget=st.integers(1, 400))
def test_batches_hold_every_window_once_and_hardly_any_padding(lengths: list[int], layout: Layout, budget: int) -> None:
    windows = windows_of(lengths, layout)
    batches = batches_of(windows, budget)
    assert sorted(i for batch in batches for i in batch) == list(range(len(windows)))
    for batch in batches:
        longest = max(windows[i].length for i in batch)
        assert len(batch) == 1 or longest * len(batch) <= budget
        assert all(windows[i].length >= 0.9 * longest for i in batch)


@given(seed=st.integers(0, 2**32), preview=st.integers(1, 6), final=st.integers(1, 6), cut=st.sampled_from(CUTS))
def test_drawn_windows_do_not_overlap_and_are_the_same_for_a_seed(
    seed: int, preview: int, final: int, cut: Cut
) -> None:
    layout = Layout(10, cut=cut)
    windows = windows_of([95, 7, 60], layout)
    drawn = drawn_windows(windows, layout, preview, final, seed)
    assert drawn == drawn_windows(windows, layout, preview, final, seed)
    assert [w.split for w in drawn].count("preview") == preview
    assert [w.split for w in drawn].count("final") == final
    predicted = [(w.document, token) for w in drawn for token in range(w.first, w.stop)]
    assert len(predicted) == len(set(predicted)) == (preview + final) * (10 if cut == "rolling" else 9)
    assert all(layout.is_full(w) for w in drawn)  # enough full windows, so only full ones


def test_every_window_is_drawn_equally_often_against_the_binomial() -> None:
    layout = Layout(10, bos=True)
    windows = windows_of([100], layout)
    counts = dict.fromkeys((w.start for w in windows), 0)
    for seed in range(600):
        for window in drawn_windows(windows, layout, 2, 3, seed):
            counts[window.start] += 1
    assert all(abs(count - 300) < 4.5 * (600 * 0.25) ** 0.5 for count in counts.values())


def test_too_little_text_says_how_many_windows_there_are() -> None:
    layout = Layout(10, bos=True)
    with pytest.raises(InputError, match="has 10 windows of 10 tokens, 12 are needed"):
        drawn_windows(windows_of([100], layout), layout, 6, 6, 0)


@pytest.mark.parametrize(
    ("context", "stride", "bos", "cut"),
    [
        (0, None, False, "rolling"),
        (-5, None, False, "rolling"),
        (1, None, False, "rolling"),
        (1, None, False, "fresh"),
        (2, None, True, "fresh"),
        (8, 0, False, "rolling"),
        (8, 9, False, "fresh"),
        (8, None, False, "sideways"),
    ],
)
def test_layouts_that_make_no_sense_are_refused(context: int, stride: int | None, bos: bool, cut: Cut) -> None:
    with pytest.raises(UsageError, match="must be"):
        Layout(context, stride, bos, cut)


def test_drawing_overlapping_windows_is_refused() -> None:
    layout = Layout(10, 5)
    with pytest.raises(UsageError, match="do not overlap"):
        drawn_windows(windows_of([100], layout), layout, 1, 1, 0)


@pytest.mark.parametrize(("preview", "final"), [(0, 3), (3, 0), (-1, 4)])
def test_drawing_no_windows_is_refused(preview: int, final: int) -> None:
    layout = Layout(10)
    with pytest.raises(UsageError, match="at least 1 preview and 1 final"):
        drawn_windows(windows_of([100], layout), layout, preview, final, 0)
