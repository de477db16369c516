"""Numbers as people write them. One home, so that every sentence and table says the same thing the same way."""

import re
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from math import floor, log10

from assay.names import plural
from assay.stats.records import Estimate, Interval
from assay.stats.rounding import TOLERANCE

SMALLEST_SHOWN_P = 1e-299

_MOST_DIGITS = 17  # significant ones: no float64 has more
_MOST_PLACES = 6  # of a limit that is next to the null
_THOUSANDS = re.compile(r"(?<![\d.,])[1-9]\d{3,}(?!e)")


def signed(text: str) -> str:
    """A number as text with a proper minus; the exponent keeps its hyphen.

    >>> signed("-0.5"), signed("1e-05")
    ('−0.5', '1e-05')
    """
    return f"−{text[1:]}" if text.startswith("-") else text


def grouped(text: str) -> str:
    """A text whose numbers have their thousands apart; what stands after a decimal point stays.

    >>> grouped("21725 [18082.5 to 26032]"), grouped("0.12345")
    ('21,725 [18,082.5 to 26,032]', '0.12345')
    """
    return _THOUSANDS.sub(lambda found: f"{int(found[0]):,}", text)


def number(value: float, digits: int = 4, *, null: float | None = None) -> str:
    """``digits`` significant digits, without an exponent where that stays short; more where it would look like null."""
    return signed(_number(value, digits, null=null))


def _number(value: float, digits: int, *, null: float | None = None) -> str:
    if value == 0:
        return "0"
    text = f"{value:.{digits}g}"
    if value != null and float(text) == null and digits < _MOST_DIGITS:
        return _number(value, digits + 1, null=null)
    return f"{value:.{digits - 1}e}" if "e" not in text and abs(value) < 1e-4 else text


def apart(a: float, b: float, digits: int = 4) -> tuple[str, str]:
    """Two numbers with ``digits`` significant digits, or as many more as it takes to tell them apart.

    Both have the same decimal places, unless one is so much larger that this would give it more digits.

    >>> apart(0.52, 0.61), apart(0.99999, 1.0), apart(0.7223, 0.69), apart(2034, 11.39)
    (('0.52', '0.61'), ('0.99999', '1.00000'), ('0.7223', '0.6900'), ('2,034', '11.39'))
    """
    shown = (_alike((a, b), more) for more in range(digits, _MOST_DIGITS + 1))
    return next((pair for pair in shown if a == b or pair[0] != pair[1]), (str(a), str(b)))


def _alike(pair: tuple[float, float], digits: int) -> tuple[str, str]:
    texts = [number(value, digits) for value in pair]
    places = max(len(text.partition(".")[2]) for text in texts)
    if not any("e" in text for text in texts):
        fit = [abs(value) <= 1 or floor(log10(abs(value))) + 1 + places <= digits for value in pair]
        texts = [
            signed(f"{value:.{places}f}") if fits else text for value, text, fits in zip(pair, texts, fit, strict=True)
        ]
    return grouped(texts[0]), grouped(texts[1])


def decimals(limits: Interval | None) -> int | None:
    """Decimal places at which an interval's width has three digits: more would be noise, fewer would hide it.

    ``None`` where it has no width, or one that only an exponent can show.
    """
    width = 0.0 if limits is None else limits.high - limits.low
    if limits is None or width <= 0:
        return None
    places = 2 - floor(log10(width))
    most = 12 if min(abs(limits.low), abs(limits.high)) < 0.1 else 15  # no exponent shows how far a ratio is from 1
    return max(places, 0) if -6 <= places <= most else None


def shared_decimals(found: Iterable[Interval | None], digits: int) -> int | None:
    """Decimal places for all: those at which the narrowest interval has ``digits`` digits."""
    places = [place for limits in found if (place := decimals(limits)) is not None]
    return max(max(places) - 3 + digits, 0) if places else None


def placed(value: float, places: int | None, *, sign: bool = False, null: float | None = None) -> str:
    """A number with ``places`` decimal places, or six significant digits where there is no interval to go by."""
    return grouped(signed(_placed(value, places, sign=sign, null=null)))


