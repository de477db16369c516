"""Names for models that no file names: from the part of a path that a person chose."""

import re
from pathlib import Path

from assay.names import names_of

#: What programs call their files, whatever the model.
_GENERIC = re.compile(r"samples?|(eval[-_.])?results?|output|(all_)?pred(iction)?s|report|eval", re.IGNORECASE)


def named_after(path: Path, stem: str) -> Path:
    """The path that a model is called after: with the stem that a person chose, or the folder where a program chose it.

    >>> named_after(Path("runs/gpt-4.1_eval_results.json"), "gpt-4.1").as_posix()
    'runs/gpt-4.1.json'
    >>> named_after(Path("runs/gpt-4.1/eval_results.json"), "eval_results").as_posix()
    'runs/gpt-4.1.json'
    """
    if stem and not _GENERIC.fullmatch(stem):
        return path.with_name(f"{stem}.json")
    folder = path.parent if path.parent.name not in ("", "..") else path.parent.resolve()
    return folder.with_name(f"{folder.name}.json") if folder.name else path


def model_named(path: Path) -> str:
    """The name of the only model that is called after a path."""
    return names_of([path])[0]
