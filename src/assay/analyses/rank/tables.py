"""A leaderboard as tables and lines for people, 80 columns wide, and as rows for data frames."""

from collections.abc import Sequence
from itertools import pairwise, takewhile
from typing import Any

from assay.analyses.rank.parts import Board, Pair, Ranks, Reweighting, Standing
from assay.analyses.sheet import Sheet
from assay.results import words
from assay.stats.records import Estimate

WIDTH = 80
FEW_PAIRS = 10  # up to so many are all shown without being asked for
FEW_MODELS = 12  # up to so many the neighbours are
_SHORTEST = 12  # of a name
_NAMES = frozenset({"model", "A", "B"})  # columns that may be shortened
NUMBERS = frozenset({"rank", "best", "p", "adjusted", "n"})  # columns of them, lined up to the right


def model_sheet(board: Board) -> Sheet:
    """Rank, tier, name, estimate and probability of being the best."""
    level = words.percent(board.design.level)
    what = "loss" if board.metric == "losses" else "score"
    holes = board.n_complete < board.n_units
    header = [
        "rank",
        "ranks",
        "tier",
        "model",
        what,
        f"{level} interval",
        *(["ppl"] if board.metric == "losses" else []),
    ]
    header += [*(["n"] if holes else []), "best", "set"]
    cells, places = [], shared_places([model.estimate for model in board.models], digits=3)
    for model in board.models:
        value, limits = _value(model.estimate, places), _limits(model.estimate, places)
        row = [
            str(model.rank),
            ranks_text(model.ranks),
            f"{model.tier} {letters_text(model)}",
            model.name,
            value,
            limits,
        ]
        if model.perplexity is not None:
            row.append("–" if model.perplexity.value is None else words.number(model.perplexity.value))
        row += [f"{model.answered:,}"] if holes else []
        cells.append([*row, chance(model.probability_best), "yes" if model.in_confidence_set else ""])
    return Sheet(("models", ""), header, cells)


def pair_sheet(board: Board, pairs: Sequence[Pair]) -> Sheet:
    """Difference, p-value and adjusted p-value of pairs."""
    level = words.percent(board.design.level)
    signs = {"better": ">", "worse": "<", "not told apart": "≈"}
    places = shared_places([pair.difference for pair in pairs])
    which = "interval" if len(board.pairs) == 1 else "all pairs" if board.computed.simultaneous else "unadjusted"
    limits_of = f"{level} {which}" if which == "interval" else f"{level}, {which}"
    header = ["A", "", "B", "A − B", limits_of, "p", "adjusted"]
    cells = []
    for pair in pairs:
        names = [pair.a, signs[pair.verdict], pair.b]
        value, limits = _value(pair.difference, places, sign=True), _limits(pair.difference, places, sign=True)
        cells.append([*names, value, limits, _p(pair.test.p_value), _p(pair.p_adjusted)])
    return Sheet(("pairs", ""), header, cells)


def shown_pairs(board: Board, *, all_pairs: bool) -> Sequence[Pair]:
    """All pairs if they are few or asked for, else the neighbours in the ranking if these are few."""
    if all_pairs or len(board.pairs) <= FEW_PAIRS:
        return board.pairs
    if len(board.models) > FEW_MODELS:
        return ()
    names = [model.name for model in board.models]
    neighbours = set(pairwise(names))
    return [pair for pair in board.pairs if (pair.a, pair.b) in neighbours]


def lines(sheet: Sheet, width: int = WIDTH) -> list[str]:
    """The sheet with its columns lined up; names are shortened where the lines would be too long."""
    if not sheet.cells:
        return []
    columns = [list(column) for column in zip(sheet.header, *sheet.cells, strict=True)]
    widths = [max(map(len, column)) for column in columns]
    named = [i for i, name in enumerate(sheet.header) if name in _NAMES]
    while sum(widths) + 2 * (len(widths) - 1) > width:
        widest = max(named, key=widths.__getitem__)
        if widths[widest] <= _SHORTEST:
            break
        widths[widest] -= 1
    for i in named:
        columns[i][1:] = shortened(columns[i][1:], widths[i])
    right = [name in NUMBERS for name in sheet.header]
    return ["  ".join(map(_padded, row, widths, right)).rstrip() for row in zip(*columns, strict=True)]


