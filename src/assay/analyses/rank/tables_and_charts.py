"""What a leaderboard shows: tables of models, tasks and pairs, and charts of models and tasks."""

from collections.abc import Sequence
from functools import partial
from math import copysign
from statistics import fmean, median
from typing import TYPE_CHECKING

from assay.analyses.rank.records import PairVerdict, Standing
from assay.names import plural
from assay.results import words
from assay.results.figures import Forest, Line, Matrix, SecondMark
from assay.results.parts import Column, ResultTable, Value
from assay.results.text import WIDE
from assay.stats.records import Estimate, Interval

if TYPE_CHECKING:
    from assay.analyses.rank.result import Leaderboard

_ADJUSTED = "adjusted for all pairs"
_SIGNS: dict[PairVerdict, str] = {"better": ">", "worse": "<", "not told apart": "≈"}
_FAINTEST = 0.35  # colour of a pair that is told apart
_CELL = 6  # letters of a score in the table of tasks
_BESIDE = 30  # letters that the other columns of that table take


def model_table(board: "Leaderboard") -> ResultTable:
    """Rank, tier, name, estimate, probability of being the best; frames have all else that is known of a model."""
    found, losses = board.models, board.metric == "losses"
    places = words.shared_decimals((model.estimate.interval for model in found), digits=3)
    value, limits = partial(_value, places=places, sign=False), partial(_limits, places=places, sign=False)
    interval = f"{words.percent(board.design.level)} CI"
    ppl = [None if model.perplexity is None else model.perplexity.value for model in found]
    ranks, whole = [model.ranks_text for model in found], board.n_complete == board.n_units
    columns = (
        Column("rank", [m.rank for m in found]),
        Column("ranks", [m.ranks[0] for m in found], key="ranks_low", right=False, written=ranks),
        Column("tier", [m.tier for m in found], right=False, written=[m.tier_text for m in found]),
        Column("model", [m.name for m in found], key="name", may_shorten=True),
        Column("loss" if losses else "score", [m.estimate.value for m in found], value, "estimate"),
        Column(interval, [m.estimate.interval for m in found], limits, "estimate"),
        Column("ppl", ppl, key="perplexity", hidden=not losses),
        Column("n", [m.answered for m in found], key="answered", hidden=whole),
        Column("best", [m.probability_best for m in found], words.chance, "probability_best"),
        Column("set", [m.in_confidence_set for m in found], key="in_confidence_set", right=False),
        Column("ranks_high", [m.ranks[1] for m in found], hidden=True),
        Column("letters", [" ".join(m.letters) for m in found], hidden=True),
        Column("standard_error", [m.estimate.standard_error for m in found], hidden=True),
        Column("mean", [m.mean for m in found], hidden=True),
        Column("bootstrap_ranks_low", [m.bootstrap_ranks[0] for m in found], hidden=True),
        Column("bootstrap_ranks_high", [m.bootstrap_ranks[1] for m in found], hidden=True),
        Column("set_p_value", [m.set_p_value for m in found], hidden=True),
    )
    return ResultTable("models", "", columns, explained="ranked models")


def pair_table(board: "Leaderboard", places: Sequence[int]) -> ResultTable:
    """Difference, p-value and adjusted p-value of some pairs; frames have the effect sizes as well."""
    pairs, found = board.pairs, board.pairs.difference
    intervals = [found.interval(place, pairs.level) for place in places]
    decimals = words.shared_decimals(intervals, digits=2)
    value, limits = partial(_value, places=decimals, sign=True), partial(_limits, places=decimals, sign=True)
    which = " CI" if len(pairs) == 1 else ", all pairs" if board.computed.simultaneous else ", unadjusted"

    def some(column: Sequence[Value]) -> list[Value]:
        return [column[place] for place in places]

    columns = (
        Column("A", some(pairs.a), key="a", may_shorten=True),
        Column("", some(pairs.verdict), _SIGNS.__getitem__, "verdict"),
        Column("B", some(pairs.b), key="b", may_shorten=True),
        Column("A − B", some(found.value), value, "difference"),
        Column(f"{words.percent(board.design.level)}{which}", intervals, limits, "difference"),
        Column("p", some(pairs.test.p_value), words.p_alone, "p_value"),
        Column("adjusted", some(pairs.p_adjusted), words.p_alone, "p_adjusted"),
        Column("standard_error", some(found.standard_error), hidden=True),
        *(Column(name, some(sizes.value), hidden=True) for name, sizes in pairs.effect_sizes.items()),
        Column("n", some(found.n), hidden=True),
        Column("unadjusted", [pairs.unadjusted(place) for place in places], hidden=True),
    )
    return ResultTable("pairs", "", columns, explained="ranked pairs")


def pair_matrix(board: "Leaderboard") -> Matrix:
    """Every model against every other, the better ones first: how much its score is higher, in colour where shown."""
    names = [model.name for model in board.models]
    place = {name: row for row, name in enumerate(names)}
    values: list[list[float | None]] = [[None] * len(names) for _ in names]
    shades: list[list[float | None]] = [[None] * len(names) for _ in names]
    pairs = board.pairs
    most = max((abs(value) for value in pairs.difference.value if value is not None), default=0.0) or 1.0
    for a, b, value, verdict in zip(pairs.a, pairs.b, pairs.difference.value, pairs.verdict, strict=True):
        shade = None if value is None else 0.0 if verdict == "not told apart" else _shade(value / most)
        for row, column, sign in ((place[a], place[b], 1.0), (place[b], place[a], -1.0)):
            values[row][column] = None if value is None else sign * value
            shades[row][column] = None if shade is None else shade * (-sign if board.lower_is_better else sign)
    return Matrix(
        "pairs",
        "Which pairs are told apart?",
        (
            f"Cells: {board.measured} of the row less that of the column; columns are numbered as the rows.",
            f"Blue: the row is better, orange: it is worse (at {words.percent(board.design.level)}, {_ADJUSTED}).",
            "Grey: not told apart.",
        ),
        tuple(f"{i}  {name}" for i, name in enumerate(names, 1)),
        tuple(map(str, range(1, len(names) + 1))),
        tuple(map(tuple, values)),
        tuple(map(tuple, shades)),
        "",
        "+.2~g" if board.metric == "losses" else "+.2f",
    )


