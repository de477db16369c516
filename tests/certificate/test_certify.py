"""`certify` of a panel: numbers and decision are those of the same data in files, and `verify` finds them again."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from assay.certificate.verify import verify
from assay.data import Metric, Panel, read_table
from assay.design import Policy
from assay.errors import AssayError, InputError, UsageError
from tests.certificate.issuing import certify_alone as certify
from tests.certificate.samples import Columns, evidence_rows, example, losses, scores, without

HARNESS = Path(__file__).resolve().parents[1] / "data" / "harness"
SMALL = Policy(min_windows=20, note="a test")


def stacked(**models: Columns) -> Columns:
    """The columns of several models as one long table."""
    names = next(iter(models.values()))
    rows: Columns = {name: [value for own in models.values() for value in own[name]] for name in names}
    return rows | {"model": [model for model, own in models.items() for _ in next(iter(own.values()))]}


def repeated(columns: Columns, *shares: float) -> Columns:
    """Several runs of the same items, each with some of them wrong."""
    runs = [[float(value and i % 10 / 10 >= share) for i, value in enumerate(columns["score"])] for share in shares]
    n = len(columns["item"])
    return {
        "item": columns["item"] * len(runs),
        "run": [f"r{run}" for run in range(len(runs)) for _ in range(n)],
        "score": [value for run in runs for value in run],
    }


PAIRS: dict[str, tuple[Columns, Columns, dict[str, Any]]] = {
    "losses": (example("losses-base.csv"), example("losses-int8.csv"), {}),
    "losses, clusters": (example("losses-base.csv"), example("losses-int3.csv"), {"cluster": "document"}),
    "losses, holes": (without(losses(40), 3, 50), without(losses(40, 2), 5), {}),
    "scores": (example("scores-base.csv"), example("scores-int3.csv"), {}),
    "0/1": (scores(180, 200), scores(170, 200), {}),
    "runs": (repeated(scores(180, 200), 0.0, 0.1), repeated(scores(170, 200), 0.0, 0.2, 0.1), {}),
}


@pytest.mark.parametrize("kind", PAIRS)
def test_a_panel_and_tables_of_the_same_data_give_the_same_certificate(kind: str, tmp_path: Path) -> None:
    before, after, how = PAIRS[kind]
    tables = [read_table(columns, name=name, **how) for name, columns in (("A", before), ("B", after))]
    panel = Panel.from_frame(stacked(A=before, B=after), runs="run" in before, **how)
    of_tables = certify(tables[0], tables[1], tmp_path / "tables.json", policy=SMALL, **how).to_dict()
    found = certify(panel, None, tmp_path / "panel.json", policy=SMALL)
    of_panel = found.to_dict()
    assert {name for name in of_tables if of_tables[name] != of_panel[name]} == {"systems", "evidence", "digest"}
    assert verify(tmp_path / "panel.json").true
    assert of_tables["evidence"]["rows"] == of_panel["evidence"]["rows"]
    for system, name in ((found.systems.baseline, "A"), (found.systems.subject, "B")):
        assert (system.name, system.file, system.sha256) == (name, None, f"sha256:{panel.digest}")


def arrays(n: int = 60, **more: Any) -> Panel:
    """A panel of losses made of arrays, with sums that no table has."""
    rng = np.random.default_rng(4)
    tokens = rng.integers(50, 500, n)
    sums = (3 + rng.random((n, 1)) + 0.01 * rng.standard_normal((n, 2))) * tokens[:, None]
    labels = {"split": ["preview", "final"] * (n // 2)}
    return Panel.from_arrays(sums, tokens, systems=["A", "B"], kind="losses", labels=labels, **more)


def test_a_panel_of_arrays_by_hand(tmp_path: Path) -> None:
    panel = arrays()
    found = certify(panel, None, tmp_path / "c.json", policy=SMALL)
    final = np.arange(1, 60, 2)
    sums = panel.numerators[final].sum(axis=0) / panel.denominators[final].sum()
    assert found.primary_metric.ratio_vs_baseline == pytest.approx(float(np.exp(sums[1] - sums[0])), rel=1e-11)
    assert found.stats.coverage.preview is not None
    assert (found.stats.coverage.preview.used, found.stats.coverage.final.used) == (30, 30)
    assert verify(tmp_path / "c.json").true
    rows = evidence_rows(tmp_path / "c.evidence.parquet")
    assert sorted(set(rows["split"])) == ["final", "preview"]
    assert rows["tokens"][:30] == panel.denominators[final].tolist()  # the baseline's final windows come first


def test_two_of_three_systems_are_named_and_keep_their_order(tmp_path: Path) -> None:
    right = np.arange(200)[:, None] < [180, 150, 178]
    panel = Panel.from_arrays(right, systems=["best", "worst", "good"])
    found = certify(panel, None, tmp_path / "c.json", models=("good", "worst"))
    assert (found.systems.baseline.name, found.systems.subject.name) == ("good", "worst")
    assert found.primary_metric.difference_vs_baseline == pytest.approx(-28 / 200)
    assert found.systems.baseline.sha256 == f"sha256:{panel.digest}"
    assert verify(tmp_path / "c.json").verdict == "regression"


def test_clusters_and_direction_are_those_of_the_panel(tmp_path: Path) -> None:
    right = np.arange(200)[:, None] % 5 > [0, 1]
    panel = Panel.from_arrays(right, lower_is_better=True, clusters=np.arange(200) // 4, systems=["A", "B"])
    found = certify(panel, None, tmp_path / "c.json")
    assert (found.stats.clusters, found.stats.cluster_by) == (50, "clusters")
    assert found.primary_metric.lower_is_better
    assert verify(tmp_path / "c.json").verdict == "pass"  # B has more wrong, of which less is better


BAD: dict[str, tuple[Panel, dict[str, Any], type[AssayError], str]] = {
    "one system": (
        Panel.from_arrays([1.0, 0.0]),
        {},
        UsageError,
        "certify takes a panel of two systems, but got 1; choose two with panel.pair(i, j), or name them.",
    ),
    "an unknown system": (
        Panel.from_arrays([[1.0, 0.0]], systems=["A", "B"]),
        {"models": ("A", "C")},
        InputError,
        "the panel has no system 'C' among A, B; name one of them.",
    ),
    "holes, in a strict profile": (
        Panel.from_arrays([[1.0, 1.0]] * 30 + [[1.0, np.nan]], systems=["A", "B"], holes=True),
        {"policy": replace(SMALL, profile="ci")},
        InputError,
        (
            "profile ci refuses: pairing: 30 of 31 items pair, 1 does not. Nothing was written; score the missing "
            "windows, or use `profile='dev'`, which reports instead."
        ),
    ),
    "nothing in common": (
        Panel.from_arrays([[1.0, np.nan], [np.nan, 1.0]], systems=["A", "B"], holes=True),
        {},
        InputError,
        "no item is in both tables (A has '0' and B has '1'); write the same ids.",
    ),
    "losses without splits, in a strict profile": (
        replace(arrays(), labels={}),
        {"policy": replace(SMALL, profile="release")},
        InputError,
        "preview minimum: 0 windows of at least 20",
    ),
    "an unknown split": (
        Panel.from_arrays([[1.0, 1.0]] * 2, kind="losses", systems=["A", "B"], labels={"split": ["test", "final"]}),
        {},
        InputError,
        "A, row 1, column 'split': split must be preview or final, but got 'test'; correct the cell.",
    ),
    "another metric": (
        replace(arrays(), metrics=(Metric("edits", ("loss", "tokens"), function=lambda sums: sums[..., 0]),)),
        {},
        UsageError,
        "certify takes a panel of losses or scores, but this one is of edits.",
    ),
    "tokens that are none": (
        Panel.from_arrays([[1.0, 1.0]], [1.5], kind="losses", systems=["A", "B"]),
        {},
        InputError,
        (
            "A, row 1, column 'tokens': tokens must be a whole number of at least 1, but got '1.5'; count the "
            "predicted tokens, or take the row out."
        ),
    ),
    "tokens that differ": (
        Panel.from_arrays([[1.0, 1.0]], [[2, 3]], kind="losses", systems=["A", "B"]),
        {},
        InputError,
        "window '0' has tokens 2 and 3; the same window must have the same tokens in both.",
    ),
    "a direction that it does not have": (
        Panel.from_arrays([[1.0, 1.0]], systems=["A", "B"]),
        {"lower_is_better": True},
        UsageError,
        (
            "the panel says that higher is better, but lower was asked for; make the panel with "
            "lower_is_better=True, or correct the policy."
        ),
    ),
    "columns": (
        Panel.from_arrays([[1.0, 1.0]], systems=["A", "B"]),
        {"columns": {"score": "acc"}},
        UsageError,
        "columns is about reading files, which a panel does not need; leave it out.",
    ),
    "no such clusters": (
        Panel.from_arrays([[1.0, 1.0]], systems=["A", "B"]),
        {"cluster": "document"},
        UsageError,
        "no label 'document' of the items was read, none.",
    ),
}


@pytest.mark.parametrize("what", BAD)
def test_a_panel_that_cannot_be_certified_is_refused_in_one_line(what: str, tmp_path: Path) -> None:
    panel, options, error, message = BAD[what]
    with pytest.raises(error) as refused:
        certify(panel, None, tmp_path / "c.json", **options)
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)
    assert list(tmp_path.iterdir()) == []


# ------------------------------------------------------------------------------------- bits of whole documents


def of_documents(columns: Columns, *, shift: int = 0) -> Columns:
    """Windows in documents of two, with their bytes; with a shift those of another tokenizer."""
    n = len(columns["window"])
    found = columns | {
        "document": [f"d{i // 2:03d}" for i in range(n)],
        "bytes": [400.0 + i % 90 for i in range(n)],
        "tokens": [tokens + shift for tokens in columns["tokens"]],
    }
    return found | ({"window": [f"v{i}" for i in range(n)]} if shift else {})


def rates(columns: Columns) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Bits and bytes of the final documents, added up row by row."""
    bits: dict[str, float] = {}
    sizes: dict[str, float] = {}
    names = ("document", "split", "tokens", "loss", "bytes")
    for document, split, tokens, loss, size in zip(*(columns[name] for name in names), strict=True):
        if split == "final":
            bits[document] = bits.get(document, 0.0) + tokens * loss / np.log(2)
            sizes[document] = sizes.get(document, 0.0) + size
    return np.array(list(bits.values())), np.array(list(sizes.values()))


