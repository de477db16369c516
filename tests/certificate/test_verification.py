"""A verifier's policy against issuers who chose their own terms: what is judged again, not met, and left open."""

import json
import re
from dataclasses import asdict
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

import assay as package
from assay import examples
from assay.certificate.record import Certificate
from assay.certificate.verification import Verification
from assay.certificate.verify import verify
from assay.data import Selection
from assay.design import Policy
from assay.errors import InputError, UsageError
from assay.report.document import part_of_result
from assay.report.files import write_report
from assay.results.record import Result
from tests.certificate.issuing import certify_alone as certify
from tests.certificate.samples import Columns, assay, evidence_of, issue, load, losses, save, scores
from tests.certificate.test_policy import policies
from tests.data.readers.harness.logs import LARGE, LM_EVAL, SMALL

WORSE = scores(180, 200), scores(140, 200)  # accuracy falls from 0.9 to 0.7
#: Credit for half an answer; the second gets the last items wrong.
PARTIAL = [scores(0, 200) | {"score": [i % 3 / 2 * (i < right) for i in range(200)]} for right in (200, 198)]
HALF = scores(0, 200) | {"score": [i % 3 / 2 * (i < 100) for i in range(200)]}  # enough differ for replicates


def shown(result: Result) -> list[tuple[str, str]]:
    """What is said beside tables, by its label."""
    return [(fact.label, fact.text) for fact in result.facts]


def judged_by(found: Verification) -> Certificate:
    assert isinstance(found.judged, Certificate)
    return found.judged


LOSSES = examples.path("losses-base.csv"), examples.path("losses-trigram.csv")


# ------------------------------------------------------------------------------------------------ what was a bypass


@pytest.mark.parametrize("policy", [Policy(max_drop=0.02), Policy(tier="aggressive"), Policy(lower_is_better=False)])
def test_an_issuer_who_turns_the_direction_round_does_not_pass(policy: Policy, tmp_path: Path) -> None:
    issued = certify(*WORSE, tmp_path / "c.json", lower_is_better=True)
    assert issued.verdict == "pass"  # by the issuer's direction a fall is a gain
    found = verify(issued.path, policy=policy)
    assert (found.true, found.passed, found.verdict, found.exit_code) == (True, False, "regression", 1)
    assert found.reasons == ("issued with lower scores as better, higher scores as better required",)
    assert assay("verify", issued.path, "--max-drop", "0.02").code == 1


def test_a_verifier_may_say_that_lower_scores_are_better(tmp_path: Path) -> None:
    issued = certify(*WORSE, tmp_path / "c.json", lower_is_better=True)
    assert verify(issued.path, policy=Policy(lower_is_better=True)).exit_code == 0
    assert assay("verify", issued.path, "--max-drop", "0.02", "--lower-is-better").code == 0
    plain = certify(*WORSE, tmp_path / "d.json")
    assert "issued with higher scores as better" in verify(plain.path, policy=Policy(lower_is_better=True)).reasons[0]


#: 60 of 400 items fell from right to wrong, and weigh next to nothing.
HIDDEN: Columns = {"weight": [1.0] * 340 + [1e-6] * 60}
LIGHT = scores(400, 400) | HIDDEN, scores(340, 400) | HIDDEN
#: Fifteen items have all the weight.
HEAVY: Columns = {"weight": [1.0] * 15 + [1e-9] * 385}
FEW = scores(400, 400) | HEAVY, scores(340, 400) | HEAVY


