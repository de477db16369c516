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


def sides(dots: Sequence[Dot], size: tuple[float, float], given: Sequence[Side | None] = ()) -> list[Side | None]:
    """On which side of its dot each name fits, the first dots first; None where it fits nowhere.

    Names that are ``given`` a side keep it, and the others make room.
    """
    found: list[Side | None] = [*given, *([None] * (len(dots) - len(given)))]
    taken = [_around(dot) for dot in dots]
    taken += [_box(dot, side) for dot, side in zip(dots, found, strict=True) if side is not None]
    for place, dot in enumerate(dots):
        if found[place] is None:
            found[place] = _free(dot, size, [box for i, box in enumerate(taken) if i != place])
            side = found[place]
            taken += [] if side is None else [_box(dot, side)]
    return found


def _free(dot: Dot, size: tuple[float, float], taken: Sequence[Box]) -> Side | None:
    every: tuple[Side, ...] = ("right", "left", "above", "below")
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


def _around(dot: Dot) -> Box:
    return dot.x - _DOT, dot.y - _DOT, dot.x + _DOT, dot.y + _DOT
