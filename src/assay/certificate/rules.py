"""What the profiles `ci` and `release` insist on and `dev` reports (P9, P10)."""

from dataclasses import asdict, dataclass

from assay.certificate.coverage import Windows
from assay.design import Policy
from assay.errors import InputError


@dataclass(frozen=True, slots=True)
class RuleFound:
    """A rule, whether it holds, and by how much it does not."""

    name: str
    ok: bool
    detail: str

    def to_dict(self) -> dict[str, str | bool]:
        return asdict(self)


def rules_of(windows: Windows, policy: Policy) -> list[RuleFound]:
    """Pairing, overlap, equal counts and minima."""
    lost, unit = windows.windows - windows.paired, windows.final.unit
    rules = [
        RuleFound("pairing", lost == 0, f"{windows.paired} of {windows.windows} {unit}s pair, {lost} do not"),
        RuleFound(
            "overlap",
            windows.overlapping == 0,
            f"{windows.overlapping} of {windows.windows} {unit}s overlap (by {windows.overlap_from})",
        ),
    ]
    if windows.final.metric.kind == "losses":
        preview, final = (0 if panel is None else panel.n for panel in (windows.preview, windows.final))
        rules.append(RuleFound("equal counts", preview == final, f"{preview} preview and {final} final {unit}s"))
        rules.append(_minimum("preview minimum", preview, policy, unit))
    return [*rules, _minimum("final minimum", windows.final.n, policy, unit)]


def _minimum(name: str, have: int, policy: Policy, unit: str) -> RuleFound:
    least = policy.limits.windows
    short = "" if have >= least else f", {least - have} too few"
    return RuleFound(name, have >= least, f"{have} {unit}s of at least {least} in the tier {policy.tier}{short}")


def enforce(rules: list[RuleFound], policy: Policy) -> None:
    """Abort in `ci` and `release`: a certificate that breaks a rule is not written."""
    broken = [f"{rule.name}: {rule.detail}" for rule in rules if not rule.ok]
    if broken and policy.profile != "dev":
        raise InputError(
            f"profile {policy.profile} refuses: {'; '.join(broken)}. Nothing was written; "
            "score the missing windows, or use --profile dev, which reports instead."
        )
