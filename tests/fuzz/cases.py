"""Cases by number: which target, which file, which change. A case runs in a fork of this process, within limits.

python -m tests.fuzz.cases 137          # one case, with what it printed; its files stay in ./fuzz-137
python -m tests.fuzz.cases 0 2000       # many, as a table of what was attacked and what held
"""

import gc
import json
import os
import resource
import shutil
import signal
import sys
import traceback
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from random import Random
from tempfile import TemporaryDirectory

from tests.fuzz.answers import faults
from tests.fuzz.mutations import mutated, neutral
from tests.fuzz.targets import TARGETS, Files, Target
from tools.warm import BESIDE, LEFT_OUT

MEMORY, SECONDS = 4 * 10**9, 20
#: Every how many changes of a target one leaves the data equal.
_EQUAL = 6
_FOLDER = "files"  # where the command runs
CLEAN = frozenset({0, 1, 2, 3, 4})


@dataclass(frozen=True)
class Case:
    number: int
    target: str
    file: str
    change: str
    equal: bool  # the change leaves the data equal


@dataclass(frozen=True)
class Outcome:
    """How a case ended; ``fault`` is empty if that was as it should be."""

    case: Case
    code: int
    fault: str
    said: str


def spoiled(number: int) -> tuple[Target, Case, dict[str, bytes]]:
    """The target and the files of a case."""
    target = TARGETS[number % len(TARGETS)]
    rng = Random(number)  # noqa: S311 - the same files each time are what is wanted
    name = target.changed[(number // len(TARGETS)) % len(target.changed)]
    files = dict(target.files())
    kind = target.kind(name)
    equal = target.same and (number // len(TARGETS)) % _EQUAL == 0
    change, files[name] = (neutral if equal else mutated)(files[name], kind, rng)
    return target, Case(number, target.name, name, change, equal), files


def run(number: int, folder: Path) -> Outcome:
    """Run a case in a fork."""
    target, case, files = spoiled(number)
    code, out, err = called(target.command, files, folder)
    fault = "".join(_faults(target, case, code, out, err))
    if not fault and case.equal:
        expected = called(target.command, target.files(), folder)
        if (code, out) != expected[:2]:
            fault = f"the data are equal, but not the answer: exit {code} instead of {expected[0]}"
    return Outcome(case, code, fault, err[-2000:])


def _faults(target: Target, case: Case, code: int, out: str, err: str) -> Iterator[str]:
    if code not in CLEAN:
        yield f"exit {code}"
    elif code in {2, 3}:
        if out or err.count("\n") != 1 or not err.startswith("assay: "):
            yield "a refusal is one line on stderr and nothing else"
    elif target.json:
        yield from (f"{what}; " for what in faults(out, target.rows))
    if case.equal and code in {2, 3}:
        yield "the data are equal, but the file is refused"


def called(command: Sequence[str], files: Files, folder: Path) -> tuple[int, str, str]:
    """The exit code, stdout and stderr of a command in a folder of these files; a signal is a negative code."""
    place = folder / _FOLDER
    shutil.rmtree(place, ignore_errors=True)
    for name, content in files.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_bytes(content)
    streams = [folder / "out", folder / "err"]
    child = os.fork()
    if not child:
        _in_the_fork(command, place, streams)
    _, status = os.waitpid(child, 0)
    out, err = (path.read_text(encoding="utf-8", errors="replace") for path in streams)
    return os.waitstatus_to_exitcode(status), out, err


def _in_the_fork(command: Sequence[str], place: Path, streams: Sequence[Path]) -> None:
    code = 70
    try:
        for number, path in enumerate(streams, start=1):
            os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
        sys.stdout, sys.stderr = (os.fdopen(number, "w", encoding="utf-8") for number in (1, 2))
        os.chdir(place)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(SECONDS)
        code = _code(command)
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException:  # noqa: BLE001 - whatever it is, it is a finding
        traceback.print_exc()
    finally:
        os._exit(code)


def _code(command: Sequence[str]) -> int:
    """The exit code of a command; a fault of ours is printed in full rather than put into a file."""
    from assay import endings
    from assay.cli.main import main

    setattr(endings, "_fault", lambda error: "".join(traceback.format_exception(error)))  # noqa: B010 - not ours to type
    setattr(endings, "one_line", str)  # noqa: B010 - likewise
    sys.argv = ["assay", *command]
    try:
        main()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0


def warm() -> None:
    """Import what verbs need, so that forks need not."""
    import assay

    names = [module.name for module in walk_packages(assay.__path__, "assay.")]
    for name in (*BESIDE, *(name for name in names if not LEFT_OUT.match(name))):
        import_module(name)
    for target in TARGETS:
        target.files()
    gc.freeze()


def outcomes(numbers: Iterable[int]) -> Iterator[Outcome]:
    with TemporaryDirectory() as name:
        for number in numbers:
            yield run(number, Path(name))


def table(found: Sequence[Outcome]) -> str:
    """What was attacked, how often, and what held, in Markdown."""
    lines = ["| attacked | changed files | refused | answered | held |", "| --- | --: | --: | --: | --: |"]
    for target in TARGETS:
        own = [outcome for outcome in found if outcome.case.target == target.name]
        refused = sum(outcome.code in {2, 3, 4} for outcome in own)
        held = sum(not outcome.fault for outcome in own)
        lines.append(f"| {target.name} | {len(own)} | {refused} | {len(own) - refused} | {held} of {len(own)} |")
    return "\n".join(lines)


def main(arguments: Sequence[str]) -> int:
    first, *rest = map(int, arguments)
    warm()
    if not rest:
        return _shown(first)
    found = []
    for outcome in outcomes(range(first, rest[0])):
        found.append(outcome)
        if outcome.fault:
            print(json.dumps(asdict(outcome)), flush=True)  # noqa: T201 - a command
    print(table(found))  # noqa: T201 - likewise
    print(Counter(outcome.code for outcome in found))  # noqa: T201 - likewise
    return int(any(outcome.fault for outcome in found))


def _shown(number: int) -> int:
    folder = Path(f"fuzz-{number}")
    folder.mkdir(exist_ok=True)
    outcome = run(number, folder.resolve())
    print(outcome.case, outcome.code, outcome.fault, outcome.said, sep="\n")  # noqa: T201 - a command
    print(*TARGETS[number % len(TARGETS)].command)  # noqa: T201 - likewise
    return int(bool(outcome.fault))


if __name__ == "__main__":
    code = main(sys.argv[1:])
    sys.stdout.flush()
    os._exit(code)  # without the complaints of libraries that threads of theirs are still there
