"""Plain tables of verdicts, ``prompt, model_a, model_b, winner``: a row is a judge's look at two answers, A's first.

Every model of the table becomes a table of scores: its share of wins on each prompt, a tie being half a win.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from math import nan
from typing import Any

import numpy as np

from assay.data.columns import USUAL, ColumnsAsked, check_keys
from assay.data.judgments import WIN_RATE, Games, Verdicts
from assay.data.readers import Reading, RowSource, Selection
from assay.data.readers.memory import MemorySource
from assay.data.tables import Labels
from assay.data.values import failed
from assay.errors import InputError, UsageError
from assay.names import argument, listed, nearest, one_line, shown
from assay.stats.units import Floats, Integers, Texts, Truths

FORMAT = "verdicts"
_NEEDED = ("model_a", "model_b", "winner")
#: What the columns are called, whatever the case; the first that is there is taken.
_COLUMNS: dict[str, tuple[str, ...]] = {
    "item": ("item", "prompt", "question", "instruction", *USUAL["item"]),
    "model_a": ("model_a", "model_1"),
    "model_b": ("model_b", "model_2"),
    "winner": ("winner",),
    "judge": ("judge", "judge_model", "annotator"),
    "task": ("task", *USUAL["task"]),
    "response_a": ("response_a", "answer_a", "output_a", "completion_a"),
    "response_b": ("response_b", "answer_b", "output_b", "completion_b"),
}
#: What A gets, by what stands for the winner.
_WORDS = {
    **dict.fromkeys(("model_a", "a", "model_1"), 1.0),
    **dict.fromkeys(("model_b", "b", "model_2"), 0.0),
    **dict.fromkeys(("tie", "ties", "draw", "both", "neither", "equal", "same"), 0.5),
    **dict.fromkeys(("tie (bothbad)", "tie_bothbad", "bothbad", "both_bad", "both bad"), 0.5),
    **dict.fromkeys(("", "null", "none", "nan", "n/a", "na", "-"), nan),
}
MOST_JUDGES = 8  # that are looked at one by one


def columns_of_verdicts(source: RowSource, asked: ColumnsAsked) -> dict[str, str] | None:
    """Our name → the file's, where a table holds verdicts on two models; ``None`` for any other table."""
    mapping = asked.mapping
    if asked.kind == "losses" or "measure" in source.about or "score" in mapping:
        return None
    found = {ours: theirs for ours, theirs in mapping.items() if theirs}
    for ours, names in _COLUMNS.items():
        theirs = [one for name in names for one in source.columns if one.casefold() == name]
        if theirs and ours not in mapping:
            found[ours] = theirs[0]
    if not {"model_a", "model_b"} <= found.keys():
        return None
    _check(source, asked, found)
    return found


def _check(source: RowSource, asked: ColumnsAsked, found: Mapping[str, str]) -> None:
    check_keys(asked.mapping, tuple(_COLUMNS))
    for ours, theirs in asked.mapping.items():
        if theirs and theirs not in source.columns:
            raise InputError(f"{source.label}: no column {theirs!r} for {ours!r} among {listed(source.columns)}.")
    lacking = [name for name in _NEEDED if name not in found]
    if lacking:
        close = nearest(lacking[0], [name for name in source.columns if name not in found.values()])
        hint = argument(columns={lacking[0]: close or "NAME"})
        raise InputError(
            f"{source.label}: verdicts on model_a and model_b, but no column {lacking[0]} among "
            f"{listed(source.columns)}; name it with {hint}."
        )
    if "item" not in found and not asked.by_row:
        raise InputError(
            f"{source.label}: no column prompt among {listed(source.columns)}; name it with "
            "`columns={'item': 'NAME'}`, or, where every row is a prompt of its own, use `Selection(pair_by='row')`."
        )


class VerdictSource(MemorySource):
    """The win rates of one model by prompt, as columns in memory."""


@dataclass(frozen=True, eq=False)
class _Cells:
    """The columns of a table of verdicts, as they are read."""

    prompts: Labels
    names: dict[str, Texts]  # model_a, model_b
    score: Floats  # of A; NaN where there is no verdict
    judges: Labels | None
    lengths: Floats  # (rows, 2)
    labels: dict[str, Labels]  # task, cluster: of prompts

    def where(self, rows: Truths) -> "_Cells":
        return _Cells(
            self.prompts.where(rows),
            {name: texts[rows] for name, texts in self.names.items()},
            self.score[rows],
            None if self.judges is None else self.judges.where(rows),
            self.lengths[rows],
            {name: labels.where(rows) for name, labels in self.labels.items()},
        )