BASE = of_documents(losses(60))
OTHER = of_documents(losses(60, 2), shift=-20)


def test_bits_of_models_with_different_tokens_by_hand(tmp_path: Path) -> None:
    found = certify(BASE, OTHER, tmp_path / "c.json", per="byte", policy=SMALL)
    (a, size), (b, same) = rates(BASE), rates(OTHER)
    assert (size == same).all()
    metric, bits = found.primary_metric, found.bits_per_byte
    assert bits is not None
    assert (metric.kind, found.measure.metric, metric.lower_is_better) == ("bits per byte", "bits per byte", True)
    assert metric.final == pytest.approx(b.sum() / size.sum(), rel=1e-11)
    assert metric.difference_vs_baseline == pytest.approx((b.sum() - a.sum()) / size.sum(), rel=1e-9)
    assert bits.baseline == pytest.approx(a.sum() / size.sum(), rel=1e-11)
    assert (bits.ci, bits.difference) == (metric.ci, metric.difference_vs_baseline)
    assert (found.stats.paired_windows, found.stats.differing) == (30, int((a != b).sum()))
    assert found.stats.largest == pytest.approx(size.max() / size.sum(), rel=1e-11)
    assert (found.verdict, found.decision.limit) == ("pass", 0.02)  # the baseline has more tokens of about this loss
    assert verify(found.path).true


