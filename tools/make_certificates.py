"""Write the certificates that every later version must still verify: tests/certificate/fixtures/VERSION/*.json.

    python -m tools.make_certificates

Run it once for a release, or for a new format or version of the intervals, into a folder of that name; what is there
already is never written again. Each kind has
its evidence beside it, two are signed, and `expected.json` holds what `assay verify` must say of each: the verdict,
whether it passes, the interval and the broken rules.
"""

import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from assay import examples
from assay.certificate import certify as issue_any
from assay.certificate.record import FORMAT, Certificate
from assay.certificate.signing import generate_keys
from assay.design import Policy
from assay.version import VERSION

FOLDER = Path(__file__).resolve().parents[1] / "tests" / "certificate" / "fixtures"
Columns = dict[str, list[Any]]
T = TypeVar("T")


def certify(*given: Any, **asked: Any) -> Certificate:
    """A certificate of one task."""
    found = issue_any(*given, **asked)
    assert isinstance(found, Certificate)
    return found


def losses(n: int, worse: float = 0.0, seed: int = 0) -> Columns:
    """As many preview as final windows, in documents of five; values by arithmetic, so that no generator matters."""
    places = range(2 * n)
    return {
        "window": [f"w{i:04d}" for i in places],
        "document": [f"d{i // 5:03d}" for i in places],
        "split": ["preview" if i < n else "final" for i in places],
        "tokens": [90 + 37 * i % 60 for i in places],
        "bytes": [400 + 53 * i % 250 for i in places],
        "chars": [380 + 41 * i % 230 for i in places],
        "loss": [
            2.5 + (71 * i % 97) / 97 + worse + (seed + 1) * ((29 * i + 13 * seed) % 31 - 15) / 900 for i in places
        ],
    }


def scores(n: int, wrong: int, turn: int = 0) -> Columns:
    """Items of which every `wrong`-th is wrong."""
    return {"item": [f"q{i:04d}" for i in range(n)], "score": [float((i + turn) % wrong != 0) for i in range(n)]}


def graded(n: int, fall: float = 0.0) -> Columns:
    return {
        "item": [f"q{i:04d}" for i in range(n)],
        "score": [round((53 * i % 89) / 89 - fall * (17 * i % 23) / 23, 6) for i in range(n)],
    }


def with_clusters(columns: Columns, size: int) -> Columns:
    return columns | {"cluster": [f"c{i // size:03d}" for i in range(len(columns["item"]))]}


def with_weights(columns: Columns) -> Columns:
    return columns | {"weight": [1.0 + i % 3 for i in range(len(columns["item"]))]}


def without(columns: Columns, *rows: int) -> Columns:
    return {name: [v for i, v in enumerate(values) if i not in rows] for name, values in columns.items()}


def spans(columns: Columns) -> Columns:
    """Windows of which two share tokens."""
    start = [100 * i - 10 * (i == 11) for i in range(len(columns["window"]))]
    return columns | {"start": start, "stop": [at + 100 for at in start]}


def _losses(path: Path, key: Path) -> Certificate:
    return certify(losses(180), losses(180, 0.01, 1), path, policy=Policy(profile="release"), sign_with=key)


def _regression(path: Path, _: Path) -> Certificate:
    return certify(losses(60), losses(60, 0.3, 1), path, cluster="document")


def _insufficient(path: Path, _: Path) -> Certificate:
    return certify(losses(20), losses(20, 0.09, 6), path)


def _clusters(path: Path, _: Path) -> Certificate:
    return certify(losses(180), losses(180, 0.02, 2), path, cluster="document", policy=Policy(tier="conservative"))


def _degenerate(path: Path, _: Path) -> Certificate:
    return certify(losses(40), losses(40, 0.25), path)


def _one_cluster(path: Path, _: Path) -> Certificate:
    one: Columns = {"document": ["only"] * 40}
    return certify(losses(20) | one, losses(20, 0.01, 1) | one, path, cluster="document")


def _broken(path: Path, _: Path) -> Certificate:
    return certify(without(spans(losses(30)), 0, 45), without(spans(losses(30, 0.01, 1)), 1), path)


def _overrides(path: Path, _: Path) -> Certificate:
    policy = Policy(max_ratio=1.02, min_windows=50, replicates=400, seed=7, level=0.9, note="a pilot; see the log")
    return certify(losses(60), losses(60, 0.001, 1), path, policy=policy, timestamp=True)


def _scores(path: Path, key: Path) -> Certificate:
    return certify(scores(400, 5), scores(400, 5, 1), path, sign_with=key)


def _scores_in_clusters(path: Path, _: Path) -> Certificate:
    return certify(with_clusters(scores(400, 7), 8), with_clusters(scores(400, 6), 8), path)


def _graded(path: Path, _: Path) -> Certificate:
    policy = Policy(task="essays", metric="grade", profile="ci")
    return certify(graded(200), graded(200, 0.005), path, policy=policy)


def _lower(path: Path, _: Path) -> Certificate:
    policy = Policy(lower_is_better=True, max_drop=0.03, note="an error rate in percent")
    return certify(graded(200), graded(200, -0.02), path, policy=policy)


def _weights(path: Path, _: Path) -> Certificate:
    policy = Policy(weights="any", profile="ci", note="by how often each item is asked")
    return certify(with_weights(graded(300)), with_weights(graded(300, 0.004)), path, policy=policy)


