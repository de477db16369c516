"""Numbers as people write them. One home, so that every sentence and table says the same thing the same way."""

from assay.stats.records import Interval


def number(value: float, digits: int = 4) -> str:
    """``digits`` significant digits, without an exponent where that stays short."""
    if value == 0:
        return "0"
    text = f"{value:.{digits}g}"
    return f"{value:.{digits - 1}e}" if "e" not in text and abs(value) < 1e-4 else text


def signed(value: float, digits: int = 4) -> str:
    """A difference: the sign is always shown."""
    return ("+" if value > 0 else "") + number(value, digits)


def p_value(p: float) -> str:
    """Two significant digits; never 0."""
    return f"p = {p:.2g}" if p > 1e-299 else "p < 1e-299"


def percent(level: float) -> str:
    return f"{100 * level:g} %"


def interval(limits: Interval, *, sign: bool = False, digits: int = 4) -> str:
    """``low to high``."""
    show = signed if sign else number
    return f"{show(limits.low, digits)} to {show(limits.high, digits)}"


def count(n: int, what: str) -> str:
    """``1,319 items``; ``1 item``."""
    return f"{n:,} {what}" + ("" if n == 1 else "s")
