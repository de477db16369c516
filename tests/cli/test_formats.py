"""`assay formats`: the registry, as text and as JSON."""

import json

from assay import formats
from assay.data.readers.formats import HARNESSES
from tests.cli.command import Shell


def test_every_format_is_listed(shell: Shell) -> None:
    ran = shell("formats")
    assert (ran.exit_code, ran.err) == (0, "")
    for one in HARNESSES:
        lines = [one.name, f"  program   {one.program}", f"  known by  {one.known_by}", f"  example   {one.example}"]
        assert "\n".join(lines) in ran.out
    assert len(formats()) == len(HARNESSES)


def test_json_has_the_same(shell: Shell) -> None:
    found = json.loads(shell("formats", "--json").out)["formats"]
    assert found == [one.to_dict() for one in formats()]
    assert [one["name"] for one in found] == sorted(one.name for one in HARNESSES)


def test_format_points_at_the_list(shell: Shell) -> None:
    assert "assay formats" in " ".join(shell("compare", "--help").out.replace("│", " ").split())
