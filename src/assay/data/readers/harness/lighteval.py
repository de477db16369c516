"""lighteval: ``details/<model>/<date>/details_<task>_<date>.parquet``, a row per document."""

import re
from dataclasses import dataclass
from pathlib import Path
from sys import intern
from typing import Any

from assay.data.readers import Selection
from assay.data.readers.harness import Log, Measure, Rows, digest, field_of, label_of, scored
from assay.data.readers.parquet import Parquet
from assay.errors import InputError
from assay.files.reading import read_json

COLUMNS = frozenset({"doc", "metric", "model_response"})
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}(?:\.\d+)?")


def columns_of(path: Path) -> set[str]:
    """The columns of a Parquet file."""
    return set(Parquet(path, str(path)).columns)


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
    return LightevalLog(str(path), (path,), model, task, date[0] if date else "", root=root)


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
        source = Parquet(self.files[0], self.label)
        found = source.run("SELECT doc, metric", ["doc", "metric"]).fetchall()
        places = [f"{self.label}, row {row}" for row in range(1, len(found) + 1)]
        docs = [_document(doc, place) for (doc, _), place in zip(found, places, strict=True)]
        metrics = [_present(metric) for _, metric in found]
        metric, scores = scored(self.label, metrics, places, selection.metric)
        columns: dict[str, list[Any]] = {
            "item": [
                intern(str(field_of(doc, "id", place, str, int))) for doc, place in zip(docs, places, strict=True)
            ],
            "doc_hash": [digest(doc.get("query"), doc.get("choices")) for doc in docs],
            "score": scores,
        }
        if cluster is not None:
            columns[cluster] = [self._cluster(doc, cluster, place) for doc, place in zip(docs, places, strict=True)]
        measure = Measure("lighteval", metric, paired_on="doc.id", compared="query and choices")
        return Rows("scores", measure, columns, places, lower_is_better=self._lower_is_better(metric))

    def _cluster(self, doc: dict[str, Any], name: str, place: str) -> str:
        return self.task if name == "task" else label_of([("doc", doc), ("specific", doc.get("specific"))], name, place)

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


def _document(found: object, place: str) -> dict[str, Any]:
    if not isinstance(found, dict):
        raise InputError(f"{place}: 'doc' must be an object; write the details again.")
    return found


def _present(metric: object) -> dict[str, Any]:
    """The metrics of a row; Parquet has every name in every row, null where there was no value."""
    return {str(name): value for name, value in metric.items() if value is not None} if isinstance(metric, dict) else {}
