"""The interval of a certificate is that of `compare`: Tango's for 0/1 scores, otherwise BCa with replicates."""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from assay.analyses.compare import compare
from assay.certificate.fields import rounded
from assay.certificate.record import Certificate
from assay.certificate.verify import verify
from assay.design import Design, GateMethod, Policy, Scheme
from assay.errors import UsageError
from tests.certificate.issuing import certify_alone as certify
from tests.certificate.samples import Columns, evidence_of, issue, load, losses, save, scores


def pairs(won: int, lost: int, n: int) -> tuple[Columns, Columns]:
    """n items of which the second system alone has the first right, the first system alone the next, both the rest."""
    ids = [f"q{i:04d}" for i in range(n)]
    first = [0.0] * won + [1.0] * (n - won)
    second = [1.0] * won + [0.0] * lost + [1.0] * (n - won - lost)
    return {"item": ids, "score": first}, {"item": ids, "score": second}


def test_the_interval_of_0_1_scores_against_the_published_one(tmp_path: Path) -> None:
    """Tango (1998), table of 21 pairs of which 1 and 7 differ: -0.517 to -0.026."""
    document = certify(*pairs(1, 7, 21), tmp_path / "c.json").to_dict()
    assert document["primary_metric"]["ci"] == pytest.approx([-0.517, -0.026], abs=5e-4)
    assert document["exact"]["ci"] == document["primary_metric"]["ci"]
    assert verify(tmp_path / "c.json").true


def test_nothing_is_drawn_and_the_certificate_says_so(tmp_path: Path) -> None:
    document = certify(*pairs(3, 9, 200), tmp_path / "c.json", policy=Policy(seed=5)).to_dict()
    boot = document["dataset"]["windows"]["stats"]["bootstrap"]
    assert boot == {
        "replicates": None,
        "seed": 5,
        "method": "tango",
        "version": 2,
        "scheme": None,
        "spread_of_weights": 1.0,
        "spread_limit": 1.05,
        "design_effect": None,
        "degrees_of_freedom": None,
        "fallbacks": [],
    }
    assert document["primary_metric"]["test"] == "mcnemar-midp"
    found = verify(tmp_path / "c.json")
    shown = {fact.label: fact.text for fact in found.facts}
    assert shown["interval"] == "95% tango, closed form"
    assert shown["scheme"] == "nothing is drawn: the interval of 0/1 scores is a closed form"
    assert [table.key for table in found.tables] == ["rules"]
    other = certify(*pairs(3, 9, 200), tmp_path / "d.json", policy=Policy(seed=6, tier="aggressive")).to_dict()
    assert other["primary_metric"] == document["primary_metric"]  # neither seed nor replicates move it


def test_clusters_and_weights_count_by_their_design_effect(tmp_path: Path) -> None:
    first, second = pairs(3, 9, 200)
    labels = {"cluster": [f"c{i // 8}" for i in range(200)]}
    issued = certify(first | labels, second | labels, tmp_path / "c.json")
    document = issued.to_dict()
    boot = document["dataset"]["windows"]["stats"]["bootstrap"]
    assert (boot["method"], boot["replicates"]) == ("tango", None)
    said = f"its counts divided by the design effect {boot['design_effect']:.3f}, with {boot['degrees_of_freedom']:.1f}"
    assert said in issued.to_text(verbose=True)
    found = compare(first | labels, second | labels)
    limits = found.difference.interval
    assert limits is not None
    assert document["primary_metric"]["ci"] == [rounded(limits.low), rounded(limits.high)]
    assert verify(tmp_path / "c.json").true


@st.composite
def counts(draw: st.DrawFn) -> tuple[int, int, int]:
    n = draw(st.integers(2, 60))
    won = draw(st.integers(0, n))
    return won, draw(st.integers(0, n - won)), n


