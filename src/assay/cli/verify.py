"""`assay verify CERT.json`, `assay keygen KEY` and `assay schema certificate`."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal

import typer

from assay.cli.output import say, say_json

_OWN = "Your own requirements"


def verify(
    certificate: Annotated[Path, typer.Argument(metavar="CERT.json", help="A certificate that `assay certify` wrote.")],
    evidence: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The evidence. (default: CERT.evidence.parquet beside it)")
    ] = None,
    key: Annotated[Path | None, typer.Option(metavar="PUB", help="The signature must be by this public key.")] = None,
    policy: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Your requirements as JSON: max_ratio, min_windows, …", rich_help_panel=_OWN),
    ] = None,
    max_ratio: Annotated[
        float | None,
        typer.Option(metavar="R", help="Your limit in place of the certificate's.", rich_help_panel=_OWN),
    ] = None,
    max_drop: Annotated[
        float | None,
        typer.Option(metavar="D", help="Your limit in place of the certificate's.", rich_help_panel=_OWN),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print what was found as JSON.")] = False,
) -> None:
    """Is this certificate true? Recomputes every number from the evidence and names each field that is wrong.

    Exits 0 if it is true and passes, 1 if it is true and does not pass, 4 if it is not true, 3 if it cannot be read.
    """
    from assay.certificate.requirements import Requirements
    from assay.certificate.verify import verify as run

    wanted = Requirements() if policy is None else Requirements.from_file(policy)
    if max_ratio is not None:
        wanted = replace(wanted, max_ratio=max_ratio)
    if max_drop is not None:
        wanted = replace(wanted, max_drop=max_drop)
    found = run(certificate, evidence=evidence, requirements=wanted, public_key=key)
    if as_json:
        say_json(found.to_dict())
    else:
        say(str(found))
    raise typer.Exit(found.exit_code)


def keygen(
    key: Annotated[Path, typer.Argument(metavar="KEY", help="The private key to write; the public one is KEY.pub.")],
) -> None:
    """Make a pair of Ed25519 keys for signing certificates. An existing key is never overwritten."""
    from assay.certificate.signing import generate_keys

    public = generate_keys(key)
    say(f"Private key: {key} (keep it secret)\nPublic key:  {public} (give it to whoever verifies)")


def schema(
    of: Annotated[Literal["certificate"], typer.Argument(metavar="certificate", help="What to describe.")],
) -> None:
    """Print the JSON Schema of a file that Assay writes."""
    from assay.certificate.schema import Certificate

    assert of == "certificate"  # the only choice so far; typer has checked it
    say_json(Certificate.model_json_schema())
