"""What comparisons take for granted: measured, shown beside the numbers, and the same in every verb."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from assay import Comparison, Design, Panel, Policy, certify, compare, rank, verify
from assay.data.pairing import INDEPENDENT
from assay.stats.bootstrap import interval
from assay.stats.units import Units

Columns = dict[str, list[Any]]


def run(losses: Any, tokens: Any, **more: Any) -> Columns:
    names = [f"w{i:04d}" for i in range(len(losses))]
    return {"window": names, "loss": list(losses), "tokens": [int(t) for t in tokens], **more}


def tied(n: int = 60, tie: float = 1.0, seed: int = 1, **more: Any) -> tuple[Columns, Columns]:
    """Documents whose difference grows with their length."""
    rng = np.random.default_rng(seed)
    tokens = np.round(200 * rng.lognormal(0.0, 1.0, n)) + 1
    base = rng.uniform(2.0, 4.0, n)
    return run(base, tokens, **more), run(base + 0.01 * (rng.normal(0, 1, n) + tie * tokens / 200), tokens, **more)


def in_documents(rho: float, groups: int = 20, per: int = 9, *, order: bool = True) -> tuple[Columns, Columns]:
    rng = np.random.default_rng(5)
    noise = rng.normal(0.05, 1.0, (groups, per))
    for place in range(1, per):
        noise[:, place] = rho * noise[:, place - 1] + np.sqrt(1 - rho * rho) * noise[:, place]
    n, base = groups * per, rng.uniform(2.0, 4.0, groups * per)
    more: Columns = {"document": [f"d{i // per}" for i in range(n)]}
    if order:
        more |= {"start": [100 * (i % per) for i in range(n)], "stop": [100 * (i % per) + 100 for i in range(n)]}
    return run(base, [100] * n, **more), run(base + 0.01 * noise.ravel(), [100] * n, **more)


def notes(found: Any) -> str:
    return "\n".join(str(one) for one in found.cautions)


# ------------------------------------------------------------------------------------------------------------- length


def test_the_unweighted_mean_and_t_against_scipy() -> None:
    before, after = tied()
    found = compare(before, after)
    difference = np.array(after["loss"]) - np.array(before["loss"])
    r, p = stats.pearsonr(difference, np.array(before["tokens"]))
    assert found.long_units is not None
    assert found.long_units.correlation == pytest.approx(r, abs=1e-9)
    assert 2 * stats.t.sf(abs(found.long_units.t), 58) == pytest.approx(p, rel=1e-5)
    alone = found.long_units.unweighted
    assert alone is not None
    assert alone.value == pytest.approx(difference.mean(), rel=1e-9)
    assert alone.standard_error == pytest.approx(stats.sem(difference), rel=1e-9)
    limits = interval(Units(difference, np.ones(60)), method="auto").interval
    assert alone.interval is not None
    assert (alone.interval.low, alone.interval.high) == pytest.approx((limits.low, limits.high), rel=1e-6)
    shares = np.sort(before["tokens"])[-10:].sum() / np.sum(before["tokens"])
    assert found.long_units.share == pytest.approx(shares)


def test_it_is_said_once_in_facts_note_and_json() -> None:
    found = compare(*tied())
    assert "the mean rests on the windows of most tokens" in notes(found)
    labels = [fact.label for fact in found.facts]
    assert {"unweighted mean", "longest 10 windows"} <= set(labels)
    again = Comparison.from_dict(found.to_dict())
    assert again == found
    assert str(again) == str(found)


def test_nothing_is_said_of_equal_lengths_or_of_differences_that_do_not_go_with_them() -> None:
    before, after = tied()
    equal = [{**one, "tokens": [100] * 60} for one in (before, after)]
    assert compare(*equal).long_units is None
    free = compare(*tied(tie=0.0))
    assert free.long_units is not None
    assert (free.long_units.decide, free.long_units.unweighted) == (False, None)
    assert "rests on" not in notes(free)


def test_clusters_are_what_is_measured_where_they_are_drawn() -> None:
    before, after = tied(90)
    more = {"author": [f"a{i % 30}" for i in range(90)]}
    found = compare(before | more, after | more, cluster="author")
    tokens, sums = np.zeros(30), np.zeros(30)
    difference = np.array(after["loss"]) - np.array(before["loss"])
    for i, (t, d) in enumerate(zip(before["tokens"], difference, strict=True)):
        tokens[i % 30] += t
        sums[i % 30] += t * d
    assert found.long_units is not None
    assert found.long_units.correlation == pytest.approx(stats.pearsonr(sums / tokens, tokens)[0], abs=1e-9)
    if found.long_units.decide:
        assert "clusters of most tokens" in notes(found)


@pytest.mark.parametrize("design", [None, Design(method="tango"), Design(method="t"), Design(resamples=200)])
def test_weights_of_right_and_wrong_answers(design: Design | None) -> None:
    """Plain McNemar counts have the unweighted interval of Tango; the oracle is a comparison without weights."""
    rng = np.random.default_rng(4)
    weight = np.round(rng.lognormal(0.0, 1.0, 80), 2) + 0.1
    right = rng.random(80) < 0.5
    better = right | (weight > 1.5)
    a, b = ({"item": list(range(80)), "score": one.astype(int).tolist()} for one in (right, better))
    found = compare(a | {"weight": weight.tolist()}, b | {"weight": weight.tolist()}, design=design)
    plain = compare(a, b, design=design)
    assert found.long_units is not None
    assert found.long_units.decide
    alone = found.long_units.unweighted
    assert alone is not None
    assert alone.value == pytest.approx(plain.difference.value)
    assert alone.interval is not None
    assert plain.difference.interval is not None
    assert alone.interval.low == pytest.approx(plain.difference.interval.low, abs=1e-9)
    assert "items of most weight" in notes(found)
    assert "heaviest 10 items" in [fact.label for fact in found.facts]


def test_rank_says_it_of_its_pairs_in_the_same_words() -> None:
    (before, after), third = tied(), tied(tie=0.0)[1]
    tokens = before["tokens"]
    models = [
        run(one["loss"], tokens, model=[name] * 60) for name, one in zip("abc", (before, after, third), strict=True)
    ]
    found = rank(*models)
    assert found.long_units is not None
    assert found.long_units.pairs == 3
    assert found.long_units.decide == 2
    assert "in 2 of 3 pairs the mean rests on the windows of most tokens" in notes(found)
    alone = compare(before, after).long_units
    assert alone is not None
    assert found.long_units.share == pytest.approx(alone.share)
    assert rank(Panel.from_arrays(np.random.default_rng(1).random((30, 3)))).long_units is None


def test_certify_and_verify_say_it_in_the_same_words(tmp_path: Path) -> None:
    before, after = tied(400, tie=0.3)
    policy = Policy(profile="dev", tier="balanced")
    issued = certify(before, after, tmp_path / "gate.json", policy=policy)
    said = next(str(one) for one in compare(before, after).cautions if "rests on" in str(one))
    assert said in notes(issued)
    assert "unweighted mean: " in notes(issued)
    assert notes(verify(tmp_path / "gate.json")) == notes(issued)


# ------------------------------------------------------------------------------------------------------------ documents


def test_documents_drawn_whole_are_what_the_advice_gives() -> None:
    """The interval beside the note is that of the command that the note names."""
    before, after = in_documents(0.5)
    found, whole = compare(before, after), compare(before, after, cluster="document")
    assert found.same_document is not None
    assert found.same_document.alike
    assert found.same_document.by_document == whole.difference
    assert "windows of a document are alike (correlation of neighbours +0." in notes(found)
    assert "`cluster='document'` draws documents: " in notes(found)
    assert whole.same_document is None
    assert "document" not in notes(whole)


def test_one_note_says_what_was_assumed() -> None:
    found = compare(*in_documents(0.0))
    assert found.same_document is not None
    assert not found.same_document.alike
    assert notes(found).count("column 'document' not used: windows count as independent (") == 1
    assert INDEPENDENT in found.notes  # what the data say; the comparison shows what it measured
    assert INDEPENDENT not in notes(found)
    assert Comparison.from_dict(found.to_dict()) == found


def test_without_an_order_only_documents_speak() -> None:
    found = compare(*in_documents(0.5, order=False)).same_document
    assert found is not None
    assert (found.neighbours, found.lag_one, found.lag_one_z) == (None, None, None)
    assert found.alike


def test_one_long_document_has_neighbours_only() -> None:
    found = compare(*in_documents(0.5, groups=1, per=60))
    assert found.same_document is not None
    assert found.same_document.by_document is None
    assert found.same_document.alike
    assert "one document cannot be drawn whole, so cut the text into documents" in notes(found)
    assert compare(*in_documents(0.5, groups=1, per=60, order=False)).same_document is None


def test_plain_files_have_no_documents_and_nothing_is_said() -> None:
    found = compare(*tied(tie=0.0))
    assert found.same_document is None
    assert notes(found) == ""


def test_a_gate_says_it_only_where_windows_are_alike(tmp_path: Path) -> None:
    policy = Policy(profile="dev", tier="balanced")
    for rho in (0.0, 0.5):
        issued = certify(*in_documents(rho), tmp_path / f"{rho}.json", policy=policy)
        assert ("windows of a document are alike" in notes(issued)) is (rho > 0)