def test_bits_of_a_panel_are_those_of_its_tables(tmp_path: Path) -> None:
    other = BASE | {"loss": of_documents(losses(60, 2))["loss"]}
    panel = Panel.from_frame(stacked(A=BASE, B=other))
    of_panel = certify(panel, None, tmp_path / "panel.json", per="byte", policy=SMALL)
    of_tables = certify(
        read_table(BASE, name="A"), read_table(other, name="B"), tmp_path / "t.json", per="byte", policy=SMALL
    )
    assert of_panel.primary_metric == of_tables.primary_metric
    assert verify(tmp_path / "panel.json").true


@pytest.mark.parametrize(
    ("changes", "how", "said"),
    [
        ({"bytes": [*OTHER["bytes"][:-1], 1.0]}, {}, r"count .* and .* bytes of the document 'd059'; score all of it"),
        ({"window": ["v0"] * 120}, {}, "'v0' of split 'preview' is in row 1 already"),
        ({"document": None}, {}, "no column 'document'"),
        ({"bytes": None}, {}, "no column 'bytes'"),
        ({}, {"cluster": "split"}, "per draws whole documents"),
        ({}, {"per": "line"}, "per must be one of byte, character"),
        ({}, {"policy": Policy(metric="perplexity")}, "the metric is bits per byte, but 'perplexity' was asked for"),
        ({}, {"lower_is_better": False}, "lower_is_better must not be False for losses"),
        ({}, {"policy": Policy(profile="ci")}, "30 documents of at least 180"),
    ],
)
def test_what_does_not_go_with_bits_is_refused(
    changes: dict[str, Any], how: dict[str, Any], said: str, tmp_path: Path
) -> None:
    changed = {name: values for name, values in (OTHER | changes).items() if values is not None}
    options: dict[str, Any] = {"per": "byte", "policy": SMALL} | how
    with pytest.raises(AssayError, match=said):
        certify(BASE, changed, tmp_path / "c.json", **options)
    assert not list(tmp_path.iterdir())