def _weighted_binary(path: Path, _: Path) -> Certificate:
    return certify(with_weights(scores(240, 4)), with_weights(scores(240, 4, 2)), path)


def _random_flips(path: Path, _: Path) -> Certificate:
    """Real differences that no exact sign-flip test can be computed for."""
    return certify(examples.path("losses-base.csv"), examples.path("losses-int3.csv"), path)


def _smoothed_flips(path: Path, _: Path) -> Certificate:
    return certify(examples.path("losses-base.csv"), examples.path("losses-int8.csv"), path, cluster="document")


def _agreement(path: Path, _: Path) -> Certificate:
    """Interval and test that say different things of no difference by themselves: one is moved."""
    before = {"item": [f"q{i}" for i in range(5)], "score": [0.5] * 5}
    return certify(before, before | {"score": [0.51 + 0.01 * i for i in range(5)]}, path)


def _rounding(path: Path, _: Path) -> Certificate:
    """0.1 + 0.2 is not 0.3, but no difference either."""
    before, after = graded(200), graded(200, 0.004)
    same: Columns = {"score": [0.1 + 0.2, *before["score"][1:]]}
    return certify(before | same, after | {"score": [0.3, *after["score"][1:]]}, path)


def _as_published(path: Path, _: Path) -> Certificate:
    policy = Policy(method="bca-plain", scheme="tokens", note="the recipe of the paper")
    return certify(losses(180), losses(180, 0.01, 1), path, policy=policy)


def _percentile(path: Path, _: Path) -> Certificate:
    policy = Policy(method="percentile", scheme="windows", note="as the earlier gate had it")
    return certify(losses(180), losses(180, 0.01, 1), path, policy=policy, cluster="document")


def _drawn_uniformly(path: Path, _: Path) -> Certificate:
    """Windows drawn uniformly as asked, whatever their tokens."""
    return certify(losses(180), losses(180, 0.01, 1), path, policy=Policy(scheme="windows"))


def by_document(columns: Columns) -> Columns:
    """Documents of two windows, all of one split."""
    kept = {name: values for name, values in columns.items() if name != "split"}
    return kept | {"document": [f"d{i // 2:03d}" for i in range(len(columns["window"]))]}


def tokenized_otherwise(columns: Columns) -> Columns:
    """The same bytes in other windows, of more tokens."""
    nats = [loss * tokens for loss, tokens in zip(columns["loss"], columns["tokens"], strict=True)]
    tokens = [count + 7 for count in columns["tokens"]]
    means: Columns = {"loss": [total / count for total, count in zip(nats, tokens, strict=True)]}
    return columns | means | {"window": [f"v{name}" for name in columns["window"]], "tokens": tokens}


def _per_byte(path: Path, _: Path) -> Certificate:
    """Models with other tokens: the bits of whole documents, which weigh what they hold."""
    subject = tokenized_otherwise(by_document(losses(200, 0.01, 1)))
    return certify(by_document(losses(200)), subject, path, per="byte", policy=Policy(profile="ci"))


def _per_character(path: Path, _: Path) -> Certificate:
    subject = tokenized_otherwise(losses(180, 0.2, 1))
    return certify(losses(180), subject, path, per="character", policy=Policy(max_drop=0.01, note="short texts"))


KINDS: dict[str, Callable[[Path, Path], Certificate]] = {
    "losses-signed": _losses,
    "losses-regression": _regression,
    "losses-insufficient": _insufficient,
    "losses-clusters-conservative": _clusters,
    "losses-degenerate": _degenerate,
    "losses-one-cluster": _one_cluster,
    "losses-broken-rules": _broken,
    "losses-overrides": _overrides,
    "losses-as-published": _as_published,
    "losses-percentile": _percentile,
    "losses-drawn-uniformly": _drawn_uniformly,
    "losses-random-flips": _random_flips,
    "losses-smoothed-flips": _smoothed_flips,
    "losses-per-byte": _per_byte,
    "losses-per-character": _per_character,
    "scores-signed": _scores,
    "scores-clusters": _scores_in_clusters,
    "scores-graded": _graded,
    "scores-lower-is-better": _lower,
    "scores-weights-any": _weights,
    "scores-weighted-binary": _weighted_binary,
    "scores-agreement": _agreement,
    "scores-rounding": _rounding,
}


def main(folder: Path = FOLDER / f"{VERSION}-format-{FORMAT}") -> int:
    return write_fixtures(
        folder,
        KINDS,
        lambda found: {
            "verdict": found.verdict,
            "ci": list(found.primary_metric.ci),
            "broken": sorted(found.broken),
        },
    )


def write_fixtures(
    folder: Path, kinds: Mapping[str, Callable[[Path, Path], T]], told: Callable[[T], dict[str, Any]]
) -> int:
    """Write a certificate of each kind into a new folder, and what `assay verify` must say of each; the exit code."""
    if folder.exists():
        print(f"{folder.name}: there already, and fixtures are never written again")
        return 1
    folder.mkdir(parents=True)
    key = folder / "signer"
    generate_keys(key)
    expected = {}
    for name, issue in kinds.items():
        found = issue(folder / f"{name}.json", key)
        expected[name] = {**told(found), "signed": (folder / f"{name}.dsse.json").exists()}
    key.unlink()  # nobody signs as these again
    (folder / "expected.json").write_text(json.dumps(expected, indent=2) + "\n", "utf-8")
    print(f"{len(kinds)} certificates in {folder.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
