"""What a user picks among the things that the files of a harness hold."""

from dataclasses import dataclass
from typing import Literal, get_args

from assay.errors import UsageError

Format = Literal["table", "lm-eval", "inspect", "lighteval", "helm", "responses"]
FORMATS: tuple[Format, ...] = get_args(Format)
#: What a harness calls that which --filter picks, if it is no filter.
FILTER_WORDS: dict[str, str] = {"helm": "split"}


@dataclass(frozen=True, slots=True)
class Selection:
    """Which results are meant. ``None`` means the only one there is: where there are several, reading is an error.

    ``task`` is a task, a group of tasks or a pattern such as ``mmlu_*``, whose tasks are put together. ``format`` says
    what the files are instead of their content; ``"table"`` means a table of ours, whatever its columns are called.
    ``newest`` takes the newest of several runs of a task.
    """

    task: str | None = None
    metric: str | None = None
    filter: str | None = None
    scorer: str | None = None
    format: Format | None = None
    newest: bool = False

    def __post_init__(self) -> None:
        if self.format is not None and self.format not in FORMATS:
            raise UsageError(f"format must be one of {', '.join(FORMATS)}, but got {self.format!r}.")

    @property
    def picks(self) -> str:
        """The options that only the results of a harness give something to pick from; "" where there are none."""
        named = {"task": self.task, "metric": self.metric, "filter": self.filter, "scorer": self.scorer}
        options = [f"--{name} {value}" for name, value in named.items() if value is not None]
        return " ".join([*options, *(["--newest"] if self.newest else [])])
