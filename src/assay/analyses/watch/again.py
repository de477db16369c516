"""Looking again: what was there at the last look must still be there, as it was."""

import numpy as np

from assay.data import Panel
from assay.errors import InputError

_ANEW = "an interval for all times is of answers that stay as they are; a harness that started anew is watched anew."


def check_grown(before: Panel, now: Panel, files: str) -> None:
    """Refuse a table that shrank, or in which an answer is not what it was at the last look."""
    if now.n < before.n:
        raise InputError(
            f"{files}: {now.n:,} {now.unit}s that both models have, and {before.n:,} at the last look; {_ANEW}"
        )
    places = {name: place for place, name in enumerate(now.ids)}
    gone = next((name for name in before.ids if name not in places), None)
    if gone is not None:
        raise InputError(f"{files}: the {now.unit} {gone!r} was there at the last look, and is not any more; {_ANEW}")
    kept = np.array([places[name] for name in before.ids])
    for system, name in enumerate(now.systems):
        changed = np.flatnonzero(now.values[kept, system] != before.values[:, system])
        if len(changed):
            first = int(changed[0])
            was, found = (float(one) for one in (before.values[first, system], now.values[kept[first], system]))
            others = f", and {len(changed) - 1:,} more changed" if len(changed) > 1 else ""
            raise InputError(
                f"{files}: the {now.unit} {before.ids[first]!r} of {name} was {was:g} at the last look and is "
                f"{found:g}{others}; {_ANEW}"
            )
