"""The cluster files of the documentation: Ray's own schema, the shell's own parser, and options that exist."""

import json
import re
import shutil
import subprocess
import tomllib
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest
import typer

from assay.cli.command_line import command_line
from assay.engines.ray_cluster import COMPARED
from assay.version import VERSION

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "clusters"


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
    util = import_module("ray.autoscaler._private.util")
    util.validate_config(util.prepare_config(cluster))  # as `ray up` does


def test_the_cluster_runs_the_versions_that_were_tested() -> None:
    """Every package whose version is compared between driver and workers, at the version of constraints.txt."""
    text = (FOLDER / "ray-cluster.yaml").read_text()
    tested = dict(re.findall(r"^([a-z0-9_-]+)==(\S+)$", (ROOT / "constraints.txt").read_text(), re.MULTILINE))
    (install,) = re.findall(r"pip install (.*)", text)
    said = dict(re.findall(r"([a-z0-9_-]+)(?:\[[a-z,]+\])?==([0-9.]+)", install))
    assert said.pop("assay-eval") == VERSION
    assert said == {name: tested[name] for name in said}
    assert said.keys() >= {*COMPARED, "ray"}
    extras = set(re.findall(r"assay-eval\[([a-z,]+)\]", install)[0].split(","))
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert extras <= declared["optional-dependencies"].keys()
    ((ray, python),) = re.findall(r"image: rayproject/ray:([0-9.]+)-py(\d+)-gpu", text)
    assert ray == tested["ray"]
    assert (3, int(python[1:])) >= tuple(map(int, declared["requires-python"].removeprefix(">=").split(".")))


@pytest.mark.skipif(find_spec("ray") is None, reason="the extra ray is not installed")
@pytest.mark.parametrize("name", ["ray-cluster.yaml", "slurm.sh"])
def test_commands_and_options_of_ray_exist(name: str) -> None:
    commands = import_module("ray.scripts.scripts").cli.commands
    text = (FOLDER / name).read_text().replace("\\\n", " ")
    used = re.findall(r"(?<![-\w/])ray (start|up|attach|down|get-auth-token)([^;\n&]*)", text)
    assert len(used) >= 2
    for command, rest in used:
        known = {option for one in commands[command].params for option in one.opts}
        assert set(re.findall(r"--[a-z-]+", rest)) <= known
    setup = import_module("ray._private.authentication.authentication_token_setup")
    assert f"{setup.AUTH_MODE_ENV_VAR}=token" in text


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
