"""A leaderboard as a part of a document."""

from assay.analyses.rank import tables
from assay.analyses.rank.result import Leaderboard
from assay.report.document import Fact, Gauge, Group, Mark, Part, Table
from assay.report.parts.common import chart_of, facts_of, notes_of
from assay.report.rank_chart import rank_chart
from assay.results import words
from assay.results.explanations import Explanation

_MOST_PAIRS = 2_000  # whose numbers a page carries

_MODELS = Explanation(
    "Ranks are by score. “Ranks” are those that the tests leave open, “best” is the share of resamples in which the "
    "model is first, “set” marks the models that hold the best one at the level.",
    "rank.md",
)
_PAIRS = Explanation(
    "A − B on the units that both have answered; p is adjusted for the number of pairs. Intervals of “all pairs” hold "
    "for all of them at once and leave out 0 where the adjusted p-value rejects; “unadjusted” ones hold for one pair.",
    "rank.md",
)


def leaderboard_part(board: Leaderboard) -> Part:
    """Models with tiers, and pairs."""
    return Part(
        kind="leaderboard",
        name=words.count(len(board.models), "model"),
        title="Which models can be told apart?",
        sentence=board.sentence,
        status="good" if len(board.confidence_set) == 1 else "unsure",
        compared=(Fact("models", str(len(board.models))), Fact("on", tables.data_text(board))),
        signature=board.signature,
        gauge=_gauge(board),
        facts=facts_of(board.evidence()),
        groups=(_models(board), *_pairs(board)),
        notes=notes_of(board.evidence()),
        data=board.to_dict(),
    )


def _gauge(board: Leaderboard) -> Gauge | None:
    """The first model less the second."""
    first, second = (model.name for model in board.models[:2])
    found = board.pair(first, second).difference
    if found.value is None or found.interval is None:
        return None
    return Gauge(
        f"{first} − {second}{_which(board)}",
        found.value,
        found.interval.low,
        found.interval.high,
        (Mark(0.0, "no difference"),),
        "lower" if board.lower_is_better else "higher",
        words.estimate(found.value, found.interval, sign=True),
    )


def _which(board: Leaderboard) -> str:
    if len(board.pairs) == 1:
        return ""
    alone = "this pair alone: not adjusted for the number of pairs"
    return f", {'interval for all pairs at once' if board.computed.simultaneous else alone}"


def _models(board: Leaderboard) -> Group:
    data = [tables.flat_standing(model) for model in board.models]
    table = Table.of(tables.model_sheet(board), data, _MODELS)
    return Group("Models", charts=(chart_of("models", rank_chart, board),), tables=(table,))


def _pairs(board: Leaderboard) -> tuple[Group, ...]:
    few = len(board.pairs) <= _MOST_PAIRS
    shown = board.pairs if few else tables.shown_pairs(board, all_pairs=False)
    if not shown:
        return ()
    data = [tables.flat_pair(pair) for pair in shown]
    return (Group("Pairs", tables=(Table.of(tables.pair_sheet(board, shown), data, _PAIRS),)),)