def sources_of_verdicts(
    source: RowSource, columns: Mapping[str, str], asked: ColumnsAsked, selection: Selection
) -> list[VerdictSource]:
    """A source of scores for each model of a table of verdicts, or for each opponent of the reference."""
    _check_picked(source, selection)
    cells = _read(source, columns, asked)
    judge = None
    if selection.filter is not None or (cells.judges is not None and len(cells.judges.names) == 1):
        cells, judge = _of_judge(source, cells, selection.filter)
    verdicts = _verdicts(cells)
    pairs = zip(cells.names["model_a"].tolist(), cells.names["model_b"].tolist(), strict=True)
    models = [name for name in dict.fromkeys(chain.from_iterable(pairs)) if name != selection.reference]
    if selection.reference is not None:
        verdicts = _against(source, verdicts, selection.reference)
        models = [name for name in models if selection.reference in verdicts.met[name]]
    notes = (*source.notes, *_notes(source, columns, asked, cells), *verdicts.notes(selection.reference))
    made = _Made(source, cells, verdicts, judge, tuple(notes), asked.cluster, selection)
    return [made.of(model) for model in models]


def _check_picked(source: RowSource, selection: Selection) -> None:
    """Refuse what picks among the results of a harness."""
    for name in ("task", "scorer", "metric"):
        if getattr(selection, name) is not None:
            picked = argument("Selection", **{name: getattr(selection, name)})
            raise UsageError(
                f"{picked} picks among the results of a harness, but {source.label} is a table; leave it out."
            )


def _of_judge(source: RowSource, cells: _Cells, asked: str | None) -> tuple[_Cells, str]:
    judges = cells.judges
    from assay.data.readers.harness import chosen  # late: most tables have no verdicts

    judge = chosen(source.label, "filter", () if judges is None else judges.names, asked, word="judge")
    assert judges is not None  # as one was found
    return cells.where(judges.codes == judges.names.index(judge)), judge


def _against(source: RowSource, verdicts: Verdicts, reference: str) -> Verdicts:
    found = verdicts.against(reference)
    if found is None:
        close = nearest(reference, verdicts.models)
        hint = f"did you mean {argument('Selection', reference=close)}?" if close else "name one of them."
        raise InputError(f"{source.label}: no model {reference!r} among {listed(verdicts.models)}; {hint}")
    return found


# ------------------------------------------------------------------------------------------------------------- reading


def _read(source: RowSource, columns: Mapping[str, str], asked: ColumnsAsked) -> _Cells:
    wanted: dict[str, tuple[str, Reading]] = {name: (columns[name], "text") for name in _NEEDED}
    wanted |= {name: (columns[name], "text") for name in ("item", "judge", "task") if name in columns}
    wanted |= {name: (columns[name], "length") for name in ("response_a", "response_b") if name in columns}
    if asked.cluster is not None:
        wanted["cluster"] = (_column(source, asked.cluster), "text")
    if asked.by_row:
        wanted.pop("item", None)
    texts = dict(zip(wanted, source.read(list(wanted.values())), strict=True))
    rows = len(texts["winner"])
    if not rows:
        raise InputError(f"{source.label}: a header but no rows; check what should have written them.")
    names = {name: _names(source, columns[name], texts.pop(name)) for name in ("model_a", "model_b")}
    score = _scores(source, columns["winner"], texts.pop("winner"), names)
    prompts = _row_numbers(rows) if asked.by_row else Labels.of(_filled(source, columns["item"], texts.pop("item")))
    unknown = np.full(rows, nan)
    lengths = np.column_stack([texts.get(name, unknown) for name in ("response_a", "response_b")])
    judges = Labels.of(texts["judge"]) if "judge" in texts else None
    return _Cells(prompts, names, score, judges, lengths, _labels(source, prompts, texts, asked))


