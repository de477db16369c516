"""MT-Bench, single answers: ``<judge>_single.jsonl``, a score from 1 to 10 for each question and turn.

A score of −1 says that the judgment could not be parsed. A turn is a task, and both turns of a question are drawn
together. What was judged again is appended, so that a second line on a question is a second run.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from math import fsum, isnan, nan
from pathlib import Path

import msgspec

from assay.data.readers import FILTER_WORDS, Selection
from assay.data.readers.harness import Log, Rows, chosen
from assay.data.readers.harness.answers import Answers, AnswersLog
from assay.data.readers.harness.decoding import decoded_lines
from assay.data.readers.harness.first_look import FirstLook
from assay.errors import InputError
from assay.names import one_line

FORMAT = "mt-bench"
KEYS = frozenset({"question_id", "model", "judge", "score", "turn"})
_ONCE = (b'"question_id":', b'"model":', b'"score":')
_UNPARSED = -1


class _Line(msgspec.Struct):
    question_id: str | int
    model: str
    judge: list[str] | str  # the judge and the name of its prompt
    score: float | None
    turn: int = 1


@dataclass(slots=True)
class _Judgment:
    place: str
    question: str
    judge: str
    score: float  # NaN: could not be parsed


def recognises(look: FirstLook) -> bool:
    return look.keys >= KEYS


def logs_of(files: Sequence[Path]) -> list[Log]:
    return [log for path in files for log in _logs(path)]


@dataclass(frozen=True)
class MtBenchLog(AnswersLog):
    """One turn of a model's answers."""

    format = FORMAT
    paired_on = "question"
    judgments: list[_Judgment] = field(default_factory=list)
    turns: int = 1  # of which this is one
    said: str = ""

    def measures(self, selection: Selection) -> list[Selection]:
        return [selection]  # whoever is the judge

    def rows(self, selection: Selection, cluster: str | None) -> Rows:
        of_judge = judged_by(self.label, (one.judge for one in self.judgments), selection)
        own = replace(self, judgments=[one for one in self.judgments if one.judge == of_judge])
        rows = super(MtBenchLog, own).rows(selection, cluster)
        return rows if self.turns < 2 else with_questions(rows, self.task, selection, cluster)

    def read(self) -> Answers:
        seen: Counter[str] = Counter()
        runs = []
        for one in self.judgments:
            seen[one.question] += 1
            runs.append(str(seen[one.question]))
        lost = ["the judgment could not be parsed" if isnan(one.score) else "" for one in self.judgments]
        names = [one.question for one in self.judgments]
        return Answers(
            names,
            [one.place for one in self.judgments],
            {"score": [one.score for one in self.judgments]},
            runs=runs if max(seen.values()) > 1 else None,
            errors=lost if any(lost) else None,
            labels={"question": names},
            notes=[self.said] if self.said else [],
        )


def judged_by(label: str, judges: Iterable[str], selection: Selection) -> str:
    """The only judge, or the one that was chosen as the filter."""
    return chosen(label, "filter", judges, selection.filter, word=FILTER_WORDS[FORMAT])


def with_questions(rows: Rows, task: str, selection: Selection, cluster: str | None) -> Rows:
    """The rows with their question as the cluster, where other turns of it are read too."""
    if cluster is None and selection.task != task:
        rows.columns["cluster"] = list(rows.columns["item"])
    return rows


def _logs(path: Path) -> list[MtBenchLog]:
    models: dict[str, dict[int, list[_Judgment]]] = {}
    for place, line in decoded_lines(path, _Line, once=_ONCE):
        one = _Judgment(place, str(line.question_id), name_of(line.judge), _score(line.score, place))
        models.setdefault(line.model, {}).setdefault(line.turn, []).append(one)
    label = one_line(str(path))
    return [
        MtBenchLog(
            label,
            (path,),
            model,
            turn_named(turn),
            "",
            conditions=condition([one.judge for one in own]),
            judgments=own,
            turns=len(turns),
            said=_mean_of_lines(model, turns),
        )
        for model, turns in models.items()
        for turn, own in sorted(turns.items())
    ]


def turn_named(turn: int) -> str:
    return f"turn {turn}"


def name_of(judge: list[str] | str) -> str:
    """The judge, without the name of its prompt, which depends on the question."""
    return judge if isinstance(judge, str) else next(iter(judge), "")


def condition(judges: Sequence[str]) -> dict[str, str]:
    """The judge, where there is one."""
    names = set(judges)
    return {"judge": names.pop()} if len(names) == 1 else {}


def _score(score: float | None, place: str) -> float:
    if score is None or isnan(score) or score == _UNPARSED:
        return nan
    if score < 0:
        raise InputError(
            f"{place}: score must be 0 or more, or -1 where there is none, but got {score:g}; judge it again."
        )
    return score


def _mean_of_lines(model: str, turns: dict[int, list[_Judgment]]) -> str:
    """What the program prints, where that is another mean: it counts a question as often as it was judged."""
    scores = [one.score for own in turns.values() for one in own if not isnan(one.score)]
    counts = Counter((turn, one.question) for turn, own in turns.items() for one in own if not isnan(one.score))
    if len(set(counts.values())) < 2:
        return ""
    mean = fsum(scores) / len(scores)
    own = f"{model}: the mean of all {len(scores):,} judgments is {mean:.4f}"
    return f"{own}; here the runs of a question are averaged first"
