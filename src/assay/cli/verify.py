"""`assay verify CERT.json`, `assay keygen KEY` and `assay schema certificate|policy`."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from assay.cli.output import say, say_json
from assay.design import Profile, TierName, Weights

_OWN = "Your own policy"


def verify(
    certificate: Annotated[Path, typer.Argument(metavar="CERT.json", help="A certificate that `assay certify` wrote.")],
    evidence: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The evidence. (default: CERT.evidence.parquet beside it)")
    ] = None,
    key: Annotated[Path | None, typer.Option(metavar="PUB", help="The signature must be by this public key.")] = None,
    policy: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Yours, JSON or TOML; the options below may only be stricter.", rich_help_panel=_OWN
        ),
    ] = None,
    max_ratio: Annotated[
        float | None,
        typer.Option(metavar="R", help="Your limit in place of the certificate's.", rich_help_panel=_OWN),
    ] = None,
    max_drop: Annotated[
        float | None,
        typer.Option(metavar="D", help="Your limit in place of the certificate's.", rich_help_panel=_OWN),
    ] = None,
    tier: Annotated[TierName | None, typer.Option(help="Limits and minima of this tier.", rich_help_panel=_OWN)] = None,
    profile: Annotated[
        Profile | None, typer.Option(help="Issued under this profile or a stricter one.", rich_help_panel=_OWN)
    ] = None,
    min_windows: Annotated[
        int | None, typer.Option(metavar="N", help="Least number of windows or items.", rich_help_panel=_OWN)
    ] = None,
    level: Annotated[
        float | None,
        typer.Option(help="Least confidence level. (default with any of these: 0.95)", rich_help_panel=_OWN),
    ] = None,
    lower_is_better: Annotated[
        bool, typer.Option("--lower-is-better", help="Scores where less is better.", rich_help_panel=_OWN)
    ] = False,
    weights: Annotated[
        Weights | None,
        typer.Option(help="Of the items of scores. (default with any of these: equal)", rich_help_panel=_OWN),
    ] = None,
    cluster: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Groups of this column drawn whole.", rich_help_panel=_OWN)
    ] = None,
    task: Annotated[
        str | None, typer.Option(metavar="NAME", help="The scores are of this task.", rich_help_panel=_OWN)
    ] = None,
    metric: Annotated[
        str | None, typer.Option(metavar="NAME", help="The scores are of this metric.", rich_help_panel=_OWN)
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print what was found as JSON.")] = False,
) -> None:
    """Is this certificate true? Recomputes every number from the evidence and names each field that is wrong.

    Exits 0 if it is true and passes, 1 if it is true and does not pass, 4 if it is not true, 3 if it cannot be read.
    """
    from assay.certificate.policy import policy_of
    from assay.certificate.verify import verify as run

    wanted = policy_of(policy).with_options(
        tier=tier,
        profile=profile,
        max_ratio=max_ratio,
        max_drop=max_drop,
        min_windows=min_windows,
        level=level,
        weights=weights,
        lower_is_better=True if lower_is_better else None,
        cluster=cluster,
        task=task,
        metric=metric,
    )
    found = run(certificate, evidence=evidence, policy=wanted, public_key=key)
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
    of: Annotated[
        Literal["certificate", "policy"], typer.Argument(metavar="certificate|policy", help="What to describe.")
    ],
) -> None:
    """Print the JSON Schema of a certificate, or of a policy."""
    from assay.certificate.policy import policy_schema
    from assay.certificate.record import certificate_schema

    say_json(certificate_schema() if of == "certificate" else policy_schema())