@pytest.mark.parametrize("tables", [LIGHT, FEW, PARTIAL], ids=["light", "few", "partial"])
@pytest.mark.parametrize("profile", ["ci", "release"])
def test_weights_that_hide_a_loss_are_refused_by_strict_profiles(tables: Any, profile: Any, tmp_path: Path) -> None:
    weights = tables[0].get("weight", [1.0] * 199 + [1e-6])
    baseline, subject = (table | {"weight": weights} for table in tables)
    with pytest.raises(InputError, match=f"profile {profile} refuses: equal weights: weights from 1e-0") as refused:
        certify(baseline, subject, tmp_path / "c.json", policy=Policy(profile=profile))
    assert "`weights='any', note=TEXT`" in str(refused.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("policy", [Policy(max_drop=0.02), Policy(tier="balanced"), Policy(weights="equal")])
@pytest.mark.parametrize("issued_with", [Policy(), Policy(profile="release", weights="any", note="trust me")])
def test_weights_that_hide_a_loss_do_not_meet_a_policy_that_says_nothing_of_them(
    policy: Policy, issued_with: Policy, tmp_path: Path
) -> None:
    issued = certify(*LIGHT, tmp_path / "c.json", policy=issued_with)
    assert issued.verdict == "pass"  # by the issuer's weights nothing was lost
    found = verify(issued.path, policy=policy)
    assert (found.true, found.passed, found.exit_code) == (True, False, 1)
    (reason,) = found.reasons
    assert reason.startswith("unequal weights (400 items, worth 340 of equal weight), equal ones required;")
    assert assay("verify", issued.path, "--max-drop", "0.02").code == 1


def test_a_policy_that_allows_weights_leaves_them_to_the_issuer_and_says_so(tmp_path: Path) -> None:
    policy = Policy(profile="release", weights="any", note="hard items matter less")
    issued = certify(*LIGHT, tmp_path / "c.json", policy=policy)
    assert issued.to_dict()["policy"]["weights"] == "any"
    for own in (None, Policy(max_drop=0.02, weights="any"), policy):
        found = verify(issued.path, policy=own)
        assert found.exit_code == 0
        assert found.issuers_choice["weights"] == "unequal (400 items, worth 340 of equal weight)"
        assert "weights unequal (400 items" in str(found)
        assert any("weights unequal" in fact.text for fact in part_of_result(found).facts)
    assert assay("verify", issued.path, "--max-drop", "0.02", "--weights", "any").code == 0


def test_equal_weights_are_nobodys_choice(tmp_path: Path) -> None:
    heavy = scores(180, 200) | {"weight": [0.1] * 200}
    issued = certify(heavy, heavy, tmp_path / "c.json", policy=Policy(profile="release"))
    found = verify(issued.path, policy=Policy(max_drop=0.5))
    assert found.passed
    assert "weights" not in found.issuers_choice


def test_weights_that_a_certificate_denies_make_it_untrue(tmp_path: Path) -> None:
    issued = certify(*LIGHT, tmp_path / "c.json")
    stated = load(issued.path)
    save(issued.path, stated | {"policy": stated["policy"] | {"profile": "release"}})
    assert any("equal weights" in str(fault) for fault in verify(issued.path).faults)


def test_the_minimum_counts_items_by_their_weights(tmp_path: Path) -> None:
    """Kish: (15 + 385e-9)² / (15 + 385e-18) is 15."""
    allowed = Policy(weights="any", profile="ci", note="allowed")
    few = r"final minimum: 400 items of at least 180 in the tier balanced, worth 15 of equal weight: a few have most"
    with pytest.raises(InputError, match=few):
        certify(*FEW, tmp_path / "c.json", policy=allowed)
    issued = certify(*FEW, tmp_path / "c.json")
    final = issued.to_dict()["dataset"]["windows"]["stats"]["coverage"]["final"]
    assert (final["used"], final["ok"]) == (400, False)
    assert final["effective"] == pytest.approx((15 + 385e-9) ** 2 / (15 + 385e-18))
    found = verify(issued.path, policy=Policy(min_windows=100, weights="any"))
    assert found.reasons == ("400 paired windows, worth 15 of equal weight, at least 100 required",)


def test_the_minimum_sees_windows_whose_tokens_are_all_in_a_few(tmp_path: Path) -> None:
    """Tokens are no weights, and windows may differ in length; but not so that ten of 400 are the whole text."""
    tokens = ([1.0] * 190 + [1000.0] * 10) * 2
    base, subject = (losses(200, seed) | {"tokens": tokens} for seed in (1, 2))
    with pytest.raises(InputError, match=r"worth 10\.3 of equal length: a few have most of the tokens"):
        certify(base, subject, tmp_path / "c.json", policy=Policy(profile="ci"))
    issued = certify(base, subject, tmp_path / "c.json")
    assert verify(issued.path, policy=Policy(max_ratio=1.1, min_windows=150)).reasons == (
        "200 paired windows, worth 10.3 of equal length, at least 150 required",
    )


def test_allowing_weights_needs_a_note_and_an_option_may_only_forbid_them() -> None:
    with pytest.raises(UsageError, match="weights of the tier balanced changed: say why with `note=TEXT`"):
        Policy(weights="any").complete()
    assert Policy(weights="any", note="why").with_options(weights="equal").weights == "equal"
    with pytest.raises(UsageError, match="weights any contradicts the policy, which says equal"):
        Policy(weights="equal").with_options(weights="any")


def test_the_direction_of_losses_is_not_a_choice(tmp_path: Path) -> None:
    certificate = issue("losses", tmp_path)
    for lower in (True, False):  # one policy is for losses and scores alike
        assert verify(certificate, policy=Policy(max_ratio=1.05, lower_is_better=lower)).exit_code == 0
        assert certify(losses(40), losses(40, 2), tmp_path / "c.json", policy=Policy(lower_is_better=lower)).passed


def test_an_interval_of_50_percent_is_judged_at_95(tmp_path: Path) -> None:
    easy = Policy(level=0.5, max_ratio=1.14, note="trust me")
    issued = certify(*LOSSES, tmp_path / "c.json", policy=easy)
    assert issued.verdict == "pass"
    found = verify(issued.path, policy=Policy(max_ratio=1.14))
    assert found.reasons == ("intervals at the level 0.5, at least 0.95 required",)
    assert (found.verdict, found.exit_code) == ("insufficient evidence", 1)
    honest = certify(*LOSSES, tmp_path / "d.json", policy=Policy(max_ratio=1.14, note="the same limit"))
    assert judged_by(found).primary_metric == honest.primary_metric
    assert verify(issued.path, policy=Policy(max_ratio=1.14, level=0.5)).exit_code == 0  # unless the verifier says so


@pytest.mark.parametrize("policy", [Policy(max_ratio=1.3), Policy(min_windows=5), Policy(task="t")])
def test_any_policy_asks_for_95_percent(policy: Policy, tmp_path: Path) -> None:
    issued = certify(losses(40), losses(40, 2), tmp_path / "c.json", policy=Policy(level=0.9, note="a pilot", task="t"))
    reasons = verify(issued.path, policy=policy).reasons
    assert reasons == ("intervals at the level 0.9, at least 0.95 required",)


def test_a_limit_of_perplexity_is_not_evaded_by_a_certificate_of_scores(tmp_path: Path) -> None:
    """The limit that would apply is the issuer's own, which may be anything."""
    issued = certify(*WORSE, tmp_path / "c.json", policy=Policy(max_drop=0.9, note="whatever"))
    assert issued.verdict == "pass"
    found = verify(issued.path, policy=Policy(max_ratio=1.05))
    reason = "about scores, and the policy limits perplexity only (max_ratio); max_drop required"
    assert (found.reasons, found.exit_code) == ((reason,), 1)
    assert verify(issued.path, policy=Policy(max_ratio=1.05, max_drop=0.9)).exit_code == 0
    other = verify(issue("losses", tmp_path), policy=Policy(max_drop=0.02))
    assert other.reasons == ("about perplexity, and the policy limits scores only (max_drop); max_ratio required",)


CHOSEN: dict[str, tuple[Policy, Policy, str]] = {
    "task": (Policy(task="easy"), Policy(task="hard"), "task 'easy', 'hard' required"),
    "no task": (Policy(), Policy(task="hard"), "task not stated, 'hard' required"),
    "metric": (Policy(metric="f1"), Policy(metric="acc"), "metric 'f1', 'acc' required"),
    "clusters": (Policy(), Policy(cluster="document"), "issued without clusters, 'document' required"),
    "profile": (Policy(), Policy(profile="ci"), "issued under the profile dev, ci required"),
    "tier": (Policy(), Policy(tier="conservative"), "200 paired windows, at least 220 required"),
    "windows": (Policy(), Policy(min_windows=201), "200 paired windows, at least 201 required"),
    "filter": (Policy(filter="flexible"), Policy(filter="strict"), "filter 'flexible', 'strict' required"),
    "scorer": (Policy(), Policy(scorer="match"), "scorer not stated, 'match' required"),
}


@pytest.mark.parametrize("case", CHOSEN)
def test_what_the_issuer_chose_otherwise_is_not_met(case: str, tmp_path: Path) -> None:
    issuers, own, reason = CHOSEN[case]
    issued = certify(scores(180, 200), scores(180, 200), tmp_path / "c.json", policy=issuers)
    found = verify(issued.path, policy=own)
    assert (found.true, found.reasons, found.exit_code) == (True, (reason,), 1)
    assert reason in found.sentence
    assert ("not met", reason) in shown(found)


POLICIES = [
    Policy(max_ratio=1.13),
    Policy(tier="aggressive"),
    Policy(tier="conservative", min_windows=50),
    Policy(max_ratio=1.12, level=0.99),
    Policy(max_ratio=1.1, replicates=4_000),
    Policy(max_ratio=1.14, seed=11),
    Policy(tier="aggressive", max_ratio=1.125, level=0.999, replicates=2_000, seed=5),
]


@pytest.mark.parametrize("policy", POLICIES, ids=range(len(POLICIES)))
def test_verify_by_a_policy_decides_as_certify_by_the_same_policy_does(policy: Policy, tmp_path: Path) -> None:
    """The same evidence and the same policy, whoever applies it: the two verbs may not contradict each other."""
    loose = Policy(max_ratio=2.0, note="whatever", replicates=300, min_windows=20)
    verified = verify(certify(*LOSSES, tmp_path / "c.json", policy=loose).path, policy=policy)
    issuing = policy.with_options(note="agreed")
    direct = certify(*LOSSES, tmp_path / "d.json", policy=issuing)
    if policy.fixed("replicates") is None:
        issuing = policy.with_options(note="agreed", replicates=300)
        direct = certify(*LOSSES, tmp_path / "d.json", policy=issuing)
    for name in ("primary_metric", "exact", "decision", "ppl", "bits_per_byte"):
        assert getattr(judged_by(verified), name) == getattr(direct, name), name
    assert verified.verdict == direct.verdict


# --------------------------------------------------------------------------------------------- the issuer's choice


def test_without_a_policy_everything_is_the_issuers_choice(tmp_path: Path) -> None:
    issued = certify(PARTIAL[0], HALF, tmp_path / "c.json", policy=Policy(task="gsm8k", seed=4))
    found = verify(issued.path)
    assert found.issuers_choice == {
        "max_drop": 0.02,
        "min_windows": 180,
        "replicates": 1_200,
        "seed": 4,
        "profile": "dev",
        "cluster": None,
        "task": "gsm8k",
        "metric": None,
        "level": 0.95,
        "lower_is_better": False,
    }
    said = dict(shown(found))["issuer's choice"]
    assert said.startswith("max_drop 0.02, min_windows 180")
    assert "cluster none, task gsm8k, metric not stated, level 0.95, lower_is_better false" in said
    assert found.to_dict()["issuers_choice"] == found.issuers_choice


LEFT = {"min_windows", "replicates", "seed", "profile", "cluster", "task", "metric"}


@pytest.mark.parametrize(
    ("policy", "left"),
    [
        (Policy(max_drop=0.02), LEFT),
        (Policy(tier="balanced"), {"seed", "profile", "cluster", "task", "metric"}),
        (Policy(max_ratio=1.1), {"max_drop", *LEFT}),
        (Policy(tier="balanced", seed=0, profile="dev", cluster="x", task="t", metric="m"), set[str]()),
    ],
)
def test_what_a_policy_fixes_is_no_longer_the_issuers(policy: Policy, left: set[str], tmp_path: Path) -> None:
    issued = certify(PARTIAL[0], HALF, tmp_path / "c.json")
    found = verify(issued.path, policy=policy)
    assert set(found.issuers_choice) == left
    assert ("issuer's choice" in dict(shown(found))) is bool(left)
    assert set(found.to_dict()["policy"]) == {k for k, v in asdict(policy).items() if v is not None}


def test_where_nothing_is_drawn_there_is_no_seed_to_choose(tmp_path: Path) -> None:
    issued = certify(scores(180, 200), scores(179, 200), tmp_path / "c.json")
    assert set(verify(issued.path, policy=Policy(max_drop=0.02)).issuers_choice) == LEFT - {"replicates", "seed"}


def test_an_untrue_certificate_has_no_choices_to_show(tmp_path: Path) -> None:
    certificate = issue("losses", tmp_path)
    save(certificate, load(certificate) | {"bits_per_byte": None})
    found = verify(certificate, policy=Policy(max_ratio=1.1))
    assert (found.exit_code, found.issuers_choice) == (4, {})
    assert "decision" not in found.to_dict()


# ------------------------------------------------------------------------------------- the verifier's limit, everywhere


class Texts(HTMLParser):
    """What a page says, its drawings included."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(page)

    def handle_data(self, data: str) -> None:
        self.found.append(data.strip())


def test_the_verifiers_limit_is_shown_everywhere(tmp_path: Path) -> None:
    certificate = issue("clusters", tmp_path)  # × 1.0654 [1.0592 to 1.0716], which passes at the issuer's 1.1
    policy = tmp_path / "policy.json"
    policy.write_text('{"max_ratio": 1.0625}', encoding="utf-8")
    found = verify(certificate, policy=policy)
    assert "the limit of × 1.0625" in found.sentence
    assert dict(shown(found))["limit"] == "1.0625 (yours; the issuer's is 1.1)"
    as_json = json.loads(assay("verify", certificate, "--max-ratio", "1.0625", "--json").out)
    assert (as_json["limit"], as_json["decision"]["limit"], as_json["policy"]) == (
        1.0625,
        1.0625,
        {"max_ratio": 1.0625},
    )
    assert as_json["verdict"] == as_json["decision"]["verdict"] == "insufficient evidence"
    text = assay("verify", certificate, "--max-ratio", "1.0625").out
    assert ("1.0625 (yours" in text, "limit of × 1.1 " in text) == (True, False)
    part = part_of_result(found)
    assert part.gauge is not None
    assert [mark.place for mark in part.gauge.marks] == [1.0, 1.0625]
    assert part.status == "unsure"
    page = tmp_path / "page.html"
    assert assay("report", certificate, "--policy", policy, "-o", page).code == 0
    drawn = Texts(page.read_text(encoding="utf-8")).found
    assert "limit 1.0625" in drawn
    assert "limit 1.1" not in drawn
    assert "1.0625 (yours; the issuer's is 1.1)" in assay("report", certificate, "--policy", policy).out
    write_report(tmp_path / "python.html", certificate, policy=policy)
    assert "limit 1.0625" in Texts((tmp_path / "python.html").read_text(encoding="utf-8")).found


def test_a_page_without_a_policy_shows_the_issuers_limit_and_choices(tmp_path: Path) -> None:
    certificate = issue("clusters", tmp_path)
    page = assay("report", certificate).out
    assert "1.1 (tier balanced, profile dev)" in page
    assert re.search(r"issuer's choice +max_ratio 1\.1, min_windows 180", page)
    assay("report", "--serve", tmp_path, "--policy", "p.json").assert_refused(2, "--serve shows certificates as issued")


def test_a_page_shows_what_is_not_met_as_bad(tmp_path: Path) -> None:
    certificate = issue("losses", tmp_path)
    part = part_of_result(verify(certificate, policy=Policy(profile="release")))
    assert part.status == "bad"
    assert ("not met", "issued under the profile ci, release required") in [(f.label, f.value) for f in part.facts]


@pytest.mark.parametrize(("lower", "place", "better"), [(False, -0.02, "higher"), (True, 0.02, "lower")])
def test_the_limit_of_a_score_is_drawn_on_its_bad_side(lower: bool, place: float, better: str, tmp_path: Path) -> None:
    issued = certify(scores(180, 200), scores(179, 200), tmp_path / "c.json", lower_is_better=lower or None)
    gauge = issued.gauge
    assert [mark.place for mark in gauge.marks] == [0.0, place]
    assert gauge.better == better


# -------------------------------------------------------------------------------------------------- task and metric


def test_a_certificate_of_a_harness_records_its_task_and_metric(tmp_path: Path) -> None:
    pair = LM_EVAL / SMALL, LM_EVAL / LARGE
    issued = certify(*pair, tmp_path / "c.json", selection=Selection(task="tiny_sky", metric="acc"))
    expected = {"task": "tiny_sky", "tasks": ["tiny_sky"], "metric": "acc", "filter": "none", "scorer": None}
    assert issued.to_dict()["measure"] == expected
    assert ("measure", "metric acc, task tiny_sky, filter none") in shown(issued)
    policy = Policy(task="tiny_sky", metric="acc", filter="none")
    by_policy = certify(*pair, tmp_path / "d.json", policy=policy)  # which picks
    assert by_policy.to_dict()["measure"] == expected
    assert verify(issued.path, policy=policy).reasons == ()
    assert verify(issued.path, policy=Policy(task="tiny_rain")).reasons == ("task 'tiny_sky', 'tiny_rain' required",)


def test_a_pattern_of_tasks_is_recorded_with_the_tasks_it_held(tmp_path: Path) -> None:
    issued = certify(
        LM_EVAL / SMALL, LM_EVAL / LARGE, tmp_path / "c.json", policy=Policy(task="tiny_sk*", metric="acc")
    )
    measure = issued.to_dict()["measure"]
    assert measure["task"] == "tiny_sk*"
    assert "tiny_sky" in measure["tasks"]
    assert verify(issued.path, policy=Policy(task="tiny_sk*")).reasons == ()


def test_a_policy_that_names_a_task_the_files_do_not_have_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no task 'gsm8k'"):
        certify(LM_EVAL / SMALL, LM_EVAL / LARGE, tmp_path / "c.json", policy=Policy(task="gsm8k"))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("through", ["policy", "option"])
def test_a_certificate_does_not_turn_a_harnesss_metric_round(through: str, tmp_path: Path) -> None:
    pair, selection = (LM_EVAL / SMALL, LM_EVAL / LARGE), Selection(task="tiny_sky", metric="acc")
    how: dict[str, Any] = {"lower_is_better": True} if through == "option" else {"policy": Policy(lower_is_better=True)}
    with pytest.raises(UsageError, match="the harness says that higher is better, but lower was asked for"):
        certify(*pair, tmp_path / "c.json", selection=selection, **how)


def test_of_a_table_the_issuer_says_what_it_is(tmp_path: Path) -> None:
    pair = scores(180, 200), scores(180, 200)
    named = certify(*pair, tmp_path / "a.json", selection=Selection(task="gsm8k", metric="exact_match"))
    assert named.to_dict()["measure"] == {
        "task": "gsm8k",
        "tasks": [],
        "metric": "exact_match",
        "filter": None,
        "scorer": None,
    }
    before, after = ({"item": table["item"], "f1": table["score"]} for table in pair)
    mapped = certify(before, after, tmp_path / "b.json", columns={"score": "f1"})
    assert (mapped.to_dict()["measure"]["metric"], mapped.to_dict()["measure"]["task"]) == ("f1", None)
    assert load(issue("losses", tmp_path))["measure"]["metric"] == "perplexity"
    with pytest.raises(UsageError, match=r"`Selection\(newest=True\)` picks among the results of a harness"):
        certify(*pair, tmp_path / "c.json", selection=Selection(newest=True))


# ------------------------------------------------------------------------------------------------- other versions


@pytest.mark.parametrize("version", ["assay/certificate/1", "assay/certificate/4", "assay/certificate/20"])
def test_a_certificate_of_another_version_is_refused_in_one_line(version: str, tmp_path: Path) -> None:
    certificate = issue("overrides", tmp_path)
    save(certificate, load(certificate) | {"schema": version})
    said = f"not a certificate that this version of Assay reads: schema {version!r}, expected 'assay/certificate/3'"
    for verb in ("verify", "report"):
        assay(verb, certificate).assert_refused(3, said, "issue it again with `assay certify`")


def test_the_evidence_is_needed_for_a_policy(tmp_path: Path) -> None:
    certificate = issue("losses", tmp_path)
    evidence_of(certificate).unlink()
    with pytest.raises(InputError, match="a policy needs it"):
        package.verify(certificate, policy=Policy(task="x"))
    assert package.verify(certificate, policy=Policy(note="no requirement")).exit_code == 0


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A true certificate of losses and one of scores."""
    folder = tmp_path_factory.mktemp("both")
    first = certify(losses(30), losses(30, 2), folder / "a.json").path
    return first, certify(PARTIAL[0], PARTIAL[1], folder / "b.json", policy=Policy(task="t")).path


@settings(deadline=None)  # each example computes two certificates again
@given(policies.filter(lambda policy: (policy.replicates or 0) <= 5_000))
def test_whatever_the_policy_a_true_certificate_stays_true(both: tuple[Path, Path], policy: Policy) -> None:
    """And passes only what passes by the policy's own limit."""
    for certificate in both:
        found = verify(certificate, policy=policy)
        assert found.true
        assert found.exit_code in (0, 1)
        assert found.passed is (found.verdict == "pass" and not found.reasons)
        assert not {name for name in found.issuers_choice if policy.fixed(name) is not None}
        limit = policy.fixed("max_drop" if judged_by(found).scores else "max_ratio")
        assert found.limit == (found.limit_of_issuer if limit is None else limit)
        json.dumps(found.to_dict(), allow_nan=False)
        assert "\n" not in found.sentence
