"""MT-Bench, pairs of answers: ``<judge>_pair.jsonl``, two games for each question, turn and pair of models.

Game 1 shows the answer of ``model_1`` first, game 2 that of ``model_2``. A model wins where it wins both games; all
else is a tie, and a game that ended in an error is no verdict: the rule of FastChat.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import isnan, nan
from pathlib import Path

import msgspec
import numpy as np

from assay.data.judgments import WIN_RATE, Game, Games, Verdicts, coded, labels_of, lengths_in
from assay.data.readers import Selection
from assay.data.readers.harness import Log, Rows, shown_value
from assay.data.readers.harness.answers import Answers, AnswersLog
from assay.data.readers.harness.decoding import decoded_lines
from assay.data.readers.harness.first_look import FirstLook
from assay.data.readers.harness.mt_bench import condition, judged_by, name_of, turn_named, with_questions
from assay.errors import InputError
from assay.names import one_line

KEYS = frozenset({"question_id", "model_1", "model_2", "g1_winner", "g2_winner"})
#: What `model_1` gets.
_ONCE = (b'"question_id":', b'"model_1":', b'"model_2":', b'"g1_winner":', b'"g2_winner":')
_WINNERS = {"model_1": 1.0, "tie": 0.5, "model_2": 0.0, "error": nan}


class _Line(msgspec.Struct):
    question_id: str | int
    model_1: str
    model_2: str
    g1_winner: str
    g2_winner: str
    judge: list[str] | str = ""
    turn: int = 1
    g1_user_prompt: str | None = None
    g2_user_prompt: str | None = None


@dataclass(slots=True)
class _Pair:
    place: str
    question: str
    judge: str
    models: tuple[str, str]
    won: tuple[float, float]  # by model_1, in both games
    lengths: tuple[tuple[float, float], tuple[float, float]]  # of the answers shown first and second, in both

    @property
    def score(self) -> float:
        """Of model_1."""
        first, second = self.won
        if isnan(first) or isnan(second):
            return nan
        return first if first == second else 0.5

    @property
    def games(self) -> list[Game]:
        """Both games, if both have a verdict."""
        if isnan(self.score):
            return []
        one, other = self.models
        return [
            Game(self.question, one, other, self.won[0], self.lengths[0]),
            Game(self.question, other, one, 1 - self.won[1], self.lengths[1]),
        ]


def recognises(look: FirstLook) -> bool:
    return look.keys >= KEYS


def logs_of(files: Sequence[Path]) -> list[Log]:
    return [log for path in files for log in _logs(path)]


class _Turn:
    """The pairs of one turn, which all models of a file share."""

    def __init__(self, pairs: Sequence[_Pair]) -> None:
        self.pairs = pairs
        self.judges = sorted({one.judge for one in pairs})
        self._verdicts: dict[tuple[str, str | None], Verdicts] = {}

    def verdicts(self, judge: str, reference: str | None) -> Verdicts:
        """Of one judge, and against one model where that is asked for; the same object for all models."""
        if (judge, reference) not in self._verdicts:
            every = _verdicts(judge, [one for one in self.pairs if one.judge == judge])
            found = every if reference is None else every.against(reference)
            self._verdicts[judge, reference] = every if found is None else found
        return self._verdicts[judge, reference]


def _verdicts(judge: str, pairs: Sequence[_Pair]) -> Verdicts:
    models, a, b = coded([one.models for one in pairs])
    scores = np.array([one.score for one in pairs], dtype=np.float64)
    games = Games.of(judge, [game for one in pairs for game in one.games])
    return Verdicts(labels_of([one.question for one in pairs]), models, a, b, scores, (games,))


@dataclass(frozen=True)
class MtBenchPairLog(AnswersLog):
    """The pairs of one turn that a model is in."""

    format = "mt-bench-pair"
    paired_on = "question"
    called = WIN_RATE
    turn: _Turn = field(default_factory=lambda: _Turn([]))
    turns: int = 1  # of which this is one
    judge: str = ""
    reference: str | None = None

    def against(self, reference: str) -> "MtBenchPairLog | None":
        met = any({self.model, reference} == set(one.models) for one in self.turn.pairs)
        if not met or self.model == reference:
            return None
        return replace(self, reference=reference, conditions={**self.conditions, "reference": reference})

    def measures(self, selection: Selection) -> list[Selection]:
        return [selection]  # whoever is the judge

    def rows(self, selection: Selection, cluster: str | None) -> Rows:
        own = replace(self, judge=judged_by(self.label, self.turn.judges, selection))
        rows = super(MtBenchPairLog, own).rows(selection, cluster)
        return rows if self.turns < 2 else with_questions(rows, self.task, selection, cluster)

    def read(self) -> Answers:
        verdicts = self.turn.verdicts(self.judge, self.reference)
        names, scores = verdicts.scores(self.model)
        lost = ["a game ended in an error" if isnan(score) else "" for score in scores.tolist()]
        return Answers(
            list(names),
            [f"{self.label}, question {name}" for name in names],
            {"win_rate": scores.tolist()},
            errors=lost if any(lost) else None,
            labels={"question": list(names)},
            notes=[f"by {self.judge}; a win needs both games, anything else is a tie", *verdicts.notes(self.reference)],
            games=verdicts.games,
        )


def _logs(path: Path) -> list[MtBenchPairLog]:
    turns: dict[int, list[_Pair]] = {}
    for place, line in decoded_lines(path, _Line, once=_ONCE):
        turns.setdefault(line.turn, []).append(_pair(line, place))
    label, shared = one_line(str(path)), {turn: _Turn(own) for turn, own in sorted(turns.items())}
    return [
        MtBenchPairLog(
            label,
            (path,),
            model,
            turn_named(turn),
            "",
            conditions=condition(own.judges),
            turn=own,
            turns=len(shared),
        )
        for turn, own in shared.items()
        for model in dict.fromkeys(name for one in own.pairs for name in one.models)
    ]


def _pair(line: _Line, place: str) -> _Pair:
    if line.model_1 == line.model_2:
        raise InputError(f"{place}: model_1 and model_2 are both {shown_value(line.model_1)}; take the line out.")
    won = tuple(_won(winner, place) for winner in (line.g1_winner, line.g2_winner))
    lengths = lengths_in(line.g1_user_prompt), lengths_in(line.g2_user_prompt)
    name = name_of(line.judge)
    return _Pair(place, str(line.question_id), name, (line.model_1, line.model_2), (won[0], won[1]), lengths)


def _won(winner: str, place: str) -> float:
    if winner not in _WINNERS:
        known = ", ".join(_WINNERS)
        raise InputError(f"{place}: a winner must be one of {known}, but got {shown_value(winner)}; judge it again.")
    return _WINNERS[winner]
