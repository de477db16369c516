"""Names beside dots, where they cover neither dots nor each other."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal
from unicodedata import east_asian_width

Side = Literal["right", "left", "above", "below"]
Box = tuple[float, float, float, float]  # left, top, right, bottom

_LETTER, _LINE = 5.8, 12.0  # pixels
_DOT = 5.0  # half of its width
_AWAY = 8.0  # from the middle of a dot to its name


@dataclass(frozen=True, slots=True)
class Dot:
    """A dot in pixels, from the upper left corner of the plot."""

    x: float
    y: float
    label: str
    top: float | None = None  # of the bar through it, if it has one
    bottom: float | None = None


def sides(dots: Sequence[Dot], size: tuple[float, float], given: Sequence[Side | None] = ()) -> list[Side | None]:
    """On which side of its dot each name fits, the first dots first; None where it fits nowhere.

    Names that are ``given`` a side keep it, and the others make room.
    """
    found: list[Side | None] = [*given, *([None] * (len(dots) - len(given)))]
    names = [_box(dot, side) for dot, side in zip(dots, found, strict=True) if side is not None]
    for place, dot in enumerate(dots):
        if found[place] is None:
            others = [box for i, other in enumerate(dots) if i != place for box in _around(other)]
            side = _free(dot, size, [*names, *others])
            found[place] = side
            names += [] if side is None else [_box(dot, side)]
    return found


def _free(dot: Dot, size: tuple[float, float], taken: Sequence[Box]) -> Side | None:
    every: tuple[Side, ...] = ("right", "left", "above", "below")
    every = every if dot.top is None else every[:2]  # a bar goes through what is above and below
    return next((side for side in every if _fits(_box(dot, side), size, taken)), None)


def _fits(box: Box, size: tuple[float, float], taken: Iterable[Box]) -> bool:
    left, top, right, bottom = box
    inside = left >= 0 and top >= 0 and right <= size[0] and bottom <= size[1]
    return inside and not any(
        left < end and start < right and top < low and high < bottom for start, high, end, low in taken
    )


def _box(dot: Dot, side: Side) -> Box:
    width = _LETTER * sum(2 if east_asian_width(letter) in "FW" else 1 for letter in dot.label)
    if side in ("right", "left"):
        left = dot.x + _AWAY if side == "right" else dot.x - _AWAY - width
        return left, dot.y - _LINE / 2, left + width, dot.y + _LINE / 2
    middle = dot.y - _AWAY - _LINE / 2 if side == "above" else dot.y + _AWAY + _LINE / 2
    return dot.x - width / 2, middle - _LINE / 2, dot.x + width / 2, middle + _LINE / 2


def _around(dot: Dot) -> list[Box]:
    """A dot, and its bar."""
    box = (dot.x - _DOT, dot.y - _DOT, dot.x + _DOT, dot.y + _DOT)
    return [box] if dot.top is None or dot.bottom is None else [box, (dot.x - 1, dot.top, dot.x + 1, dot.bottom)]
