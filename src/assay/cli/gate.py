"""`assay gate BASELINE MODEL TEXT… -o CERT.json`."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from assay.cli import options
from assay.cli.job_summary import job_summary
from assay.cli.option_groups import with_groups
from assay.cli.output import check_replaced, say, say_json
from assay.cli.progress import tokens_of
from assay.cli.shown import Outputs

if TYPE_CHECKING:
    from assay.certificate.gate.fields import StatedGatePlan, TakenLook
    from assay.scoring.models_and_texts import ModelOrEndpoint
    from assay.scoring.noise_floor import NoiseFloor

LOOKS = "Looking"


@partial(with_groups, without=("save",))  # the certificate itself is what a report reads
def gate(
    baseline: Annotated[
        str, typer.Argument(metavar="BASELINE", help="The model in use: a run that `assay score` wrote, or a model.")
    ],
    model: Annotated[str, typer.Argument(metavar="MODEL", help="The model that shall replace it, or endpoint:URL.")],
    texts: Annotated[list[Path], typer.Argument(metavar="TEXT…", help="Text files, tables with --field, folders.")],
    output: Annotated[
        Path, options.option("The certificate; its evidence goes beside it.", "-o", "--output", value="CERT.json")
    ] = Path("certificate.json"),
    looks: Annotated[int, options.option("Look so often at the most.", panel=LOOKS, value="N")] = 7,
    spending: Annotated[
        Literal["obrien-fleming", "pocock"],
        options.option("How the error is spent: late, or evenly.", panel=LOOKS),
    ] = "obrien-fleming",
    futility: Annotated[
        float | None,
        options.option(
            "Stop where a pass is out of reach, with this chance of giving up on one. (default: never)",
            panel=LOOKS,
            value="BETA",
        ),
    ] = None,
    cluster: Annotated[
        Literal["document"] | None, options.option("Draw whole documents.", panel=LOOKS, value="document")
    ] = None,
    seed: Annotated[int | None, options.option("Seed of the order. (default: 0)", panel=LOOKS)] = None,
    policy: options.PolicyFile = None,
    tier: options.TierChoice = None,
    profile: options.ProfileName = None,
    max_ratio: options.MaxRatio = None,
    min_windows: Annotated[
        int | None,
        options.option("Windows of the plan: at most so many are scored.", panel=options.POLICY, value="N"),
    ] = None,
    level: options.PolicyLevel = None,
    note: Annotated[
        str | None,
        options.option("Why; needed for what is not the tier's. Recorded.", panel=options.POLICY, value="TEXT"),
    ] = None,
    adapter: options.Adapter = None,
    dtype: options.Dtype = "auto",
    device: options.Device = "auto",
    revision: options.Revision = None,
    trust_remote_code: options.TrustRemoteCode = False,
    allow_pickle: options.AllowPickle = False,
    served: options.Served = None,
    tokenizer: options.ServerTokenizer = None,
    concurrency: options.Concurrency = 8,
    timeout: options.Timeout = None,
    api_key_env: options.ApiKeyEnv = None,
    context: options.Context = None,
    field: options.Field = None,
    split_on: options.SplitOn = None,
    runs: Annotated[
        Path | None,
        options.option("Where losses are kept, to be resumed. (default: CERT.runs beside it)", value="DIR"),
    ] = None,
    cache: Annotated[
        Path | None,
        options.option(
            "Keep the baseline's run here, and find it again by the digests of model, text, context and tokenizer.",
            "--cache",
            value="DIR",
        ),
    ] = None,
    repeat_baseline: Annotated[
        bool,
        options.option(
            "Score the baseline's first windows twice, and say how far two runs of one model differ.",
            "--repeat-baseline",
        ),
    ] = False,
    overwrite: options.Overwrite = False,
    sign: Annotated[Path | None, options.option("Sign with this private key (assay keygen).", value="KEY")] = None,
    timestamp: Annotated[bool, options.option("Record the time of issue.", "--timestamp")] = False,
    junit: options.Junit = None,
    *,
    out: Outputs,
) -> None:
    """May MODEL replace BASELINE? Scores only as many windows as the answer needs, and exits 1 unless it passes.

    Windows are scored in a random order. After some of them the interval is compared with the limit, and where the
    answer is clear the gate stops: a good copy passes, and a broken one fails, after a small part of the text. Looking
    several times is paid for: a model at the limit passes at most 1 time in 40 over all looks.

    Killed and started again with the same arguments, it goes on where it was.

    Example: assay gate models/base models/int8 text.txt -o int8.json
    """
    from assay.certificate import written_files
    from assay.certificate.gate.issue import gate as run
    from assay.certificate.policy_file import policy_of
    from assay.files.places import is_run
    from assay.report.markdown import certificate_markdown
    from assay.scoring.models_and_texts import spec_of
    from assay.scoring.windows import Plan

    out.check([*texts, sign, policy], *written_files(output), junit)
    check_replaced(output)
    wanted = policy_of(policy).with_options(
        tier=tier, profile=profile, max_ratio=max_ratio, min_windows=min_windows, seed=seed, level=level, note=note
    )

    def specified(name: str) -> "ModelOrEndpoint":
        return spec_of(
            name,
            adapter=adapter if name == model else None,
            dtype=dtype,
            device=device,
            revision=revision if name == model else None,
            trust_remote_code=trust_remote_code,
            allow_pickle=allow_pickle,
            model=served,
            tokenizer=tokenizer,
            concurrency=concurrency,
            timeout=timeout,
            api_key_env=api_key_env,
        )

    issued = run(
        baseline if is_run(Path(baseline), "run.json") else specified(baseline),
        specified(model),
        texts,
        output,
        policy=wanted,
        looks=looks,
        spending=spending,
        futility=futility,
        cluster=cluster,
        plan=Plan(context=context),
        runs=runs,
        cache=cache,
        repeat_baseline=_say_noise if repeat_baseline else None,
        field=field,
        split_on=split_on,
        overwrite=overwrite,
        sign_with=sign,
        timestamp=timestamp,
        watcher=_Shown(Path(model).name),
    )
    summary = certificate_markdown(issued)
    out.write(issued, markdown=summary, junit=junit)
    job_summary(summary)
    if out.as_json:
        say_json(issued.to_dict(), sort_keys=True)
    else:
        out.print(issued, junit=junit)
    raise typer.Exit(0 if issued.passed else 1)


def _say_noise(noise: "NoiseFloor") -> None:
    say(noise.sentence, err=True)


class _Shown:
    """Tokens, and a line for every look, on stderr."""

    def __init__(self, name: str) -> None:
        self.progress = tokens_of(name)

    def scored(self, done: int, most: int) -> None:
        self.progress(done, most)

    def looked(self, look: "TakenLook", number: int, plan: "StatedGatePlan") -> None:
        from assay.certificate.gate.sentences import look_words

        say(look_words(look, number + 1, len(plan.looks), plan.limit), err=True)
