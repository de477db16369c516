"""The options of the command line: each has one name, help and place in it, whichever verb takes it.

What an option means is parsed here too, so that verbs get what the library takes. An option of one verb alone stands in
its file. Defaults of a design are those of `assay.design`.
"""

import csv
import re
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, TypeVar

import typer

from assay.design import (
    Design,
    GateMethod,
    Method,
    Missing,
    Profile,
    Scheme,
    TestName,
    TierName,
    Weights,
)
from assay.errors import AssayError, UsageError

DESIGN = Design()
Number = TypeVar("Number", int, float)

# Panels of the help.
DATA, HARNESS, STATISTICS, OUTPUT = "Data", "Harness files", "Statistics", "Output"
MODEL, SERVER, TEXT, POLICY = "Model", "Model behind a server", "Text", "Policy"
PROMPTS, GENERATIONS = "Generating", "Generations"


class OptionError(AssayError):
    """The text of an option cannot be read. No ``ValueError``, which typer would put words around."""

    exit_code = 2


# ------------------------------------------------------------------------------------------------------------- parsing


def columns_of(text: str) -> dict[str, str]:
    """Our name = the file's name, an empty one for "do not use it".

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


def names_in(text: str) -> list[str]:
    """Names with commas between them."""
    return [name.strip() for name in text.split(",") if name.strip()]


def _separated(text: str, options: str, kind: Callable[[str], Number], what: str = "numbers") -> list[Number]:
    """Numbers with commas between them, as they stand."""
    try:
        return [kind(part) for part in text.split(",")]
    except ValueError:
        raise OptionError(f"{options} must be {what} with commas between them, but got {text!r}.") from None


def numbers_in(text: str) -> list[float]:
    """Different numbers with commas between them, in order."""
    return sorted(set(_separated(text, "--lrs", float)))


def attempts_in(text: str) -> list[int]:
    """Different whole numbers with commas between them, in order.

    >>> attempts_in("10, 1")
    [1, 10]
    """
    return sorted(set(_separated(text, "--at", int, "whole numbers")))


def attempt_in(text: str) -> int:
    """One whole number, for verbs that take one at a time."""
    if "," in text:
        first, *others = (part.strip() for part in text.split(","))
        then = " and ".join(f"--at {k}" for k in others)
        raise OptionError(
            f"--at must be one number, but got {text!r}: one comparison has one verdict. Run it with --at {first}, "
            f"then with {then}; assay summarize takes several."
        )
    try:
        return int(text)
    except ValueError:
        raise OptionError(f"--at must be a whole number, the attempts at an item, but got {text!r}.") from None


def whole_numbers_in(text: str) -> list[int]:
    """Whole numbers with commas between them."""
    return _separated(text, "--options and --respondents", int, "whole numbers")


def shares_in(text: str) -> list[float]:
    """Shares or percentages with commas between them."""
    return _separated(text, "--shares", float)


class Drawn(NamedTuple):
    """How many windows to draw."""

    preview: int
    final: int


def windows_in(text: str) -> Drawn:
    """The numbers of preview and final windows: 180x180."""
    found = re.fullmatch(r"(\d+)x(\d+)", text)
    if found is None or not all(map(int, found.groups())):
        raise OptionError(f"--windows must look like 180x180 (preview x final), but got {text!r}.")
    return Drawn(int(found[1]), int(found[2]))


def bins_in(text: str) -> int | Literal["log"]:
    """``log``, or how many bins."""
    if text == "log":
        return "log"
    try:
        return int(text)
    except ValueError:
        raise OptionError(f"--bins must be log or a number of bins, but got {text!r}.") from None


def unescaped(text: str) -> str:
    r"""What was typed, with ``\n`` a new line and ``\t`` a tab."""
    return text.replace("\\n", "\n").replace("\\t", "\t")


def _chart_file(text: str) -> Path:
    """A file that ends in .svg or .png, refused before anything is read if it does not."""
    from assay.report.charts import check_chart  # late: only if a chart is asked for

    try:
        check_chart(Path(text))
    except UsageError as error:
        raise OptionError(str(error)) from None
    return Path(text)


def option(
    words: str,
    *names: str,
    panel: str | None = None,
    value: str | None = None,
    parser: Callable[[str], Any] | None = None,
) -> Any:
    """An option by its help, with the names that are not the parameter's; a default may stand in the words instead."""
    shown = "(default" not in words
    return typer.Option(*names, help=words, rich_help_panel=panel, metavar=value, parser=parser, show_default=shown)


