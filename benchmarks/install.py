"""What each dependency costs on the disk, and what numba, the largest, buys.

    python benchmarks/install.py
    python benchmarks/install.py --out benchmarks/results/install.md

Sizes are those of the files that a package lists, in the environment that runs this, byte code included. Commands run
with numba and with its import blocked, in turns, and print the same numbers; times are CPU seconds of whole processes.
"""

import re
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # so that the script runs from any folder

import numpy as np

from assay.examples import copy, copy_survey
from benchmarks.simulation.command import publish, report_parser
from benchmarks.simulation.tables import table
from benchmarks.timing.processes import measured

ROOT = Path(__file__).resolve().parents[1]
TURNS = 2
EXTRAS = ("", "charts", "fast", "ja", "sign", "xlsx", "hf")
LEAST = 5.0  # MB of a package that has a line of its own
MODELS, ITEMS = 40, 4_000
_NAME = re.compile(r"[A-Za-z0-9._-]+")
_WITHOUT = "import sys; sys.modules['numba'] = None; from assay.cli.main import main; main()"
_WITH = "from assay.cli.main import main; main()"
COMMANDS = {
    "compare, 360 windows": "compare losses-base.csv losses-int3.csv",
    "certify, 360 windows, 1,200 replicates": "certify losses-base.csv losses-int3.csv -o gate.json",
    "compare, 360 windows, 200,000 replicates": "compare losses-base.csv losses-int3.csv --resamples 200000",
    "rank, 4 models × 500 items": "rank scores-base.csv scores-int3.csv scores-bigram.csv scores-trigram.csv",
    f"rank, {MODELS} models × {ITEMS:,} items, max-T": "rank many.csv --adjust max-t",
    "survey, 4 predictors": "survey survey.json predictions.csv --prior prior.json",
}


def main(arguments: Sequence[str] | None = None) -> None:
    options = report_parser("What each dependency costs on the disk, and what numba buys.").parse_args(arguments)
    publish("\n\n".join(["### Size", *_sizes(), "### Time without numba", _times()]), options.out)


# ---------------------------------------------------------------------------------------------------------------- sizes


def _sizes() -> Iterator[str]:
    core = _closure("")
    rows = []
    for extra in EXTRAS:
        found = _closure(extra)
        own = {name: size for name, size in found.items() if not extra or name not in core}
        large = sorted(((size, name) for name, size in own.items() if size >= LEAST), reverse=True)
        named = ", ".join(f"{name} {size:.0f}" for size, name in large)
        what = f"`[{extra}]`" if extra else "core"
        rows.append([what, f"{sum(own.values()):,.0f}", str(len(own)), named])
    yield table(["", "MB", "packages", f"of {LEAST:.0f} MB and more"], rows)
    compiled = sum(_size(distribution(name), only=".pyc") for name in core)
    yield f"Byte code, which pip compiles of all modules and tests, is {compiled:,.0f} MB of the core."


def _closure(extra: str) -> dict[str, float]:
    """Every package that assay-eval needs with an extra, and its size in MB."""
    found: dict[str, float] = {}
    left = [("assay-eval", extra)]
    while left:
        name, wanted = left.pop()
        for needed in _needed(name, wanted):
            if needed not in found:
                found[needed] = _size(distribution(needed))
                left.append((needed, ""))
    return found


def _needed(name: str, extra: str) -> Iterator[str]:
    """What a package requires on this machine, as far as it is installed; of ours also by an extra."""
    for line in _declared(extra) if name == "assay-eval" else distribution(name).requires or ():
        wanted, _, marker = line.partition(";")
        if "extra ==" in marker:
            continue
        match = _NAME.match(wanted)
        assert match is not None
        try:
            found = distribution(match[0]).metadata["Name"].lower().replace("_", "-")
        except PackageNotFoundError:  # for another system or version of Python
            continue
        yield found


def _declared(extra: str) -> list[str]:
    """What pyproject.toml says; an installation may be older."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return [*project["dependencies"], *(project["optional-dependencies"][extra] if extra else ())]


def _size(package: Distribution, only: str = "") -> float:
    files = [Path(str(package.locate_file(file))) for file in package.files or () if str(file).endswith(only)]
    return sum(file.stat().st_size for file in files if file.exists()) / 1e6


# ---------------------------------------------------------------------------------------------------------------- times


def _times() -> str:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        copy(place)
        copy_survey(place)
        _write_many(place / "many.csv")
        rows = [_row(name, command.split(), place) for name, command in COMMANDS.items()]
    return table(["command", "with numba, CPU s", "without, CPU s", "ratio"], rows)


def _row(name: str, command: list[str], place: Path) -> list[str]:
    arguments = [str(place / part) if (place / part).is_file() or part == "gate.json" else part for part in command]
    times: dict[str, list[float]] = {_WITH: [], _WITHOUT: []}
    for turn in range(TURNS + 1):
        for code, seconds in times.items():
            done = measured(sys.executable, "-c", code, *arguments)
            if done.code not in {0, 1}:
                raise RuntimeError(done.errors)
            if turn:  # the first time compiles
                seconds.append(done.cpu)
    with_it, without = median(times[_WITH]), median(times[_WITHOUT])
    return [name, f"{with_it:.2f}", f"{without:.2f}", f"{without / with_it:.1f}"]


def _write_many(path: Path) -> None:
    rng = np.random.default_rng(0)
    hard, skill = rng.normal(size=ITEMS), rng.normal(0, 0.2, MODELS)
    with path.open("w", encoding="utf-8") as file:
        file.write("model,item,score\n")
        for m in range(MODELS):
            right = (skill[m] + hard + rng.normal(size=ITEMS) > 0).astype(int)
            file.writelines(f"m{m},{i},{score}\n" for i, score in enumerate(right.tolist()))


if __name__ == "__main__":
    main()
