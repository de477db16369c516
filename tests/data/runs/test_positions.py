"""Token losses by position. Oracle: numpy over all tokens in memory."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.data.runs.positions import (
    Bin,
    PositionSums,
    binned,
    check_plans,
    check_tokens,
    equal_bins,
    log_bins,
    open_tokens,
    read_positions,
)
from assay.errors import InputError, UsageError
from tests.data.files import checked_message
from tests.data.runs.token_runs import Tokens, by_hand, story, write_run

COUNTS = st.dictionaries(st.integers(0, 60), st.integers(1, 50), min_size=2)


def read(folder: Path, bins: int | str = "log") -> tuple[list[Bin], PositionSums]:
    edges, (sums,) = read_positions([open_tokens(folder)], "log" if bins == "log" else int(bins))
    return edges, sums


# ----------------------------------------------------------------------------------------------------------------- bins


@given(st.integers(0, 5000), st.integers(0, 5000))
def test_log_bins_cover_every_position_once_and_end_at_powers_of_two(lowest: int, more: int) -> None:
    bins = log_bins(lowest, lowest + more)
    covered = [position for b in bins for position in range(b.low, b.high + 1)]
    assert covered == list(range(lowest, lowest + more + 1))
    assert all(b.high in (0, lowest + more) or b.high & (b.high - 1) == 0 for b in bins)
    assert all(b.high < 2 * b.low for b in bins if b.low > 2)


def test_log_bins_are_those_of_the_issue() -> None:
    assert [str(b) for b in log_bins(1, 2048)][:5] == ["1", "2", "3–4", "5–8", "9–16"]
    assert str(log_bins(1, 2048)[-1]) == "1,025–2,048"
    assert [str(b) for b in log_bins(100, 300)] == ["100–128", "129–256", "257–300"]


@given(COUNTS, st.integers(2, 10))
def test_equal_bins_cover_every_position_once(counts: dict[int, int], n: int) -> None:
    n = min(n, len(counts))
    bins = equal_bins(counts, n)
    assert len(bins) == n
    assert [p for b in bins for p in sorted(counts) if b.low <= p <= b.high] == sorted(counts)
    assert all(a.high < b.low for a, b in pairwise(bins))


@pytest.mark.parametrize("n", [2, 4, 5, 10])
def test_equal_bins_of_equal_counts_are_equal(n: int) -> None:
    held = [b.high - b.low + 1 for b in equal_bins(dict.fromkeys(range(1, 101), 7), n)]
    assert held == [100 // n] * n


def test_bins_that_make_no_sense_are_refused() -> None:
    counts = {1: 5, 2: 5, 3: 5}
    for wrong in (-1, 0, 1, 4):
        with pytest.raises(UsageError, match=f"from 2 to 3.*but got {wrong}"):
            binned(counts, wrong, "r")
    with pytest.raises(InputError, match=r"same position \(7\).*`context`"):
        binned({7: 100}, "log", "r")


# ----------------------------------------------------------------------------------------------------------------- sums


@pytest.mark.parametrize("bins", ["log", 3, 7])
def test_sums_against_numpy_over_all_tokens(tmp_path: Path, bins: int | str) -> None:
    documents = story(1, 30)
    edges, sums = read(write_run(tmp_path / "r", documents, shards=3), bins)
    assert sums.cluster_by == "document"
    assert sums.clusters.tolist() == sorted(d.document for d in documents)
    for k, edge in enumerate(edges):
        loss, tokens = by_hand(documents, edge.low, edge.high)
        np.testing.assert_array_equal(sums.tokens[:, k], tokens)
        np.testing.assert_allclose(sums.loss[:, k], loss, rtol=0, atol=1e-10)
    for row, document in enumerate(sorted(documents, key=lambda d: d.document)):
        x, y = np.log2(document.position), np.asarray(document.loss)
        for name, by_numpy in (("x", x), ("xx", x * x), ("xy", x * y)):
            assert getattr(sums, name)[row].sum() == pytest.approx(by_numpy.sum(), abs=1e-9)


def test_order_of_documents_and_shards_changes_no_bit(tmp_path: Path) -> None:
    documents = story(2, 25)
    first = read(write_run(tmp_path / "a", documents, shards=1))[1]
    second = read(write_run(tmp_path / "b", documents[::-1], shards=4))[1]
    for name in ("clusters", "tokens", "loss", "x", "xx", "xy", "prints"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))


def test_windows_of_one_document_are_the_clusters(tmp_path: Path) -> None:
    windows = [Tokens("book", range(1, 6), [1.0 * i] * 5, window=f"book:{6 * i}", first=6 * i + 1) for i in range(1, 5)]
    edges, sums = read(write_run(tmp_path / "r", windows))
    assert sums.cluster_by == "window"
    assert sums.clusters.tolist() == ["book:12", "book:18", "book:24", "book:6"]
    assert [str(edge) for edge in edges] == ["1", "2", "3–4", "5"]
    assert sums.loss[:, 2].tolist() == [4.0, 6.0, 8.0, 2.0]


def test_position_0_is_a_bin_of_its_own(tmp_path: Path) -> None:
    documents = [Tokens(f"d{i}", range(5), [5.0, 4, 3, 2, 1]) for i in range(3)]
    edges, sums = read(write_run(tmp_path / "r", documents))
    assert [str(edge) for edge in edges] == ["0", "1", "2", "3–4"]
    assert sums.x[0].tolist() == [0.0, 0.0, 1.0, pytest.approx(2 + np.log2(3))]


# ------------------------------------------------------------------------------------------------------------ refusals


def assert_refused(folder: Path, *parts: str) -> None:
    with pytest.raises(InputError) as caught:
        read(folder)
    checked_message(caught.value, str(folder), *parts)


def test_a_run_without_tokens_says_how_to_get_them(tmp_path: Path) -> None:
    assert_refused(write_run(tmp_path / "r", story(1, 5), keep_tokens=False), "`keep_tokens=True`")


def test_an_incomplete_run_is_refused(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "r", story(1, 5))
    (folder / "windows-00001.parquet").unlink()
    assert_refused(folder, "not complete", "1 of 2", "assay score")


def test_a_missing_shard_of_tokens_is_named(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "r", story(1, 5))
    (folder / "tokens-00001.parquet").unlink()
    assert_refused(folder, "tokens-00001.parquet", "windows-00001.parquet", "assay score")


def test_a_damaged_shard_is_refused(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "r", story(1, 5))
    (folder / "tokens-00001.parquet").write_bytes(b"PAR1 and nothing else")
    assert_refused(folder, "cannot be read", "`overwrite=True`")


@pytest.mark.parametrize(("loss", "said"), [(float("nan"), "missing"), (float("inf"), "inf"), (1e9, "1e+09")])
def test_a_loss_that_is_none_is_refused_by_document_and_token(tmp_path: Path, loss: float, said: str) -> None:
    documents = [*story(1, 5), Tokens("bad one", [1, 2, 3], [1.0, loss, 1.0])]
    assert_refused(write_run(tmp_path / "r", documents), "'bad one'", "token 1", f"loss is {said};")


def test_a_run_without_any_token_is_refused(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "r", story(1, 5), shards=1)
    shard = folder / "tokens-00000.parquet"
    duckdb.connect().read_parquet(str(shard)).limit(0).write_parquet(str(shard))
    assert_refused(folder, "no tokens")


def test_a_negative_position_is_refused(tmp_path: Path) -> None:
    documents = [*story(1, 5), Tokens("d", [-1, 0], [1.0, 1.0])]
    assert_refused(write_run(tmp_path / "r", documents), "position must be 0 or more, but got -1")


def test_one_document_in_one_window_is_refused(tmp_path: Path) -> None:
    assert_refused(
        write_run(tmp_path / "r", [Tokens("d", [1, 2, 3], [3.0, 2, 1])], shards=1), "one document in one window"
    )


def test_one_position_is_refused(tmp_path: Path) -> None:
    documents = [Tokens(f"d{i}", [1], [2.0]) for i in range(5)]
    assert_refused(write_run(tmp_path / "r", documents), "same position (1)", "longer `context`")


PLANS: dict[str, tuple[dict[str, Any], str]] = {
    "tokenizers": ({"model": {"name": "m", "digests": {"tokenizer": "sha256:other"}}}, "different tokenizers"),
    "texts": ({"text": {"documents": 5, "sha256": "sha256:y"}}, "different texts"),
    "context": ({"layout": {"context": 128, "stride": 64, "bos": False}}, "context 64 and 128"),
    "drawn windows": ({"draw": {"preview": 2, "final": 2, "seed": 0}}, "preview None and 2"),
}


@pytest.mark.parametrize("case", PLANS)
def test_plans_that_differ_are_refused_by_what_differs(tmp_path: Path, case: str) -> None:
    changed, part = PLANS[case]
    a = open_tokens(write_run(tmp_path / "a", story(1, 5)))
    b = open_tokens(write_run(tmp_path / "b", story(1, 5), **changed))
    with pytest.raises(InputError) as caught:
        check_plans(a, b)
    checked_message(caught.value, a.label, b.label, part)


def test_unknown_tokenizers_are_left_to_the_tokens_themselves(tmp_path: Path) -> None:
    a = open_tokens(write_run(tmp_path / "a", story(1, 5)))
    b = open_tokens(write_run(tmp_path / "b", story(1, 5), model={"name": "hub", "digests": {"tokenizer": None}}))
    check_plans(a, b)
    assert b.name == "hub"


def test_documents_that_one_run_lacks_are_named(tmp_path: Path) -> None:
    documents = story(1, 8)
    a, b = (read(write_run(tmp_path / name, part))[1] for name, part in (("a", documents), ("b", documents[:-4])))
    with pytest.raises(InputError) as caught:
        check_tokens(a, b)
    checked_message(caught.value, "different documents", "4 in one only", "'d004', 'd005', 'd006', …")


def test_tokens_at_other_positions_are_named_by_document(tmp_path: Path) -> None:
    """Same documents, as many tokens in each bin; but one token stands elsewhere."""
    documents = [Tokens(f"d{i}", range(1, 9), [1.0] * 8) for i in range(5)]
    moved = [*documents[:3], Tokens("d3", [1, 2, 3, 4, 5, 5, 7, 8], [1.0] * 8), documents[4]]
    a, b = (read(write_run(tmp_path / name, part))[1] for name, part in (("a", documents), ("b", moved)))
    np.testing.assert_array_equal(a.tokens, b.tokens)
    with pytest.raises(InputError) as caught:
        check_tokens(a, b)
    checked_message(caught.value, "different tokens", "'d3'")
