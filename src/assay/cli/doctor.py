"""`assay doctor`."""

import json
from typing import Annotated

import typer

from assay.cli import options


def doctor(
    devices: Annotated[
        bool, typer.Option("--devices/--no-devices", help="Look for graphics cards, with torch.")
    ] = True,
    as_json: options.Json = False,
) -> None:
    """What a bug report needs: versions, extras, devices, terminal and caches.

    Example: assay doctor
    """
    from assay.cli.environment import described
    from assay.cli.output import say
    from assay.results.text import lined_up

    found = described(devices=devices)
    say(json.dumps(dict(found), ensure_ascii=False, indent=2) if as_json else lined_up(found))
