"""Options that several verbs have, defined once: the same name, words and place in the help everywhere."""

import csv
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from assay.design import Method, TestName
from assay.errors import AssayError

DATA, STATISTICS, MODEL, TEXT, OUTPUT = "Data", "Statistics", "Model", "Text", "Output"  # panels of the help
GENERATIONS, PILOT = "Generations", "From a pilot"


class OptionError(AssayError):
    """The text of an option cannot be read. No ``ValueError``, which typer would put words around."""

    exit_code = 2


def columns_of(text: str) -> dict[str, str]:
    """Our name = the file's name, an empty one for "do not use it".

    >>> columns_of('score=acc,item=id')
    {'score': 'acc', 'item': 'id'}
    >>> columns_of('item=doc_id,"score=acc,none",cluster=')
    {'item': 'doc_id', 'score': 'acc,none', 'cluster': ''}
    """
    mapping: dict[str, str] = {}
    for part in next(csv.reader([text], skipinitialspace=True), []):
        ours, equals, theirs = (piece.strip() for piece in part.partition("="))
        if not equals or not ours:
            raise OptionError(f"--columns must look like score=acc,item=id, but got {part!r} in {text!r}.")
        if ours in mapping:
            raise OptionError(f"--columns must give {ours!r} once, but got it twice in {text!r}.")
        mapping[ours] = theirs
    if not mapping:
        raise OptionError("--columns must look like score=acc,item=id, but got nothing.")
    return mapping


def _columns(example: str, panel: str = DATA) -> Any:
    words = f"Other column names, e.g. {example}."
    return typer.Option(parser=columns_of, metavar="OURS=THEIRS,…", help=words, rich_help_panel=panel)


Columns = Annotated[dict[str, str] | None, _columns("score=acc,item=id")]
PilotColumns = Annotated[dict[str, str] | None, _columns("score=acc,item=id", PILOT)]
GenerationColumns = Annotated[dict[str, str] | None, _columns("prediction=output", GENERATIONS)]
Cluster = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="Resample whole clusters: document, passage, ...", rich_help_panel=DATA),
]
Split = Annotated[
    Literal["preview", "final"] | None, typer.Option(help="Only this split of the windows.", rich_help_panel=DATA)
]
LowerIsBetter = Annotated[
    bool,
    typer.Option("--lower-is-better", help="Scores where less is better (errors, seconds).", rich_help_panel=DATA),
]

IntervalMethod = Annotated[
    Method, typer.Option(help="Interval; auto is tango for 0/1 scores, else bca.", rich_help_panel=STATISTICS)
]
Level = Annotated[float, typer.Option(help="Confidence level.", rich_help_panel=STATISTICS)]
Seed = Annotated[int, typer.Option(help="Seed of the random numbers.", rich_help_panel=STATISTICS)]
PairedTest = Annotated[
    TestName,
    typer.Option(
        help="Test; auto is mcnemar-midp for 0/1 scores, else sign-flip. mcnemar is the exact one.",
        rich_help_panel=STATISTICS,
    ),
]

Adapter = Annotated[str | None, typer.Option(metavar="DIR", help="A peft adapter.", rich_help_panel=MODEL)]
Dtype = Annotated[str, typer.Option(help="auto, float32, bfloat16, float16.", rich_help_panel=MODEL)]
Device = Annotated[str, typer.Option(help="auto, cpu, cuda, mps.", rich_help_panel=MODEL)]
Revision = Annotated[str | None, typer.Option(help="Revision on the hub.", rich_help_panel=MODEL)]
TrustRemoteCode = Annotated[
    bool, typer.Option("--trust-remote-code", help="Run code that comes with the model.", rich_help_panel=MODEL)
]
AllowPickle = Annotated[
    bool, typer.Option("--allow-pickle", help="Load pickled weights, which can run code.", rich_help_panel=MODEL)
]

Context = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        help="Tokens per window. (default: the model's, at most 2,048)",
        show_default=False,
        rich_help_panel=TEXT,
    ),
]
Stride = Annotated[
    int | None,
    typer.Option(
        metavar="S", help="Tokens between windows. (default: no overlap)", show_default=False, rich_help_panel=TEXT
    ),
]
Field = Annotated[str | None, typer.Option(metavar="COLUMN", help="The text column of tables.", rich_help_panel=TEXT)]
SplitOn = Annotated[
    str | None,
    typer.Option(
        metavar="TEXT", help="Where a text file is cut into documents; '\\n' is a new line.", rich_help_panel=TEXT
    ),
]
RunFolder = Annotated[Path, typer.Option("-o", "--output", metavar="RUN", help="The folder of the run.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace the run that is there by a complete one.")]
Markdown = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Also write it as Markdown.", rich_help_panel=OUTPUT)
]


def unescaped(text: str | None) -> str | None:
    r"""What was typed on a command line, with ``\n`` a new line and ``\t`` a tab."""
    return None if text is None else text.replace("\\n", "\n").replace("\\t", "\t")


def chart(what: str) -> Any:
    """The option --chart: a file that ends in .svg or .png, refused before anything is read if it does not."""
    words = f"Draw {what} to a .svg or .png file."
    return typer.Option(metavar="FILE", help=words, callback=_checked_chart, rich_help_panel=OUTPUT)


def _checked_chart(path: Path | None) -> Path | None:
    from assay.report.charts import check_chart  # late: only if a chart is asked for

    if path is not None:
        check_chart(path)
    return path
