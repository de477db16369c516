"""What a verifier's policy makes of a certificate: how it is judged, what is not met, what was left to the issuer."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from assay.certificate.coverage import worth
from assay.certificate.measure import PICKS
from assay.certificate.rules import EQUAL_WEIGHTS
from assay.design import OF_THE_TIER, STRICTNESS, Policy
from assay.names import one_line, shown

_KINDS = {"max_ratio": "perplexity", "max_drop": "scores"}
NOT_STATED = "not stated"


def applied(own: Policy, stated: Policy) -> Policy:
    """The issuer's policy with the verifier's numbers in place; the level is a floor, 0.95 unless the verifier says."""
    fixed = {name: own.fixed(name) for name in (*OF_THE_TIER, "tier", "seed")}
    fixed["replicates"] = max(stated.limits.replicates, fixed["replicates"] or 0)
    return replace(
        stated,
        **{name: value for name, value in fixed.items() if value is not None},
        level=max(stated.design().level, own.design().level),
        weights=own.weights or "equal",
        note=stated.note or "the verifier's own limits",
    ).complete()


def direction(own: Policy, metric: dict[str, Any]) -> bool:
    """Whether lower is better, for the verifier: losses always, scores only if the policy says so."""
    return metric["kind"] == "perplexity" or bool(own.lower_is_better)


def unmet(own: Policy, document: dict[str, Any], judged: dict[str, Any]) -> list[str]:
    """What the certificate, or its evidence as judged by the policy, does not meet; the verdict itself is apart."""
    return [*_choices_unmet(own, document), *_evidence_unmet(own, document, judged)]


def _choices_unmet(own: Policy, document: dict[str, Any]) -> Iterator[str]:
    """What the issuer chose otherwise."""
    metric, stated = document["primary_metric"], document["policy"]
    here, there = ("max_drop", "max_ratio") if metric["kind"] == "score" else ("max_ratio", "max_drop")
    if own.fixed(here) is None and own.fixed(there) is not None:
        yield f"about {_KINDS[here]}, and the policy limits {_KINDS[there]} only ({there}); {here} required"
    floor = own.design().level
    if stated["level"] < floor:
        yield f"intervals at the level {stated['level']}, at least {floor} required"
    if metric["lower_is_better"] is not direction(own, metric):
        words = {True: "lower scores as better", False: "higher scores as better"}
        yield f"issued with {words[metric['lower_is_better']]}, {words[direction(own, metric)]} required"
    unequal = _unequal(document)
    if unequal and own.weights != "any":
        yield f"unequal weights ({unequal}), equal ones required; `weights` in a policy can allow any"
    cluster = document["dataset"]["windows"]["stats"]["cluster_by"]
    if own.cluster is not None and cluster != own.cluster:
        had = "without clusters" if cluster is None else f"with the clusters {shown(cluster)}"
        yield f"issued {had}, {shown(own.cluster)} required"
    for name in PICKS:
        wanted, found = getattr(own, name), document["measure"][name]
        if wanted is not None and wanted != found:
            yield f"{name} {NOT_STATED if found is None else shown(found)}, {shown(wanted)} required"


def _evidence_unmet(own: Policy, document: dict[str, Any], judged: dict[str, Any]) -> Iterator[str]:
    final, least = judged["dataset"]["windows"]["stats"]["coverage"]["final"], own.fixed("min_windows")
    few = least is not None and not final["ok"]
    if few:
        losses = document["primary_metric"]["kind"] == "perplexity"
        counted = worth(final["used"], final["effective"], losses=losses) if final["used"] >= least else ""
        yield f"{final['used']} paired windows{counted}, at least {least} required"
    if own.profile is not None:
        order, profile = STRICTNESS["profile"], document["policy"]["profile"]
        if order.index(profile) < order.index(own.profile):
            yield f"issued under the profile {profile}, {own.profile} required"
        for rule in judged["rules"]:
            said = rule["name"] == EQUAL_WEIGHTS or (few and rule["name"] == "final minimum")
            if not rule["ok"] and not said:
                yield f"{rule['name']}: {rule['detail']}"


def issuers_choice(own: Policy, document: dict[str, Any]) -> dict[str, Any]:
    """What the policy left open, so that the issuer decided it: each field and what was chosen, null for not stated."""
    scores = document["primary_metric"]["kind"] == "score"
    stated, stats = document["policy"], document["dataset"]["windows"]["stats"]
    chosen = {
        "max_drop" if scores else "max_ratio": document["decision"]["limit"],
        "min_windows": stated["limits"]["windows"],
        "replicates": stats["bootstrap"]["replicates"],
        "seed": stats["bootstrap"]["seed"],
        "profile": stated["profile"],
        "cluster": stats["cluster_by"],
        "task": document["measure"]["task"],
        "metric": document["measure"]["metric"],
        **{name: document["measure"][name] for name in ("filter", "scorer") if document["measure"][name] is not None},
    }
    if not own:  # then the defaults of a policy are not in force either
        chosen["level"] = stated["level"]
        chosen |= {"lower_is_better": document["primary_metric"]["lower_is_better"]} if scores else {}
    if stats["bootstrap"]["replicates"] is None:  # nothing is drawn, so there is nothing to choose
        del chosen["replicates"], chosen["seed"]
    left = {name: value for name, value in chosen.items() if own.fixed(name) is None}
    unequal = _unequal(document)
    return left | ({"weights": f"unequal ({unequal})"} if unequal and (not own or own.weights == "any") else {})


def _unequal(document: dict[str, Any]) -> str | None:
    """What unequal weights of scores make of the items; ``None`` where all weigh the same."""
    final = document["dataset"]["windows"]["stats"]["coverage"]["final"]
    counted = worth(final["used"], final["effective"])
    return f"{final['used']} items{counted}" if document["primary_metric"]["kind"] == "score" and counted else None


def in_words(choices: dict[str, Any]) -> str:
    """The issuer's choices on one line."""
    return ", ".join(f"{name} {_word(name, value)}" for name, value in choices.items())


def _word(name: str, value: Any) -> str:
    if value is None:
        return "none" if name == "cluster" else NOT_STATED
    return str(value).lower() if isinstance(value, bool) else one_line(str(value))