def _column(source: RowSource, name: str) -> str:
    if name not in source.columns:
        close = nearest(name, source.columns)
        hint = f"did you mean {argument(cluster=close)}?" if close else "name one of them with `cluster`."
        raise InputError(
            f"{source.label}: no column {name!r} to cluster by among its columns {listed(source.columns)}; {hint}"
        )
    return name


def _row_numbers(rows: int) -> Labels:
    digits = len(str(rows))
    return Labels(tuple(f"{row:0{digits}d}" for row in range(1, rows + 1)), np.arange(rows))


def _filled(source: RowSource, column: str, texts: Texts) -> Texts:
    for row, text in enumerate(texts.tolist(), start=1):
        if not text.strip():
            raise _refused(source, row, column, "the cell is empty; fill it in or take the row out")
    return texts


def _names(source: RowSource, column: str, texts: Texts) -> Texts:
    """Names of models, printable on one line."""
    plain = {name: one_line(name.strip()) for name in set(_filled(source, column, texts).tolist())}
    found = np.empty(len(texts), dtype=object)
    found[:] = [plain[name] for name in texts.tolist()]
    return found


def _refused(source: RowSource, row: int, column: str, what: str) -> InputError:
    return InputError(f"{source.label}, {source.places([row])[0]}, column {column!r}: {what}.")


def _scores(source: RowSource, column: str, winners: Texts, names: Mapping[str, Texts]) -> Floats:
    """(rows,) What A got: by a word for the winner, or by its name."""
    rows = zip(winners.tolist(), names["model_a"].tolist(), names["model_b"].tolist(), strict=True)
    found = np.empty(len(winners))
    for row, (winner, a, b) in enumerate(rows, start=1):
        if a == b:
            raise _refused(source, row, column, f"model_a and model_b are both {shown(a)}; take the row out")
        score = _score(winner.strip(), a, b)
        if score is None:
            raise _refused(
                source,
                row,
                column,
                f"{shown(winner)} is not clearly one of model_a, model_b, a, b, tie, {shown(a)} and {shown(b)}; write "
                "one of these, or nothing where there is no verdict",
            )
        found[row - 1] = score
    return found


def _score(winner: str, a: str, b: str) -> float | None:
    """What A got; ``None`` where that is not clear."""
    named = 1.0 if winner == a else 0.0 if winner == b else None
    word = _WORDS.get(winner.casefold())
    if word is None and named is None and failed(winner):
        return nan
    if word is None or named is None:
        return word if named is None else named
    return word if word == named else None


def _labels(source: RowSource, prompts: Labels, texts: Mapping[str, Any], asked: ColumnsAsked) -> dict[str, Labels]:
    """Task and cluster of every row; a task that is not the prompt's is not used, a cluster is refused."""
    found = {}
    for name in ("task", "cluster"):
        if name not in texts:
            continue
        labels = Labels.of(texts[name])
        first = np.zeros(len(prompts.names), dtype=np.int64)
        first[prompts.codes[::-1]] = labels.codes[::-1]
        differs = np.flatnonzero(labels.codes != first[prompts.codes])
        if not differs.size:
            found[name] = labels
        elif name == "cluster":
            what = f"not the {asked.cluster} of the same prompt before; give a prompt one {asked.cluster}"
            raise _refused(source, int(differs[0]) + 1, str(asked.cluster), what)
    return found


# ----------------------------------------------------------------------------------------------------------- win rates


def _verdicts(cells: _Cells) -> Verdicts:
    models = sorted({*cells.names["model_a"].tolist(), *cells.names["model_b"].tolist()})
    codes = {name: code for code, name in enumerate(models)}
    a, b = (
        np.fromiter(map(codes.__getitem__, cells.names[name]), np.int64, len(cells.score))
        for name in ("model_a", "model_b")
    )
    return Verdicts(cells.prompts, tuple(models), a, b, cells.score, tuple(_games(cells, tuple(models), a, b)))


def _games(cells: _Cells, models: tuple[str, ...], a: Integers, b: Integers) -> Iterator[Games]:
    """The rows with a verdict, by judge where there are a few."""
    judges, judged = cells.judges, ~np.isnan(cells.score)
    several = judges is not None and len(judges.names) > MOST_JUDGES
    parts: list[tuple[str, Truths]] = [("the judge" if judges is None else f"{len(judges.names)} judges", judged)]
    if judges is not None and not several:
        parts = [(name, judged & (judges.codes == code)) for code, name in enumerate(judges.names)]
    for name, rows in parts:
        if rows.any():
            own = cells.prompts.where(rows)
            yield Games(name, own, models, a[rows], b[rows], cells.score[rows], cells.lengths[rows])