def _placed(value: float, places: int | None, *, sign: bool = False, null: float | None = None) -> str:
    if places is None:
        text = _number(value, 6, null=null)
        return f"+{text}" if sign and value > 0 else text
    text = f"{value:+.{places}f}" if sign else f"{value:.{places}f}"
    return text if float(text) else text.lstrip("+-")


def interval(limits: Interval, *, sign: bool = False, null: float | None = None) -> str:
    """``low to high``."""
    return limits_at(limits, decimals(limits), sign=sign, null=null)


def limits_at(limits: Interval, places: int | None, *, sign: bool = False, null: float | None = None) -> str:
    """``low to high`` at so many places.

    An interval that leaves out the ``null`` (0 of a difference, which has a ``sign``; 1 of a ratio) never looks as if
    it had it: a limit next to it has more places, six at the most, or is ``>0``, ``<1``.
    """
    null = 0.0 if sign and null is None else null
    low, high = (_placed(limit, places, sign=sign, null=null) for limit in (limits.low, limits.high))
    if null is not None and limits.low > null and float(low) <= null:
        low = _beside(limits.low, places, null, sign=sign)
    if null is not None and limits.high < null and float(high) >= null:
        high = _beside(limits.high, places, null, sign=sign)
    return grouped(f"{signed(low)} to {signed(high)}")


def _beside(limit: float, places: int | None, null: float, *, sign: bool) -> str:
    for more in range((places or 0) + 1, _MOST_PLACES + 1):
        text = _placed(limit, more, sign=sign)
        if float(text) != null:
            return text
    return f"{'>' if limit > null else '<'}{null:g}"


def estimate(value: float, limits: Interval, *, sign: bool = False, null: float | None = None) -> str:
    """``value  [low to high]``."""
    places = decimals(limits)
    return f"{placed(value, places, sign=sign, null=null)}  [{limits_at(limits, places, sign=sign, null=null)}]"


def compact(found: Estimate | None, *, sign: bool = False, digits: int = 6) -> str:
    """``value [low to high]`` with a decimal place fewer than `estimate`, for tables of 80 columns.

    ``digits`` are the significant digits of a value without an interval.

    >>> compact(Estimate(0.0239, Interval(0.0143, 0.0687, 0.95, "F"), None, 5))
    '0.024 [0.014 to 0.069]'
    """
    if found is None or found.value is None:
        return "undefined"
    if found.interval is None:
        text = number(found.value, digits)
        return f"+{text}" if sign and found.value > 0 else text
    return f"{placed(found.value, _fewer(found.interval), sign=sign)} {compact_limits(found.interval, sign=sign)}"


def compact_limits(limits: Interval | None, *, sign: bool = False) -> str:
    """``[low to high]`` as `compact` has it."""
    return "undefined" if limits is None else f"[{limits_at(limits, _fewer(limits), sign=sign)}]"


def _fewer(limits: Interval) -> int | None:
    places = decimals(limits)
    return None if places is None else max(places - 1, 0)


def fixed(
    places: int, *, sign: bool = False, percent: bool = False, undefined: str = "–"
) -> Callable[[Estimate | Interval | float | None], str]:
    """How a column writes its values where all have the same number of decimal places.

    >>> fixed(3)(Estimate(0.0239, Interval(0.0143, 0.0687, 0.95, "F"), None, 5)), fixed(1, percent=True)(0.5)
    ('0.024 [0.014 to 0.069]', '50.0%')
    """
    form, scale, unit = f"{'+' if sign else ''}.{places}f", 100 if percent else 1, "%" if percent else ""

    def one(value: float) -> str:
        return signed(f"{scale * value:{form}}{unit}")

    def shown_as(found: Estimate | Interval | float | None) -> str:
        if isinstance(found, Interval):
            return f"[{one(found.low)} to {one(found.high)}]"
        if isinstance(found, Estimate):
            limits = "" if found.interval is None else f" {shown_as(found.interval)}"
            return undefined if found.value is None else f"{one(found.value)}{limits}"
        return "–" if found is None else one(found)

    return shown_as


def p_value(p: float) -> str:
    """Two significant digits; never 0."""
    return f"p = {p:.2g}" if p > SMALLEST_SHOWN_P else f"p < {SMALLEST_SHOWN_P:g}"


