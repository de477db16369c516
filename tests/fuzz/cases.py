"""Cases by number: which target, which file, which change. A case runs in a fork of this process, within limits.

python -m tests.fuzz.cases 137           # one case, with what it printed; its files stay in ./fuzz-137
python -m tests.fuzz.cases 0 2000        # many, as a table of what was attacked and what held
python -m tests.fuzz.cases special 0 60  # pipes, devices, folders and links in the place of files
python -m tests.fuzz.cases deep 0 60     # ten megabytes of brackets, in under a second
"""

import json
import os
import resource
import shutil
import signal
import socket
import sys
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from tests.fuzz.answers import faults
from tests.fuzz.mutations import again, mutated, neutral
from tests.fuzz.seeds import Files
from tests.fuzz.targets import TARGETS, Target
from tools.warm import prepare

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
    if not equal and rng.random() < 0.2:
        more, files[name] = again(files[name], kind, rng)
        change = f"{change}, {more}"
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


# ------------------------------------------------------------------------------------------------ files that are none


def _huge(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(200 * 10**9)  # takes no room


def _bound(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        here = Path.cwd()
        os.chdir(path.parent)  # the address of a socket may have about a hundred characters
        server.bind(path.name)
        os.chdir(here)


SPECIAL: dict[str, Callable[[Path], object]] = {
    "a pipe": os.mkfifo,
    "endless zeros": lambda path: path.symlink_to("/dev/zero"),
    "a socket": _bound,
    "a folder": Path.mkdir,
    "a link to itself": lambda path: path.symlink_to(path.name),
    "a file of /proc": lambda path: path.symlink_to("/proc/self/pagemap"),
    "200 GB": _huge,
}
PLACES = [(target, name) for target in TARGETS for name in target.changed]


def special(number: int, folder: Path) -> Outcome:
    """Run a case in which one of the files is no file, or one without end."""
    target, name = PLACES[number % len(PLACES)]
    kind = list(SPECIAL)[(number + number // len(PLACES)) % len(SPECIAL)]

    def prepare(place: Path) -> None:
        (place / name).unlink()
        SPECIAL[kind](place / name)

    code, out, err = called(target.command, target.files(), folder, prepare)
    case = Case(number, target.name, name, kind, equal=False)
    fault = "".join(_faults(target, case, code, out, err))
    optional = name in _OPTIONAL or (kind, name) in _ABSENT or (kind == "a folder" and "/" in name)
    if code == 0 and not optional:
        fault = "answered"
    return Outcome(case, code, fault, err[-2000:])


def deep(number: int, folder: Path) -> Outcome:
    """Run a case in which one of the files is ten megabytes of brackets; it may take a second of a processor."""
    target, name = PLACES[number % len(PLACES)]
    piece = (b"[", b'{"a":', b'{"a":[')[(number + number // len(PLACES)) % 3]
    before = _seconds()
    files = {**target.files(), name: piece * (10_000_000 // len(piece))}
    code, out, err = called(target.command, files, folder)
    taken = _seconds() - before
    case = Case(number, target.name, name, f"10 MB of {piece.decode()}", equal=False)
    fault = "".join(_faults(target, case, code, out, err)) or (f"{taken:.1f} seconds" if taken > 1 else "")
    return Outcome(case, code, fault, err[-2000:])


def _seconds() -> float:
    """What the forks have taken of the processors."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


#: A link that leads nowhere is a file that is not there, and `verify` says that it had no evidence.
_ABSENT = frozenset({("a link to itself", "cert.evidence.parquet")})
#: Files that need not be there, and are passed over if they are not files.
_OPTIONAL = frozenset(name for _, name in PLACES if "results_" in name or name == "cert.dsse.json")


def _faults(target: Target, case: Case, code: int, out: str, err: str) -> Iterator[str]:
    if code not in CLEAN:
        yield f"exit {code}"
    elif code in {2, 3}:
        if out or err.count("\n") != 1 or not err.startswith("assay: "):
            yield "a refusal is one line on stderr and nothing else"
    elif target.json:
        yield from (f"{what}; " for what in faults(out, target.rows))
    if "Warning" in err:
        yield "a warning that is not ours"
    if case.equal and code in {2, 3}:
        yield "the data are equal, but the file is refused"


def called(
    command: Sequence[str], files: Files, folder: Path, prepare: Callable[[Path], object] = lambda _: None
) -> tuple[int, str, str]:
    """The exit code, stdout and stderr of a command in a folder of these files; a signal is a negative code."""
    place = folder / _FOLDER
    shutil.rmtree(place, ignore_errors=True)
    for name, content in files.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_bytes(content)
    prepare(place)
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
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
        signal.alarm(3 * SECONDS)  # what waits takes no processor; but a busy machine makes everything wait
        code = _code(command)
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException:  # noqa: BLE001 - whatever it is, it is a finding
        traceback.print_exc()
    finally:
        os._exit(code)


def _code(command: Sequence[str]) -> int:
    """The exit code of a command; a fault of ours is printed in full rather than put into a file."""
    from assay import exit_codes
    from assay.cli.main import main

    setattr(exit_codes, "_fault", lambda error: "".join(traceback.format_exception(error)))  # noqa: B010 - not ours to type
    setattr(exit_codes, "one_line", str)  # noqa: B010 - likewise
    sys.argv = ["assay", *command]
    try:
        if command[0] == "texts":
            return exit_codes.ended(lambda: _texts(*command[1:]))
        main()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0


def _texts(name: str, field: str | None = None) -> None:
    """What `assay score` reads before it needs a model."""
    from assay.scoring.models_and_texts import read_documents, texts_digest

    found = read_documents([Path(name)], field=field)
    print(json.dumps({"digest": texts_digest(found), "documents": len(found)}))  # noqa: T201 - a command


def warm() -> None:
    """Import what verbs need, so that forks need not."""
    for target in TARGETS:
        target.files()
    prepare()


def outcomes(numbers: Iterable[int], of: Callable[[int, Path], Outcome] = run) -> Iterator[Outcome]:
    with TemporaryDirectory() as name:
        for number in numbers:
            yield of(number, Path(name))


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
    how = {"special": special, "deep": deep}
    of = next((how[argument] for argument in arguments if argument in how), run)
    first, *rest = (int(argument) for argument in arguments if argument not in how)
    warm()
    if not rest:
        return _shown(first)
    found = []
    for outcome in outcomes(range(first, rest[0]), of):
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
