"""What people answered who are not in the segment: the population marginal that predicts it (C9).

Leaving out the segment's own row is not enough. Everybody is in one segment of *every* category, so that the people of
`party:left` come back through the ages, the places, the incomes. They are left out only if the pool is **one**
partition of the people: the other segments of the segment's own category, or all respondents less the segment, where
the survey has a row of them.
"""

import numpy as np

from assay.data.survey.truth import Truth
from assay.stats.units import Floats, Integers

#: Names of a row of all respondents, as a segment's id or as the value in attribute:value.
EVERYONE = frozenset(
    ("all", "everyone", "everybody", "overall", "total", "population", "all respondents", "all participants")
)
_ROUNDING = 0.005  # of the respondents: percentages may be whole numbers


def pooled(truth: Truth, sizes: Floats) -> Floats:
    """(C, K) All other rows of the question, weighted by ``sizes`` (C,): the people themselves are still among them."""
    sums, mass = _sums(truth.shares * sizes[:, None], truth.question), _sums(sizes[:, None], truth.question)
    left, rest = sums - truth.shares * sizes[:, None], mass - sizes[:, None]
    return _shares(left, rest)


def left_out(truth: Truth, everyone: Truth) -> Floats:
    """(C, K) What the people answered who are not in the segment; NaN where nobody else was asked.

    ``everyone`` is the survey with the small answers that ``truth`` leaves out: their people belong to the population.
    """
    places = [everyone.place[_name(truth, cell)] for cell in range(len(truth))]
    return np.asarray(_complement(everyone)[places])


def categories_of_two(truth: Truth) -> tuple[str, ...]:
    """The categories in which the complement of a segment is the one other group; none where a row has everybody."""
    if has_everyone(truth):
        return ()
    return tuple(name for name, codes in truth.categories.items() if len(codes) == 2)


def has_everyone(truth: Truth) -> bool:
    """Whether the survey has a row of all respondents."""
    return bool(_named(truth))


def _name(truth: Truth, cell: int) -> tuple[str, str]:
    return truth.questions[truth.question[cell]].id, truth.segments[truth.segment[cell]].id


def _complement(truth: Truth) -> Floats:
    mass = truth.n[:, None] * truth.shares
    named = np.isin(truth.segment, _named(truth))
    _, group = np.unique(np.stack([_categories(truth), truth.question]), axis=1, return_inverse=True)
    own = np.where(named[:, None], 0.0, mass)  # a row of everybody is not one group among the others
    count = np.where(named, 0, truth.n)[:, None].astype(np.float64)
    found = _shares(_sums(own, group.ravel()) - own, _sums(count, group.ravel()) - count)
    found[named] = np.nan
    for cell, whole in _whole_rows(truth).items():
        rest = mass[whole] - mass[cell]
        if truth.n[whole] > truth.n[cell] and rest.min() >= -_ROUNDING * (truth.n[whole] + truth.n[cell]):
            found[cell] = np.maximum(rest, 0.0) / np.maximum(rest, 0.0).sum()
    return found


def _categories(truth: Truth) -> Integers:
    names = list(truth.categories)
    return np.array([names.index(segment.category) for segment in truth.segments], dtype=np.int64)[truth.segment]


def _named(truth: Truth) -> list[int]:
    """Segments that are called all respondents."""
    return [
        code
        for code, segment in enumerate(truth.segments)
        if {_plain(segment.id), _plain(segment.id.partition(":")[2]), _plain(segment.label)} & EVERYONE
    ]


def _plain(name: str) -> str:
    return " ".join(name.replace("-", " ").replace("_", " ").split()).casefold()


def _whole_rows(truth: Truth) -> dict[int, int]:
    """Cell → the row of all respondents to its question: of its own category if there is one, else the largest."""
    rows: list[int] = np.flatnonzero(np.isin(truth.segment, _named(truth))).tolist()
    if not rows:
        return {}
    category, found = _categories(truth), {}
    for cell in range(len(truth)):
        same = [row for row in rows if truth.question[row] == truth.question[cell]]
        if same and cell not in same:
            found[cell] = max(same, key=lambda row: (category[row] == category[cell], truth.n[row]))
    return found


def _sums(values: Floats, groups: Integers) -> Floats:
    """(C, ·) For each row the sum over its group."""
    sums = np.zeros((int(groups.max()) + 1, values.shape[1]))
    np.add.at(sums, groups, values)
    return np.asarray(sums[groups])


def _shares(left: Floats, rest: Floats) -> Floats:
    out = np.full(left.shape, np.nan)
    return np.asarray(np.divide(np.maximum(left, 0.0), rest, out=out, where=rest > 0))
