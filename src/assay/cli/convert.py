"""`assay convert RESULTS… -o TABLE`."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Literal

import typer

from assay.cli import options, output, which_results
from assay.cli.option_groups import with_groups

_RECORDS = "Records of others"


@with_groups
def convert(
    results: Annotated[
        list[Path],
        typer.Argument(metavar="RESULTS…", help="Tables, runs, files of a harness; [NAME=]PATH."),
    ],
    written: Annotated[
        Path,
        options.option(
            "What to write: a .parquet, .csv or .jsonl file, or the folder of records.", "-o", "--output", value="FILE"
        ),
    ],
    to: Annotated[
        Literal["table", "every-eval-ever"], options.option("One plain table, or records.", "--to")
    ] = "table",
    columns: options.Columns = None,
    cluster: options.Cluster = None,
    picked: which_results.HarnessPicks = which_results.OF_HARNESS,
    organization: Annotated[
        str | None, options.option("Who evaluated. (default: unknown)", panel=_RECORDS, value="NAME")
    ] = None,
    relationship: Annotated[
        Literal["first_party", "third_party", "collaborative", "other"],
        options.option("Of those who evaluated to the model.", panel=_RECORDS),
    ] = "other",
    level: Annotated[
        float, options.option("Confidence level of the intervals.", panel=_RECORDS)
    ] = options.DESIGN.level,
    as_json: options.Json = False,
) -> None:
    """Write the results of any harness as one plain table, or as records that others share.

    A row is an answer of a model to an item by a metric, with what it cost; every metric and task is written, unless
    one is chosen. All other verbs read the table as they read the files it was made from.

    --to every-eval-ever writes aggregates with their intervals and, where the files hold the texts, samples.
    """
    from assay.conversion import convert as run  # late: --help and errors of usage need none of it

    found = run(
        *results,
        output=written,
        to=to,
        columns=columns,
        cluster=cluster,
        selection=picked.selection(),
        organization=organization,
        relationship=relationship,
        level=level,
    )
    if as_json:
        output.say_json({**asdict(found), "files": [str(file) for file in found.files]})
    else:
        output.say(str(found))
