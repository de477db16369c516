"""`assay doctor`: one block, and the same as JSON."""

import json

from assay.cli.environment import EXTRAS
from tests.cli.command import Shell


def test_one_block_and_the_same_as_json(shell: Shell) -> None:
    text = shell("doctor", "--no-devices").out
    data = json.loads(shell("doctor", "--no-devices", "--json").out)
    assert [line.split("  ")[0] for line in text.splitlines()] == list(data)
    assert {f"[{name}]" for name in EXTRAS} < set(data)