def _padded(cell: str, width: int, right: bool) -> str:  # noqa: FBT001  # mapped over columns
    return cell.rjust(width) if right else cell.ljust(width)


def shortened(names: Sequence[str], width: int) -> list[str]:
    """Names that fit: without what is in the middle or, if they would then be the same, without what they share."""
    middle = (width - 1) // 2
    tried = [
        [_cut(name, width, head) for name in names] for head in sorted(range(width), key=lambda h: abs(h - middle))
    ]
    shared = sum(1 for _ in takewhile(lambda letters: len(set(letters)) == 1, zip(*names, strict=False)))
    start = max(shared - 3, 0)
    tried.append([name if len(name) <= width else f"…{name[start : start + width - 2]}…" for name in names])
    return next((found for found in tried if len(set(found)) == len(set(names))), tried[0])


def _cut(name: str, width: int, head: int) -> str:
    return name if len(name) <= width else f"{name[:head]}…{name[len(name) - (width - 1 - head) :]}"


def shared_places(estimates: Sequence[Estimate], digits: int = 2) -> int | None:
    """Decimal places that suit all: those at which the narrowest interval has so many digits."""
    found = [words.decimals(e.interval) for e in estimates if e.interval is not None]
    places = [place for place in found if place is not None]
    return max(max(places) - 3 + digits, 0) if places else None


def _value(estimate: Estimate, places: int | None, *, sign: bool = False) -> str:
    return "–" if estimate.value is None else words.placed(estimate.value, places, sign=sign)


def _limits(estimate: Estimate, places: int | None, *, sign: bool = False) -> str:
    limits = estimate.interval
    if limits is None:
        return "–"
    return words.limits_at(limits, places, sign=sign)


def _p(p: float | None) -> str:
    return "–" if p is None else f"{p:.2g}"


def chance(share: float) -> str:
    """A probability from replicates; never 0 % or 100 %, which they cannot show."""
    if share < 0.005:
        return "<1 %"
    return ">99 %" if share > 0.995 else f"{100 * share:.0f} %"


def ranks_text(ranks: Ranks) -> str:
    return str(ranks[0]) if ranks[0] == ranks[1] else f"{ranks[0]}–{ranks[1]}"


def letters_text(model: Standing) -> str:
    """Letters in a row are shown by the first and the last: ``a–f``."""
    found = list(model.letters)
    in_a_row = len(found) > 3 and all(len(x) == 1 for x in found) and ord(found[-1]) - ord(found[0]) == len(found) - 1
    if in_a_row:
        return f"{found[0]}–{found[-1]}"
    if len(found) > 4:
        return f"{found[0]}…{found[-1]}"
    return ("" if all(len(x) == 1 for x in found) else ",").join(found)


def standing_text(model: Standing) -> str:
    limits = model.estimate.interval
    value = "undefined" if model.estimate.value is None else words.number(model.estimate.value)
    shown = value if limits is None or model.estimate.value is None else words.estimate(model.estimate.value, limits)
    return (
        f"{shown}, ranks {ranks_text(model.ranks)}, tier {model.tier} ({letters_text(model)}), "
        f"best {chance(model.probability_best)}"
    )


def top_text(board: Board) -> str:
    top = board.top
    corrected, limits = top.corrected.value, top.corrected.interval
    places = words.decimals(limits)
    if corrected is None or limits is None:
        return f"{top.name} {words.number(top.estimate)}"
    return (
        f"{top.name} {words.placed(top.estimate, places)}; corrected for being the best of {len(board.models)}: "
        f"{words.estimate(corrected, limits)}"
    )


