"""The command line of a script that simulates: how many times, and where the report goes."""

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path


def simulate(
    about: str, report: Callable[[int], str], simulations: int, arguments: Sequence[str] | None, per: str
) -> None:
    """Print what ``report`` gives for so many simulations, and write it to a file where that is asked for."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--simulations", type=int, default=simulations, metavar="N", help=per)
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the report to this file as well")
    options = parser.parse_args(arguments)
    text = report(options.simulations)
    print(text)
    if options.out:
        options.out.write_text(text + "\n", encoding="utf-8")
