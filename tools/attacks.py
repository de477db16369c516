"""What was attacked, how often, what held: a table that comes from running the attacks.

    python -m tools.attacks                                   # every file operation of every command: hours
    python -m tools.attacks --sample 30 demo=3 --fuzz 300     # at most so many of each command and fault
    python -m tools.attacks --out benchmarks/results/attacks.md

Commands are those of `tests/faults`, files those of `tests/fuzz`.
"""

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.faults.harness import Tally, attacked
from tests.fuzz.cases import outcomes, table, warm

FAULTS = {
    "kill": "SIGKILL at a file operation",
    "terminate": "SIGTERM at a file operation",
    "full": "the disk is full from a write on",
}


def main(arguments: Sequence[str]) -> int:
    """Attack, print the tables, and say how many attacks did not hold."""
    parser = argparse.ArgumentParser(prog="python -m tools.attacks", description=__doc__.partition("\n")[0])
    parser.add_argument("--sample", nargs="*", metavar="[COMMAND=]N", help="at most N operations of each kind")
    parser.add_argument("--only", nargs="*", metavar="COMMAND", help="only these commands")
    parser.add_argument("--fuzz", type=int, default=2000, metavar="N", help="mutated files (default: 2000; 0: none)")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the tables to a file as well")
    asked = parser.parse_args(arguments)
    tallies = list(_tallies(asked.only, samples(asked.sample or [])))
    blocks = [faults_table(tallies)] if tallies else []
    if asked.fuzz:
        warm()
        found = list(outcomes(range(asked.fuzz)))
        about = f"{asked.fuzz:,} files with seeded mutations, each read by the verb that it is for."
        blocks.append(f"{about}\n\n{table(found)}")
    text = "# What was attacked, how often, what held\n\n" + "\n\n".join(blocks) + "\n"
    if asked.out is not None:
        asked.out.write_text(text, encoding="utf-8")
    print(text)
    return sum(len(tally.faults) for tally in tallies)


def samples(texts: Sequence[str]) -> dict[str, int]:
    """COMMAND=N and, for all others, N."""
    pairs = (text.rpartition("=") for text in texts)
    return {name: int(number) for name, _, number in pairs}


def _tallies(only: Sequence[str] | None, samples: dict[str, int]) -> Iterator[Tally]:
    from tests.faults.commands import COMMANDS

    for name in only or COMMANDS:
        for tally in attacked([name], sample=samples.get(name, samples.get(""))):
            print(f"{tally.command}, {tally.kind}: {tally.tried} of {tally.points}", file=sys.stderr, flush=True)
            for fault in tally.faults:
                print(f"  {fault}", file=sys.stderr, flush=True)
            yield tally


ABOUT = (
    "faults, each at one operation of a real command. It held if the exit code was right (74 for a full disk, 143 for "
    "SIGTERM), what was there before was intact, nothing was left over, and the same command, typed again, left "
    "exactly the files that it leaves without a fault."
)


def faults_table(tallies: Sequence[Tally]) -> str:
    rows = [
        f"| `assay {t.command}` | {FAULTS[t.kind]} | {t.points} | {t.tried} | {t.held} of {t.tried} |" for t in tallies
    ]
    head = "| command | fault | operations | tried | held |\n| --- | --- | ---: | ---: | ---: |"
    return "\n".join([f"{sum(tally.tried for tally in tallies):,} {ABOUT}", "", head, *rows])


if __name__ == "__main__":
    code = min(main(sys.argv[1:]), 1)
    sys.stdout.flush()
    os._exit(code)  # without the complaints of libraries that were forked
