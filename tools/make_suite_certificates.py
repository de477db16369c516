"""Write the certificates over several tasks that every later version must still verify.

    python -m tools.make_suite_certificates

They go to tests/certificate/suite/fixtures/VERSION-format-N/*.json, once for a release, or for a new format; what is
there already is never written again. Each kind has its evidence beside it, one is signed, and `expected.json` holds
what `assay verify` must say of each: the verdict, the total's interval, the limits that are not met, the broken rules.
"""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from assay.certificate import certify
from assay.certificate.suite.record import FORMAT, SuiteCertificate
from assay.design import Policy
from assay.limits import GroupLimits, Limits, TotalLimits
from assay.version import VERSION
from tools.make_certificates import Columns, write_fixtures

FOLDER = Path(__file__).resolve().parents[1] / "tests" / "certificate" / "suite" / "fixtures"
SIZES = {"arc": 120, "boolq": 200, "gsm8k": 90, "mmlu": 260}


def scores(lost: int, turn: int = 0, sizes: dict[str, int] = SIZES) -> Columns:
    """Items of which every fifth is wrong, and of `gsm8k` so many more; values by arithmetic."""
    rows = [(task, i) for task, n in sizes.items() for i in range(n)]
    right = [float((i + turn) % 5 != 0 and not (task == "gsm8k" and i < lost)) for task, i in rows]
    return {
        "item": [f"{task}-{i:03d}" for task, i in rows],
        "task": [task for task, _ in rows],
        "group": ["reading" if task == "boolq" else "reasoning" for task, _ in rows],
        "score": right,
        "price": [1 + (37 * i % 11) / 10 for _, i in rows],
    }


def graded(fall: float) -> Columns:
    found = scores(0)
    found["score"] = [round((53 * i % 89) / 89 - fall * (17 * i % 23) / 23, 6) for i in range(len(found["item"]))]
    return found


def losses(worse: float, seed: int) -> Columns:
    rows = [(task, i) for task in ("code", "maths", "prose") for i in range(60)]
    noise = [(seed + 1) * ((29 * i + 13 * seed) % 31 - 15) / 900 for i in range(len(rows))]
    return {
        "window": [f"{task}-{i:03d}" for task, i in rows],
        "task": [task for task, _ in rows],
        "tokens": [90 + 37 * i % 60 for _, i in rows],
        "loss": [2.5 + (71 * i % 97) / 97 + worse * (task == "maths") + noise[k] for k, (task, i) in enumerate(rows)],
    }


def _issued(*given: Any, **asked: Any) -> SuiteCertificate:
    found = certify(*given, **asked)
    assert isinstance(found, SuiteCertificate)
    return found


def _passing(path: Path, key: Path) -> SuiteCertificate:
    large = {task: 8 * n for task, n in SIZES.items()}
    policy = Policy(profile="ci")
    return _issued(scores(0, sizes=large), scores(2, sizes=large), path, policy=policy, sign_with=key)


def _failing(path: Path, _: Path) -> SuiteCertificate:
    return _issued(scores(0), scores(40), path)


def _undecided(path: Path, _: Path) -> SuiteCertificate:
    return _issued(scores(0), scores(0, 1), path)


def _limits(path: Path, _: Path) -> SuiteCertificate:
    policy = Policy(
        max_drop=0.05,
        note="agreed; see the log",
        total=TotalLimits(weights="groups", min_score=0.5, max_price_ratio=1.2),
        tasks={"gsm*": Limits(max_drop=0.04, min_score=0.6)},
        groups={"reasoning": GroupLimits(max_drop=0.05, groups={"hard": GroupLimits(tasks=("gsm8k",), max_drop=0.2)})},
    )
    return _issued(scores(0), scores(3), path, policy=policy, timestamp=True)


def _every(path: Path, _: Path) -> SuiteCertificate:
    return _issued(scores(0), scores(1), path, policy=Policy(every=True, tier="aggressive"))


def _graded(path: Path, _: Path) -> SuiteCertificate:
    return _issued(graded(0.0), graded(0.01), path, policy=Policy(lower_is_better=True))


def _clusters(path: Path, _: Path) -> SuiteCertificate:
    tables = [scores(0), scores(4)]
    for table in tables:
        table["passage"] = [f"p{i // 4:03d}" for i in range(len(table["item"]))]
    return _issued(*tables, path, cluster="passage", policy=Policy(tier="aggressive"))


def _perplexity(path: Path, _: Path) -> SuiteCertificate:
    return _issued(losses(0.0, 0), losses(0.3, 1), path)


def _broken(path: Path, _: Path) -> SuiteCertificate:
    shorter = {name: values[3:] for name, values in scores(0).items()}
    return _issued(shorter, scores(1), path)


KINDS: dict[str, Callable[[Path, Path], SuiteCertificate]] = {
    "pass-signed": _passing,
    "fail": _failing,
    "undecided": _undecided,
    "limits": _limits,
    "every": _every,
    "graded-lower-is-better": _graded,
    "clusters": _clusters,
    "perplexity": _perplexity,
    "broken-rules": _broken,
}


def main(folder: Path = FOLDER / f"{VERSION}-format-{FORMAT}") -> int:
    return write_fixtures(
        folder,
        KINDS,
        lambda found: {
            "verdict": found.verdict,
            "ci": found.total.ci,
            "not_met": [f"{one.of} {one.name} {one.limit}" for one in found.limits if one.outcome == "not met"],
            "broken": sorted(found.broken),
        },
    )


if __name__ == "__main__":
    sys.exit(main())