def set_text(board: Board) -> str:
    names = board.confidence_set
    who = wording_list(names, 6)
    return f"{who} ({words.percent(board.design.level)} model confidence set)"


def wording_list(names: Sequence[str], most: int) -> str:
    """``a, b and c``; ``a, b, c and 9 others``."""
    if len(names) > most:
        return f"{', '.join(names[: most - 1])} and {len(names) - most + 1} others"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def tier_text(board: Board) -> str:
    apart = sum(pair.verdict != "not told apart" for pair in board.pairs)
    count = len(board.tiers)
    pairs = words.count(len(board.pairs), "pair")
    return f"{count}; {apart:,} of {pairs} told apart; those that share a letter are not"


def test_text(board: Board) -> str:
    computed = board.computed
    how = {
        "exact": "exact",
        "shared signs": f"{computed.flips or 0:,} random flips, seed {board.design.seed}",
        "closed form": "closed form",
    }[computed.tests]
    adjusted = {
        "holm": "Holm-adjusted",
        "bh": "adjusted by Benjamini and Hochberg",
        "max-t": "adjusted by max-T",
        "none": "not adjusted",
    }[board.adjust]
    name = board.pairs[0].test.name
    return f"{name} ({how}), {adjusted}, at {words.number(1 - board.design.level)}"


def data_text(board: Board) -> str:
    units = words.count(board.n_units, board.unit)
    holes = "" if board.n_complete == board.n_units else f", {board.n_complete:,} of them answered by all"
    if board.n_clusters is None:
        return units + holes
    return f"{units} in {words.count(board.n_clusters, 'cluster')} ({board.cluster_by}){holes}"


def interval_text(board: Board) -> str:
    level, computed = words.percent(board.design.level), board.computed
    return f"{level} {computed.intervals} of models; differences {computed.pair_intervals}"


def reweighting_text(board: Board, other: Reweighting) -> str:
    """``sqrt, n ≥ 30 (312 items): τ = 0.97, 2 models move (x 3 → 4, y 4 → 3), no pair told apart changes order``."""
    named = {"equal": "equal", "n": "n", "sqrt": "√n", "log": "log n"}[other.weights]
    least = "" if other.min_n is None else f", n ≥ {other.min_n:,} ({words.count(other.units, board.unit)})"
    tau = "τ undefined" if other.tau is None else f"τ = {other.tau:.3g}"
    if not other.moves:
        return f"{named}{least}: {tau} with equal weights, no model moves"
    moves = ", ".join(f"{move.name} {move.rank} → {move.to}" for move in other.moves[:4])
    more = f" and {len(other.moves) - 4} more" if len(other.moves) > 4 else ""
    pairs = "no pair" if not other.reversed else words.count(other.reversed, "pair")
    change = "change" if other.reversed > 1 else "changes"
    return (
        f"{named}{least}: {tau} with equal weights, {words.count(len(other.moves), 'model')} moved "
        f"({moves}{more}); {pairs} told apart {change} order"
    )


def flat_standing(model: Standing) -> dict[str, Any]:
    data = model.to_dict()
    limits = model.estimate.interval
    data |= {"estimate": model.estimate.value, "letters": " ".join(model.letters)}
    data |= {"low": None if limits is None else limits.low, "high": None if limits is None else limits.high}
    data["perplexity"] = None if model.perplexity is None else model.perplexity.value
    for name in ("ranks", "bootstrap_ranks"):
        data[f"{name}_low"], data[f"{name}_high"] = data.pop(name)
    return data


def flat_pair(pair: Pair) -> dict[str, Any]:
    limits = pair.difference.interval
    return {
        "a": pair.a,
        "b": pair.b,
        "verdict": pair.verdict,
        "difference": pair.difference.value,
        "low": None if limits is None else limits.low,
        "high": None if limits is None else limits.high,
        "p_value": pair.test.p_value,
        "p_adjusted": pair.p_adjusted,
        **{name: estimate.value for name, estimate in pair.effect_sizes.items()},
        "n": pair.difference.n,
    }
