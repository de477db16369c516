"""`gate`: score windows in a random order, look, stop when the answer is clear, and certify."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Protocol, Unpack

import numpy as np

from assay.certificate.evidence import evidence_path, written_files
from assay.certificate.fields import BothSystems, ComparedSystem, EvidenceFile, Measured
from assay.certificate.gate.build import Ordered, gate_facts, minimum_rule, taken_look
from assay.certificate.gate.fields import StatedGatePlan, TakenLook
from assay.certificate.gate.plan import Candidate, PlannedLooks, plan_of, planned_order
from assay.certificate.gate.record import GateCertificate
from assay.certificate.issuing import NO_DIGEST, issuer, written
from assay.certificate.keywords import GateFields, with_asked
from assay.certificate.policy_file import policy_of
from assay.certificate.rules import enforce, union_of
from assay.certificate.signing import load_private_key
from assay.data import Panel, Table
from assay.data.reading import read_shards
from assay.data.runs import MANIFEST, Run, open_run
from assay.design import Policy
from assay.errors import InputError, UsageError
from assay.files.places import check_outputs, is_run
from assay.scoring import window_id
from assay.scoring.baseline_store import BaselineStore
from assay.scoring.checkpoint import ids_digest
from assay.scoring.models_and_texts import Model, Text, check_folders, read_documents, specs_of
from assay.scoring.noise_floor import NoiseFloor, noise_floor
from assay.scoring.stepwise import Loaded, StepwiseRun, load
from assay.scoring.windows import Layout, Plan, windows_of
from assay.stats.sequential.spending import Spending

#: A run (a folder that `score` wrote), or a model that is scored in step.
GateBaseline = Model | Run


class GateWatcher(Protocol):
    """Who is told how far a gate has come."""

    def scored(self, done: int, most: int) -> None:
        """So many tokens are scored, of at most so many."""

    def looked(self, look: TakenLook, number: int, plan: StatedGatePlan) -> None:
        """A look was taken."""


def gate(
    baseline: GateBaseline,
    model: Model,
    texts: Text | Sequence[Text],
    output: str | PathLike[str],
    *,
    policy: Policy | str | PathLike[str] | None = None,
    looks: int = 7,
    spending: Spending = "obrien-fleming",
    futility: float | None = None,
    cluster: str | None = None,
    plan: Plan | None = None,
    runs: str | PathLike[str] | None = None,
    cache: str | PathLike[str] | None = None,
    repeat_baseline: Callable[[NoiseFloor], None] | None = None,
    field: str | None = None,
    split_on: str | None = None,
    overwrite: bool = False,
    sign_with: str | PathLike[str] | None = None,
    timestamp: bool = False,
    watcher: GateWatcher | None = None,
    **settings: Unpack[GateFields],
) -> GateCertificate:
    """May the model replace the baseline? Scores only as many windows as the answer needs, and writes a certificate.

    Windows (whole documents with ``cluster="document"``) are scored in a random order; after some of them the interval
    is compared with the limit, ``looks`` times at the most, and as soon as the answer is clear it stops. Over all looks
    a model at the limit passes at most 1 time in 40, and as rarely fails. The tier's number of windows is the most that
    is scored. ``baseline`` is a run that `score` wrote, or a model that is scored in step with the other. ``futility``
    is the chance of giving up on a model that would pass; without it a gate never gives up.

    Losses are kept in ``runs`` (default: ``CERT.runs`` beside the certificate), where a gate that was killed is
    resumed.

    With ``cache`` the run of the baseline is kept in that folder instead, and found again by the digests of model,
    text, context and tokenizer: the next gate on the same text scores only the model. One that was made in another way
    is refused. With ``repeat_baseline`` the baseline's first windows are scored twice before anything is judged, and
    it is told how far two runs of the same model differ.

    >>> import tempfile
    >>> from assay.models import path
    >>> from assay.scoring.models_and_texts import Document
    >>> texts = [Document(f"story {i}", f"Once there were {i} models, and all were small.") for i in range(180)]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     found = gate(path("base"), path("base"), texts, f"{folder}/gate.json", plan=Plan(context=64))
    >>> found.verdict, len(found.looks), found.looks[0].windows
    ('pass', 1, 21)
    """
    place = Path(output)
    if place.suffix != ".json":
        raise UsageError(f"the certificate must be a .json file, but got {str(output)!r}.")
    folder = place.with_name(place.stem + ".runs") if runs is None else Path(runs)
    check_outputs(written_files(place), [*_paths(texts), sign_with, policy])
    asked = with_asked(policy_of(policy), None, settings).with_options(cluster=cluster)
    wanted = asked.complete()
    how = PlannedLooks(number=looks, spending=spending, beta=futility)
    cut = _checked(plan or Plan())
    key = None if sign_with is None else load_private_key(Path(sign_with))
    both = _both(baseline, model, _Texts(texts, field, split_on), cut)
    planned = _planned(both, wanted, how)
    rule = minimum_rule(planned.plan, wanted)
    enforce((rule,), wanted, "window")
    store = None if cache is None else _store(Path(cache), both)
    if repeat_baseline is not None:
        noise = _noise(both, planned)
        repeat_baseline(noise)
        _check_noise(noise, planned.plan.limit)
    scored = _scored(both, planned, _Kept(folder, store, overwrite), watcher)
    facts = gate_facts(scored.union, planned.plan, wanted, planned.tokens)
    certificate = GateCertificate(
        meta=issuer(planned.plan.seed, timestamp=timestamp),
        systems=both.systems,
        measure=Measured(task=None, tasks=(), metric="perplexity", filter=None, scorer=None),
        evidence=EvidenceFile(file=evidence_path(place).name, sha256=NO_DIGEST, rows=0),
        digest=NO_DIGEST,
        **facts,
    )
    return written(place, certificate, {"baseline": scored.baseline, "subject": scored.subject}, key)


def _paths(texts: Text | Sequence[Text]) -> list[str | PathLike[str]]:
    given = [texts] if isinstance(texts, str | PathLike) or not isinstance(texts, Sequence) else texts
    return [one for one in given if isinstance(one, str | PathLike)]


def _checked(plan: Plan) -> Plan:
    for name, usual in {"stride": None, "draw": None, "keep_tokens": False, "seed": 0}.items():
        if getattr(plan, name) != usual:
            why = "the policy's seed orders the windows" if name == "seed" else "a gate draws single windows itself"
            raise UsageError(f"gate has no `{name}`: {why}; leave it out.")
    return plan


# ------------------------------------------------------------------------------------------------------- what is scored


@dataclass(frozen=True, slots=True)
class _Texts:
    given: Any
    field: str | None
    split_on: str | None


@dataclass(frozen=True, eq=False, slots=True)
class _Both:
    """The model, the baseline (as a model, or as the table of a run), and how the text is cut."""

    subject: Loaded
    baseline: Loaded | None
    table: Table | None
    layout: Layout
    systems: BothSystems


def _both(baseline: GateBaseline, model: Model, texts: _Texts, plan: Plan) -> _Both:
    run = _run_of(baseline)
    name, spec = next(iter(specs_of(model).items()))
    own = None if run is not None else next(iter(specs_of(baseline).items()))
    check_folders([spec] if own is None else [own[1], spec])
    documents = read_documents(texts.given, field=texts.field, split_on=texts.split_on)
    known: dict[str, Any] = {}
    subject = load(name, spec, documents, plan, known)
    if run is not None:
        layout = subject.layout(int(run.manifest.get("layout", {}).get("context", 0)) or None)
        _check_run(run, subject, layout)
        table = _without_splits(read_shards(run.files(), run.folder))
        systems = BothSystems(baseline=_of_run(run, table), subject=_of_model(subject))
        return _Both(subject, None, table, layout, systems)
    assert own is not None  # a model then
    other = load(*own, documents, plan, known)
    if other.definition != subject.definition:
        raise InputError(
            f"{other.name} and {subject.name} have different tokenizers, so their perplexities are of different "
            "tokens; score both with `assay score` and certify the bits per byte (`per='byte'`)."
        )
    layout = subject.layout(min(subject.context, other.context, 2048))
    systems = BothSystems(baseline=_of_model(other), subject=_of_model(subject))
    return _Both(subject, other, None, layout, systems)


def _run_of(baseline: GateBaseline) -> Run | None:
    if isinstance(baseline, Run):
        return baseline
    if isinstance(baseline, str | PathLike) and is_run(Path(fspath(baseline)), MANIFEST):
        return open_run(Path(fspath(baseline)))
    return None


def _without_splits(table: Table) -> Table:
    """A gate has no preview: windows of either split may be among those that it draws."""
    return replace(table, labels={name: one for name, one in table.labels.items() if name != "split"})


def _check_run(run: Run, subject: Loaded, layout: Layout) -> None:
    """Refuse the run of another text, another tokenizer or another cut: it must not be reused silently."""
    text, cut = run.manifest.get("text", {}), run.manifest.get("layout", {})
    found = ids_digest(one.ids for one in subject.encoded)
    if text.get("token_ids") != found:
        raise InputError(
            f"{run.folder}: the run of another text, or of another tokenizer; score the baseline on this text, or name "
            "the model itself."
        )
    wanted = {"context": layout.context, "stride": layout.step, "bos": layout.bos, "cut": layout.cut}
    for name, value in wanted.items():
        if cut.get(name) != value:
            raise InputError(
                f"{run.folder}: its text is cut in another way ({name} {cut.get(name)}, here {value}); score the "
                "baseline again, or name the model itself."
            )


def _of_run(run: Run, table: Table) -> ComparedSystem:
    digests = run.manifest.get("model", {}).get("digests", {})
    return ComparedSystem(
        name=table.name,
        file=run.folder.name,
        sha256=None,
        model=digests.get("model"),
        tokenizer=digests.get("tokenizer"),
    )


def _of_model(model: Loaded) -> ComparedSystem:
    digests = model.about["model"]["digests"]
    return ComparedSystem(
        name=model.name, file=None, sha256=None, model=digests.get("model"), tokenizer=digests.get("tokenizer")
    )


@dataclass(frozen=True, eq=False, slots=True)
class _Planned:
    """The windows in order, and the plan."""

    windows: Sequence[Any]
    names: Sequence[str]
    plan: StatedGatePlan
    tokens: int


def _planned(both: _Both, policy: Policy, how: PlannedLooks) -> _Planned:
    encoded, layout = both.subject.encoded, both.layout
    windows = windows_of([len(one.ids) for one in encoded], layout)
    names = [window_id(encoded, window, layout) for window in windows]
    there = None if both.table is None else set(both.table.ids.tolist())
    candidates = [
        (window, Candidate(name, encoded[window.document].document.name, window.tokens, layout.is_full(window)))
        for window, name in zip(windows, names, strict=True)
        if there is None or name in there
    ]
    if not candidates:
        raise InputError("the text has no token that can be predicted; give longer documents.")
    order = planned_order([one for _, one in candidates], policy)
    chosen = [candidates[i][1] for i in order]
    digest = ids_digest(one.ids for one in encoded)
    plan = plan_of(chosen, policy, how, text=digest, context=layout.context)
    return _Planned(
        [candidates[i][0] for i in order], [one.name for one in chosen], plan, sum(one.tokens for one in chosen)
    )


# -------------------------------------------------------------------------------------------------------------- looking


@dataclass(frozen=True, eq=False, slots=True)
class _Scored:
    baseline: Table
    subject: Table
    union: Panel


@dataclass(frozen=True, slots=True)
class _Kept:
    """Where losses are kept."""

    folder: Path
    store: BaselineStore | None
    overwrite: bool

    def stored(self, run: StepwiseRun) -> StepwiseRun:
        """The run of the baseline, in the store: it does not depend on what is judged, so neither does its manifest."""
        assert self.store is not None
        own = {name: value for name, value in run.manifest["gate"].items() if name != "plan"}
        kept = replace(run, manifest={"gate": own})
        return replace(kept, folder=self.store.place(kept.whole, overwrite=self.overwrite))


def _store(folder: Path, both: _Both) -> BaselineStore:
    if both.baseline is None:
        raise UsageError("`cache` keeps the run of a baseline that is a model, and this one is a run; leave it out.")
    return BaselineStore(folder)


def _noise(both: _Both, planned: _Planned) -> NoiseFloor:
    """How far two runs of the baseline differ, on the windows of the first look."""
    model = both.baseline
    if model is None:
        raise UsageError("`repeat_baseline` scores the baseline twice, and this one is a run; name the model itself.")
    windows = planned.windows[: planned.plan.looks[0].windows]
    rows = [both.layout.row(model.encoded[one.document].ids, one, model.start) for one in windows]
    return noise_floor(model.name, model.scorer.losses, rows, [one.tokens for one in windows])


def _check_noise(noise: NoiseFloor, limit: float) -> None:
    if noise.ratio > limit:
        raise InputError(f"{noise.sentence} That is beyond the limit of × {limit:g}: nothing can be judged by it.")


def _scored(both: _Both, planned: _Planned, kept: _Kept, watcher: GateWatcher | None) -> _Scored:
    """Score step by step, until a look stops."""
    plan, stops = planned.plan, [look.windows for look in planned.plan.looks]
    baseline = {} if both.baseline is None else {"baseline": both.baseline}
    models = {**baseline, "subject": both.subject}
    manifest = {"gate": {"plan": plan.digest, "looks": stops, "seed": plan.seed, "order": plan.order}}
    steps = {
        role: StepwiseRun(model, both.layout, planned.windows, stops, kept.folder / role, manifest, kept.overwrite)
        for role, model in models.items()
    }
    if kept.store is not None:
        steps["baseline"] = kept.stored(steps["baseline"])
    done = _Counter(watcher, planned.tokens * len(models))
    for number in range(len(stops)):
        tables = {role: read_shards(one.score(number, done), one.run.folder) for role, one in steps.items()}
        if both.table is not None:
            wanted = set(planned.names[: stops[number]])
            there = np.array([one in wanted for one in both.table.ids.tolist()])
            tables["baseline"] = both.table.where(there)
        found = _together(tables, plan)
        look, _ = taken_look(Ordered.of(found.union, plan).first(stops[number]), plan, number)
        if watcher is not None:
            watcher.looked(look, number, plan)
        if look.outcome != "continue":
            break
    finished = {role: one.finish() for role, one in steps.items()}
    if kept.store is not None:
        kept.store.seal(finished["baseline"])
    return found


def _together(tables: dict[str, Table], plan: StatedGatePlan) -> _Scored:
    baseline, subject = (replace(tables[role], cluster_by=plan.cluster_by) for role in ("baseline", "subject"))
    union = union_of(baseline, subject, cluster=plan.cluster_by, lower_is_better=None)
    return _Scored(baseline, subject, union)


@dataclass(slots=True)
class _Counter:
    """Counts the tokens of both models."""

    watcher: GateWatcher | None
    most: int
    done: int = 0

    def __call__(self, tokens: int) -> None:
        self.done += tokens
        if self.watcher is not None:
            self.watcher.scored(self.done, self.most)