def _shade(share: float) -> float:
    """Of a difference that is shown: never so faint that it looks like one that is not."""
    return copysign(_FAINTEST + (1 - _FAINTEST) * abs(share), share)


def forest(board: "Leaderboard") -> Forest:
    """Every model with its interval, coloured by tier; the corrected top score below the first."""
    level = words.percent(board.design.level)
    clusters = "" if board.n_clusters is None else f" in {words.count(board.n_clusters, 'cluster')}"
    of = "" if board.by is None else f" of {words.count(len(board.tasks), board.by)}"
    return Forest(
        "models",
        board.question,
        (
            f"Lines: {level} CIs of single models ({words.count(board.n_units, board.unit)}{clusters}{of}).",
            "Colour and shape: tiers. Models that share a letter are not told apart.",
            f"Open diamond: the top score corrected for being the best of {len(board.models)}.",
        ),
        f"{board.measured}, lower is better" if board.lower_is_better else board.measured,
        tuple(_line(board, model) for model in board.models),
        groups=tuple(f"tier {tier}" for tier in range(1, len(board.tiers) + 1)),
        legend=False,
    )


def _line(board: "Leaderboard", model: Standing) -> Line:
    low, high = _ends(model.estimate)
    note = f"tier {model.tier_text} · rank {model.ranks_text} · best {words.chance(model.probability_best)}"
    corrected = board.top.corrected
    marked = model.name == board.top.name and corrected.interval is not None
    others = (SecondMark(corrected.value, *_ends(corrected)),) if marked else ()
    return Line(model.name, model.estimate.value, low, high, f"tier {model.tier}", others, note)


# ---------------------------------------------------------------------------------------------------------------- tasks


def task_table(board: "Leaderboard") -> ResultTable:
    """A row for each task and a column for each model; long names of models are their places in the ranking."""
    names, tasks, by = [model.name for model in board.models], board.tasks, board.by or "task"
    fits = sum(max(len(name), _CELL) + 2 for name in names) + _BESIDE <= WIDE
    heads = names if fits else [str(place) for place in range(1, len(names) + 1)]
    weighed = board.total not in (None, "macro")
    columns = (
        Column(by, [one.task for one in tasks], may_shorten=True, key="task"),
        Column("n", [one.n for one in tasks]),
        Column("weight", [one.weight for one in tasks], words.fixed(3), hidden=not weighed),
        *(
            Column(head, [one.scores[place] for one in tasks], _score, key=name)
            for place, (head, name) in enumerate(zip(heads, names, strict=True))
        ),
        *(
            Column(f"{name}_standard_error", [one.standard_errors[place] for one in tasks], hidden=True)
            for place, name in enumerate(names)
        ),
    )
    about = f"{board.measured} of each model{'' if fits else ', by its place in the ranking'}"
    return ResultTable("tasks", plural(by), columns, about, explained="ranked tasks")


def _score(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def matrix(board: "Leaderboard") -> Matrix:
    """Models × tasks, the longer of the two downward; a cell is coloured against the mean of its task."""
    tasks, models, by = board.tasks, tuple(model.name for model in board.models), board.by or "task"
    values = [task.scores for task in tasks]
    shades = [_from_the_mean(task.scores, lower_is_better=board.lower_is_better) for task in tasks]
    down = len(models) > len(tasks)
    about = (
        f"Numbers: the {board.measured} of each model in each {by}; models are in the order of the ranks.",
        f"Colour: how much better or worse than the mean of all models in the same {by}.",
        *_typical_error(board),
    )
    return Matrix(
        "tasks",
        f"Models and {plural(by)}",
        about,
        models if down else tuple(task.task for task in tasks),
        tuple(task.task for task in tasks) if down else models,
        tuple(zip(*values, strict=True)) if down else tuple(values),
        tuple(zip(*shades, strict=True)) if down else tuple(shades),
        f"better (blue) or worse (orange) than the mean of the {by}",
    )


def _from_the_mean(scores: Sequence[float | None], *, lower_is_better: bool) -> tuple[float | None, ...]:
    known = [score for score in scores if score is not None]
    middle, sign = (fmean(known) if known else 0.0), -1.0 if lower_is_better else 1.0
    return tuple(None if score is None else sign * (score - middle) for score in scores)


def _typical_error(board: "Leaderboard") -> tuple[str, ...]:
    errors = [error for task in board.tasks for error in task.standard_errors if error is not None]
    if not errors:
        return ()
    return (f"Single cells are not tested: their standard error is {words.number(median(errors), 2)} in the median.",)


def _value(value: float | None, places: int | None, *, sign: bool) -> str:
    return "–" if value is None else words.placed(value, places, sign=sign)


def _limits(limits: Interval | None, places: int | None, *, sign: bool) -> str:
    return "–" if limits is None else words.limits_at(limits, places, sign=sign)


def _ends(found: Estimate) -> tuple[float | None, float | None]:
    return (None, None) if found.interval is None else (found.interval.low, found.interval.high)
