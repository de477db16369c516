"""What the profiles `ci` and `release` insist on and `dev` reports (P9, P10)."""

from dataclasses import asdict, dataclass

from assay.certificate.coverage import Covered, Windows, worth
from assay.design import Policy
from assay.errors import InputError

EQUAL_WEIGHTS = "equal weights"


@dataclass(frozen=True, slots=True)
class RuleFound:
    """A rule, whether it holds, and by how much it does not."""

    name: str
    ok: bool
    detail: str

    def to_dict(self) -> dict[str, str | bool]:
        return asdict(self)


def rules_of(windows: Windows, policy: Policy) -> list[RuleFound]:
    """Pairing, overlap, equal counts or equal weights, and minima."""
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
        preview, final = Covered.of(windows.preview), Covered.of(windows.final)
        counts = f"{preview.used} preview and {final.used} final {unit}s"
        rules.append(RuleFound("equal counts", preview.used == final.used, counts))
        rules.append(_minimum("preview minimum", preview, policy, unit))
    else:
        rules.append(_weights(windows, policy))
    return [*rules, _minimum("final minimum", Covered.of(windows.final), policy, unit)]


def _weights(windows: Windows, policy: Policy) -> RuleFound:
    """Whoever chooses the weights chooses what counts, so that unequal ones need the policy's leave."""
    if not windows.weighted:
        same = f"all {windows.final.n} {windows.final.unit}s weigh the same"
        return RuleFound(EQUAL_WEIGHTS, ok=True, detail=same)
    found, weights = Covered.of(windows.final), windows.final.denominators
    counted = f"{found.used} {windows.final.unit}s{worth(found.used, found.effective)}"
    between = f"weights from {weights.min():.3g} to {weights.max():.3g}, {counted}"
    allowed = policy.weights == "any"
    return RuleFound(EQUAL_WEIGHTS, allowed, f"{between}{'; the policy allows any' if allowed else ''}")


def _minimum(name: str, have: Covered, policy: Policy, unit: str) -> RuleFound:
    least, ok = policy.limits.windows, have.enough(policy.limits.windows)
    why = ""
    if have.used < least:
        why = f", {least - have.used} too few"
    elif not ok:
        counted = worth(have.used, have.effective, losses=have.losses)
        why = f"{counted}: a few have most of the {'tokens' if have.losses else 'weight'}"
    return RuleFound(name, ok, f"{have.used} {unit}s of at least {least} in the tier {policy.tier}{why}")


def enforce(rules: list[RuleFound], policy: Policy) -> None:
    """Abort in `ci` and `release`: a certificate that breaks a rule is not written."""
    broken = [rule for rule in rules if not rule.ok]
    if not broken or policy.profile == "dev":
        return
    told = "; ".join(f"{rule.name}: {rule.detail}" for rule in broken)
    advice = "score the missing windows"
    if broken[0].name == EQUAL_WEIGHTS:
        advice = "take the column of weights out, allow them (--weights any --note TEXT)"
    raise InputError(
        f"profile {policy.profile} refuses: {told}. Nothing was written; {advice}, or use --profile dev, which reports "
        "instead."
    )
