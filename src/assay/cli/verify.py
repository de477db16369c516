"""`assay verify CERT.json`, `assay keygen KEY` and `assay schema certificate|suite-certificate|…`."""

from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import typer

from assay.cli import options
from assay.cli.option_groups import with_groups
from assay.cli.output import say, say_json
from assay.cli.shown import Outputs


@partial(with_groups, without=("save",))  # a report checks certificates itself
def verify(
    certificate: Annotated[Path, typer.Argument(metavar="CERT.json", help="A certificate that `assay certify` wrote.")],
    evidence: Annotated[
        Path | None, options.option("The evidence. (default: CERT.evidence.parquet beside it)", value="FILE")
    ] = None,
    key: Annotated[Path | None, options.option("The signature must be by this public key.", value="PUB")] = None,
    policy: options.PolicyFile = None,
    max_ratio: options.MaxRatio = None,
    max_drop: options.MaxDrop = None,
    max_task_drop: options.MaxTaskDrop = None,
    every: options.EveryBound = None,
    tier: options.TierChoice = None,
    profile: options.ProfileName = None,
    min_windows: options.MinWindows = None,
    level: options.PolicyLevel = None,
    weights: options.WeightRule = None,
    method: options.PolicyMethod = None,
    scheme: options.PolicyScheme = None,
    lower_is_better: Annotated[
        bool | None, options.option("Less is better in the scores.", "--lower-is-better", panel=options.POLICY)
    ] = None,
    cluster: Annotated[
        str | None, options.option("Groups of this column were drawn whole.", panel=options.POLICY, value="COLUMN")
    ] = None,
    task: Annotated[
        str | None, options.option("The scores are of this task.", panel=options.POLICY, value="NAME")
    ] = None,
    metric: Annotated[
        str | None, options.option("The scores are of this metric.", panel=options.POLICY, value="NAME")
    ] = None,
    junit: options.Junit = None,
    *,
    out: Outputs,
) -> None:
    """Is this certificate true? Recomputes every number from the evidence and names each field that is wrong.

    The policy that it must meet may be your own; what you leave open is the issuer's choice. Exits 0 if it is true
    and passes, 1 if it is true and does not pass, 4 if it is not true, 3 if it cannot be read.

    Example: assay verify int4.json --policy gate.toml
    """
    from assay.certificate.policy_file import policy_of
    from assay.certificate.verify import verify as run
    from assay.limits import Limits

    out.check([certificate, evidence, key, policy], junit)
    wanted = policy_of(policy).with_options(
        tier=tier,
        profile=profile,
        max_ratio=max_ratio,
        max_drop=max_drop,
        each=None if max_task_drop is None else Limits(max_drop=max_task_drop),
        every=every,
        min_windows=min_windows,
        level=level,
        weights=weights,
        method=method,
        scheme=scheme,
        lower_is_better=lower_is_better,
        cluster=cluster,
        task=task,
        metric=metric,
    )
    found = run(certificate, evidence=evidence, policy=wanted, public_key=key)
    out.show(found, junit=junit)
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
        Literal["certificate", "suite-certificate", "gate-certificate", "policy", "targets"],
        typer.Argument(
            metavar="certificate|suite-certificate|gate-certificate|policy|targets", help="What to describe."
        ),
    ],
) -> None:
    """Print the JSON Schema of a certificate (of one task, several, a gate), a policy, or targets of `assay tune`."""
    from assay.analyses.tune.targets import targets_schema
    from assay.certificate.gate.record import gate_certificate_schema
    from assay.certificate.policy_file import policy_schema
    from assay.certificate.record import certificate_schema
    from assay.certificate.suite.record import suite_certificate_schema

    schemas = {
        "certificate": certificate_schema,
        "suite-certificate": suite_certificate_schema,
        "gate-certificate": gate_certificate_schema,
        "policy": policy_schema,
        "targets": targets_schema,
    }
    say_json(schemas[of]())
