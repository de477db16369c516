"""Counts beside percentages: they must be what the percentages and the number of respondents say, up to rounding."""

from collections.abc import Sequence
from typing import Any

from assay.data.survey.documents import finite_numbers
from assay.errors import InputError

_MOST_DECIMALS = 12
_HINT = "correct one of them, or leave out 'counts' if the percentages are weighted"


def counts_in(answer: Any, options: int, where: str) -> list[float] | None:
    """The counts of an answer, one per option; ``None`` where it has none."""
    counts = answer.get("counts")
    if counts is None:
        return None
    numbers = finite_numbers(counts)
    if numbers is None or len(numbers) != options:
        raise InputError(f"{where}: 'counts' must be a list of {options} numbers, one per option.")
    if any(count < 0 or count != int(count) for count in numbers):
        raise InputError(f"{where}: 'counts' must be whole numbers of people, but got {counts!r:.80}.")
    return numbers


def check_counts(numbers: Sequence[float], shares: Sequence[float], n: int, where: str) -> None:
    """Refuse counts that contradict the respondents ``n`` or the percentages.

    Counts may have been made from rounded percentages. Each may then be off by half a person and by what rounding takes
    from its percentage, and one of them by as much as all others together, if it was used to make them sum to n.
    """
    total = sum(shares)
    scale = 100.0 if total > 2 else 1.0  # percentages, or shares of 1
    off = len(shares) * (0.5 + n * _step(shares) / scale / 2)
    if abs(sum(numbers) - n) > off:
        raise InputError(f"{where}: 'counts' sum to {sum(numbers):g}, but n is {n}; {_HINT}.")
    for i, (count, share) in enumerate(zip(numbers, shares, strict=True)):
        if abs(count - n * share / total) > off:
            raise InputError(
                f"{where}: counts[{i}] is {count:g}, but {100 * share / total:g} % of {n} respondents are "
                f"{n * share / total:.1f}; {_HINT}."
            )


def _step(shares: Sequence[float]) -> float:
    """The last decimal place that the numbers are written with: 0.1 for 33.3."""
    for places in range(_MOST_DECIMALS):
        if all(abs(share - round(share, places)) < 1e-13 * max(1.0, abs(share)) for share in shares):
            return float(10.0**-places)
    return 0.0