@settings(deadline=None)  # each example writes a certificate
@given(counts(), st.sampled_from([0.9, 0.95, 0.99, 0.999]), st.sampled_from([1, 3]))
def test_certify_and_compare_say_the_same_of_0_1_scores(found: tuple[int, int, int], level: float, size: int) -> None:
    first, second = pairs(*found)
    if size > 1:
        assume(found[2] > size)  # one cluster alone is refused
        labels = {"cluster": [f"c{i // size}" for i in range(found[2])]}
        first, second = first | labels, second | labels
    shown = compare(first, second, design=Design(level=level))
    with TemporaryDirectory() as folder:
        issued = certify(first, second, Path(folder) / "c.json", policy=Policy(level=level, note="as asked"))
        assert verify(issued.path).true
    metric, limits = issued.to_dict()["primary_metric"], shown.difference.interval
    assert limits is not None
    assert metric["ci"] == [rounded(limits.low), rounded(limits.high)]
    assert (metric["p_value"], metric["test"]) == (rounded(shown.p_value or 0.0), shown.test.name)
    drop = issued.to_dict()["decision"]["limit"]
    if metric["standard_error"] is not None:  # the bound of that interval decides
        expected = "pass" if -limits.low <= drop else "regression" if -limits.high > drop else "insufficient evidence"
        few = -(-found[2] // size) < 6  # items or clusters on which no verdict rests
        assert issued.verdict == ("insufficient evidence" if few else expected)


@pytest.mark.parametrize("n", [30, 120, 180])
@pytest.mark.parametrize("shift", [0.0, 0.002, 0.02])
def test_of_losses_interval_and_p_value_agree_and_the_replicates_stay(n: int, shift: float, tmp_path: Path) -> None:
    policy = Policy(replicates=400, seed=3, note="quick")
    document = certify(losses(n), losses(n, 2, shift=shift), tmp_path / "c.json", policy=policy).to_dict()
    boot, metric = document["dataset"]["windows"]["stats"]["bootstrap"], document["primary_metric"]
    drawn = n > 100  # fewer have a closed form
    assert (boot["method"], boot["replicates"], boot["seed"]) == (("bca", 400, 3) if drawn else ("t-hall", None, 3))
    low, high = metric["ci"]
    assert (metric["p_value"] <= 0.05) is not (low <= 0 <= high)
    assert (document["exact"]["ci"] != metric["ci"]) is drawn
    assert verify(tmp_path / "c.json").true


@pytest.mark.parametrize(("clusters", "verdict"), [(19, "insufficient evidence"), (20, "pass")])
def test_fewer_than_twenty_clusters_do_not_pass(clusters: int, verdict: str, tmp_path: Path) -> None:
    """The same windows, of the same tokens, in documents of the same size."""
    n = 20 * 19
    base, after = (
        losses(n, seed) | {"tokens": [100.0] * 2 * n, "document": [f"d{i % clusters}" for i in range(2 * n)]}
        for seed in (1, 2)
    )
    found = certify(base, after, tmp_path / "c.json", cluster="document")
    assert (found.verdict, found.stats.drawn) == (verdict, clusters)
    assert ("too few to rely on (19 clusters), for the limit" in found.sentence) == (clusters == 19)
    assert found.primary_metric.display_ci[1] < found.decision.limit  # the bound alone would pass
    assert verify(found.path).true


def test_windows_worth_fewer_than_twenty_do_not_pass_and_a_verdict_that_says_so_is_a_forgery(tmp_path: Path) -> None:
    tokens = [5_000.0 if i % 50 == 0 else 10.0 for i in range(200)]  # Kish: (2 · 5,000 + 980)² / (2 · 5,000² + 9,800)
    base, after = (losses(100, seed) | {"tokens": tokens} for seed in (1, 2))
    found = certify(base, after, tmp_path / "c.json")
    assert found.stats.effective == pytest.approx(10_980**2 / (2 * 5_000**2 + 9_800), rel=1e-6)
    assert found.verdict == "insufficient evidence"
    assert "100 windows worth 2.4 of equal weight" in found.sentence
    document = load(found.path)
    document["decision"]["verdict"] = "pass"
    assert not verify(save(tmp_path / "forged.json", document), evidence=evidence_of(found.path)).true
    document["decision"]["version"] = 1  # the rule of earlier certificates, with an interval of today
    assert not verify(save(tmp_path / "older.json", document), evidence=evidence_of(found.path)).true


def test_that_no_item_differs_is_no_proof_beyond_its_number(tmp_path: Path) -> None:
    """By hand: where no pair differs Tango's limits are ±z²/(n + z²), z² = 3.8415: 0.0209 for 180, 0.0188 for 200."""
    few = certify(scores(90, 180), scores(90, 180), tmp_path / "a.json")
    enough = certify(scores(90, 200), scores(90, 200), tmp_path / "b.json")
    reach = 3.841459 / (180 + 3.841459)
    assert few.to_dict()["primary_metric"]["ci"] == pytest.approx([-reach, reach], abs=1e-6)
    assert (few.verdict, enough.verdict) == ("insufficient evidence", "pass")


@pytest.mark.parametrize(
    "forged",
    [{"replicates": 1_200}, {"replicates": 1_200, "scheme": "tokens"}, {"method": "bca"}, {"design_effect": 1.5}],
)
def test_a_certificate_cannot_claim_replicates_that_were_not_drawn(forged: dict[str, object], tmp_path: Path) -> None:
    certificate = issue("plain scores", tmp_path)
    document = load(certificate)
    document["dataset"]["windows"]["stats"]["bootstrap"] |= forged
    found = verify(save(certificate, document))
    assert found.exit_code == 4
    assert all(fault.field.startswith("dataset.windows.stats.bootstrap.") for fault in found.faults)


# ------------------------------------------------------------------------------ method and scheme; the published recipe


def test_the_published_interval_by_hand(tmp_path: Path) -> None:
    """Drawn ∝ tokens, plain mean, Efron's levels: written out with numpy's own draws, to their random error."""
    before, after = losses(60), losses(60, 2, shift=0.02, spread=0.2)
    policy = Policy(replicates=200_000, min_windows=60, note="enough to compare")
    found = certify(before, after, tmp_path / "c.json", policy=policy).published
    assert found is not None
    final = slice(60, None)
    deltas = np.subtract(after["loss"], before["loss"])[final]
    share = np.array(before["tokens"])[final] / np.sum(before["tokens"][final])
    mean, n = float(share @ deltas), len(deltas)
    draws = np.random.default_rng(5).choice(deltas, p=share, size=(200_000, n)).mean(axis=1)
    bias = norm.ppf((draws < mean).mean())
    spread = np.sqrt(share @ (deltas - mean) ** 2)
    acceleration = float(share @ (deltas - mean) ** 3) / spread**3 / (6 * np.sqrt(n))
    sides = bias + norm.ppf([0.025, 0.975])
    expected = np.quantile(draws, norm.cdf(bias + sides / (1 - acceleration * sides)))
    assert found.ci == pytest.approx(expected, abs=0.03 * spread / np.sqrt(n))
    assert (found.method, found.scheme, found.replicates) == ("bca-plain", "tokens", 200_000)


def test_the_recipe_by_name_is_the_published_interval_and_is_not_stated_twice(tmp_path: Path) -> None:
    pair = losses(120), losses(120, 2, shift=0.02)
    beside = certify(*pair, tmp_path / "a.json").published
    policy = Policy(method="bca-plain", scheme="tokens", note="as published")
    chosen = certify(*pair, tmp_path / "b.json", policy=policy)
    assert beside is not None
    assert chosen.primary_metric.ci == beside.ci
    assert chosen.published is None
    assert (chosen.policy.method, chosen.policy.scheme) == ("bca-plain", "tokens")
    assert chosen.stats.bootstrap.method == "bca-plain"
    assert verify(tmp_path / "b.json").true


def test_the_published_recipe_knows_no_clusters(tmp_path: Path) -> None:
    pair = losses(120), losses(120, 2, shift=0.02)
    documents: Columns = {"document": [f"d{i // 6}" for i in range(240)]}
    plain = certify(*pair, tmp_path / "a.json").published
    first, second = (one | documents for one in pair)
    assert certify(first, second, tmp_path / "b.json", cluster="document").published == plain


def test_scores_and_equal_differences_have_no_published_interval(tmp_path: Path) -> None:
    assert certify(*pairs(3, 9, 200), tmp_path / "a.json").published is None
    base = losses(60)
    shifted = base | {"loss": [loss + 0.01 for loss in base["loss"]]}
    assert certify(base, shifted, tmp_path / "b.json").published is None


@pytest.mark.parametrize("method", ["bca", "bca-plain", "percentile"])
@pytest.mark.parametrize("scheme", ["tokens", "windows"])
def test_the_interval_by_method_and_scheme_is_that_of_compare(
    method: GateMethod, scheme: Scheme, tmp_path: Path
) -> None:
    pair = losses(120), losses(120, 2, shift=0.02)
    policy = Policy(method=method, scheme=scheme, note="to compare")
    issued = certify(*pair, tmp_path / "c.json", policy=policy)
    design = Design(method=method, scheme=scheme, resamples=1_200)
    found = compare(*pair, split="final", design=design).difference.interval
    assert found is not None
    assert issued.primary_metric.ci == (rounded(found.low), rounded(found.high))
    assert (issued.stats.bootstrap.method, issued.stats.bootstrap.scheme) == (method, scheme)
    assert verify(tmp_path / "c.json").true


@pytest.mark.parametrize("weaker", [{"method": "bca"}, {"method": "percentile"}, {"scheme": "tokens"}])
def test_a_weaker_choice_needs_a_note_and_the_permission_of_the_verifiers_policy(
    weaker: dict[str, str], tmp_path: Path
) -> None:
    pair, path = (losses(120), losses(120, 2)), tmp_path / "c.json"
    (name, value), allowed = next(iter(weaker.items())), {"max_ratio": 1.1} | weaker
    with pytest.raises(UsageError, match=f"{name} of the tier balanced changed: say why"):
        certify(*pair, path, policy=Policy(**weaker))  # type: ignore[arg-type]
    certify(*pair, path, policy=Policy(**weaker, note="why not"))  # type: ignore[arg-type]
    assert verify(path).issuers_choice[name] == value
    found = verify(path, policy=Policy(max_ratio=1.1))
    assert (found.true, found.passed) == (True, False)
    assert found.reasons == (f"issued with the {name} {value}, auto required; {name!r} in a policy can allow it",)
    assert isinstance(found.judged, Certificate)
    assert (found.judged.policy.method, found.judged.policy.scheme) == ("auto", "auto")
    assert verify(path, policy=Policy(**allowed)).passed  # type: ignore[arg-type]
    document = load(path)
    document["policy"]["note"] = None
    forged = verify(save(tmp_path / "forged.json", document), evidence=evidence_of(path))
    assert [fault.field for fault in forged.faults] == ["policy"]


def test_drawing_uniformly_is_no_weaker_and_a_stricter_issuer_is_judged_by_it(tmp_path: Path) -> None:
    pair, path = (losses(120), losses(120, 2)), tmp_path / "c.json"
    certify(*pair, path, policy=Policy(scheme="windows"))
    found = verify(path, policy=Policy(max_ratio=1.1, scheme="tokens"))
    assert found.passed
    assert isinstance(found.judged, Certificate)
    assert found.judged.policy.scheme == "windows"
