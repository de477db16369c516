"""Results in the experiment trackers that teams have: numbers, tags, and the files of a result. Each is optional."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from math import isfinite
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from assay.certificate import written_files
from assay.certificate.record import Issued
from assay.errors import UsageError
from assay.report.files import write_report
from assay.results.parts import Fact
from assay.results.record import Result
from assay.stats.records import Estimate, Interval
from assay.version import VERSION

_SIGNS = {"−": " minus ", "→": " to ", "×": " times ", "/": " over ", "²": "2"}
_LONGEST = 5_000  # letters of a tag that every server keeps


def tracker(package: str, verb: str) -> Any:
    """The module of a tracker; where it is not installed, what to install."""
    try:
        return import_module(package)
    except ImportError as error:
        raise UsageError(f"{verb} needs {package}: pip install 'assay-eval[{package}]'.") from error


def metrics_of(result: Result, prefix: str) -> dict[str, float]:
    """Every number of the facts, with the limits of its interval; what is undefined is left out."""
    found: dict[str, float] = {}
    for fact in result.facts:
        for name, number in _numbers(fact):
            found.setdefault(f"{prefix}/{name}", number)
    return found


def _numbers(fact: Fact) -> Iterator[tuple[str, float]]:
    name, value = metric_name(fact.label), fact.value
    limits = value if isinstance(value, Interval) else value.interval if isinstance(value, Estimate) else None
    point = value.value if isinstance(value, Estimate) else value
    if isinstance(point, int | float) and isfinite(point):
        yield name, float(point)
    for end in ("low", "high") if limits is not None else ():
        if isfinite(getattr(limits, end)):
            yield f"{name}_{end}", float(getattr(limits, end))


def metric_name(label: str) -> str:
    """A label as every tracker takes it.

    >>> metric_name("difference B − A"), metric_name("test (sign-flip)")
    ('difference_b_minus_a', 'test_sign_flip')
    """
    plain = "".join(_SIGNS.get(letter, letter) for letter in label).lower()
    return re.sub(r"[^0-9a-z]+", "_", plain).strip("_") or "value"


def tags_of(result: Result) -> dict[str, str]:
    """What is no number: the verdict, the sentence, the line that reproduces it."""
    found = {
        "verdict": str(getattr(result, "verdict", result.status)),
        "sentence": result.sentence,
        "subject": result.subject,
        "signature": result.signature,
        "version": VERSION,
    }
    return {name: value[:_LONGEST] for name, value in found.items() if value}


@contextmanager
def files_of(result: Result) -> Iterator[Path]:
    """A folder with the result as JSON and as a page; of a certificate just written, with it and its evidence."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        page = folder / f"{result.kind_name.replace(' ', '-')}.html"
        if isinstance(result, Issued) and result.written is not None:
            source = result.written.path
            for file in written_files(source):
                if Path(file).is_file():
                    (folder / Path(file).name).write_bytes(Path(file).read_bytes())
            write_report(page, folder / source.name)  # verified from its evidence
        else:
            text = json.dumps(result.to_dict(), ensure_ascii=False, indent=1, allow_nan=False)
            page.with_suffix(".json").write_text(text + "\n", "utf-8")
            write_report(page, result)
        yield folder
