"""Certificates of earlier versions: they are not read, and whoever has one is told how to issue it again."""

from pathlib import Path
from shlex import quote
from typing import Any

from assay.certificate.issue import evidence_path
from assay.certificate.schema import SCHEMA
from assay.design import OF_THE_TIER
from assay.errors import InputError
from assay.names import shown

#: The first has neither task nor metric; the second says nothing of weights; 0/1 scores had other intervals in both.
_EARLIER = ("assay/certificate/1", "assay/certificate/2")


def check_version(path: Path, document: dict[str, Any]) -> None:
    """Refuse what is not a certificate of this version."""
    found = document["schema"]
    if found == SCHEMA:
        return
    if found in _EARLIER:
        raise InputError(
            f"{path}: issued by an earlier version of Assay (schema {found!r}; this one reads {SCHEMA!r}); issue it "
            f"again from its evidence: {_again(path, document)}"
        )
    what = f"not a certificate that this version reads: schema {shown(str(found))}"
    raise InputError(f"{path}: {what}, expected {SCHEMA!r}; give a file that `assay certify` wrote.")


def _again(path: Path, document: dict[str, Any]) -> str:
    """The command that judges the same evidence by the same policy, and leaves the old certificate as it is."""
    new = path.with_name(f"{path.stem}-again.json")
    command = f"assay certify {quote(str(evidence_path(path)))} --a baseline --b subject -o {quote(str(new))}"
    try:
        options = " ".join(f"{name} {quote(str(value))}" for name, value in _options(document).items())
        lower = document["primary_metric"]["kind"] == "score" and document["primary_metric"]["lower_is_better"]
    except (KeyError, TypeError):  # it says too little of itself
        return command
    return f"{command} {options}{' --lower-is-better' if lower else ''}"


def _options(document: dict[str, Any]) -> dict[str, Any]:
    policy, stats = document["policy"], document["dataset"]["windows"]["stats"]
    options = {
        "--tier": policy["tier"],
        "--profile": policy["profile"],
        "--level": policy["level"],
        "--seed": stats["bootstrap"]["seed"],
        "--cluster": stats["cluster_by"],
        "--note": policy["note"],
        **{
            f"--{field.replace('_', '-')}": policy["limits"][name]
            for field, name in OF_THE_TIER.items()
            if name in policy["overrides"]
        },
    }
    return {option: value for option, value in options.items() if value is not None}
