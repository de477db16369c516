"""Would a test notice? The results of mutmut beside the file that explains every mutant that survived.

    python -m tools.mutants                                        print the report
    python -m tools.mutants --out benchmarks/results/mutants.md    write it too
    python -m tools.mutants --left                                 only what is not explained, ready to be filled in

mutmut changes one thing of a function at a time (a sign, a number, a comparison, an argument) and runs the tests that
call it. A mutant that no test fails for is a hole in the tests, or changes nothing that matters: then
`tests/stats/mutants.md` says why. Ends with 1 if a survivor is not explained, if an explanation fits no survivor, or if
mutants have not been run.
"""

import argparse
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
EXPLAINED = ROOT / "tests" / "stats" / "mutants.md"

# What mutmut keeps is how the tests ended; -24 and the like: out of time (pyproject.toml says how much they have).
STATUSES = {0: "survived", 1: "killed", 3: "killed", 5: "survived", 33: "survived"}
STATUSES |= dict.fromkeys((-24, 24, 36, 152, 255), "timeout")


@dataclass(frozen=True, order=True)
class Change:
    """What a mutant changes, by what stays when mutants are numbered anew."""

    module: str
    function: str
    removed: str
    added: str

    def __str__(self) -> str:
        return skeleton([self])


@dataclass(frozen=True)
class Mutant:
    change: Change
    status: str  # killed, timeout, survived; or how else its run ended


def results(folder: Path) -> list[Mutant]:
    """Every mutant in the folder that mutmut writes."""
    found = [mutant for meta in sorted(folder.rglob("*.py.meta")) for mutant in _of_one_file(meta)]
    if not found:
        sys.exit(f"There are no results of mutmut in {folder}. Run `make mutations`.")
    return found


def _of_one_file(meta: Path) -> Iterator[Mutant]:
    source = meta.with_suffix("")
    spans = json.loads(source.with_name(source.name + ".spans").read_text("utf-8"))["spans"]
    lines = source.read_text("utf-8").splitlines()
    for name, code in json.loads(meta.read_text("utf-8"))["exit_code_by_key"].items():
        module, _, generated = name.rpartition(".")
        mangled, _, _ = generated.rpartition("__mutmut_")
        plain = mangled.removeprefix("x_").removeprefix("xǁ").replace("ǁ", ".")
        before, after = (
            [line.replace(which, plain) for line in lines[spans[which][0] - 1 : spans[which][1]]]
            for which in (f"{mangled}__mutmut_orig", generated)
        )
        status = "not run" if code is None else STATUSES.get(code, f"ended with {code}")
        yield Mutant(Change(module.removeprefix("assay."), plain, *_difference(before, after)), status)


def _difference(before: list[str], after: list[str]) -> tuple[str, str]:
    """The lines that differ, without what is only about where they stand."""
    removed, added = [], []
    for kind, a, b, c, d in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if kind != "equal":
            removed += [line.strip() for line in before[a:b]]
            added += [line.strip() for line in after[c:d]]
    return " ".join(removed), " ".join(added)


def explanations(text: str) -> dict[Change, str]:
    """Reasons are headings; below one, a `diff` block names functions, lines, and what mutants make of a line."""
    found: dict[Change, str] = {}
    reason = module = function = removed = ""
    inside = False
    for number, line in enumerate(text.splitlines(), start=1):
        if line.startswith("```"):
            inside = line == "```diff"
        elif not inside:
            reason = line.removeprefix("## ") if line.startswith("## ") else reason
        elif at := re.fullmatch(r"@@ (\S+) (\S+) @@", line):
            module, function = at.groups()
        elif line.startswith("-"):
            removed = line[1:].strip()
        elif line.startswith("+"):
            change = Change(module, function, removed, line[1:].strip())
            if change in found:
                sys.exit(f"{EXPLAINED.name}, line {number}: this mutant is explained twice:\n{change}")
            found[change] = reason
        elif line:
            sys.exit(f"{EXPLAINED.name}, line {number}: a diff holds lines with @@, - and +, not {line!r}")
    return found


def faults(mutants: Sequence[Mutant], explained: dict[Change, str]) -> list[str]:
    """What is wrong, in words; nothing if every mutant is killed or explained."""
    survived = {mutant.change for mutant in mutants if mutant.status == "survived"}
    other = Counter(m.status for m in mutants if m.status not in ("killed", "timeout", "survived"))
    found = [f"{count} mutants: {status}" for status, count in sorted(other.items())]
    found += [f"Survived, and not explained:\n{change}" for change in sorted(survived - explained.keys())]
    spare = sorted(explained.keys() - survived)
    found += [f"Explained ({explained[change]}), and no survivor:\n{change}" for change in spare]
    return found


def report(mutants: Sequence[Mutant], explained: dict[Change, str]) -> str:
    """Two tables in Markdown: by module, and by why a mutant survives."""
    lines = ["| module | mutants | killed | survive, explained | survive, unexplained | score |"]
    lines.append("| --- | --- | --- | --- | --- | --- |")
    modules = sorted({mutant.change.module for mutant in mutants})
    lines += [_row(f"`{name}`", [m for m in mutants if m.change.module == name], explained) for name in modules]
    lines.append(_row("all", mutants, explained))
    reasons = Counter(explained[m.change] for m in mutants if m.status == "survived" and m.change in explained)
    lines += ["", "| why a mutant survives | mutants |", "| --- | --- |"]
    lines += [f"| {reason} | {reasons[reason]} |" for reason in dict.fromkeys(explained.values()) if reasons[reason]]
    return "\n".join(lines) + "\n"


def _row(name: str, mutants: Sequence[Mutant], explained: dict[Change, str]) -> str:
    killed = sum(m.status in ("killed", "timeout") for m in mutants)
    known = sum(m.status == "survived" and m.change in explained for m in mutants)
    score = f"{100 * killed / len(mutants):.1f} %"
    return f"| {name} | {len(mutants):,} | {killed:,} | {known} | {len(mutants) - killed - known} | {score} |"


def skeleton(changes: Sequence[Change]) -> str:
    """Survivors as a diff block of `tests/stats/mutants.md`: a function and a line once, what became of it below."""
    lines, before = [], Change("", "", "", "")
    for change in changes:
        moved = (change.module, change.function) != (before.module, before.function)
        if moved:
            lines.append(f"@@ {change.module} {change.function} @@")
        if moved or change.removed != before.removed:
            lines.append(f"- {change.removed}")
        lines.append(f"+ {change.added}")
        before = change
    return "\n".join(lines)


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="tools.mutants", description=__doc__.split("\n\n", 1)[0])
    parser.add_argument("--results", type=Path, default=ROOT / "mutants", help="the folder that mutmut writes")
    parser.add_argument("--explained", type=Path, default=EXPLAINED, help="the file that explains survivors")
    parser.add_argument("--out", type=Path, help="write the report to this file, too")
    parser.add_argument("--left", action="store_true", help="print what is not explained, as a diff block")
    chosen = parser.parse_args(arguments)
    mutants, explained = results(chosen.results), explanations(chosen.explained.read_text("utf-8"))
    if chosen.left:
        left = {m.change for m in mutants if m.status == "survived"} - explained.keys()
        print(skeleton(sorted(left)))
        return int(bool(left))
    print(report(mutants, explained))
    if chosen.out is not None:
        chosen.out.write_text(report(mutants, explained), "utf-8")
    wrong = faults(mutants, explained)
    print("\n\n".join(wrong))
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
