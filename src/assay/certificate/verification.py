"""What `verify` returns."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from assay.analyses.result import Result, Row
from assay.certificate.acceptance import in_words
from assay.certificate.faults import Fault
from assay.certificate.record import certificate_rows
from assay.design import Policy
from assay.results import words

RECOMPUTED = "evidence digest, and every field recomputed from the evidence"


@dataclass(frozen=True, slots=True)
class Verification(Result):
    """What checking a certificate found."""

    path: Path
    document: dict[str, Any]  # as it was issued
    checks: tuple[str, ...]  # what was checked, in words
    faults: tuple[Fault, ...]
    verdict: str  # pass, regression, insufficient evidence, or "not true"
    reasons: tuple[str, ...]  # why a true certificate does not meet the verifier's policy
    sentence: str
    policy: Policy  # the verifier's own
    judged: dict[str, Any]  # the document as the verifier's policy judges its evidence; as issued without one
    choices: dict[str, Any]  # what the policy left to the issuer

    @property
    def true(self) -> bool:
        return not self.faults

    @property
    def recomputed(self) -> bool:
        """Were its numbers computed again from the evidence?"""
        return RECOMPUTED in self.checks

    @property
    def passed(self) -> bool:
        return self.true and self.verdict == "pass" and not self.reasons

    @property
    def exit_code(self) -> int:
        """0 true and passing, 1 true but not passing, 4 not true."""
        return 4 if self.faults else 0 if self.passed else 1

    @property
    def whose_limit(self) -> str | None:
        """Said of a limit that is the verifier's."""
        scores = self.document["primary_metric"]["kind"] == "score"
        own, issuers = self.policy.fixed("max_drop" if scores else "max_ratio"), self.document["decision"]["limit"]
        if own is None:
            return None
        return "yours and the issuer's" if own == issuers else f"yours; the issuer's is {words.number(issuers, 6)}"

    def rows(self) -> list[Row]:
        rows: list[Row] = [("checked", check) for check in self.checks]
        rows += [("not true", str(fault)) for fault in self.faults]
        rows += [("not met", reason) for reason in self.reasons]
        if self.faults:
            return rows
        rows += [("verdict", self.verdict), *certificate_rows(self.judged, self.whose_limit)]
        return [*rows, ("issuer's choice", in_words(self.choices))] if self.choices else rows

    def to_dict(self) -> dict[str, Any]:
        own = {name: value for name, value in asdict(self.policy).items() if value is not None}
        return {
            "schema": "assay/verification/1",
            "certificate": str(self.path),
            "true": self.true,
            "passed": self.passed,
            "verdict": self.verdict,
            "sentence": self.sentence,
            "checks": list(self.checks),
            "faults": [fault.to_dict() for fault in self.faults],
            "reasons": list(self.reasons),
            "policy": own,
            "issuers_choice": self.choices,
            **({} if self.faults else _judged_fields(self.judged)),
        }


def _judged_fields(document: dict[str, Any]) -> dict[str, Any]:
    """The interval and the decision under the verifier's policy."""
    metric = document["primary_metric"]
    return {
        "interval": {
            "low": metric["display_ci"][0],
            "high": metric["display_ci"][1],
            "level": document["policy"]["level"],
        },
        "limit": document["decision"]["limit"],
        "decision": document["decision"],
    }
