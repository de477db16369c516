"""The commands that write, each on the smallest input that makes it write all its kinds of files."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from assay import models

Files = dict[str, bytes | None]  # by their paths; a folder has no content
KEY = """-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g
-----END PRIVATE KEY-----
"""  # of RFC 8032, test 1, which everybody has


@dataclass(frozen=True)
class Command:
    """What is typed, what is there before, and how to compare what it leaves."""

    name: str
    arguments: list[str]
    prepare: Callable[[Path], None]
    before: list[list[str]] = field(default_factory=list)  # commands that were run first
    models: bool = False  # it needs torch
    resumes: bool = False  # what it has done so far stays, and the next one goes on
    #: Files whose bytes hold clocks or chance, and what of them must be the same all the same.
    compared: Mapping[str, Callable[[Path], Any]] = field(default_factory=dict)
    prelude: str | None = None  # a function of this module that the process calls first


def _scores(folder: Path) -> None:
    for name, period in (("a", 3), ("b", 5), ("c", 7)):
        rows = "".join(f"q{i},{int(i % period > 0)}\n" for i in range(1, 61))
        (folder / f"{name}.csv").write_text(f"item,score\n{rows}")
    (folder / "key").write_text(KEY)


def _suite(folder: Path) -> None:
    for name, period in (("a", 3), ("b", 5)):
        rows = "".join(f"q{i},t{i % 3},{int(i % period > 0)},{1 + i % 4}\n" for i in range(1, 91))
        (folder / f"{name}.csv").write_text(f"item,task,score,price\n{rows}")
    policy = "note: wide\ntotal: {max_drop: 0.5, max_price_ratio: 2}\ntasks: {t0: {max_drop: 0.4}}\n"
    (folder / "policy.yaml").write_text(policy)
    (folder / "key").write_text(KEY)


def _logs(folder: Path) -> None:
    _scores(folder)
    log = Path(__file__).parents[1] / "data" / "harness" / "inspect" / "small.json"
    (folder / "log.json").write_bytes(log.read_bytes())


def no_clock() -> None:
    """Records that were all made in 1970."""
    import assay.conversion

    vars(assay.conversion)["time"] = lambda: 0.0


def _page(folder: Path) -> None:
    _scores(folder)
    for name in ("c.md", "page.html"):
        (folder / name).write_text("what was there before")


def _survey(folder: Path) -> None:
    """Three questions of the survey that ships with the package, asked of six segments."""
    from assay.examples import SURVEY

    survey = json.loads((SURVEY / "survey.json").read_text(encoding="utf-8"))
    questions, segments = list(survey["questions"])[:3], survey["segments"][:6]
    for segment in segments:
        segment["responses"] = [answer for answer in segment["responses"] if answer["questionId"] in questions]
    survey |= {"questions": {name: survey["questions"][name] for name in questions}, "segments": segments}
    (folder / "survey.json").write_text(json.dumps(survey))
    header, *lines = (SURVEY / "predictions.csv").read_text(encoding="utf-8").splitlines()
    asked = {(name, segment["id"]) for name in questions for segment in segments}
    kept = [line for line in lines if tuple(line.split(",")[1:3]) in asked]
    (folder / "predictions.csv").write_text("\n".join([header, *kept, ""]))


def _text(folder: Path) -> None:
    parts = models.path("en.txt").read_text(encoding="utf-8").split("\n\n")
    (folder / "text.txt").write_text("\n\n".join(part[:400] for part in parts[:4]))
    (folder / "valid.txt").write_text(parts[5][:300])
    rows = [{"prompt": part[:20], "reference": part[20:40]} for part in parts[:3]]
    (folder / "prompts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def _no_clocks(run: Path) -> Any:
    """What a training log says besides times and memory: the steps, and the numbers at them."""
    from assay.data.training.run_folder import read_run

    log = read_run(run.parent, None)
    series = (log.loss, log.grad_norm, log.rate, log.valid)
    return log.finished, log.tokens, [(found.steps.tolist(), found.values.tolist()) for found in series]


def _pair_of_keys(public: Path) -> Any:
    """A key is new each time; that its halves fit each other is what must hold."""
    from assay.certificate.signing import key_id, load_private_key, load_public_key

    private = public.with_name(public.name.removesuffix(".pub"))
    return key_id(load_private_key(private).public_key()) == key_id(load_public_key(public)), private.stat().st_mode


def short_shards() -> None:
    """Several shards of a short text."""
    import assay.scoring.windows

    assay.scoring.windows.SHARD_TOKENS = 200


def every_batch() -> None:
    """What has been answered is kept after every batch, and not now and then."""
    from assay.scoring import generation_files

    generation_files.SECONDS_BETWEEN_RECORDS = 0.0


def careless_writer() -> None:
    """A command that writes its file in place and never over another: what the harness must catch."""
    from assay.cli import compare

    def write() -> None:
        with Path("out.txt").open("x") as file:
            file.write("a result")

    vars(compare)["compare"] = write


def short_demo() -> None:
    """Everything that the demo writes, but less of each kind: one edited copy, one short text, one training run."""
    from assay import examples
    from assay.cli import demo

    runs = next(path for path in sorted(examples.RUNS.iterdir()) if path.is_dir())
    commands = (
        "score models/base models/en.txt --and models/int8 --context 32 --windows 8x8 -o runs",
        "certify runs/base runs/int8 -o certificates/int8.json",
        "survey anes96/survey.json anes96/predictions.csv --only scores -o survey",
        "power --sd 0.45 --difference 0.02 --save results/power.json",
    )
    short = tuple(demo.Step("?", command, (0, 1)) for command in commands)
    vars(demo)["steps"] = lambda: short
    vars(examples).update(names=lambda: ("scores-base.csv",), RUNS=_alone(runs))
    vars(models)["_PATHS"] = {"base": models.path("base"), "en.txt": Path(models.__file__).with_name("README.md")}
    vars(models)["variants"] = lambda out: {
        "int8": models.round_weights(models.path("base"), Path(out, "int8"), bits=8)
    }


def _alone(run: Path) -> Any:
    """The folder above one run, with nothing else in it."""

    class Alone(type(run)):  # type: ignore[misc]  # of the system's kind
        def rglob(self, pattern: str) -> Any:
            return run.rglob(pattern)

    return Alone(run.parent)


_BASE = str(models.path("base"))
_SCORE = ["score", _BASE, "text.txt", "--split-on", r"\n\n", "--context", "48", "--keep-tokens", "-o", "run"]
_GATE = [
    *("gate", _BASE, _BASE, "text.txt", "--context", "12", "--looks", "2", "--min-windows", "24", "--note", "few"),
    *("-o", "gate.json", "--markdown", "gate.md"),
]
_TUNE = [
    *("tune", "run", "--base", _BASE, "--train", "text.txt", "--valid", "valid.txt", "--context", "32"),
    *("--rows", "2", "--method", "lora", "--rank", "2", "--steps", "3", "--checkpoint", "2"),
    *("--every-validation", "2", "--every-memory", "0", "--every-quality", "0", "-o", "run"),
    *("--generate", "prompts.jsonl", "--max-tokens", "2"),
]
_GENERATE = ["generate", _BASE, "prompts.jsonl", "--max-tokens", "3", "--batch-size", "1", "-o", "new/said.jsonl"]
_RECORDS = ["convert", "log.json", "a.csv", "--to", "every-eval-ever", "-o", "out"]
_CERTIFY = ["certify", "a.csv", "b.csv", "-o", "c.json", "--sign", "key", "--markdown", "c.md", "--junit", "c.xml"]
_CERTIFY_TASKS = [*_CERTIFY, "--policy", "policy.yaml"]
_KEYS: Mapping[str, Callable[[Path], Any]] = {"new.key.pub": _pair_of_keys, "new.key": lambda path: path.name}
_LOG = {"run/events.jsonl": _no_clocks}

COMMANDS = {
    command.name: command
    for command in (
        Command("certify", _CERTIFY, _scores),
        Command("certify over another", _CERTIFY, _page, before=[["certify", "a.csv", "c.csv", *_CERTIFY[3:7]]]),
        Command("certify tasks", _CERTIFY_TASKS, _suite),
        Command(
            "rank",
            ["rank", "a.csv", "b.csv", "c.csv", "--save", "new/board.json", "--markdown", "r.md"],
            _scores,
        ),
        Command(
            "report",
            ["report", "board.json", "-o", "page.html"],
            _page,
            before=[["rank", "a.csv", "b.csv", "--save", "board.json"]],
        ),
        Command(
            "report --chart-format",
            ["report", "board.json", "-o", "page.md", "--chart-format", "svg"],
            _page,
            before=[["rank", "a.csv", "b.csv", "--save", "board.json"]],
        ),
        Command(
            "survey",
            ["survey", "survey.json", "predictions.csv", "-o", "out/deep", "--only", "scores,baselines,cells"],
            _survey,
        ),
        Command("convert", ["convert", "a.csv", "b.csv", "-o", "new/table.parquet"], _scores),
        Command("convert --to", _RECORDS, _logs, prelude="no_clock"),
        Command("keygen", ["keygen", "new.key"], lambda _: None, resumes=True, compared=_KEYS),
        Command("score", _SCORE, _text, models=True, resumes=True, prelude="short_shards"),
        Command(
            "score --overwrite",
            [*_SCORE, "--overwrite"],
            _text,
            before=[[*_SCORE, "--stride", "24"]],
            models=True,
            resumes=True,
            prelude="short_shards",
        ),
        Command("generate", _GENERATE, _text, models=True, resumes=True, prelude="every_batch"),
        Command(
            "generate --overwrite",
            [*_GENERATE, "--overwrite"],
            _text,
            before=[[*_GENERATE, "--seed", "7"]],
            models=True,
            resumes=True,
            prelude="every_batch",
        ),
        Command("tune run", _TUNE, _text, models=True, resumes=True, compared=_LOG),
        Command(
            "tune run --overwrite",
            [*_TUNE, "--overwrite"],
            _text,
            before=[[*_TUNE, "--seed", "7"]],
            models=True,
            resumes=True,
            compared=_LOG,
        ),
        Command("gate", _GATE, _text, models=True, resumes=True),
        Command("demo", ["demo", "here"], lambda _: None, models=True, resumes=True, prelude="short_demo"),
    )
}
