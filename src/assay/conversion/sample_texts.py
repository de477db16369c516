"""The texts of samples: read again from the logs, for records that must hold them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from os import PathLike

from assay.data import Selection, Table
from assay.data.readers.harness import Log, SampleText
from assay.data.readers.registry import logs_in


@dataclass(eq=False)
class SampleTexts:
    """What one model was asked and what it answered, by task, item and run."""

    logs: dict[str, list[Log]] = field(default_factory=dict)  # by task

    @cached_property
    def _read(self) -> dict[str, dict[tuple[str, str], SampleText]]:
        """By task: of several logs of a task nobody says which run a text is of."""
        return {
            task: {(text.item, text.run): text for text in logs[0].texts()}
            for task, logs in self.logs.items()
            if len(logs) == 1
        }

    def know(self, table: Table, task: str) -> bool:
        """Whether every row of a table has its texts."""
        return all(text is not None for text in self._of(table, task))

    def of(self, table: Table, task: str) -> Iterator[SampleText]:
        """The texts of every row, in order."""
        for text in self._of(table, task):
            assert text is not None  # as `know` says
            yield text

    def _of(self, table: Table, task: str) -> Iterator[SampleText | None]:
        known = self._read.get(task, self._read.get("", {}))
        alone = {item: text for (item, _), text in known.items()}
        several = len(alone) < len(known)
        runs = table.labels["run"].texts.tolist() if "run" in table.labels else [""] * len(table)
        for name, run in zip(table.ids.tolist(), runs, strict=True):
            item = name.removeprefix(f"{task}/") if name not in alone else name
            found = known.get((item, run))
            yield found if found is not None or several else alone.get(item)


def texts_of(sources: Sequence[object], selection: Selection) -> dict[str, SampleTexts]:
    """The texts of every model, as far as the files are logs that hold them."""
    paths = [source for source in sources if isinstance(source, str | PathLike)]
    found: dict[str, SampleTexts] = {}
    for entry in logs_in(paths, replace(selection, every_task=True)):
        logs = found.setdefault(entry.model, SampleTexts()).logs.setdefault(entry.log.task, [])
        logs.append(entry.log)
        if selection.newest:
            logs[:] = [max(logs, key=lambda log: log.written)]
    return found
