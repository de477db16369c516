"""`assay demo [DIR]`: everything, on what ships with the package."""

import shlex
import time
from contextlib import chdir, redirect_stdout
from dataclasses import dataclass, replace
from io import StringIO
from pathlib import Path
from typing import Annotated

import typer

from assay import examples
from assay.cli.output import say
from assay.errors import InputError, UsageError
from assay.examples import copy_runs, copy_survey
from assay.progress import working

_EDITS = ("int8", "int4", "int3", "pruned")
_RANKED = ("base", "int3", "trigram", "bigram")
_CONTEXT = 256  # tokens in a window


@dataclass(frozen=True, slots=True)
class Step:
    """A question, and the command that answers it."""

    question: str
    command: str  # as a reader would type it in the folder of the demo
    codes: tuple[int, ...] = (0,)  # exit codes that are an answer; 1 is a gate that stayed shut
    files: tuple[str, ...] = ()  # that it writes and a reader may want to open


def steps() -> tuple[Step, ...]:
    """What the demo runs, in order."""
    others = " ".join(f"--and models/{edit}" for edit in _EDITS)
    return (
        Step(
            "What do a model and four edited copies of it lose on text they have not seen?",
            f"score models/base models/en.txt {others} --split-on '\\n\\n' --context {_CONTEXT} "
            "--windows 180x180 -o runs",
        ),
        *(
            Step(
                f"May the copy {edit} replace the model?",
                f"certify runs/base runs/{edit} -o certificates/{edit}.json",
                (0, 1),
                (f"certificates/{edit}.json",),
            )
            for edit in _EDITS
        ),
        Step("Is a certificate true?", "verify certificates/int4.json"),
        _saved(
            "Are 4 bits and pruning different?",
            "compare runs/int4 runs/pruned --split final --cluster document",
            "comparison",
        ),
        Step(
            "What do the model and its copy in 3 bits lose on Japanese, token by token?",
            f"score models/base models/ja.txt --and models/int3 --split-on '\\n\\n' --context {_CONTEXT} "
            "--windows 60x60 --keep-tokens -o runs-ja",
        ),
        _saved(
            "Does longer context still help, and where does the copy lose it?",
            "context runs-ja/base runs-ja/int3",
            "context",
        ),
        _saved(
            "Which of four n-gram models answer 500 questions best?",
            f"rank {' '.join(f'examples/scores-{name}.csv' for name in _RANKED)}",
            "leaderboard",
        ),
        _saved(
            "Do the scores of models that sample their answers repeat?",
            "reliability examples/runs-sampled.csv",
            "reliability",
        ),
        _saved(
            "How many questions would show a difference of 2 points between two of them?",
            "power examples/scores-base.csv examples/scores-int3.csv --difference 0.02",
            "power",
        ),
        Step(
            "Do four predictors of a survey know anything of its segments?",
            "survey anes96/survey.json anes96/predictions.csv --prior anes96/prior.json -o survey",
            files=("survey/survey.md", "survey/statements.md", "survey/survey.json"),
        ),
        _saved("LoRA or full fine-tuning, on the logs of real runs?", "tune tuning", "tuning"),
    )


def _saved(question: str, command: str, name: str) -> Step:
    """A step whose result goes onto the page."""
    return Step(question, f"{command} --save results/{name}.json", files=(f"results/{name}.json",))


def demo(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Where everything goes.")] = Path("assay-demo"),
) -> None:
    """Everything, on what ships with the package: a small model, its edited copies, and text.

    Needs the extra hf. Each command is shown as you would type it in DIR, with what it says first; what is there
    already is not done again. At the end DIR/index.html shows all results, and the commands.
    """
    began = time.monotonic()
    models = _written(folder)
    say(f"A model, edited copies of it and texts: {', '.join(models)} in {folder / 'models'}")
    with _inside(folder):
        said = {step: _run(step) for step in steps()}
        _write_index(said)
    say(f"\nDone in {time.monotonic() - began:.0f} s. Open {folder / 'index.html'}: everything on one page.")
    say(f"Also in {folder}:")
    for name, what in _LOOK_AT.items():
        say(f"  {name:<22} {what}")
    say("The commands above run there as you see them; with other names, on your own models and texts.")


_LOOK_AT = {
    "certificates/*.json": "certificates; verify recomputes them from the *.evidence.parquet beside them",
    "runs, runs-ja": "losses by window, which compare, certify and context read",
    "results/*.json": "results, of which assay report makes pages",
    "charts/*.svg": "every chart of the page as a file",
    "survey/survey.md": "a survey benchmark, with charts; survey/statements.md has the sentences for a paper",
}


def _written(folder: Path) -> list[str]:
    try:
        from assay.models import copies

        made = copies(folder / "models")
        examples.copy(folder / "examples")
        copy_survey(folder / "anes96")
        copy_runs(folder / "tuning")
    except OSError as error:
        raise InputError(f"{folder}: cannot be written ({error.strerror}); choose another folder.") from error
    return list(made)


def _inside(folder: Path) -> "chdir[Path]":
    for part in ("certificates", "results"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    return chdir(folder)


def _run(step: Step) -> str:
    """Run a command, show its beginning and its time; what it said first."""
    from assay.cli.command_line import command_line

    say(f"\n== {step.question}\n$ assay {step.command}")
    arguments, said, began = shlex.split(step.command), StringIO(), time.monotonic()
    with redirect_stdout(said), working(arguments[0]):
        code = command_line(arguments[:1])(arguments, standalone_mode=False) or 0
    if code not in step.codes:
        raise UsageError(f"assay {step.command} ended with exit code {code}; run it in the folder of the demo.")
    first, _, rest = said.getvalue().strip().partition("\n\n")
    say(first)
    more = f"; {rest.count(chr(10)) + 1} more lines" if rest else ""
    say(f"[{time.monotonic() - began:.1f} s{more}{', exit code 1: the gate stays shut' if code else ''}]")
    return first


def _write_index(said: dict[Step, str]) -> None:
    """Everything on one page, and the commands behind it."""
    from assay.report.charts import can_draw
    from assay.report.document import CommandStep
    from assay.report.files import document_of, write_charts
    from assay.report.html import write_page

    began = time.monotonic()
    say("\n== One page to read and send")
    results = [Path("certificates"), Path("survey/survey.json"), Path("results")]
    document, _ = document_of(results, "What Assay does: a model, its copies, and other questions")
    shown = tuple(CommandStep(s.question, f"assay {s.command}", first, s.files) for s, first in said.items())
    write_page(replace(document, steps=shown), Path("index.html"))
    charts = write_charts(document, Path("charts"), "svg") if can_draw() else {}
    drawn = (
        f", and {len(charts)} charts"
        if charts
        else "; pip install 'assay-eval[charts]' also draws its charts into files"
    )
    say(f"index.html{drawn}\n[{time.monotonic() - began:.1f} s]")