def p_alone(p: float | None) -> str:
    """A p-value without ``p =``, for columns of them."""
    return "–" if p is None else f"{p:.2g}"


def percent(level: float) -> str:
    """A level or a power; below 1 it is never ``100 %``.

    >>> percent(0.95), percent(0.9999999999)
    ('95%', '99.99999999%')
    """
    for digits in range(6, _MOST_DIGITS + 1):
        text = f"{float(Decimal(repr(level)) * 100):.{digits}g}"
        if (float(text) < 100) == (level < 1):
            break
    return f"{text}%"


def share(value: float) -> str:
    """``93 %``, with more decimal places where it would otherwise look like all or nothing.

    >>> share(0.93), share(0.9996), share(1.0)
    ('93%', '99.96%', '100%')
    """
    for places in range(_MOST_DIGITS):
        text = f"{100 * value:.{places}f}"
        if value in (0, 1) or float(text) not in (0, 100):
            break
    return f"{text}%"


def chance(value: float) -> str:
    """A probability from random draws; never 0% or 100%, which they cannot show."""
    if value < 0.005:
        return "<1%"
    return ">99%" if value > 0.995 else f"{100 * value:.0f}%"


def count(n: int, what: str) -> str:
    """``1,319 items``; ``1 item``."""
    return f"{n:,} {what if n == 1 else plural(what)}"


def part_of(n: int, population: int, what: str) -> str:
    """``120 of 500 items``; ``all 500 items``."""
    return f"all {count(n, what)}" if n >= population else f"{n:,} of {count(population, what)}"


def methods(made: Iterable[Interval | None]) -> str:
    """How intervals were made: ``bca``, ``bca or t-hall``."""
    return " or ".join(sorted({limits.method for limits in made if limits is not None})) or "undefined"


def not_drawn(methods: Iterable[str]) -> str:
    """Where replicates were asked for and every interval is a closed form.

    >>> not_drawn(["t-hall"])
    "nothing is drawn at random: t-hall is a closed form; `method='bca'` draws"
    """
    names = sorted(set(methods))
    forms = "is a closed form" if len(names) == 1 else "are closed forms"
    return f"nothing is drawn at random: {' and '.join(names)} {forms}; `method='bca'` draws"


def rounded_off(differences: int) -> str:
    """A note on differences that are nothing but rounding."""
    some, verb, each = ("difference", "is", "counts") if differences == 1 else ("differences", "are", "count")
    what = f"rounding, at most {TOLERANCE:g} of the values that were subtracted"
    return f"{differences:,} {some} {verb} {what}, and {each} as 0"


def shown(value: object) -> str:
    """A value of a table or a fact where nothing else is said: ``–`` where there is none."""
    if value is None:
        return "–"
    if isinstance(value, Estimate):
        return _shown_estimate(value)
    if isinstance(value, Interval):
        return f"[{interval(value)}]"
    if isinstance(value, bool):
        return "yes" if value else ""
    return f"{value:,}" if isinstance(value, int) else number(value) if isinstance(value, float) else str(value)


def _shown_estimate(found: Estimate) -> str:
    if found.value is None:
        return "undefined" if found.reason is None else f"undefined: {found.reason}"
    return number(found.value) if found.interval is None else estimate(found.value, found.interval)


def with_interval(found: Estimate, *, sign: bool = False, null: float | None = None) -> str:
    """``value  [low to high]``, or why there is none."""
    if found.value is None or found.interval is None:
        return f"undefined: {found.reason}"
    return estimate(found.value, found.interval, sign=sign, null=null)


def of_one(found: Estimate, unit: str, *, sign: bool = False) -> str:
    """A single unit has a value and no interval, although the record has the value as both limits.

    >>> of_one(Estimate(0.5, None, None, 1), "item", sign=True)
    '+0.5, no interval: one item'
    """
    return f"{placed(found.value or 0.0, None, sign=sign)}, no interval: one {unit}"


def listed(names: Sequence[str], most: int) -> str:
    """``a, b and c``; ``a, b, c and 9 others``."""
    if len(names) > most:
        return f"{', '.join(names[: most - 1])} and {len(names) - most + 1} others"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
