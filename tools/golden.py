"""What a set of commands prints, kept: a change of the house that is meant to change no number can prove it.

    python -m tools.golden --check             run the commands again and name every difference
    python -m tools.golden --write [CASE ...]  store what they print now; CASE: only those that begin so

Each case is one command on files that ship with the package or are made here. Its exit code, its text and the leaves of
its JSON are stored. Differences that are intended stand in tests/golden/INTENDED.md, each with its reason; the
files are then written anew in the same commit. The values hold for one kind of machine: another processor may differ
in the last digit, so this is a tool and not a test.
"""

import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Any

from tools.docs_outputs import environment
from tools.warm import warm_assay

ROOT = Path(__file__).resolve().parents[1]
STORE = ROOT / "tests" / "golden"
SECONDS = 300

LOSSES = "losses-base.csv losses-int3.csv"
SCORES = "scores-base.csv scores-int3.csv"
RUNS = "runs/base runs/int4 runs/int3"

#: Name → command. `--json` is added for the numbers; the text is stored as well.
CASES = {
    "summarize-scores": "summarize runs-sampled.csv",
    "summarize-losses": f"summarize {LOSSES} --cluster document",
    "compare-losses": f"compare {LOSSES}",
    "compare-losses-equal": "compare losses-base.csv losses-base.csv",
    "compare-losses-cluster": f"compare {LOSSES} --cluster document",
    "compare-losses-final": f"compare {LOSSES} --split final --level 0.99",
    "compare-losses-resampled": f"compare {LOSSES} --resamples 2000 --seed 7",
    "compare-losses-tokens": f"compare {LOSSES} --scheme tokens --method bca-plain",
    "compare-losses-studentized": f"compare {LOSSES} --method studentized --test t",
    "compare-losses-margin": "compare losses-base.csv losses-int8.csv --margin 0.01",
    "compare-per-byte": "compare losses-base.csv losses-trigram.csv --per byte",
    "compare-scores": f"compare {SCORES}",
    "compare-binary-cluster": "compare binary.csv --a first --b second --cluster passage",
    "compare-binary-weighted": "compare binary.csv --a first --b second --columns weight=n",
    "compare-weighted-cluster": "compare weighted.csv --a first --b second --cluster passage",
    "compare-scores-percentile": f"compare {SCORES} --method percentile --test wilcoxon",
    "compare-weighted": "compare weighted.csv --a first --b second --lower-is-better",
    "compare-one-pair": "compare one.csv --a first --b second",
    "compare-run": "compare runs/base runs/int4",
    "compare-suite": "compare suite.csv --a first --b second",
    "compare-suite-weighted": "compare suite.csv --a first --b second --total weights.csv --adjust holm --level 0.9",
    "summarize-suite": "summarize suite.csv",
    "convert": "convert suite.csv -o long.csv",
    "certify-losses": f"certify {LOSSES} -o cert-losses.json",
    "certify-int8": "certify losses-base.csv losses-int8.csv -o cert-int8.json --cluster document",
    "certify-scores": f"certify {SCORES} -o cert-scores.json",
    "certify-lower": "certify weighted.csv --a first --b second --lower-is-better -o cert-lower.json",
    "verify-losses": "verify cert-losses.json",
    "verify-int8": "verify cert-int8.json",
    "verify-scores": "verify cert-scores.json",
    "rank-scores": "rank scores-base.csv scores-int3.csv scores-bigram.csv scores-trigram.csv --pairs",
    "rank-bh": "rank scores-base.csv scores-int3.csv scores-bigram.csv scores-trigram.csv --adjust bh",
    "rank-max-t": "rank scores-base.csv scores-int3.csv scores-bigram.csv scores-trigram.csv --adjust max-t",
    "rank-losses": "rank losses-base.csv losses-int3.csv losses-int8.csv losses-trigram.csv",
    "rank-losses-cluster": "rank losses-base.csv losses-int3.csv losses-int8.csv --cluster document",
    "rank-weighted": "rank weighted.csv --weights sqrt --lower-is-better --pairs",
    "rank-holes": "rank holes.csv --pairs",
    "rank-suite": "rank suite.csv --pairs",
    "rank-suite-weighted": "rank suite.csv --total weights.csv --adjust holm --level 0.9",
    "rank-saved": "rank scores-base.csv scores-bigram.csv scores-trigram.csv --save board.json",
    "rank-previous": "rank --previous board.json scores-base.csv scores-bigram.csv scores-trigram.csv scores-int3.csv",
    "rank-holes-complete": "rank holes.csv --missing complete",
    "reliability": "reliability runs-sampled.csv",
    "power-sd": "power --difference 0.02 --sd 0.3",
    "power-shares": "power --p-a 0.6 --p-b 0.65 --discordant 0.2",
    "power-margin": "power --margin 0.02 --sd 0.3 --items 3000",
    "power-pilot": f"power --pilot {SCORES} --difference 0.02",
    "power-pilot-cluster": "power --pilot weighted.csv --a first --b second --cluster passage --items 2000",
    "power-survey": "power --survey",
    "survey": "survey survey.json predictions.csv --prior prior.json --full",
    "survey-min-n": "survey survey.json predictions.csv --min-n 40 --test t --method t",
    "japanese": "japanese generations.csv",
    "japanese-wide": "japanese generations.csv --scripts wide --normalize nfkc --bleu char --resamples 500",
    "japanese-prompts": "japanese said.jsonl --bleu char",
    "tune": "tune tuning/full-0 tuning/full-1 tuning/full-2 tuning/lora-0 tuning/lora-1 tuning/lora-2",
    "tune-arms": "tune tuning/full-0 tuning/lora-embeddings-0",
    "context": f"context {RUNS}",
    "context-bins": "context runs/base runs/int3 --bins 6 --resamples 500 --seed 3",
    "refused-unpaired": "compare losses-base.csv scores-base.csv",
    "refused-missing": "compare losses-base.csv nowhere.csv",
}


