"""lighteval: ``details/<model>/<date>/details_<task>_<date>.parquet``, a row per document."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.data.columns import REQUIRED
from assay.data.readers import Selection
from assay.data.readers.database import identifier
from assay.data.readers.harness import (
    ABSENT,
    Log,
    Measure,
    Rows,
    SampleText,
    field_of,
    label_of,
    scored,
    single_metrics,
    told,
)
from assay.data.readers.harness.first_look import FirstLook
from assay.data.readers.harness.places import NumberedPlaces
from assay.data.readers.parquet import Parquet
from assay.errors import InputError
from assay.files.reading import read_json

COLUMNS = frozenset({"doc", "metric", "model_response"})
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}(?:\.\d+)?")


def recognises(look: FirstLook) -> bool:
    """Whether it is Parquet with these columns, and not a table of ours that has them too."""
    if not look.head.startswith(b"PAR1"):
        return False
    columns = set(Parquet(look.path, str(look.path)).columns)
    return columns >= COLUMNS and not any(columns >= set(required) for required in REQUIRED.values())


def logs_of(files: Sequence[Path]) -> list[Log]:
    return [log_of(path) for path in files]


def log_of(path: Path) -> "LightevalLog":
    """The log of a file of details; its folders name the model."""
    source = Parquet(path, str(path))
    if not set(source.columns) >= COLUMNS:
        raise InputError(
            f"{path}: no columns {', '.join(sorted(COLUMNS))}, so not a lighteval details file; name another file."
        )
    first = source.run("SELECT doc", ["doc"], "LIMIT 1").fetchone()
    if first is None:
        raise InputError(f"{path}: no rows; check what should have written them.")
    task = str(field_of(first[0], "task_name", f"{path}, row 1", str))
    date = _DATE.search(path.parent.name) or _DATE.search(path.stem)
    model, root = _model(path)
    shots = re.search(r"\|(\d+)$", task)
    settings = told({"shots": shots[1] if shots else None})
    return LightevalLog(str(path), (path,), model, task, date[0] if date else "", settings=settings, root=root)


def _model(path: Path) -> tuple[str, Path | None]:
    """The folders between ``details`` and the date, and the folder that holds ``details``."""
    folders = path.absolute().parent
    inner = folders.parent if _DATE.fullmatch(folders.name) else folders
    for above in inner.parents:
        if above.name == "details":
            return inner.relative_to(above).as_posix(), above.parent
    return inner.name or path.stem, None


@dataclass(frozen=True)
class LightevalLog(Log):
    """The details of a task."""

    root: Path | None = None

    def rows(self, selection: Selection, cluster: str | None) -> Rows:
        metrics, items, digests = self._found
        places = NumberedPlaces(self.label, range(1, len(items) + 1), "row")
        if not all(items):
            self._refuse_id(items.index(""))
        metric, scores = scored(self.label, metrics, places, selection.metric)
        columns: dict[str, list[Any]] = {"item": items, "doc_hash": digests, "score": scores}
        if cluster is not None:
            columns[cluster] = self._clusters(cluster, places)
        measure = Measure("lighteval", metric, paired_on="doc.id", compared="query and choices")
        return Rows("scores", measure, columns, places, lower_is_better=self._lower_is_better(metric))

    def measures(self, selection: Selection) -> list[Selection]:
        names = single_metrics(self._found[0]) if selection.metric is None else [selection.metric]
        return [replace(selection, metric=name) for name in names]

    def texts(self) -> Iterator[SampleText]:
        source = Parquet(self.files[0], self.label)
        rows = source.run("SELECT doc, model_response", ["doc", "model_response"]).fetchall()
        return (_text(doc, response) for doc, response in rows if isinstance(doc, dict) and isinstance(response, dict))

    @cached_property
    def _found(self) -> tuple[dict[str, list[Any]], list[str], list[str]]:
        """The metrics, ids and contents of the documents, read once."""
        source = Parquet(self.files[0], self.label)
        names = [str(name) for name in source.fields("metric")]
        doc = set(source.fields("doc"))
        content = [f"CAST(doc.{name} AS VARCHAR)" for name in ("query", "choices") if name in doc]
        selected = [
            "coalesce(CAST(doc.id AS VARCHAR), '')" if "id" in doc else "''",
            f"md5(concat_ws(chr(0), {', '.join(content)}))" if content else "''",
            *(f"metric.{identifier(name)}" for name in names),
        ]
        whole = ", ".join(f"{one} AS v{at}" for at, one in enumerate(selected))
        found = source.run(f"SELECT {whole}", ["doc", "metric"]).fetchnumpy()
        columns = {name: _present(found[f"v{at}"]) for at, name in enumerate(names, start=2)}
        there = {name: column for name, column in columns.items() if any(one is not ABSENT for one in column)}
        return there, found["v0"].tolist(), found["v1"].tolist()

    def _refuse_id(self, at: int) -> None:
        """Refuse a document without an id."""
        docs = Parquet(self.files[0], self.label).run("SELECT doc", ["doc"], f"LIMIT 1 OFFSET {at}").fetchall()
        field_of(docs[0][0], "id", f"{self.label}, row {at + 1}", str, int)

    def _clusters(self, name: str, places: Sequence[str]) -> list[str]:
        if name == "task":
            return [self.task] * len(places)
        docs = Parquet(self.files[0], self.label).run("SELECT doc", ["doc"]).fetchall()
        found = zip((_document(doc, place) for (doc,), place in zip(docs, places, strict=True)), places, strict=True)
        return [label_of([("doc", doc), ("specific", doc.get("specific"))], name, place) for doc, place in found]

    def _lower_is_better(self, metric: str) -> bool | None:
        """Whether lower is better, according to the results file of the same date."""
        path = None if self.root is None else self.root / "results" / self.model / f"results_{self.written}.json"
        if path is None or not path.is_file():
            return None
        tasks = read_json(path)
        for part in ("config_tasks", self.task, "metrics"):
            tasks = tasks.get(part) if isinstance(tasks, dict) else None
        told = [entry for entry in tasks or [] if isinstance(entry, dict) and entry.get("metric_name") == metric]
        higher = told[0].get("higher_is_better") if told else None
        return not higher if isinstance(higher, bool) else None


def _text(doc: dict[str, Any], response: dict[str, Any]) -> SampleText:
    choices, gold = doc.get("choices"), doc.get("gold_index")
    places = gold if isinstance(gold, list) else [gold]
    named = [str(one) for one in choices] if isinstance(choices, list) else []
    right = tuple(named[place] for place in places if isinstance(place, int) and 0 <= place < len(named))
    return SampleText(
        str(doc.get("id")), "", str(doc.get("query", "")), right, _answers(response, named), tuple(named) or None
    )


def _answers(response: dict[str, Any], choices: Sequence[str]) -> tuple[str, ...]:
    """The texts of a response; of choices the likeliest."""
    chances = response.get("logprobs")
    if isinstance(chances, list) and 1 < len(chances) == len(choices):
        return (choices[chances.index(max(chances))],)
    texts = response.get("text")
    return tuple(map(str, texts)) if isinstance(texts, list) else ()


def _document(found: object, place: str) -> dict[str, Any]:
    if not isinstance(found, dict):
        raise InputError(f"{place}: 'doc' must be an object; write the details again.")
    return found


def _present(column: NDArray[Any]) -> list[Any]:
    """A metric in each row; Parquet has every name in every row, null where there was no value."""
    values = np.ma.getdata(column).astype(object)
    values[np.ma.getmaskarray(column)] = ABSENT
    return [value.tolist() if isinstance(value, np.ndarray) else value for value in values.tolist()]
