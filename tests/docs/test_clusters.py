"""The cluster files of the documentation: Ray's own schema, the shell's own parser, and options that exist."""

import json
import re
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path

import pytest
import typer

from assay.cli.main import command_line

FOLDER = Path(__file__).parents[2] / "docs" / "clusters"


@pytest.mark.skipif(find_spec("ray") is None, reason="the extra ray is not installed")
def test_the_cluster_file_against_the_schema_of_ray() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    yaml = pytest.importorskip("yaml")
    found = find_spec("ray")
    assert found is not None
    assert found.origin is not None
    schema = json.loads((Path(found.origin).parent / "autoscaler" / "ray-schema.json").read_text())
    cluster = yaml.safe_load((FOLDER / "ray-cluster.yaml").read_text())
    jsonschema.validate(cluster, schema)
    with pytest.raises(jsonschema.ValidationError):  # the schema does refuse something
        jsonschema.validate(cluster | {"max_workers": "eight"}, schema)
    assert cluster["head_node_type"] in cluster["available_node_types"]


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_the_script_for_slurm_is_read_by_bash() -> None:
    subprocess.run(["bash", "-n", str(FOLDER / "slurm.sh")], check=True)  # noqa: S607 - whichever bash


def test_options_of_the_files_exist() -> None:
    score = typer.main.get_command(command_line(["score"])).commands["score"]  # type: ignore[attr-defined]  # a group
    known = {name for one in score.params for name in one.opts}
    script = (FOLDER / "slurm.sh").read_text().replace("\\\n", " ")
    (line,) = re.findall(r"^assay score .*$", script, re.MULTILINE)
    assert set(re.findall(r" (--?[a-z][a-z-]*)", line)) <= known
    assert set(re.findall(r"--[a-z-]+", (FOLDER / "ray-cluster.yaml").read_text().splitlines()[0])) <= known