@dataclass(frozen=True, eq=False)
class _Made:
    """What all models of a table of verdicts share."""

    source: RowSource
    cells: _Cells
    verdicts: Verdicts
    judge: str | None
    notes: tuple[str, ...]
    cluster: str | None
    selection: Selection

    def of(self, model: str) -> VerdictSource:
        """The scores of one model."""
        names, scores = self.verdicts.scores(model)
        columns: dict[str, Any] = {"item": list(names), "score": scores}
        if np.isnan(scores).any():
            columns["error"] = ["no verdict" if lost else "" for lost in np.isnan(scores).tolist()]
        columns |= {name: [own[prompt] for prompt in names] for name, own in self._labels.items()}
        lengths = _own_lengths(self.cells, model, names)
        columns |= {} if lengths is None else {"chars_out": lengths}
        made = VerdictSource(columns, self.source.label)
        made.name, made.notes, made.about = model, self.notes, self._about(model)
        return made

    @cached_property
    def _labels(self) -> dict[str, dict[str, str]]:
        """Task and cluster of every prompt."""
        prompts, labels = self.cells.prompts, self.cells.labels
        first = np.zeros(len(prompts.names), dtype=np.int64)
        first[prompts.codes[::-1]] = np.arange(len(prompts.codes))[::-1]
        called = {"cluster": self.cluster or "cluster"}
        return {
            called.get(name, name): dict(zip(prompts.names, own.where(first).texts, strict=True))
            for name, own in labels.items()
        }

    def _about(self, model: str) -> dict[str, Any]:
        conditions = {"judge": self.judge, "reference": self.selection.reference}
        picked = {"metric": "win_rate", "filter": self.selection.filter, "scorer": None}
        return {
            "model": {"name": model},
            "measure": {"format": FORMAT, "task": "", "tasks": (), **picked, "by_task": {}},
            "measure_name": WIN_RATE,
            "games": self.verdicts.games,
            "conditions": {"": {name: value for name, value in conditions.items() if value is not None}},
            "allow_different": tuple(self.selection.allow_different),
        }


def _own_lengths(cells: _Cells, model: str, names: Sequence[str]) -> Floats | None:
    """The mean number of characters of a model's answers to each prompt; ``None`` where none is known."""
    if np.isnan(cells.lengths).all():
        return None
    sums, counts = np.zeros(len(cells.prompts.names)), np.zeros(len(cells.prompts.names))
    for side, name in enumerate(("model_a", "model_b")):
        own = (cells.names[name] == model) & ~np.isnan(cells.lengths[:, side])
        np.add.at(sums, cells.prompts.codes[own], cells.lengths[own, side])
        np.add.at(counts, cells.prompts.codes[own], 1.0)
    means = np.divide(sums, counts, out=np.full(len(sums), nan), where=counts > 0)
    places = {name: place for place, name in enumerate(cells.prompts.names)}
    found: Floats = means[[places[name] for name in names]]
    return found


def _notes(source: RowSource, columns: Mapping[str, str], asked: ColumnsAsked, cells: _Cells) -> list[str]:
    read = [f"{ours} = {theirs}" for ours, theirs in columns.items() if ours != theirs and ours not in asked.mapping]
    taken = {*columns.values(), asked.cluster}
    unused = [name for name in source.columns if name and name not in taken]
    lost, several = int(np.isnan(cells.score).sum()), cells.judges is not None and len(cells.judges.names) > 1
    said = ["verdicts of a table: the answer of model_a was shown first, and a tie is half a win"]
    said += [f"read as {', '.join(read)}"] if read else []
    said += [f"{lost:,} of {len(cells.score):,} rows have no verdict"] if lost else []
    if several and cells.judges is not None:
        said.append(f"verdicts of {len(cells.judges.names)} judges averaged (`Selection(filter=...)` takes one)")
    said += [f"columns not used: {listed(unused)}"] if unused else []
    return [f"{source.label}: {one}" for one in said]
