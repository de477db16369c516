"""Read a survey and what models predicted of it: tables, or the files that the benchmark publishes."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Literal

import numpy as np

from assay.data.survey.merging import merged, merged_round, read_merging
from assay.data.survey.parsing import is_json
from assay.data.survey.predictions import SCORE_ONLY, Answer, Places, Predictions, predictions_of
from assay.data.survey.result_file import ResultFile, answers_in, is_result, model_name, result_file
from assay.data.survey.survey_json import read_survey
from assay.data.survey.tables import read_prediction_tables, read_truth_table
from assay.data.survey.truth import Truth, prior_shares
from assay.errors import InputError, UsageError
from assay.files.reading import DOCUMENT, check_file, read_json
from assay.names import one_line
from assay.stats.units import Truths

__all__ = [
    "FilesRead",
    "Predictions",
    "SurveySource",
    "Truth",
    "Variants",
    "merged",
    "merged_round",
    "prior_shares",
    "read_merging",
    "read_predictions",
    "read_truth",
]

SurveySource = str | PathLike[str] | Mapping[str, Any] | Any
Variants = Literal["apart", "merged"]
FilesRead = Callable[[int, int], None]  # files read, files in all

_MOST_NAMED = 3


def read_truth(source: SurveySource) -> Truth:
    """Read a survey: SURVEY.json, or a table of question, segment, n and a column per option."""
    if isinstance(source, str | PathLike) and is_json(Path(source)):
        return read_survey(Path(source))
    return read_truth_table(source)


def read_predictions(
    sources: Sequence[SurveySource],
    truth: Truth,
    *,
    left_out: Truths | None = None,
    variants: Variants = "apart",
    progress: FilesRead | None = None,
) -> Predictions:
    """Read predictions from result files and folders of them, or from tables; not both at once.

    ``left_out`` (C,) are cells of the survey to ignore.
    """
    if not sources:
        raise UsageError("survey needs predictions; name result files, a folder of them, or a table.")
    paths = [Path(source) for source in sources if isinstance(source, str | PathLike)]
    results = [
        path for path in paths if path.is_dir() or is_json(path) or (path.suffix == ".json" and not path.exists())
    ]
    if not results:
        return read_prediction_tables(sources, truth, left_out=left_out)
    if len(results) < len(sources):
        raise InputError(f"{results[0]} and tables of predictions: give result files or tables, not both.")
    return read_results(results, truth, left_out=left_out, variants=variants, progress=progress)


def read_results(
    paths: Sequence[Path],
    truth: Truth,
    *,
    left_out: Truths | None = None,
    variants: Variants = "apart",
    progress: FilesRead | None = None,
) -> Predictions:
    """Read the answers in result files, or folders of them, about the cells of a survey.

    ``left_out`` (C,) are cells of the survey to ignore. Variants of a model (its name with [temp:0.3] or the
    like) stay separate models, or are merged as runs of one.
    """
    files = list(_files(paths))
    if not files:
        raise InputError(
            f"{', '.join(map(str, paths))}: no result files (*.json) in it; name the folder that has them."
        )
    reading = _Reading(truth, np.zeros(len(truth), dtype=bool) if left_out is None else left_out)
    for done, (path, named) in enumerate(files):
        if progress is not None:
            progress(done, len(files))
        reading.read(path, named=named)
    if progress is not None:
        progress(len(files), len(files))
    return reading.predictions(variants)


def _files(paths: Sequence[Path]) -> Iterator[tuple[Path, bool]]:
    """Yield every JSON file, and whether it was named rather than found in a folder."""
    for path in paths:
        if path.is_dir():
            for file in sorted(path.rglob("*.json")):
                if not file.is_dir():
                    check_file(file, DOCUMENT)  # what cannot be read is not passed over
                    yield file, False
        elif path.exists():
            yield path, True
        else:
            raise InputError(f"{one_line(str(path))}: no such file or folder; check the path.")


class _Reading:
    """Result files read so far, and counts for the notes at the end."""

    def __init__(self, truth: Truth, left_out: Truths) -> None:
        self.truth, self.left_out = truth, left_out
        self.files: dict[tuple[str, ...], tuple[ResultFile, list[Answer]]] = {}
        self.others: list[Path] = []
        self.twice, self.few, self.experiments = 0, 0, 0

    def read(self, path: Path, *, named: bool) -> None:
        data = read_json(path) if is_json(path) else {}
        if not is_result(data):
            if named:
                raise InputError(f"{one_line(str(path))}: not a result of the survey benchmark; name result files.")
            self.others.append(path)
            return
        found = result_file(data, one_line(str(path)), self.truth)
        if found.experiment:
            self.experiments += 1
            return
        answers = list(answers_in(found, self.truth))
        kept = [answer for answer in answers if not self.left_out[answer.cell]]
        self.few += len(kept) < len(answers)
        if kept or not answers:
            self._keep(found, kept)

    def _keep(self, found: ResultFile, answers: list[Answer]) -> None:
        """Keep the file; of the full and the light form of one run, the full one."""
        known = self.files.get(found.identity)
        if known is not None:
            self.twice += 1
            if sum(a.status == SCORE_ONLY for a in known[1]) <= sum(a.status == SCORE_ONLY for a in answers):
                return
        self.files[found.identity] = found, answers

    def predictions(self, variants: Variants) -> Predictions:
        if not self.files:
            raise InputError(f"no result of the survey among {len(self.others) + self.few} files; {self._hint()}")
        kept = sorted(self.files.values(), key=lambda pair: (pair[0].timestamp, pair[0].label))
        names = _names({answer.model for _, answers in kept for answer in answers}, variants)
        answers = (
            Answer(names[a.model], a.cell, a.context, a.shares, a.status, a.reported) for _, own in kept for a in own
        )
        notes = [*self._notes(), *self._places(kept), *_coverage(kept, names)]
        return predictions_of(answers, self.truth.shares.shape[1], notes)

    def _places(self, kept: Sequence[tuple[ResultFile, list[Answer]]]) -> list[str]:
        """Notes on answers that were scaled, or could not be compared."""
        places = Places("prediction")
        for found, answers in kept:
            for answer in answers:
                question = self.truth.questions[int(self.truth.question[answer.cell])].id
                places.add(answer, f"{found.label}, question {question!r}, {answer.model}")
        return places.notes()

    def _hint(self) -> str:
        if self.experiments:
            return "they are experiments, which the benchmark leaves out."
        return "check that they belong to this survey." if self.few else "check the folder."

    def _notes(self) -> Iterator[str]:
        if self.others:
            names = ", ".join(path.name for path in self.others[:_MOST_NAMED])
            more = ", …" if len(self.others) > _MOST_NAMED else ""
            yield f"{len(self.others)} JSON files that are no results were left out ({names}{more})"
        if self.twice:
            many = "1 file holds" if self.twice == 1 else f"{self.twice} files hold"
            yield f"{many} a run that another file has too (same configuration and time): read once"
        if self.few:
            many = "1 file is" if self.few == 1 else f"{self.few} files are"
            yield f"{many} in whole or in part about answers of too few respondents, which are left out"
        if self.experiments:
            yield f"{self.experiments} files are experiments, which the benchmark leaves out"


def _names(ids: set[str], variants: Variants) -> dict[str, str]:
    """Display name per model id: without suffixes, unless several variants of a model must be told apart."""
    bases = Counter(model_name(one) for one in ids)
    merged = variants == "merged"
    return {one: model_name(one) if merged or bases[model_name(one)] == 1 else one for one in ids}


def _coverage(kept: Sequence[tuple[ResultFile, list[Answer]]], names: dict[str, str]) -> Iterator[str]:
    """Notes on models that are missing from some files."""
    present = Counter(name for found, _ in kept for name in {names[m] for m in found.models if m in names})
    for name in sorted(present):
        if present[name] < len(kept):
            yield f"{name} is in {present[name]:,} of {len(kept):,} result files"
