"""What `watch` says."""

from typing import TYPE_CHECKING

from assay.results import words

if TYPE_CHECKING:
    from assay.analyses.watch.result import Watch


def sentence_of(found: "Watch") -> str:
    a, b = found.systems
    so_far = f"after {words.count(found.n, found.unit)}"
    if found.population is not None:
        so_far = f"after {found.n:,} of {words.count(found.population, found.unit)}"
    shown = _shown(found)
    match found.verdict:
        case "better" | "worse":
            return f"Stop: {b} is {found.verdict} than {a} ({shown}), {so_far}."
        case "equivalent":
            return f"Stop: {a} and {b} differ by less than {words.number(found.margin or 0.0)} ({shown}), {so_far}."
        case "complete":
            return f"Stop: all {words.count(found.n, found.unit)} are there, and the difference on them is {shown}."
        case _:
            return f"Continue: {_more(found)} ({shown}), {so_far}."


def _more(found: "Watch") -> str:
    if found.more is None:
        return "nothing differs yet, so that no number can be named" if not found.differing else "no end in sight"
    left = None if found.population is None else found.population - found.n
    if left is not None and found.more >= left:
        return f"the answer is expected only with all {words.count(left, found.unit)} that are left"
    verb = "is" if found.more == 1 else "are"
    return f"about {found.more:,} more {found.unit}{'' if found.more == 1 else 's'} {verb} expected"


def _shown(found: "Watch") -> str:
    value, limits = found.difference.value, found.difference.interval
    if value is None or limits is None:
        return "no interval yet"
    if limits.low == limits.high:
        return words.signed(words.number(value))
    ends = words.interval(limits, sign=True, null=0.0)
    return (
        f"{words.placed(value, words.decimals(limits), sign=True)}, {words.percent(found.level)} at all times: {ends}"
    )
