"""The true survey answers: the share of each option by question and segment, and the number of respondents."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256

import numpy as np

from assay.errors import InputError
from assay.stats.units import Floats, Integers, Truths

#: What percentages may sum to: they are rounded one by one.
LEAST_SUM, MOST_SUM = 99.0, 101.0


@dataclass(frozen=True, slots=True)
class Question:
    id: str
    text: str
    options: tuple[str, ...]

    @property
    def key(self) -> tuple[str, tuple[str, ...]]:
        """Identity across survey rounds, where ids differ: text and options, ignoring case and spacing."""
        return _plain(self.text), tuple(map(_plain, self.options))


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()


@dataclass(frozen=True, slots=True)
class Segment:
    id: str
    label: str
    category: str  # what its people have in common is a value of this: country, gender, …
    n: int  # respondents


@dataclass(frozen=True, eq=False)
class Truth:
    """A survey: a cell per question and segment, sorted by segment, then question, in file order."""

    source: str  # what messages call it
    survey_id: str | None
    questions: tuple[Question, ...]
    segments: tuple[Segment, ...]
    question: Integers  # (C,) codes into questions
    segment: Integers  # (C,) codes into segments
    shares: Floats  # (C, K) rows sum to 1; 0 beyond the options of the question
    n: Integers  # (C,) respondents
    notes: tuple[str, ...] = ()
    sums: Floats | None = None  # (C,) what the shares summed to as they were written: percentages are rounded

    def __len__(self) -> int:
        return len(self.question)

    @cached_property
    def options(self) -> Integers:
        """(C,) How many options the question of each cell has."""
        return np.array([len(q.options) for q in self.questions], dtype=np.int64)[self.question]

    @cached_property
    def mask(self) -> Truths:
        """(C, K) Where there is an option."""
        return np.arange(self.shares.shape[1]) < self.options[:, None]

    @cached_property
    def place(self) -> dict[tuple[str, str], int]:
        """Question id and segment id → cell."""
        names = zip(self.question.tolist(), self.segment.tolist(), strict=True)
        return {(self.questions[q].id, self.segments[s].id): cell for cell, (q, s) in enumerate(names)}

    @cached_property
    def question_codes(self) -> dict[str, int]:
        return {question.id: code for code, question in enumerate(self.questions)}

    @cached_property
    def segment_codes(self) -> dict[str, int]:
        return {segment.id: code for code, segment in enumerate(self.segments)}

    @cached_property
    def categories(self) -> dict[str, list[int]]:
        """The segments of each category, in the order of the file."""
        found: dict[str, list[int]] = {}
        for code, segment in enumerate(self.segments):
            found.setdefault(segment.category, []).append(code)
        return found

    @cached_property
    def defining(self) -> Truths:
        """(C,) Cells whose question defines the segments of their category, so that there is nothing to predict.

        There, every segment of the category has all respondents on one option, and not all segments on the same one.
        """
        found = np.zeros(len(self), dtype=bool)
        single = self.shares.max(axis=1) > 1 - 1e-9
        category = np.array([list(self.categories).index(s.category) for s in self.segments])[self.segment]
        for code in np.unique(category[single]).tolist():
            for question in np.unique(self.question[single & (category == code)]).tolist():
                cells = (category == code) & (self.question == question)
                if single[cells].all() and len(np.unique(self.shares[cells].argmax(axis=1))) > 1:
                    found |= cells
        return found

    @cached_property
    def digest(self) -> str:
        """The sha256 of what was asked and answered."""
        hashed = sha256(b"assay survey 1")
        texts = [*(f"{q.id}\t{q.text}\t{q.options}" for q in self.questions), *(s.id for s in self.segments)]
        hashed.update("\n".join(texts).encode("utf-8", "surrogatepass"))
        for part in (self.question, self.segment, self.n, self.shares):
            hashed.update(np.ascontiguousarray(part).astype("<f8").tobytes())
        return hashed.hexdigest()

    def at_least(self, n: int) -> "Truth":
        """Leave out answers of fewer than ``n`` respondents, whatever the size of their segment."""
        enough = self.n >= n
        if enough.all():
            return self
        if not enough.any():
            raise InputError(f"{self.source}: every segment has fewer than {n} respondents; lower `min_n`.")
        kept = self.only(enough)
        here = set(kept.segment_codes)
        gone = [segment for segment in self.segments if segment.id not in here]
        few = int((~enough).sum())
        note = f"{few:,} of {len(self):,} answers (question × segment) left out, of fewer than {n} respondents"
        if gone:
            note += f"; nothing is left of {len(gone)} of {len(self.segments)} segments: " + _some(gone)
        return replace(kept, notes=(*self.notes, note))

    def only(self, cells: Truths) -> "Truth":
        """Keep only these cells (C,); questions and segments without cells are dropped."""
        questions, question = np.unique(self.question[cells], return_inverse=True)
        segments, segment = np.unique(self.segment[cells], return_inverse=True)
        return replace(
            self,
            questions=tuple(self.questions[q] for q in questions.tolist()),
            segments=tuple(self.segments[s] for s in segments.tolist()),
            question=question.astype(np.int64),
            segment=segment.astype(np.int64),
            shares=self.shares[cells],
            n=self.n[cells],
            sums=None if self.sums is None else self.sums[cells],
        )


def _some(segments: Sequence[Segment], most: int = 5) -> str:
    names = [segment.id for segment in segments[:most]]
    return ", ".join(names) + (f" and {len(segments) - most} more" if len(segments) > most else "")


@dataclass(frozen=True, slots=True)
class Cell:
    """One question asked of one segment, before it becomes part of a `Truth`."""

    question: int
    segment: int
    shares: Sequence[float]  # per cent or shares; whatever they sum to is 1
    n: int


def truth_of(
    source: str,
    survey_id: str | None,
    asked: tuple[Sequence[Question], Sequence[Segment]],
    cells: Sequence[Cell],
    notes: Sequence[str] = (),
) -> Truth:
    """Build a survey from validated cells: sorted and padded."""
    questions, segments = asked
    if not cells:
        raise InputError(f"{source}: no segment has an answer; check what wrote it.")
    ordered = sorted(cells, key=lambda cell: (cell.segment, cell.question))
    shares = np.zeros((len(ordered), max(len(q.options) for q in questions)))
    for row, cell in zip(shares, ordered, strict=True):
        row[: len(cell.shares)] = cell.shares
    sums = shares.sum(axis=1)
    shares /= sums[:, None]
    return Truth(
        source,
        survey_id,
        tuple(questions),
        tuple(segments),
        np.array([cell.question for cell in ordered], dtype=np.int64),
        np.array([cell.segment for cell in ordered], dtype=np.int64),
        shares,
        np.array([cell.n for cell in ordered], dtype=np.int64),
        tuple(notes),
        sums / np.where(sums > 2, 100.0, 1.0),
    )


def check_shares(values: Sequence[float], options: int, where: str) -> None:
    """Refuse percentages (or shares) that are not a valid answer to a question with this many options."""
    if len(values) != options:
        raise InputError(
            f"{where}: {len(values)} percentages for {options} options; give one per option, 0 where nobody chose it."
        )
    if min(values) < 0:
        raise InputError(f"{where}: percentages must not be negative, but got {min(values):g}; correct it.")
    total = sum(values)
    scale = 100.0 if total > 2 else 1.0
    if not LEAST_SUM <= 100 / scale * total <= MOST_SUM:
        raise InputError(
            f"{where}: percentages must sum to {LEAST_SUM:g} to {MOST_SUM:g}, but sum to {100 / scale * total:g}; "
            "correct them, or take the answer out."
        )


def check_respondents(n: object, where: str) -> int:
    """Validate a number of respondents: at least 1."""
    if n is None:
        raise InputError(
            f"{where}: no number of respondents; without it noise cannot be told from signal. Add 'sampleSize' to the "
            "segment or 'n' to the answer, from the survey's own tables."
        )
    if isinstance(n, bool) or not isinstance(n, int | float) or not 0 <= n < 1e12 or n != int(n):
        raise InputError(f"{where}: the number of respondents must be a whole number, but got {n!r}.")
    if n == 0:
        raise InputError(f"{where}: 0 respondents; there are no shares of nobody, so take the answer out.")
    return int(n)


def prior_shares(truth: Truth, prior: Truth) -> Floats:
    """(C, K) The same segment's answers to the same question in another round; rows of NaN where there are none.

    A question that a round asks repeatedly pairs with the other round's in order; surplus ones pair with the last of
    them.
    """
    found = np.full(truth.shares.shape, np.nan)
    pairs = matched(truth.questions, prior.questions)
    for cell, (q, s) in enumerate(zip(truth.question.tolist(), truth.segment.tolist(), strict=True)):
        if q not in pairs:
            continue
        other = prior.place.get((prior.questions[pairs[q]].id, truth.segments[s].id))
        if other is not None:
            options = int(truth.options[cell])
            found[cell] = 0.0
            found[cell, :options] = prior.shares[other, :options]
    return found


def matched(questions: tuple[Question, ...], others: tuple[Question, ...]) -> dict[int, int]:
    """Map codes of questions to codes of the same questions among others."""
    by_key: dict[tuple[str, tuple[str, ...]], list[int]] = {}
    for code, question in enumerate(others):
        by_key.setdefault(question.key, []).append(code)
    used: dict[tuple[str, tuple[str, ...]], int] = {}
    found = {}
    for code, question in enumerate(questions):
        same = by_key.get(question.key)
        if same:
            place = used.get(question.key, 0)
            found[code] = same[min(place, len(same) - 1)]
            used[question.key] = place + 1
    return found
