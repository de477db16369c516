"""What is said of a plan: words for every question, with pilots, margins, clusters and comparisons."""

import msgspec
import pytest

from assay import examples
from assay.analyses.power import power
from assay.analyses.power.result import Power
from assay.analyses.power.sentences import notes_of, sentence_of
from assay.stats.planning.plans import Goal, Means, Shares, Spread, Structure
from tests.analyses.power.pilots import every_kind


@pytest.mark.parametrize("found", every_kind(), ids=lambda found: f"{found.solved_for}-{found.test}")
def test_the_sentence_comes_from_the_record_alone(found: Power) -> None:
    assert sentence_of(msgspec.structs.replace(found, sentence="")) == found.sentence
    assert found.sentence.endswith(".")
    assert found.sentence.startswith(f"{found.items:,} {found.unit}s")


@pytest.mark.parametrize(
    ("reached", "text"), [(0.8123, "81%"), (0.9999, "99.99%"), (1.0, "100%"), (0.001, "0.1%"), (0.5, "50%")]
)
def test_a_power_below_1_is_not_said_to_be_certain(reached: float, text: str) -> None:
    found = power(Spread(sd=1.0), items=50, difference=0.4)
    assert f" with {text} power." in sentence_of(msgspec.structs.replace(found, power=reached))


def test_clusters_are_counted() -> None:
    plan = Spread(sd=0.4, structure=Structure(cluster_size=5, icc=0.1))
    found = power(plan, items=250, difference=0.1)
    assert found.sentence.startswith("250 items in 50 clusters detect a difference of 0.1 with ")
    assert " in 1 cluster detect" in sentence_of(msgspec.structs.replace(found, clusters=1.0))


def test_comparisons_and_a_pilot_stand_side_by_side() -> None:
    a, b = examples.path("scores-base.csv"), examples.path("scores-int3.csv")
    found = power(a, b, items=2000, difference=0.02, goal=Goal(comparisons=3))
    assert found.pilot is not None
    beside = found.sentence.partition("(")[2]
    assert beside.startswith("by a pilot of 500 items: ")
    assert beside.endswith("%, 95% CI; each of 3 comparisons at 1.67%).")


def test_losses_are_also_said_as_a_ratio_of_perplexities() -> None:
    a, b = examples.path("losses-base.csv"), examples.path("losses-int8.csv")
    assert " a difference of 0.001 nats per token (perplexity × 1.001) " in power(a, b, difference=0.001).sentence
    equivalent = power(a, b, goal=Goal(margin=0.01))
    assert " show equivalence within ±0.01 nats per token with 80% power if the true difference is 0" in (
        equivalent.sentence
    )


def test_no_difference_is_detected() -> None:
    found = power(Shares(discordant=0.01), items=20)
    assert found.sentence == "20 items cannot detect any possible difference with 80% power."


def test_a_note_names_both_shares() -> None:
    items = list(range(40))
    pilot = power({"item": items, "score": [0] * 40}, {"item": items, "score": [1, 1] + [0] * 38}, items=90).pilot
    assert pilot is not None
    assert notes_of(Shares(discordant=0.05), pilot) == ()
    assert notes_of(Means(1.0), pilot) == ()
    assert notes_of(Shares(discordant=0.2), None) == ()
    assert notes_of(Shares(discordant=0.2), pilot) == (
        "5% of the pilot's items differ, fewer than the difference needs; the plan assumes 20%",
    )
