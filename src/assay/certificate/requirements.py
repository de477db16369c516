"""What a verifier insists on, whatever the certificate says of itself."""

import json
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from assay.design import TIERS, Policy, Profile, TierName
from assay.errors import InputError, UsageError

_STRICTNESS: dict[str, int] = {"dev": 0, "ci": 1, "release": 2}


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirements:
    """The verifier's own limits; what is ``None`` is taken from the certificate."""

    max_ratio: float | None = None
    max_drop: float | None = None
    min_windows: int | None = None
    profile: Profile | None = None  # at least as strict as this
    tier: TierName | None = None  # limits of this tier, where not given above
    level: float | None = None  # intervals at this confidence level or a higher one

    def __post_init__(self) -> None:
        Policy(  # refuses what makes no sense, which would otherwise look like a fault of the certificate
            tier=self.tier or "balanced",
            profile=self.profile or "dev",
            max_ratio=self.max_ratio,
            max_drop=self.max_drop,
            min_windows=self.min_windows,
            note="the verifier's own limits",
        )

    def __bool__(self) -> bool:
        return any(getattr(self, field.name) is not None for field in fields(self))

    def applied(self, policy: Policy) -> Policy:
        """The certificate's policy with these limits in place of its own."""
        tier = None if self.tier is None else TIERS[self.tier]
        ratio = self.max_ratio if self.max_ratio is not None else None if tier is None else tier.max_ratio
        drop = self.max_drop if self.max_drop is not None else None if tier is None else tier.max_drop
        return replace(
            policy,
            max_ratio=policy.max_ratio if ratio is None else ratio,
            max_drop=policy.max_drop if drop is None else drop,
            note=policy.note or "the verifier's own limits",
        )

    def unmet(self, fields_found: dict[str, Any]) -> list[str]:
        """What the evidence, judged by these requirements, does not meet; the verdict itself is apart."""
        stats, stated = fields_found["dataset"]["windows"]["stats"], fields_found["policy"]
        unmet = []
        least = self.min_windows if self.min_windows is not None else TIERS[self.tier].windows if self.tier else 0
        if stats["paired_windows"] < least:
            unmet.append(f"{stats['paired_windows']} paired windows, at least {least} required")
        if self.level is not None and stated["level"] < self.level:
            unmet.append(f"intervals at the level {stated['level']}, at least {self.level} required")
        if self.profile is not None:
            if _STRICTNESS[stated["profile"]] < _STRICTNESS[self.profile]:
                unmet.append(f"issued under the profile {stated['profile']}, {self.profile} required")
            unmet += [f"{rule['name']}: {rule['detail']}" for rule in fields_found["rules"] if not rule["ok"]]
        return unmet

    @classmethod
    def from_file(cls, path: Path) -> "Requirements":
        """From a JSON file such as {"max_ratio": 1.05, "min_windows": 180, "profile": "ci"}."""
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError) as error:
            raise InputError(f"{path}: the policy cannot be read ({error}); write a JSON object.") from error
        known = {field.name for field in fields(cls)}
        if not isinstance(content, dict) or not content.keys() <= known:
            raise InputError(f"{path}: a policy may have the fields {', '.join(sorted(known))} and no others.")
        _check(content, str(path))
        try:
            return cls(**content)
        except UsageError as error:
            raise InputError(f"{path}: {error}") from error


def _check(content: dict[str, Any], label: str) -> None:
    for name, value in content.items():
        choices = {"tier": tuple(TIERS), "profile": tuple(_STRICTNESS)}.get(name)
        if choices is not None and value not in choices:
            raise InputError(f"{label}: {name} must be one of {', '.join(choices)}, but got {value!r}.")
        if choices is None and (isinstance(value, bool) or not isinstance(value, int | float)):
            raise InputError(f"{label}: {name} must be a number, but got {value!r}.")