def test_a_limit_of_perplexity_is_not_evaded_by_bits(tmp_path: Path) -> None:
    """The verifier who limits perplexity is told; who limits bits judges by that limit, as lower is better."""
    found = certify(BASE, OTHER, tmp_path / "c.json", per="byte", policy=SMALL)
    (reason,) = verify(found.path, policy=Policy(max_ratio=1.05)).reasons
    assert reason == "about bits per byte, and the policy limits perplexity only (max_ratio); max_drop required"
    own = verify(found.path, policy=Policy(max_drop=0.5))
    assert (own.reasons, own.limit, own.verdict) == ((), 0.5, "pass")
    (metric,) = verify(found.path, policy=Policy(max_drop=0.5, metric="perplexity")).reasons
    assert metric == "metric 'bits per byte', 'perplexity' required"


def test_equal_weights_are_no_rule_of_documents(tmp_path: Path) -> None:
    """They weigh what they hold; half as many of equal length are enough, as of windows."""
    long = [size * (200 if i == 119 else 1) for i, size in enumerate(BASE["bytes"])]
    found = certify(BASE | {"bytes": long}, OTHER | {"bytes": long}, tmp_path / "c.json", per="byte", policy=SMALL)
    assert [type(rule).__name__ for rule in found.rules] == ["PairingRule", "OverlapRule", "FinalMinimumRule"]
    assert found.broken["final minimum"].endswith("of equal length: a few have most of the text")


def test_arrays_series_and_wide_frames_give_the_certificate_of_the_same_table(tmp_path: Path) -> None:
    before, after = scores(180, 200)["score"], scores(178, 200)["score"]
    items = [f"{i:03d}" for i in range(200)]
    first, second = (
        {"item": items, "score": one, "model": [name] * 200} for name, one in (("A", before), ("B", after))
    )
    expected = certify(first, second, tmp_path / "c.json").to_dict()
    frame = pd.DataFrame({"A": before, "B": after})
    given: dict[str, tuple[Any, Any, Any]] = {
        "lists": (before, after, (None, None)),
        "an array of both": (np.array([before, after]).T, None, ("A", "B")),
        "Series": (pd.Series(before, name="A"), pd.Series(after, name="B"), (None, None)),
        "a wide frame by rows": (frame, None, ("A", "B")),
        "a wide frame with ids": (frame.assign(item=items), None, ("A", "B")),
    }
    for kind, (a, b, models) in given.items():
        found = certify(a, b, tmp_path / "c.json", models=models).to_dict()
        assert verify(tmp_path / "c.json").true, kind
        assert {name for name in expected if expected[name] != found[name]} <= {"measure"}, kind
        assert found["measure"]["metric"] is None, kind


def test_a_gate_takes_no_order_of_the_models_in_one_source_for_granted(tmp_path: Path) -> None:
    both = np.array([scores(180, 200)["score"], scores(178, 200)["score"]]).T
    for given in (both, pd.DataFrame(both, columns=["A", "B"])):
        with pytest.raises(UsageError, match=r"names of two of its models among A, B \(`models=\('A', 'B'\)`\)"):
            certify(given, None, tmp_path / "c.json")
    assert not list(tmp_path.iterdir())


def test_what_scores_were_measured_under_is_recorded_and_sealed(tmp_path: Path) -> None:
    """Reference and annotator as AlpacaEval's own files name them; an altered one breaks the digest."""
    folders = [HARNESS / "alpaca_eval" / name for name in ("small-1b", "medium-3b")]
    issued = certify(*folders, tmp_path / "gate.json", policy=SMALL)
    rows = json.loads(next(folders[0].rglob("annotations.json")).read_text("utf-8"))
    assert {one.name: one.value for one in issued.measure.conditions} == {
        "annotator": rows[0]["annotator"],
        "reference": rows[0]["generator_1"],
    }
    assert f"reference {rows[0]['generator_1']}" in issued.to_text()
    assert verify(tmp_path / "gate.json").true
    text = (tmp_path / "gate.json").read_text("utf-8")
    (tmp_path / "gate.json").write_text(text.replace(rows[0]["generator_1"], "another"), "utf-8")
    assert [fault.field for fault in verify(tmp_path / "gate.json").faults] == ["digest"]
