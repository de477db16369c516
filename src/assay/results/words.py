"""Numbers as people write them. One home, so that every sentence and table says the same thing the same way."""

from math import floor, log10

from assay.stats.records import Interval
from assay.stats.rounding import TOLERANCE

SMALLEST_SHOWN_P = 1e-299


def number(value: float, digits: int = 4) -> str:
    """``digits`` significant digits, without an exponent where that stays short."""
    if value == 0:
        return "0"
    text = f"{value:.{digits}g}"
    return f"{value:.{digits - 1}e}" if "e" not in text and abs(value) < 1e-4 else text


def decimals(limits: Interval | None) -> int | None:
    """Decimal places at which an interval's width has three digits: more would be noise, fewer would hide it.

    ``None`` where it has no width, or one that only an exponent can show.
    """
    width = 0.0 if limits is None else limits.high - limits.low
    places = 2 - floor(log10(width)) if width > 0 else None
    return max(places, 0) if places is not None and -6 <= places <= 12 else None


def placed(value: float, places: int | None, *, sign: bool = False) -> str:
    """A number at so many decimal places, or at six significant digits where an interval does not say."""
    if places is None:
        text = number(value, 6)
        return f"+{text}" if sign and value > 0 else text
    text = f"{value:+.{places}f}" if sign else f"{value:.{places}f}"
    return text if float(text) else text.lstrip("+-")


def interval(limits: Interval, *, sign: bool = False) -> str:
    """``low to high``."""
    return limits_at(limits, decimals(limits), sign=sign)


def limits_at(limits: Interval, places: int | None, *, sign: bool = False) -> str:
    """``low to high`` at so many places; a limit of a difference that is next to 0, and not 0, is ``>0`` or ``<0``."""
    low, high = (placed(limit, places, sign=sign) for limit in (limits.low, limits.high))
    if sign and limits.low > 0 and not float(low):
        low = ">0"
    if sign and limits.high < 0 and not float(high):
        high = "<0"
    return f"{low} to {high}"


def estimate(value: float, limits: Interval, *, sign: bool = False) -> str:
    """``value  [low to high]``."""
    return f"{placed(value, decimals(limits), sign=sign)}  [{interval(limits, sign=sign)}]"


def p_value(p: float) -> str:
    """Two significant digits; never 0."""
    return f"p = {p:.2g}" if p > SMALLEST_SHOWN_P else f"p < {SMALLEST_SHOWN_P:g}"


def percent(level: float) -> str:
    return f"{100 * level:g} %"


def count(n: int, what: str) -> str:
    """``1,319 items``; ``1 item``."""
    return f"{n:,} {what}" + ("" if n == 1 else "s")


def rounded_off(differences: int) -> str:
    """What became of differences that are nothing but rounding."""
    some, verb, each = ("difference", "is", "counts") if differences == 1 else ("differences", "are", "count")
    what = f"rounding, at most {TOLERANCE:g} of the values that were subtracted"
    return f"{differences:,} {some} {verb} {what}, and {each} as 0"