def prepare(folder: Path) -> None:
    """The files of the cases: what ships with the package, scored runs of its model, and small tables."""
    python = [sys.executable, "-m"]
    for command in (["assay.examples", "."], ["assay.examples.survey", "."], ["assay.examples.tuning", "tuning"]):
        run([*python, *command], folder)
    run([*python, "assay.models", "models"], folder)
    score = "assay score models/base models/en.txt --and models/int4 --and models/int3 --context 64 --windows 40x40"
    run([*shlex.split(score), "--split-on", r"\n\n", "--keep-tokens", "-o", "runs"], folder)
    asked = (folder / "prompts.jsonl").read_text("utf-8").splitlines(keepends=True)[:12]
    (folder / "some.jsonl").write_text("".join(asked), "utf-8")
    generate = "assay generate models/base some.jsonl --and models/int3 --max-tokens 24 -o said.jsonl"
    run(shlex.split(generate), folder)
    write_tables(folder)


def write_tables(folder: Path) -> None:
    """Weighted scores where less is better, 0/1 in passages, a table with holes, one pair: values by arithmetic."""
    weighted, holes = ["model,item,score,weight,passage"], ["model,item,score"]
    binary = ["model,item,score,passage,n"]
    suite, weights = ["model,item,score,task"], ["task,weight", "t0,1", "t1,2", "t2,0", "t3,1", "t4,1"]
    for i in range(60):
        base = (i * 37 % 101) / 101
        for model, shift in (("first", 0.0), ("second", ((i * 53) % 17 - 7) / 90)):
            weighted.append(f"{model},{i},{base + shift:.6f},{1 + i % 7},{i // 5}")
            binary.append(f"{model},{i},{int(base + 3 * shift > 0.4)},{i // 5},{2 + i % 3}")
            suite.append(f"{model},{i},{int(base + 3 * shift > 0.4)},t{i // 12}")
        for k, model in enumerate("pqrst"):
            if (i * 7 + k * 11) % 13:
                holes.append(f"{model},{i},{int((i * 29 + k * 17) % 100 < 40 + 9 * k)}")
    one = ["model,item,score", "first,1,0.25", "second,1,0.75"]
    tables = {"weighted": weighted, "binary": binary, "holes": holes, "one": one, "suite": suite, "weights": weights}
    for name, lines in tables.items():
        (folder / f"{name}.csv").write_text("\n".join(lines) + "\n", "utf-8")


