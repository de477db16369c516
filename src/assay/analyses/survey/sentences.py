"""What a survey report says: how to read its sections, its sentence, and what a paper may and may not print (S10)."""

from collections.abc import Iterator, Sequence

import msgspec

from assay.results.record import Section


class Statement(msgspec.Struct, frozen=True):
    """A sentence that a paper may print (``holds``), or may not: then it says what is missing for it.

    A ``warning`` is true as well, and says that a number must not be taken for what it seems to be.
    """

    text: str
    holds: bool
    warning: bool = False

    @property
    def marked(self) -> str:
        """With what must be known before it is printed."""
        return f"{'Warning: ' if self.warning else '' if self.holds else 'Withheld: '}{self.text}"

    @property
    def sign(self) -> str:
        """No tick or cross: what holds may be bad news, and what is not shown is neither."""
        return "!" if self.warning else "→" if self.holds else "?"


class Advice(msgspec.Struct, frozen=True):
    """What to do, and the numbers that say so."""

    do: str
    because: str

    def __str__(self) -> str:
        return f"{self.do} {self.because}"


NOTABLE = 0.01  # of the answers, or of the score: less is not worth a sentence
NO_WEAKNESS = "The analyses that ran found no weakness that asks for a change."

#: Title of each section.
TITLES = {
    "scores": "Scores",
    "baselines": "Baselines",
    "noise": "Noise",
    "intervals": "Intervals",
    "cells": "Cells",
    "pairs": "Which models can be told apart",
    "weighting": "Weights",
    "fairness": "Fairness",
    "context": "Context",
    "repeats": "Repeated runs",
    "temperature": "Temperature",
}

#: How to read its tables.
READING = {
    "scores": (
        "1 − √JSD of predicted and true shares, 1 is perfect; the mean over segments of the mean over "
        "questions. “Honest” leaves out answers that could not be read, which the benchmark scores 0 or 0.1."
    ),
    "baselines": (
        "A model has to beat predictors that know nothing about the segment. The population marginal is what people "
        "outside the segment answered. “Shuffled” mixes up a model's own predictions within each question: a "
        "model that does not know which segment is which scores as well then."
    ),
    "noise": (
        "So few people were asked that their shares differ from the population's. The “ceiling” is what a "
        "perfect prediction would score on average; the benchmark's own formula is shown beside it. A score is to be "
        "read within the range from the marginal to the ceiling."
    ),
    "intervals": (
        "Respondents are drawn again. That adds their noise a second time, so the plain percentile interval "
        "may miss the score itself; the corrected one is of the score against the true shares."
    ),
    "cells": (
        "Every question × segment alone: the score, and an interval of the score against the true shares; cells.csv of "
        "the output folder has all of them. “May be perfect”: the interval reaches 1, so that sampling noise explains "
        "the whole error. A cell is flagged where not even a perfect prediction would reach the threshold on average."
    ),
    "pairs": (
        "Paired tests, whole questions as clusters, adjusted for the number of pairs. Models that share a "
        "letter are not told apart; “ranks” are those that the tests leave open."
    ),
    "weighting": (
        "Segments count the same in the benchmark, whatever their size. If the ranking changes when larger "
        "segments count more, it depends on segments that are mostly noise."
    ),
    "fairness": (
        "A gap is the best segment's score less the worst's. It is never negative, and small segments score "
        "lower whatever the model does, so it is compared with what equal accuracy would show. “At equal n” "
        "every segment is thinned to the smallest; the test and the interval of the true gap are of that, with "
        "questions as clusters. “Without noise, these questions” is the published gap against the true shares: only "
        "who was asked varies. p is adjusted over all models and categories."
    ),
    "context": (
        "The change of the score for one more question about the segment in the prompt, within the same "
        "question and segment, with errors clustered by question. “Without noise, these questions” is the slope "
        "against the true shares: only who was asked varies. R² is of the changes within question and segment."
    ),
    "repeats": (
        "How closely a model repeats its scores: intraclass correlations, the spread between runs, and "
        "the smallest difference that single runs can show."
    ),
    "temperature": (
        "Whether the scores of a model vary less between runs at a lower temperature: the variance of the scores of "
        "the same question and segment, with questions as clusters. Models asked at several temperatures are told by "
        "their names."
    ),
}


def brief(report: Sequence[str], said: Sequence[Statement], advice: Sequence[Advice]) -> str:
    """The sentence, every statement and what to do, for a terminal, where the tables went into files.

    ``report`` is its sentence, its notes and its signature.
    """
    sentence, *notes, signature = report
    lines = [sentence, "", *(f"{one.sign} {one.text}" for one in said)]
    if advice:
        lines += ["", "What to do:", *(f"- {one}" for one in advice)]
    return "\n".join([*lines, "", *(f"note: {note}" for note in notes), signature])


def for_a_paper(sentence: str, said: Sequence[Statement], paper: Sequence[Statement] = ()) -> tuple[Section, ...]:
    """Warnings where there are any; sentences to paste; what holds, and what does not, of every analysis."""
    warned = [one.text for one in said if one.warning]
    holds = [one.text for one in said if one.holds and not one.warning]
    withheld = [one.text for one in said if not one.holds]
    do_not = "Do not print these as findings: each says what is missing."
    why = do_not if withheld else f"{do_not}\n\n{_NOTHING}"
    return (
        Section("sentence", "", sentence),
        *([Section("warnings", "Warnings", said=tuple(warned))] if warned else []),
        *_to_paste(paper),
        Section("supported", "What the data support", "" if holds else _NOTHING, said=tuple(holds)),
        Section("withheld", "What is withheld, and why", why, said=tuple(withheld)),
    )


def _to_paste(paper: Sequence[Statement]) -> Iterator[Section]:
    holds, lacking = ([one.text for one in paper if one.holds == wanted] for wanted in (True, False))
    if holds:
        yield Section("paper", "For a paper", "Ready to paste.", plain=tuple(holds))
    if lacking:
        yield Section("not supported", "Not supported", "Not shown by these data.", said=tuple(lacking))


_NOTHING = "Nothing."
