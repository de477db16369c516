"""`assay certify BASELINE SUBJECT -o CERT.json`."""

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from assay.cli import options, which_results
from assay.cli.job_summary import job_summary
from assay.cli.option_groups import with_groups
from assay.cli.output import check_replaced, say, say_json
from assay.cli.shown import Outputs


@partial(with_groups, without=("save",))  # the certificate itself is what a report reads
def certify(
    baseline: Annotated[
        Path, typer.Argument(metavar="BASELINE", help="Results of the model in use (losses with splits, or scores).")
    ],
    subject: Annotated[
        Path | None, typer.Argument(metavar="SUBJECT", help="Results of the model that shall replace it.")
    ] = None,
    output: Annotated[
        Path, options.option("The certificate; its evidence goes beside it.", "-o", "--output", value="CERT.json")
    ] = Path("certificate.json"),
    policy: options.PolicyFile = None,
    tier: options.TierChoice = None,
    profile: options.ProfileName = None,
    max_ratio: options.MaxRatio = None,
    max_drop: options.MaxDrop = None,
    max_task_drop: options.MaxTaskDrop = None,
    every: options.EveryBound = None,
    min_windows: options.MinWindows = None,
    replicates: Annotated[int | None, options.option("Random replicates.", panel=options.POLICY, value="N")] = None,
    seed: Annotated[int | None, options.option("Seed of the replicates. (default: 0)", panel=options.POLICY)] = None,
    level: options.PolicyLevel = None,
    weights: options.WeightRule = None,
    method: options.PolicyMethod = None,
    scheme: options.PolicyScheme = None,
    note: Annotated[
        str | None,
        options.option(
            "Why; needed for what is not the tier's, a lower level, weights, a method, draws by tokens. Recorded.",
            panel=options.POLICY,
            value="TEXT",
        ),
    ] = None,
    baseline_model: options.ModelA = None,
    subject_model: options.ModelB = None,
    columns: options.Columns = None,
    cluster: options.Cluster = None,
    per: options.Per = None,
    by: options.TasksBy = None,
    lower_is_better: options.LowerIsBetter = None,
    picked: which_results.PicksToCompare = which_results.TO_COMPARE,
    against: Annotated[
        Path | None,
        options.option(
            "The certificate of the last release: what it certified is the baseline. Give only SUBJECT then.",
            "--against",
            value="CERT.json",
        ),
    ] = None,
    sign: Annotated[Path | None, options.option("Sign with this private key (assay keygen).", value="KEY")] = None,
    timestamp: Annotated[bool, options.option("Record the time of issue.", "--timestamp")] = False,
    junit: options.Junit = None,
    *,
    out: Outputs,
) -> None:
    """May SUBJECT replace BASELINE? Writes a certificate that anyone can check, and exits 1 unless it passes.

    The bound decides, not the point: pass when the whole interval is within the limit, regression when it is
    beyond it, otherwise insufficient evidence.

    Several tasks (a column task, or those of a harness) have a row each, and one verdict: pass when the mean of the
    tasks is shown to be within its limit and no single one is shown to be beyond its own, fail when one of them is
    beyond, otherwise undecided. A policy file may have limits of tasks, groups of tasks, scores and costs.

    Example: assay certify base.csv int4.csv -o int4.json --profile ci
    """
    from assay.certificate import certify as run
    from assay.certificate import written_files
    from assay.certificate.policy_file import policy_of
    from assay.files.writing import together
    from assay.limits import Limits
    from assay.report.markdown import certificate_markdown

    out.check([baseline, subject, sign, policy, against], *written_files(output), junit)
    check_replaced(output)
    wanted = policy_of(policy).with_options(
        tier=tier,
        profile=profile,
        max_ratio=max_ratio,
        max_drop=max_drop,
        each=None if max_task_drop is None else Limits(max_drop=max_task_drop),
        every=every,
        min_windows=min_windows,
        replicates=replicates,
        seed=seed,
        level=level,
        weights=weights,
        method=method,
        scheme=scheme,
        note=note,
    )
    alone = against is not None and subject is None
    with together():
        issued = run(
            None if alone else baseline,
            baseline if alone else subject,
            output,
            policy=wanted,
            models=(baseline_model, subject_model),
            columns=columns,
            cluster=cluster,
            lower_is_better=lower_is_better,
            per=per,
            by=by,
            selection=picked.selection(),
            against=against,
            sign_with=sign,
            timestamp=timestamp,
        )
        summary = certificate_markdown(issued)
        out.write(issued, markdown=summary, junit=junit)
    job_summary(summary)
    if out.as_json:
        say_json(issued.to_dict(), sort_keys=True)
        if issued.written is not None and issued.written.signature is not None:
            say(f"signature: {issued.written.signature}", err=True)
    else:
        out.print(issued, junit=junit)
    raise typer.Exit(0 if issued.passed else 1)