def run(command: list[str], folder: Path) -> None:
    subprocess.run(command, cwd=folder, env=environment(), check=True, stdout=subprocess.DEVNULL)  # noqa: S603


def found(command: str, folder: Path, first: Path) -> dict[str, Any]:
    """Exit code, text on both streams, and the leaves of the JSON."""
    code, text = printed(command, folder, first)
    case: dict[str, Any] = {"command": f"assay {command}", "exit": code, "text": text.splitlines()}
    if code in {0, 1}:
        _, out = printed(f"{command} --json", folder, first, both=False)
        case["json"] = dict(leaves(json.loads(out)))
    return case


def printed(command: str, folder: Path, first: Path, *, both: bool = True) -> tuple[int, str]:
    done = subprocess.run(  # noqa: S603
        ["assay", *shlex.split(command)],  # noqa: S607
        cwd=folder,
        env=environment(first),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT if both else subprocess.DEVNULL,
        encoding="utf-8",
        timeout=SECONDS,
        check=False,
    )
    return done.returncode, done.stdout


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every number, text and null of a JSON value, by its path; an empty list or object is a leaf, too."""
    inner = (
        list(value.items()) if isinstance(value, dict) else list(enumerate(value)) if isinstance(value, list) else []
    )
    if not inner:
        yield path, value
    for key, part in inner:
        yield from leaves(part, f"{path}.{key}" if path else str(key))


def differences(old: dict[str, Any], new: dict[str, Any]) -> Iterator[str]:
    if old["exit"] != new["exit"]:
        yield f"exit {old['exit']} → {new['exit']}"
    before, after = old.get("json", {}), new.get("json", {})
    for key in before.keys() | after.keys():
        if before.get(key, "absent") != after.get(key, "absent"):
            yield f"{key}: {before.get(key, 'absent')!r} → {after.get(key, 'absent')!r}"
    for place, (a, b) in enumerate(zip_longest(old["text"], new["text"], fillvalue=""), 1):
        if a != b:
            yield f"line {place}: {a!r} → {b!r}"


def main(arguments: list[str]) -> int:
    asked = options(arguments)
    check, wrong = asked.check, 0
    with tempfile.TemporaryDirectory() as name, warm_assay({**os.environ}) as first:
        folder = Path(name)
        prepare(folder)
        STORE.mkdir(parents=True, exist_ok=True)
        for case, command in CASES.items():
            new = found(command, folder, first)
            if asked.cases and not case.startswith(tuple(asked.cases)):
                continue  # it ran all the same: later cases read what earlier ones wrote
            wrong += settle(STORE / f"{case}.json", new, check=check)
    print(
        f"{len(CASES)} commands, {wrong} differ"
        if check
        else f"{len(CASES)} commands kept in {STORE.relative_to(ROOT)}"
    )
    return int(wrong > 0)


def options(arguments: list[str]) -> argparse.Namespace:
    """Nothing is written unless that is asked for, and no word is taken for a case that names none."""
    parser = argparse.ArgumentParser(prog="python -m tools.golden", description="Keep what a set of commands prints.")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--check", action="store_true", help="name every difference from what is stored")
    what.add_argument("--write", action="store_true", help="store what the commands print now")
    parser.add_argument("cases", nargs="*", metavar="CASE", help="only the cases that begin so")
    asked = parser.parse_args(arguments)
    unknown = [start for start in asked.cases if not any(case.startswith(start) for case in CASES)]
    if unknown:
        parser.error(f"no case begins with {', '.join(unknown)}")
    return asked


def settle(path: Path, new: dict[str, Any], *, check: bool) -> int:
    """Compare a case with what is stored, or store it; 1 where it differs."""
    if not check:
        path.write_text(json.dumps(new, ensure_ascii=False, indent=1) + "\n", "utf-8")
        return 0
    found = list(differences(json.loads(path.read_text("utf-8")), new)) if path.exists() else ["not stored yet"]
    for line in found[:20]:
        print(f"{path.stem}: {line}")
    if len(found) > 20:
        print(f"{path.stem}: … and {len(found) - 20} more")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
