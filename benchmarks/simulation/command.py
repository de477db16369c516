"""The command line of a script that measures: what it is about, and where its report goes."""

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path


def report_parser(about: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the report to this file as well")
    return parser


def publish(report: str, out: Path | None) -> None:
    """Print a report, and write it to a file where that is asked for."""
    print(report)
    if out:
        out.write_text(report + "\n", encoding="utf-8")


def simulate(
    about: str, report: Callable[[int], str], simulations: int, arguments: Sequence[str] | None, per: str
) -> None:
    """Publish what ``report`` gives for so many simulations."""
    parser = report_parser(about)
    parser.add_argument("--simulations", type=int, default=simulations, metavar="N", help=per)
    options = parser.parse_args(arguments)
    publish(report(options.simulations), options.out)
