"""Verdicts of a judge on two answers to one prompt: who was shown first, who won, how long both answers are."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import isnan, nan

import numpy as np
from msgspec import Struct

from assay.data.tables import Labels
from assay.stats.units import Floats, Integers, Truths

#: What people call the mean of verdicts.
WIN_RATE = "win rate"


class Game(Struct, frozen=True, eq=False):
    """One look of a judge at two answers, as a reader finds it."""

    prompt: str
    first: str  # the model whose answer was shown first
    second: str
    won: float  # by the first: 1, ½ for a tie, 0, or between; NaN where there is no verdict
    lengths: tuple[float, float] = (nan, nan)  # characters of both answers, where they are known


@dataclass(frozen=True, eq=False)
class Games:
    """The games of one judge that have a verdict, a value for each in every array."""

    judge: str
    prompts: Labels  # games on one prompt belong together
    models: tuple[str, ...]
    first: Integers  # (games,) into the models
    second: Integers
    won: Floats  # (games,) by the first
    lengths: Floats  # (games, 2) characters, NaN where they are not known
    ordered: bool = True  # False: which answer was shown first is not recorded

    def __len__(self) -> int:
        return len(self.won)

    @classmethod
    def of(cls, judge: str, games: Sequence[Game], *, ordered: bool = True) -> "Games":
        there = [game for game in games if not isnan(game.won)]
        pairs = [(game.first, game.second) for game in there]
        models, first, second = coded(pairs)
        won = np.array([game.won for game in there], dtype=np.float64)
        lengths = np.array([game.lengths for game in there], dtype=np.float64).reshape(len(there), 2)
        return cls(judge, labels_of([game.prompt for game in there]), models, first, second, won, lengths, ordered)

    @classmethod
    def joined(cls, parts: "Sequence[Games]") -> "Games":
        """The games of one judge from several files; which was shown first is known if all say so."""
        if len(parts) == 1:
            return parts[0]
        models = sorted({name for one in parts for name in one.models})
        codes = [np.array([models.index(name) for name in one.models], dtype=np.int64) for one in parts]
        pairs = list(zip(parts, codes, strict=True))
        return cls(
            parts[0].judge,
            Labels.of(np.concatenate([one.prompts.texts for one in parts])),
            tuple(models),
            np.concatenate([own[one.first] for one, own in pairs]),
            np.concatenate([own[one.second] for one, own in pairs]),
            np.concatenate([one.won for one in parts]),
            np.concatenate([one.lengths for one in parts]),
            all(one.ordered for one in parts),
        )

    def where(self, chosen: Truths) -> "Games":
        """Some of the games."""
        prompts = self.prompts.where(chosen)
        kept = {name: getattr(self, name)[chosen] for name in ("first", "second", "won", "lengths")}
        return replace(self, prompts=prompts, **kept)


@dataclass(frozen=True, eq=False)
class Verdicts:
    """How pairs of models did on prompts, a value for each pair and prompt in every array."""

    prompts: Labels
    models: tuple[str, ...]
    a: Integers  # (verdicts,) into the models
    b: Integers
    score: Floats  # (verdicts,) of a; NaN where there is no verdict
    games: tuple[Games, ...]  # that they come from, by judge

    @cached_property
    def met(self) -> dict[str, tuple[str, ...]]:
        """Whom every model met."""
        together = np.zeros((len(self.models), len(self.models)), dtype=bool)
        together[self.a, self.b] = together[self.b, self.a] = True
        return {
            name: tuple(self.models[i] for i in np.flatnonzero(row))
            for name, row in zip(self.models, together, strict=True)
        }

    def against(self, reference: str) -> "Verdicts | None":
        """Only the verdicts on this model and another; ``None`` where it met none."""
        if reference not in self.models:
            return None
        one = self.models.index(reference)
        own = (self.a == one) | (self.b == one)
        games = tuple(part.where(_of_model(part, reference)) for part in self.games)
        kept = self.prompts.where(own), self.models, self.a[own], self.b[own], self.score[own]
        return Verdicts(*kept, tuple(part for part in games if len(part)))

    def scores(self, model: str) -> tuple[tuple[str, ...], Floats]:
        """The prompts on which a model was judged, and the mean of its verdicts on each; NaN where it has none."""
        one = self.models.index(model)
        own = (self.a == one) | (self.b == one)
        prompts = self.prompts.where(own)
        scores = np.where(self.a[own] == one, self.score[own], 1 - self.score[own])
        judged = ~np.isnan(scores)
        sums = np.bincount(prompts.codes[judged], weights=scores[judged], minlength=len(prompts.names))
        counts = np.bincount(prompts.codes[judged], minlength=len(prompts.names))
        means = np.divide(sums, counts, out=np.full(len(sums), nan), where=counts > 0)
        return prompts.names, means

    def notes(self, reference: str | None) -> list[str]:
        """What people should know of the opponents."""
        if reference is not None or len(self.models) < 3:
            return [] if reference is None else [f"against {reference}"]
        alike = {frozenset((name, *others)) for name, others in self.met.items()}
        how = "against all others that a model met; `Selection(reference=...)` takes one opponent"
        uneven = "warning: models met different opponents, so their win rates do not compare"
        return [how] if len(alike) == 1 else [how, f"{uneven}; `Selection(reference=...)` takes one opponent"]


def _of_model(games: Games, model: str) -> Truths:
    one = games.models.index(model) if model in games.models else -1
    own: Truths = (games.first == one) | (games.second == one)
    return own


def coded(pairs: Sequence[tuple[str, str]]) -> tuple[tuple[str, ...], Integers, Integers]:
    """The names in some pairs, sorted, and for the first and the second of each which it is."""
    names = sorted({name for pair in pairs for name in pair})
    codes = {name: code for code, name in enumerate(names)}
    first, second = (np.array([codes[pair[side]] for pair in pairs], dtype=np.int64) for side in (0, 1))
    return tuple(names), first, second


def labels_of(values: Sequence[str]) -> Labels:
    texts = np.empty(len(values), dtype=object)
    texts[:] = values
    return Labels.of(texts)


#: How judges' prompts of FastChat and of Arena-Hard put an answer between marks.
_ANSWERS = re.compile(
    r"[\[<]\|?The Start of Assistant ([AB])'s Answer\|?[\]>]\n(.*?)\n[\[<]\|?The End of Assistant \1's Answer\|?[\]>]",
    re.DOTALL,
)


def lengths_in(prompt: object) -> tuple[float, float]:
    r"""The characters of both answers in what a judge was given; NaN where they are not between the usual marks.

    >>> marks = "[The Start of Assistant {0}'s Answer]\n{1}\n[The End of Assistant {0}'s Answer]\n"
    >>> lengths_in(marks.format("A", "yes") + marks.format("B", "no"))
    (3.0, 2.0)
    """
    messages = prompt if isinstance(prompt, list) else [{"content": prompt}]
    texts = [one.get("content") for one in messages if isinstance(one, dict)]
    marked = [part for text in texts if isinstance(text, str) for part in _ANSWERS.findall(text)]
    found = {letter: float(len(answer)) for letter, answer in marked}
    return found.get("A", nan), found.get("B", nan)
