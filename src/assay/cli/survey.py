"""`assay survey SURVEY RESULTS…`."""

import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from assay.cli import options
from assay.cli import output as shown
from assay.cli.output import say, say_over
from assay.design import Design, Method
from assay.files.writing import make_folder, together, write_bytes

if TYPE_CHECKING:
    from assay.analyses.survey.result import SurveyReport

_DATA = "Data"
_STATISTICS = "Statistics"
_OUTPUT = "Output"
_SECONDS_BETWEEN_LINES = 10.0
_BESIDE = (
    "The sentences for a paper are in [statements.md](statements.md), every number is in [survey.json](survey.json)."
)
_WRITTEN = ("survey.json", "survey.md", "statements.md")  # into -o DIR, besides charts


def survey(
    truth: Annotated[
        Path,
        typer.Argument(metavar="SURVEY", help="The survey: SURVEY.json, or a table of question, segment, n, options."),
    ],
    results: Annotated[
        list[Path], typer.Argument(metavar="RESULTS…", help="Result files, folders of them, or tables of predictions.")
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="DIR",
            help="Write survey.json, survey.md, statements.md and charts.",
            rich_help_panel=_OUTPUT,
        ),
    ] = None,
    prior: Annotated[
        Path | None, typer.Option(metavar="SURVEY", help="Another round, as a baseline.", rich_help_panel=_DATA)
    ] = None,
    summary: Annotated[
        Path | None, typer.Option(metavar="SUMMARY", help="The published summary, to compare.", rich_help_panel=_DATA)
    ] = None,
    only: Annotated[
        str | None,
        typer.Option(metavar="NAME,…", help="Only these analyses: scores, baselines, noise, …", rich_help_panel=_DATA),
    ] = None,
    min_n: Annotated[
        int,
        typer.Option("--min-n", metavar="N", help="Leave out answers of fewer respondents.", rich_help_panel=_DATA),
    ] = 10,
    threshold: Annotated[
        float, typer.Option(help="How many cells can reach this score?", rich_help_panel=_STATISTICS)
    ] = 0.70,
    variants: Annotated[
        Literal["apart", "merged"],
        typer.Option(help="A model at several settings: several models, or its runs.", rich_help_panel=_DATA),
    ] = "apart",
    marginal: Annotated[
        Literal["left-out", "pooled"],
        typer.Option(
            help="The population marginal: without the segment's people, or only without its row.",
            rich_help_panel=_STATISTICS,
        ),
    ] = "left-out",
    test: Annotated[
        Literal["auto", "sign-flip", "t", "wilcoxon"], typer.Option(help="Paired test.", rich_help_panel=_STATISTICS)
    ] = "auto",
    method: Annotated[Method, typer.Option(help="Interval over questions.", rich_help_panel=_STATISTICS)] = "auto",
    level: options.Level = 0.95,
    margin: Annotated[
        float | None,
        typer.Option(
            metavar="SCORE",
            help="A model this close to a baseline is equal to it. (default: 0.001)",
            rich_help_panel=_STATISTICS,
            show_default=False,
        ),
    ] = None,
    resamples: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Resamples and permutations. (default: exact where possible, 1,000 of respondents, 2,000 shuffles)",
            rich_help_panel=_STATISTICS,
            show_default=False,
        ),
    ] = None,
    seed: options.Seed = 0,
    full: Annotated[bool, typer.Option("--full", help="Print every table.", rich_help_panel=_OUTPUT)] = False,
    save: shown.Save = None,
    as_json: shown.Json = False,
) -> None:
    """Is this survey benchmark signal or noise?

    Scores predicted answer distributions as the benchmark does, and says what predictors without knowledge would
    score, what a perfect one could, which models can be told apart, and how far it matters who happened to be asked.
    """
    from assay.analyses.survey import survey as run  # late: --help and errors of usage need none of it

    written = [] if output is None else [output / name for name in _WRITTEN]
    shown.check_outputs([save, *written], [truth, *results, prior, summary])
    design = Design(method=method, level=level, resamples=resamples, seed=seed, test=test, margin=margin)
    report = run(
        truth,
        *results,
        prior=prior,
        summary=summary,
        only=[name.strip() for name in only.split(",") if name.strip()] if only is not None else None,
        design=design,
        min_n=min_n,
        threshold=threshold,
        variants=variants,
        marginal=marginal,
        progress=_progress(),
    )
    if output is not None:
        write_outputs(report, output)
    shown.show(report, as_json=as_json, save=save, text=None if full or output is None else report.brief)


def write_outputs(report: "SurveyReport", folder: Path) -> None:
    """The record, a page with its charts, and the sentences for a paper; all of them or none."""
    from assay.report.files import write_markdown_with_charts  # late: reports load what draws charts
    from assay.report.markdown import sections_markdown

    statements = sections_markdown(f"Statements: {report.survey}", report.for_a_paper, report.signature)
    text = json.dumps(report.to_dict(), ensure_ascii=False, indent=1, allow_nan=False)
    with together():
        make_folder(folder)
        write_bytes(folder / "survey.json", (text + "\n").encode())
        written = write_markdown_with_charts(report, folder / "survey.md", _BESIDE)
        write_bytes(folder / "statements.md", statements.encode())
    for path in (folder / "survey.json", *written, folder / "statements.md"):
        say(f"Written: {path}", err=True)


class _Progress:
    """A line that is written over on a terminal, plain lines now and then elsewhere; nothing for a few files."""

    def __init__(self) -> None:
        self.last = time.monotonic()

    def __call__(self, done: int, total: int) -> None:
        now, terminal = time.monotonic(), sys.stderr.isatty()
        finished = done >= total
        if total < 100 or (not finished and now - self.last < (0.2 if terminal else _SECONDS_BETWEEN_LINES)):
            return
        self.last = now
        text = f"{done:,} of {total:,} result files"
        say_over(text, last=finished)


def _progress() -> _Progress:
    return _Progress()
