"""Arena-Hard: ``model_judgment/<judge>/<model>.jsonl``, two games per question between a model and a baseline.

Game 1 shows the baseline as A, game 2 the model. A question has one value, the mean of both games: a verdict of ``>>``
is one win, not three. Where a game has no verdict the question has none: one order alone would favour a side.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import isnan, nan
from pathlib import Path
from typing import Any

import msgspec

from assay.data.judgments import WIN_RATE, Game, Games, lengths_in
from assay.data.readers.harness import Log, shown_value
from assay.data.readers.harness.answers import Answers, AnswersLog
from assay.data.readers.harness.decoding import decoded_lines
from assay.data.readers.harness.first_look import FirstLook
from assay.errors import InputError
from assay.names import one_line

KEYS = frozenset({"model", "judge", "games"})
TASK = "arena-hard"
BASELINE = "the baseline"  # the file does not name it
#: What A gets.
_VERDICTS = {
    **dict.fromkeys(("A>>B", "A>B", "B<<A", "B<A"), 1.0),
    **dict.fromkeys(("B>>A", "B>A", "A<<B", "A<B"), 0.0),
    **dict.fromkeys(("A=B", "B=A"), 0.5),
}


class _Played(msgspec.Struct):
    score: str | None = None
    user_prompt: Any = None
    prompt: Any = None  # version 2: messages


class _Judgment(msgspec.Struct):
    model: str
    judge: str
    games: list[_Played | None]
    question_id: str | int | None = None
    uid: str | int | None = None  # version 2
    category: str | None = None  # version 2


@dataclass(slots=True)
class _Question:
    """Both games of a question: what the one shown first got in each, and how long its answer and the other are."""

    place: str
    name: str
    won: tuple[float, float]
    lengths: tuple[tuple[float, float], tuple[float, float]]


def recognises(look: FirstLook) -> bool:
    return look.keys >= KEYS and bool({"question_id", "uid"} & look.keys)


def _once(found: _Judgment, line: bytes) -> bool:
    """Whether every game has one score."""
    return line.count(b'"games":') == 1 and line.count(b'"score":') == sum(game is not None for game in found.games)


def logs_of(files: Sequence[Path]) -> list[Log]:
    return [log for path in files for log in _logs(path)]


@dataclass(frozen=True)
class ArenaHardLog(AnswersLog):
    """The questions of one category on which a judge compared a model with the baseline."""

    format = "arena-hard"
    paired_on = "question"
    called = WIN_RATE
    questions: list[_Question] = field(default_factory=list)

    def read(self) -> Answers:
        scores = [(1 - first + second) / 2 for first, second in (one.won for one in self.questions)]
        lost = ["a game has no verdict" if isnan(score) else "" for score in scores]
        games = [game for one in self.questions if not any(map(isnan, one.won)) for game in self._games(one)]
        return Answers(
            [one.name for one in self.questions],
            [one.place for one in self.questions],
            {"win_rate": scores},
            errors=lost if any(lost) else None,
            notes=[f"against the baseline, by {self.conditions['judge']}; the mean of two games, in both orders"],
            games=(Games.of(self.conditions["judge"], games),),
        )

    def _games(self, one: _Question) -> list[Game]:
        order = ((BASELINE, self.model), (self.model, BASELINE))
        return [Game(one.name, *order[i], one.won[i], one.lengths[i]) for i in range(2)]


def _logs(path: Path) -> list[ArenaHardLog]:
    found: dict[tuple[str, str, str], list[_Question]] = {}
    for place, one in decoded_lines(path, _Judgment, whole=_once):
        found.setdefault((one.model, one.judge, one.category or TASK), []).append(_question(one, place))
    label = one_line(str(path))
    return [
        ArenaHardLog(label, (path,), model, task, "", conditions={"judge": judge}, questions=questions)
        for (model, judge, task), questions in found.items()
    ]


def _question(one: _Judgment, place: str) -> _Question:
    name = one.question_id if one.question_id is not None else one.uid
    if name is None:
        raise InputError(f"{place}: no field 'question_id' or 'uid'; write the file again.")
    if len(one.games) != 2:
        raise InputError(f"{place}: must have two games, but got {len(one.games)}; judge the question in both orders.")
    played = [_Played() if game is None else game for game in one.games]
    won = tuple(_won(game.score, f"{place}, game {at}") for at, game in enumerate(played, start=1))
    lengths = tuple(lengths_in(game.user_prompt or game.prompt) for game in played)
    return _Question(place, str(name), (won[0], won[1]), (lengths[0], lengths[1]))


def _won(score: str | None, place: str) -> float:
    if score is None:
        return nan
    if score not in _VERDICTS:
        known = ", ".join(_VERDICTS)
        raise InputError(
            f"{place}: score must be one of {known} or null, but got {shown_value(score)}; judge it again."
        )
    return _VERDICTS[score]