# ---------------------------------------------------------------------------------------------------------------- data

_OTHER_NAMES = "Other column names, e.g. {}."
Columns = Annotated[
    dict[str, str] | None,
    option(_OTHER_NAMES.format("score=acc,item=id"), panel=DATA, value="OURS=THEIRS,…", parser=columns_of),
]
GenerationColumns = Annotated[
    dict[str, str] | None,
    option(_OTHER_NAMES.format("prediction=output"), panel=GENERATIONS, value="OURS=THEIRS,…", parser=columns_of),
]
ModelA = Annotated[str | None, option("The model to take from the first file.", "--a", panel=DATA, value="NAME")]
ModelB = Annotated[
    str | None,
    option("The model to take from the second file, or the first if it has both.", "--b", panel=DATA, value="NAME"),
]
Cluster = Annotated[
    str | None, option("Draw whole clusters of this column: document, passage, …", panel=DATA, value="COLUMN")
]
Split = Annotated[Literal["preview", "final"] | None, option("Only this split of the windows.", panel=DATA)]
Per = Annotated[
    Literal["byte", "character"] | None,
    option("Bits per byte or character of whole documents, also where tokens differ.", panel=DATA),
]
LowerIsBetter = Annotated[
    bool | None,
    option("Scores where less is better (errors, seconds).", "--lower-is-better", panel=DATA),
]

MissingAnswers = Annotated[
    Missing,
    option(
        "Units that a system lacks: drop pair by pair, keep only complete ones, count as zero, or refuse.",
        "--missing",
        panel=DATA,
    ),
]

# ---------------------------------------------------------------------------------------------------------- statistics

IntervalMethod = Annotated[
    Method,
    option("Method of intervals; auto is tango for 0/1 scores, t-hall for few units, else bca.", panel=STATISTICS),
]
Level = Annotated[float, option("Confidence level.", panel=STATISTICS)]
Resamples = Annotated[
    int | None,
    option("Random resamples. (default: exact where possible, else 10,000)", panel=STATISTICS, value="N"),
]
TasksBy = Annotated[
    str | None,
    option("Tell tasks apart by this column. (default: task)", "--by", panel=STATISTICS, value="COLUMN"),
]
TaskTotal = Annotated[
    str | None,
    option(
        "What tasks weigh: macro (all the same), items, groups, or a table with task and weight. (default: macro)",
        "--total",
        panel=STATISTICS,
        value="macro|items|groups|FILE",
    ),
]
TaskGroups = Annotated[
    str | None,
    option(
        "Groups of tasks: a table with task and group. (default: a column group, or as the harness tells)",
        "--groups",
        panel=STATISTICS,
        value="FILE",
    ),
]
Seed = Annotated[int, option("Seed of the random numbers.", panel=STATISTICS)]
PairedTest = Annotated[
    TestName,
    option("Test; auto is mcnemar-midp for 0/1 scores, else sign-flip. mcnemar is the exact one.", panel=STATISTICS),
]

# ---------------------------------------------------------------------------------------------------- models and texts

And = Annotated[
    list[str] | None,
    option("Another model on the same text; may be repeated.", "--and", panel=MODEL, value="MODEL"),
]
Adapter = Annotated[str | None, option("A peft adapter.", panel=MODEL, value="DIR")]
Dtype = Annotated[str, option("auto, float32, bfloat16, float16.", panel=MODEL)]
Device = Annotated[
    str, option("auto, cpu, cuda, mps; spread: all graphics cards, then this machine's memory.", panel=MODEL)
]
Revision = Annotated[str | None, option("Revision on the hub.", panel=MODEL)]
TrustRemoteCode = Annotated[bool, option("Run code that comes with the model.", "--trust-remote-code", panel=MODEL)]
AllowPickle = Annotated[bool, option("Load pickled weights, which can run code.", "--allow-pickle", panel=MODEL)]
Population = Annotated[
    int | None,
    option(
        "Items in all, of which these are a random part: the answer is about them.",
        "--population",
        panel=STATISTICS,
        value="N",
    ),
]
Served = Annotated[str | None, option("What the server calls the model.", "--model", panel=SERVER, value="NAME")]
ServerTokenizer = Annotated[
    str | None, option("Folder or hub name of its tokenizer.", "--tokenizer", panel=SERVER, value="MODEL")
]
Concurrency = Annotated[int, option("Requests at a time.", panel=SERVER)]
Timeout = Annotated[float | None, option("For a whole answer. (default: 300)", panel=SERVER, value="SECONDS")]
ApiKeyEnv = Annotated[str | None, option("Environment variable with the key.", panel=SERVER, value="VARIABLE")]
Context = Annotated[
    int | None, option("Tokens per window. (default: the model's, at most 2,048)", panel=TEXT, value="N")
]
Stride = Annotated[int | None, option("Tokens between windows. (default: no overlap)", panel=TEXT, value="S")]
Field = Annotated[str | None, option("The text column of tables.", panel=TEXT, value="COLUMN")]
SplitOn = Annotated[
    str | None,
    option("Where a text file is cut into documents; '\\n' is a new line.", panel=TEXT, value="TEXT", parser=unescaped),
]
RunFolder = Annotated[
    Path,
    option("The folder of the run; of several runs, each in one of its own.", "-o", "--output", value="RUN"),
]
Overwrite = Annotated[bool, option("Replace the run that is there by a complete one.", "--overwrite")]
OverwriteGenerations = Annotated[
    bool, option("Replace the generations that are there by complete ones.", "--overwrite", panel=PROMPTS)
]

