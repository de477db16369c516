"""`context`. Oracles: numpy by hand over all tokens, and statsmodels' least squares with an effect per document."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assay.analyses.context import PositionTables, context, gain_family, slope_family
from assay.analyses.context.result import ContextCurve, ModelCurve
from assay.data import Panel
from assay.data.runs.positions import Bin, open_tokens, positions_panel, read_positions
from assay.design import Design
from assay.errors import InputError, UsageError
from assay.stats.bootstrap.simultaneous import Family
from assay.stats.units import Floats, standard_error
from tests.data.runs.token_runs import Tokens, by_hand, story, write_run

QUICK = Design(resamples=199)
FOLDERS = settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("pair")
    a = write_run(folder / "a", story(3, 60), called="base")
    return a, write_run(folder / "b", story(3, 60, shift=0.1), called="edited")


@pytest.fixture(scope="module")
def found(pair: tuple[Path, Path]) -> ContextCurve:
    return context(*pair)


def panel_of(*folders: Path) -> tuple[list[Bin], Panel]:
    edges, sums = read_positions([open_tokens(folder) for folder in folders], "log")
    return edges, positions_panel(edges, sums, ["base", "edited"][: len(sums)])


def sums_of(folder: Path) -> tuple[list[Bin], PositionTables]:
    edges, panel = panel_of(folder)
    return edges, PositionTables.of(panel, edges, 0)


# ------------------------------------------------------------------------------------------------------------ estimates


def test_loss_by_bin_against_numpy_over_all_tokens(found: ContextCurve) -> None:
    for model, shift in zip(found.models, (0.0, 0.1), strict=True):
        documents = story(3, 60, shift=shift)
        for point in model.points:
            loss, tokens = by_hand(documents, point.bin.low, point.bin.high)
            assert point.tokens == tokens.sum()
            assert point.loss.value == pytest.approx(loss.sum() / tokens.sum(), abs=1e-12)
            assert point.loss.n == (tokens > 0).sum()
            assert point.loss.value is not None
            assert point.perplexity.value == np.exp(point.loss.value)
            residual = loss - point.loss.value * tokens
            m = point.loss.n
            assert point.loss.standard_error == pytest.approx(
                np.sqrt((residual**2).sum() * m / (m - 1)) / tokens.sum(), rel=1e-9
            )


def test_difference_by_bin_against_numpy_over_all_tokens(found: ContextCurve) -> None:
    (difference,) = found.differences
    assert (difference.a, difference.b) == ("base", "edited")
    for gap in difference.gaps:
        a, tokens = by_hand(story(3, 60), gap.bin.low, gap.bin.high)
        b, _ = by_hand(story(3, 60, shift=0.1), gap.bin.low, gap.bin.high)
        assert gap.difference.value == pytest.approx((b - a).sum() / tokens.sum(), abs=1e-11)
        assert gap.adjusted.value == gap.difference.value
        assert gap.difference.interval is not None
        assert gap.adjusted.interval is not None
        assert gap.adjusted.interval.low < gap.difference.interval.low
        assert gap.adjusted.interval.high > gap.difference.interval.high


def frame(documents: Sequence[Tokens], low: int) -> "pd.DataFrame":
    """Every token from a position on."""
    rows = [
        {"document": d.document, "position": p, "loss": y}
        for d in documents
        for p, y in zip(d.position, d.loss, strict=True)
        if p >= low
    ]
    return pd.DataFrame(rows).assign(x=lambda f: np.log2(f.position))


def check_against_statsmodels(family: Family, k: int, table: "pd.DataFrame", term: str) -> None:
    """The coefficient with an effect per document, and its error clustered by document; documents without part out."""
    part = table.groupby("document").filter(lambda f: f[term].nunique() > 1)
    fitted = smf.ols(f"loss ~ {term} + C(document)", part).fit(
        cov_type="cluster", cov_kwds={"groups": part.document.astype("category").cat.codes, "use_correction": False}
    )
    units = family.units(k)
    assert units is not None
    n = part.document.nunique()
    assert units.n == n
    assert units.estimate == pytest.approx(fitted.params[term], abs=1e-9)
    assert standard_error(units) == pytest.approx(fitted.bse[term] * np.sqrt(n / (n - 1)), rel=1e-6)


def test_gains_against_statsmodels_with_an_effect_per_document(pair: tuple[Path, Path]) -> None:
    documents = story(3, 60)
    edges, sums = sums_of(pair[0])
    family = gain_family(sums)
    assert family.size == len(edges) - 1
    for k, edge in enumerate(edges[:-1]):
        table = frame(documents, edge.low).assign(here=lambda f, high=edge.high: (f.position <= high).astype(float))
        check_against_statsmodels(family, k, table, "here")


def test_slopes_against_statsmodels_with_an_effect_per_document(pair: tuple[Path, Path]) -> None:
    documents = story(3, 60)
    edges, sums = sums_of(pair[0])
    family = slope_family(sums)
    for k, edge in enumerate(edges):
        check_against_statsmodels(family, k, frame(documents, edge.low), "x")


# ----------------------------------------------------------------------------------------------------------- the answer


def answer(folder: Path, documents: Sequence[Tokens], **options: Any) -> ModelCurve:
    return context(write_run(folder / "r", documents), **options).models[0]


def test_the_end_of_the_gain_is_found_where_it_was_put(tmp_path: Path) -> None:
    """The loss falls by 0.3 per doubling up to position 16, so 9–16 is above what follows, and 17–32 is not."""
    model = answer(tmp_path, story(5, 300, helps_until=16, shortest=48))
    assert model.helps_until == 32
    assert not model.still_helps
    assert model.slope_from == 33
    assert model.slope.interval is not None
    assert model.slope.interval.low < 0 < model.slope.interval.high
    assert model.sentence.startswith("m: context still helps up to 17–32 tokens (at 9–16 the loss is 0.")
    assert "; beyond, no improvement shown (slope " in model.sentence
    assert " nats per doubling, 95% CI " in model.sentence


def test_a_gain_that_never_ends_is_said_to_go_on(tmp_path: Path) -> None:
    model = answer(tmp_path, story(5, 200, helps_until=1000, shortest=48))
    assert model.still_helps
    assert model.helps_until == 62
    assert "context still helps at 33–62 tokens, the longest measured (" in model.sentence
    assert model.slope.interval is not None
    assert model.slope.interval.low < -0.3 < model.slope.interval.high


def test_no_gain_at_all_is_said_so(tmp_path: Path) -> None:
    model = answer(tmp_path, story(5, 100, helps_until=1))
    assert model.helps_until is None
    assert model.sentence.startswith("m: no help from context beyond 1 token shown (slope ")


def test_a_loss_that_rises_is_said_to_rise(tmp_path: Path) -> None:
    documents = [
        Tokens(d.document, d.position, [y + 0.05 * max(0, p - 16) for p, y in zip(d.position, d.loss, strict=True)])
        for d in story(5, 100, shortest=48)
    ]
    model = answer(tmp_path, documents)
    assert model.slope.interval is not None
    assert model.slope.interval.low > 0
    assert "beyond, the loss rises (slope +" in model.sentence


def test_documents_of_other_lengths_do_not_make_a_gain(tmp_path: Path) -> None:
    """Long documents are easier here. The curve falls for that alone, but within no document does context help."""
    rng = np.random.default_rng(8)
    lengths = rng.integers(4, 64, 200).tolist()
    documents = [
        Tokens(f"d{i:03}", range(1, n), (4 - 0.04 * n + rng.normal(0, 0.3, n - 1)).tolist())
        for i, n in enumerate(lengths)
    ]
    model = answer(tmp_path, documents)
    first, last = model.points[0].loss.value, model.points[-1].loss.value
    assert first is not None
    assert last is not None
    assert first - last > 0.5
    assert model.helps_until is None


def _outer(document: Tokens) -> Floats:
    """1 at positions up to 4 and from 33 on, 0 between."""
    position = np.asarray(document.position)
    return np.where((position <= 4) | (position > 32), 1.0, 0.0)


def test_differences_are_told_by_where_they_are(tmp_path: Path) -> None:
    base = story(6, 80, shortest=40)
    edited = [
        Tokens(d.document, d.position, (d.loss + 0.5 * np.sign(np.asarray(d.position) - 18.5) * _outer(d)).tolist())
        for d in story(6, 80, shortest=40, shift=0.001)
    ]
    a, b = write_run(tmp_path / "a", base, called="A"), write_run(tmp_path / "b", edited, called="B")
    sentence = context(a, b).differences[0].sentence
    assert "B against A: better at position 1–4 (most at " in sentence
    assert " and worse at position 33–62 (+0.50" in sentence
    assert sentence.endswith("; no difference shown elsewhere (7 bins, adjusted).")


def test_equal_models_show_no_difference(pair: tuple[Path, Path]) -> None:
    found = context(pair[0], pair[0])
    assert [model.name for model in found.models] == ["base (1)", "base (2)"]
    assert {gap.test.p_value for gap in found.differences[0].gaps} == {1.0}
    assert found.differences[0].sentence.startswith("No difference shown between base (1) and base (2) at any position")


def test_three_runs_are_each_compared_with_the_first(pair: tuple[Path, Path], tmp_path: Path) -> None:
    third = write_run(tmp_path / "c", story(3, 60, shift=0.2), called="third")
    found = context(*pair, third, design=QUICK)
    assert [(p.a, p.b) for p in found.differences] == [("base", "edited"), ("base", "third")]
    assert "each difference is adjusted for its bins, not for the number of differences" in found.notes


# ----------------------------------------------------------------------------------------------------------- properties


@FOLDERS
@given(st.permutations(range(20)), st.integers(1, 5))
def test_permuting_documents_changes_nothing(
    tmp_path_factory: pytest.TempPathFactory, order: list[int], shards: int
) -> None:
    folder, documents = tmp_path_factory.mktemp("permuted"), story(9, 20)
    straight = context(write_run(folder / "a", documents), design=QUICK)
    shuffled = context(write_run(folder / "b", [documents[i] for i in order], shards=shards), design=QUICK)
    assert shuffled.to_dict() == straight.to_dict()


@FOLDERS
@given(st.integers(0, 1000), st.sampled_from(["log", 4]))
def test_swapping_models_flips_the_signs(tmp_path_factory: pytest.TempPathFactory, seed: int, bins: Any) -> None:
    folder = tmp_path_factory.mktemp("swapped")
    a = write_run(folder / "a", story(seed, 15), called="a")
    b = write_run(folder / "b", story(seed, 15, shift=0.05), called="b")
    one, other = (context(*runs, bins=bins, design=QUICK).differences[0] for runs in ((a, b), (b, a)))
    for gap, mirrored in zip(one.gaps, other.gaps, strict=True):
        assert gap.difference.value is not None
        assert mirrored.difference.value == -gap.difference.value
        assert mirrored.test.p_value == gap.test.p_value
        if gap.adjusted.interval is None:
            assert mirrored.adjusted.interval is None
            continue
        assert mirrored.adjusted.interval is not None
        assert mirrored.adjusted.interval.low == -gap.adjusted.interval.high
        assert mirrored.adjusted.interval.high == -gap.adjusted.interval.low


def test_the_level_widens_and_the_seed_moves_the_intervals(pair: tuple[Path, Path], found: ContextCurve) -> None:
    wide = context(*pair, design=Design(level=0.99))
    moved = context(*pair, design=Design(seed=1))
    for before, wider, other in zip(*(c.differences[0].gaps for c in (found, wide, moved)), strict=True):
        assert before.adjusted.interval is not None
        assert wider.adjusted.interval is not None
        assert other.adjusted.interval is not None
        assert wider.adjusted.interval.low < before.adjusted.interval.low
        assert other.adjusted.interval.low != before.adjusted.interval.low
        assert other.difference == before.difference  # exact: no seed


# ------------------------------------------------------------------------------------------------------------ the edges


def test_windows_stand_in_for_a_single_document(tmp_path: Path) -> None:
    windows = [
        Tokens("book", d.position, d.loss, window=f"book:{i}", first=100 * i) for i, d in enumerate(story(4, 40))
    ]
    found = context(write_run(tmp_path / "r", windows), design=QUICK)
    assert (found.cluster_by, found.n_clusters) == ("window", 40)
    assert [fallback.used for fallback in found.fallbacks] == ["windows as clusters"]
    assert "windows as clusters: there is one document only" in str(found)


def test_a_bin_that_one_document_reaches_has_no_interval(tmp_path: Path) -> None:
    documents = [*story(4, 20, longest=32), Tokens("long", range(1, 60), [2.0 + i % 3 for i in range(59)])]
    found = context(write_run(tmp_path / "r", documents))
    last = found.models[0].points[-1]
    assert (last.bin.low, last.loss.n, last.loss.interval) == (33, 1, None)
    assert last.loss.reason == "only one document or window has these positions"
    assert last.loss.value is not None
    json.dumps(found.to_dict(), allow_nan=False)


def test_few_documents_have_bonferroni_intervals(tmp_path: Path) -> None:
    found = context(write_run(tmp_path / "r", story(4, 4, shortest=60)))
    points = found.models[0].points
    assert {p.gain.interval.method for p in points if p.gain and p.gain.interval} == {"bonferroni-t"}
    assert "4 documents, too few to rely on" in str(found)


def test_positions_that_do_not_occur_have_no_bin(tmp_path: Path) -> None:
    position = [0, 1, *range(9, 21)]
    documents = [Tokens(d.document, position, [d.loss[p] for p in position]) for d in story(4, 12, shortest=40)]
    layout = {"context": 64, "stride": 32, "bos": True}
    found = context(write_run(tmp_path / "r", documents, layout=layout), design=QUICK)
    assert [str(point.bin) for point in found.models[0].points] == ["0", "1", "9–16", "17–20"]
    assert found.notes == ("position 0 has the start token before it and nothing else",)


def test_a_perplexity_too_large_for_a_number_is_undefined(tmp_path: Path) -> None:
    documents = [Tokens(f"d{i}", [1, 2, 3], [900.0 + i, 5.0, 4.0]) for i in range(12)]
    point = answer(tmp_path, documents).points[0]
    assert (point.perplexity.value, point.perplexity.interval) == (None, None)
    assert point.perplexity.reason is not None
    assert "undefined" in str(context(tmp_path / "r"))


def test_wrong_settings_are_refused(pair: tuple[Path, Path], tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="method, level, resamples and seed"):
        context(*pair, design=Design(margin=0.1))
    with pytest.raises(UsageError, match="needs a run"):
        context()
    with pytest.raises(UsageError, match="bins must be log or from 2"):
        context(*pair, bins=1)
    other = write_run(tmp_path / "r", story(3, 60), model={"name": "x", "digests": {"tokenizer": "sha256:other"}})
    with pytest.raises(InputError, match="different tokenizers"):
        context(pair[0], other)


# ------------------------------------------------------------------------------------------------------------ the panel


def test_the_panel_of_positions_by_hand(pair: tuple[Path, Path]) -> None:
    edges, panel = panel_of(*pair)
    assert [str(metric.name) for metric in panel.metrics] == [f"loss at {edge}" for edge in edges]
    for system, shift in enumerate((0.0, 0.1)):
        for metric, edge in zip(panel.metrics, edges, strict=True):
            loss, tokens = by_hand(story(3, 60, shift=shift), edge.low, edge.high)
            units = panel.units(metric.name, system)
            assert units.denominators.tolist() == tokens[tokens > 0].tolist()  # a story that ends before has no part
            assert units.numerators.sum() == pytest.approx(loss.sum(), abs=1e-9)


def test_a_panel_gives_the_curves_of_its_runs(pair: tuple[Path, Path], found: ContextCurve) -> None:
    _, panel = panel_of(*pair)
    again = context(panel)
    assert (again.models, again.differences) == (found.models, found.differences)
    assert again.signature.rpartition("data:")[2] == found.signature.rpartition("data:")[2]
    swapped = context(panel.of_models(["edited", "base"]))
    assert [model.name for model in swapped.models] == ["edited", "base"]
    with pytest.raises(UsageError, match="metrics are losses in bins"):
        context(Panel.from_arrays([1.0, 2.0]))
    with pytest.raises(UsageError, match="one panel"):
        context(panel, pair[0])
