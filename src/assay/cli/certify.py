"""`assay certify BASELINE SUBJECT -o CERT.json`."""

import os
from pathlib import Path
from typing import Annotated

import typer

from assay.cli import options, sources
from assay.cli.output import say, say_json
from assay.design import Profile, TierName, Weights
from assay.errors import cannot_write

_DATA = "Data"
_POLICY = "Policy"


def certify(
    baseline: Annotated[
        Path, typer.Argument(metavar="BASELINE", help="Results of the model in use (losses with splits, or scores).")
    ],
    subject: Annotated[
        Path | None, typer.Argument(metavar="SUBJECT", help="Results of the model that shall replace it.")
    ] = None,
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="CERT.json", help="The certificate; its evidence goes beside it.")
    ] = Path("certificate.json"),
    policy: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="JSON or TOML; the options below may only be stricter.", rich_help_panel=_POLICY
        ),
    ] = None,
    tier: Annotated[
        TierName | None, typer.Option(help="Minima, replicates, limits. (default: balanced)", rich_help_panel=_POLICY)
    ] = None,
    profile: Annotated[
        Profile | None,
        typer.Option(help="ci and release refuse what dev only reports. (default: dev)", rich_help_panel=_POLICY),
    ] = None,
    max_ratio: Annotated[
        float | None,
        typer.Option(metavar="R", help="Largest acceptable perplexity ratio (needs --note).", rich_help_panel=_POLICY),
    ] = None,
    max_drop: Annotated[
        float | None,
        typer.Option(metavar="D", help="Largest acceptable fall of the score (needs --note).", rich_help_panel=_POLICY),
    ] = None,
    min_windows: Annotated[
        int | None,
        typer.Option(metavar="N", help="Windows or items per split (needs --note).", rich_help_panel=_POLICY),
    ] = None,
    replicates: Annotated[
        int | None, typer.Option(metavar="N", help="Random replicates (needs --note).", rich_help_panel=_POLICY)
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="Seed of the replicates. (default: 0)", rich_help_panel=_POLICY)
    ] = None,
    level: Annotated[
        float | None,
        typer.Option(help="Confidence level (below 0.95 needs --note). (default: 0.95)", rich_help_panel=_POLICY),
    ] = None,
    weights: Annotated[
        Weights | None,
        typer.Option(help="Of the items of scores; any needs --note. (default: equal)", rich_help_panel=_POLICY),
    ] = None,
    note: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="Why the tier's numbers were changed; recorded.", rich_help_panel=_POLICY),
    ] = None,
    baseline_model: Annotated[
        str | None,
        typer.Option("--a", metavar="NAME", help="The model to take from BASELINE.", rich_help_panel=_DATA),
    ] = None,
    subject_model: Annotated[
        str | None,
        typer.Option(
            "--b", metavar="NAME", help="The model to take from SUBJECT (or BASELINE).", rich_help_panel=_DATA
        ),
    ] = None,
    columns: options.Columns = None,
    cluster: options.Cluster = None,
    lower_is_better: Annotated[
        bool, typer.Option("--lower-is-better", help="Scores where less is better.", rich_help_panel=_DATA)
    ] = False,
    task: sources.Task = None,
    metric: sources.MetricName = None,
    filter_name: sources.Filter = None,
    scorer: sources.Scorer = None,
    format_name: sources.FormatName = None,
    newest: sources.Newest = False,
    sign: Annotated[Path | None, typer.Option(metavar="KEY", help="Sign with this private key (assay keygen).")] = None,
    timestamp: Annotated[bool, typer.Option("--timestamp", help="Record the time of issue.")] = False,
    markdown: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write a summary for a pull request.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the certificate.")] = False,
) -> None:
    """May SUBJECT replace BASELINE? Writes a certificate that anyone can check, and exits 1 unless it passes.

    The bound decides, not the point: pass when the whole interval is within the limit, regression when it is
    beyond it, otherwise insufficient evidence.
    """
    from assay.certificate.issue import certify as run
    from assay.certificate.issue import written_files
    from assay.certificate.policy import policy_of
    from assay.files.places import check_outputs
    from assay.files.writing import together, write_bytes
    from assay.report.markdown import certificate_markdown

    check_outputs([*written_files(output), markdown], [baseline, subject, sign, policy])
    wanted = policy_of(policy).with_options(
        tier=tier,
        profile=profile,
        max_ratio=max_ratio,
        max_drop=max_drop,
        min_windows=min_windows,
        replicates=replicates,
        seed=seed,
        level=level,
        weights=weights,
        note=note,
    )
    with together():
        issued = run(
            baseline,
            subject,
            output,
            policy=wanted,
            models=(baseline_model, subject_model),
            columns=columns,
            cluster=cluster,
            lower_is_better=True if lower_is_better else None,
            selection=sources.selection_of(task, metric, filter_name, scorer, format_name, newest=newest),
            sign_with=sign,
            timestamp=timestamp,
        )
        summary = certificate_markdown(issued)
        if markdown is not None:
            write_bytes(markdown, summary.encode())
    _job_summary(summary)
    if as_json:
        say_json(issued.to_dict(), sort_keys=True)
        if issued.written is not None and issued.written.signature is not None:
            say(f"signature: {issued.written.signature}", err=True)
    else:
        say(str(issued))
    raise typer.Exit(0 if issued.passed else 1)


def _job_summary(summary: str) -> None:
    """Under GitHub Actions the summary of the job shows the verdict."""
    target = os.environ.get("GITHUB_STEP_SUMMARY")
    if not target:
        return
    try:
        with Path(target).open("a", encoding="utf-8") as file:
            file.write(summary + "\n")
    except OSError as error:
        raise cannot_write(target, error, "check GITHUB_STEP_SUMMARY") from error