# --------------------------------------------------------------------------------------------------------- generating

Temperature = Annotated[
    float, option("0: always the most probable token; above: drawn from all tokens at this temperature.", panel=PROMPTS)
]
MaxTokens = Annotated[int, option("New tokens at the most.", panel=PROMPTS, value="N")]
Stop = Annotated[
    list[str] | None,
    option(
        "A text ends before this; may be repeated. '\\n' is a new line.", panel=PROMPTS, value="TEXT", parser=unescaped
    ),
]
BatchSize = Annotated[int, option("Prompts at a time, in a local model.", panel=PROMPTS, value="N")]
PromptColumns = Annotated[
    dict[str, str] | None,
    option(_OTHER_NAMES.format("prompt=question,item=id"), panel=PROMPTS, value="OURS=THEIRS,…", parser=columns_of),
]

# -------------------------------------------------------------------------------------------------------------- policy

PolicyFile = Annotated[
    Path | None,
    option("YAML, TOML or JSON; options beside it may only be stricter.", "--policy", panel=POLICY, value="FILE"),
]
TierChoice = Annotated[
    TierName | None, option("Minima, replicates and limits. (default of certify: balanced)", panel=POLICY)
]
ProfileName = Annotated[
    Profile | None,
    option("ci and release refuse what dev only reports. (default of certify: dev)", "--profile", panel=POLICY),
]
MaxRatio = Annotated[float | None, option("Largest acceptable perplexity ratio.", panel=POLICY, value="R")]
MaxDrop = Annotated[
    float | None, option("Largest acceptable fall of the score, or rise of bits.", panel=POLICY, value="D")
]
MaxTaskDrop = Annotated[
    float | None,
    option("Of several tasks: largest acceptable fall of a single one.", panel=POLICY, value="D"),
]
EveryBound = Annotated[
    bool | None,
    option("Of several tasks: the interval of every single one must be within its limit.", "--every", panel=POLICY),
]
MinWindows = Annotated[int | None, option("Least number of windows or items per split.", panel=POLICY, value="N")]
PolicyLevel = Annotated[float | None, option("Confidence level. (default: 0.95)", "--level", panel=POLICY)]
PolicyMethod = Annotated[
    GateMethod | None,
    option("Method of the interval. (default: auto, as compare; others need a note)", "--method", panel=POLICY),
]
PolicyScheme = Annotated[
    Scheme | None,
    option("Draw windows uniformly or ∝ tokens. (default: auto; tokens needs a note)", "--scheme", panel=POLICY),
]
WeightRule = Annotated[Weights | None, option("Of the items of scores. (default: equal)", "--weights", panel=POLICY)]

# -------------------------------------------------------------------------------------------------------------- output

ChartFile = Annotated[
    Path | None, option("Also draw it, to a .svg or .png file.", panel=OUTPUT, value="FILE", parser=_chart_file)
]
Markdown = Annotated[Path | None, option("Also write it as Markdown.", panel=OUTPUT, value="FILE")]
Junit = Annotated[
    Path | None,
    option("Also write it as JUnit XML, for the test tables of CI servers.", "--junit", panel=OUTPUT, value="FILE"),
]
Save = Annotated[
    Path | None,
    option("Also write the result as JSON, for assay report.", "--save", panel=OUTPUT, value="FILE"),
]
Json = Annotated[bool, option("Print the result as JSON.", "--json", panel=OUTPUT)]
