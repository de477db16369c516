"""Gates: `certify` decides whether a model may replace another, and writes the certificate beside its evidence."""

import hashlib
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from assay.certificate.build import assumed, computed_facts
from assay.certificate.fields import BothSystems, ComparedSystem, EvidenceFile, Issuer, Measured, Seeds
from assay.certificate.policy import PICKS, policy_of
from assay.certificate.record import Certificate, Written
from assay.certificate.rules import enforce, rules_of, union_of, windows_of
from assay.certificate.signing import (
    canonical_bytes,
    digest_of,
    envelope_path,
    load_private_key,
    sign,
    withdraw_envelope,
)
from assay.data import Panel, Selection, Table
from assay.data.metrics import PERPLEXITY, SCORE, UNITS
from assay.data.readers.database import copy_columns
from assay.data.readers.registry import named
from assay.data.reading import check_used
from assay.data.runs import MANIFEST
from assay.data.sources import Models, Source, panel_as_asked, tables_of, tables_of_panel, two_names
from assay.data.tables import direction_of
from assay.design import Policy
from assay.errors import InputError, UsageError
from assay.files.places import check_outputs
from assay.files.writing import staged, together, write_bytes, write_whole
from assay.version import VERSION

_NO_DIGEST = "sha256:" + "0" * 64  # until there is one


def certify(
    baseline: Source | Panel,
    subject: Source | None,
    output: str | PathLike[str],
    *,
    policy: Policy | str | PathLike[str] | None = None,
    models: Models = (None, None),
    columns: Mapping[str, str] | None = None,
    cluster: str | None = None,
    lower_is_better: bool | None = None,
    selection: Selection | None = None,
    sign_with: str | PathLike[str] | None = None,
    timestamp: bool = False,
) -> Certificate:
    """May the subject replace the baseline? Writes ``output`` and, beside it, the evidence from which it was computed.

    The verdict is *pass*, *regression* or *insufficient evidence*; the interval's bound decides, not the point.
    ``policy`` is a `Policy` or a file of one. ``selection``, ``cluster`` and ``lower_is_better`` may not contradict it.
    ``baseline`` may be a `Panel` of both, in this order or with their names as ``models``, and ``subject`` ``None``;
    windows with the label ``split`` are told apart by it.

    >>> import tempfile
    >>> before = {"item": list(range(400)), "score": [i % 5 > 0 for i in range(400)]}
    >>> after = before | {"score": [i % 5 > 0 or i < 20 for i in range(400)]}  # four items better
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     certificate = certify(before, after, f"{folder}/gate.json")
    >>> certificate.verdict, certificate.primary_metric.difference_vs_baseline
    ('pass', 0.01)
    """
    path = Path(output)
    check_outputs(written_files(path), [baseline, subject, sign_with, policy])
    policy = policy_with(policy_of(policy), selection, cluster=cluster, lower_is_better=lower_is_better).complete()
    if path.suffix != ".json":
        raise UsageError(f"the certificate must be a .json file, but got {str(output)!r}.")
    key = None if sign_with is None else load_private_key(Path(sign_with))
    if isinstance(baseline, Panel):
        given = _given_panel(baseline, models, policy, subject=subject, columns=columns, selection=selection)
    else:
        given = _given_files(baseline, subject, models, columns, selection_with(policy, selection), policy)
    windows = windows_of(given.union)
    rules = rules_of(windows, policy)
    enforce(rules, policy, windows.final.unit)
    certificate = Certificate(
        meta=_issuer(policy, timestamp=timestamp),
        systems=given.systems,
        measure=measured((given.baseline, given.subject), policy),
        **computed_facts(windows, policy, rules),
        evidence=EvidenceFile(file=evidence_path(path).name, sha256=_NO_DIGEST, rows=0),
        digest=_NO_DIGEST,
    )
    canonical_bytes(certificate.to_dict())  # what cannot be written is refused before anything is
    written = _written(path, certificate, {"baseline": given.baseline, "subject": given.subject}, key)
    return written.beside(assumed(windows, policy))


def _written(path: Path, certificate: Certificate, tables: Mapping[str, Table], key: Any) -> Certificate:
    """Write the evidence, the certificate that names it and, with a key, its signature; all of them or none."""
    evidence, envelope = evidence_path(path), envelope_path(path)
    with together():  # a certificate beside the evidence of another would be false
        rows = write_tables(evidence, tables)
        proof = EvidenceFile(file=evidence.name, sha256=file_digest(staged(evidence)), rows=rows)
        certificate = msgspec.structs.replace(certificate, evidence=proof)
        certificate = msgspec.structs.replace(certificate, digest=digest_of(certificate.to_dict()))
        data = canonical_bytes(certificate.to_dict())
        write_bytes(path, data)
        if key is not None:
            write_bytes(envelope, sign(data, key))
        became = withdraw_envelope(envelope, data) if key is None else None
    return certificate.written_to(Written(path, became))


def written_files(certificate: Path) -> tuple[Path, ...]:
    """Everything that `certify` writes: the certificate, its evidence and, if it is signed, the envelope."""
    return certificate, evidence_path(certificate), envelope_path(certificate)


def evidence_path(certificate: Path) -> Path:
    """CERT.json → CERT.evidence.parquet."""
    return certificate.with_name(certificate.stem + ".evidence.parquet")


def file_digest(path: Path) -> str:
    with path.open("rb") as file:
        return "sha256:" + hashlib.file_digest(file, "sha256").hexdigest()


def _input_digest(table: Table, path: Path) -> str:
    """Digest of the input file; for several files of a harness, of their sorted digests."""
    files = table.about.get("files") or [_input_file(table, path)]
    digests = sorted(file_digest(file) for file in files)
    return digests[0] if len(digests) == 1 else "sha256:" + hashlib.sha256("\n".join(digests).encode()).hexdigest()


def _input_file(table: Table, path: Path) -> Path:
    """The file that was named, the manifest of a run, or the file that a pattern or a folder led to."""
    if (path / MANIFEST).is_file():
        return path / MANIFEST
    found = path if path.is_file() else Path(table.label.partition(" (model ")[0])
    if not found.is_file():
        raise InputError(f"{table.label}: cannot be read again for its digest; name the file itself.")
    return found


def _issuer(policy: Policy, *, timestamp: bool) -> Issuer:
    return Issuer(
        assay=VERSION,
        python=platform.python_version(),
        numpy=np.__version__,
        created=datetime.now(UTC).isoformat(timespec="seconds") if timestamp else None,
        seeds=Seeds(bootstrap=policy.design().seed),
    )


# ------------------------------------------------------------------------------------- what was given: files or a panel


@dataclass(frozen=True, eq=False, slots=True)
class _Given:
    """The two systems as read, and how the certificate describes their origin."""

    baseline: Table
    subject: Table
    union: Panel
    systems: BothSystems


def _given_files(
    baseline: Source,
    subject: Source | None,
    models: Models,
    columns: Mapping[str, str] | None,
    picked: Selection,
    policy: Policy,
) -> _Given:
    first, second = tables_of(baseline, subject, models, columns, policy.cluster, picked, must_pick=False)
    check_used(Selection(newest=picked.newest), (first, second))
    check_direction((first, second), policy)
    check_answers((first, second))
    # A policy is for losses and scores alike, and of losses the lower one is always the better.
    lower = None if first.kind == "losses" else policy.lower_is_better
    systems = BothSystems(
        baseline=_system(first, baseline), subject=_system(second, baseline if subject is None else subject)
    )
    union = union_of(first, second, cluster=policy.cluster or first.cluster_by, lower_is_better=lower)
    return _Given(first, second, union, systems)


def _system(table: Table, source: Source) -> ComparedSystem:
    path = named(source)[1] if isinstance(source, str | PathLike) else None
    digests = table.about.get("model", {}).get("digests", {})
    return ComparedSystem(
        name=table.name,
        file=None if path is None else path.name,
        sha256=None if path is None else _input_digest(table, path),
        model=digests.get("model"),
        tokenizer=digests.get("tokenizer"),
    )


def _given_panel(given: Panel, models: Models, policy: Policy, **not_for_panels: Any) -> _Given:
    """A panel has no file, only its own digest."""
    panel = panel_as_asked(given, cluster=policy.cluster, **not_for_panels)
    names = two_names(panel, models, "certify")
    metric, lower = panel.metric, policy.lower_is_better
    if metric.ratio not in (PERPLEXITY.ratio, SCORE.ratio):
        raise UsageError(f"certify takes a panel of losses or scores, but this one is of {metric.name}.")
    if metric.kind == "scores" and lower is not None and lower != metric.lower_is_better:
        words = {True: "lower", False: "higher"}
        raise UsageError(
            f"the panel says that {words[metric.lower_is_better]} is better, but {words[lower]} was asked for; make "
            f"the panel with lower_is_better={lower}, or correct the policy."
        )
    first, second = tables_of_panel(panel.of_models(names))
    about = {"file": None, "sha256": f"sha256:{given.digest}", "model": None, "tokenizer": None}
    systems = BothSystems(
        baseline=ComparedSystem(name=names[0], **about), subject=ComparedSystem(name=names[1], **about)
    )
    union = union_of(first, second, cluster=panel.cluster, lower_is_better=metric.lower_is_better)
    return _Given(first, second, union, systems)


# --------------------------------------------------------------------- what the rows are of: task, metric, direction


def policy_with(policy: Policy, selection: Selection | None, **asked: Any) -> Policy:
    """Add the caller's options to the policy; they may not contradict it."""
    picked = {name: getattr(selection, name) for name in PICKS} if selection is not None else {}
    return policy.with_options(**picked, **asked)


def selection_with(policy: Policy, selection: Selection | None) -> Selection:
    """The selection of harness results that the policy asks for."""
    return replace(selection or Selection(), **{name: getattr(policy, name) for name in PICKS})


def measured(tables: Sequence[Table], policy: Policy) -> Measured:
    """Task and metric, as stated by the files of a harness, or else by the policy or the issuer."""
    told = [table.about["measure"] for table in tables if "measure" in table.about]
    tasks = sorted({task for measure in told for task in measure["tasks"]})
    return Measured(
        task=policy.task if policy.task is not None else ", ".join(tasks) or None,
        tasks=tuple(tasks),
        metric=told[0]["metric"] if told else policy.metric or _own_metric(tables[0]),
        filter=told[0]["filter"] if told else policy.filter,
        scorer=told[0]["scorer"] if told else policy.scorer,
    )


def _own_metric(table: Table) -> str | None:
    """Perplexity, or the name of the score column if it says more than "score"."""
    if table.kind == "losses":
        return "perplexity"
    column = table.columns["score"]
    return None if column in ("score", table.name) else column  # a column for each model is called like the model


def check_answers(tables: Sequence[Table]) -> None:
    """Refuse lost answers, unless they count as wrong: a gate must not open because the subject failed to answer."""
    for table in tables:
        lost = len(table) - len(table.answered())
        if lost:
            raise InputError(
                f"{table.label}: {lost:,} of {len(table):,} answers were lost to errors, nulls or empty cells, and a "
                "gate needs them; run these again, or count them as wrong with `Selection(errors='wrong')`."
            )


def check_direction(tables: Sequence[Table], policy: Policy) -> None:
    """Refuse a policy that contradicts the harness about which direction is better."""
    told = direction_of(tables, asked=None)
    if told is None or policy.lower_is_better is None or tables[0].kind == "losses" or told == policy.lower_is_better:
        return
    words = {True: "lower", False: "higher"}
    raise UsageError(
        f"{tables[0].label}: the harness says that {words[told]} is better, but {words[policy.lower_is_better]} was "
        "asked for; leave `lower_is_better` out, or correct the policy."
    )


# ------------------------------------------------------------------------------------------------ the evidence


def write_tables(path: Path, tables: Mapping[str, Table]) -> int:
    """Write tables of one kind as one sorted Parquet file with a ``model`` column: equal rows give equal bytes.

    `read_table` reads it back, exact to the last bit. Returns the number of rows.
    """
    columns = _columns(tables)
    write_whole(path, lambda part: copy_columns(columns, part))
    return len(columns["model"])


def _columns(tables: Mapping[str, Table]) -> dict[str, NDArray[np.object_] | NDArray[np.float64]]:
    parts = [(name, table, _order(table)) for name, table in tables.items()]
    first = next(iter(tables.values()))
    numbers = [name for name in first.numbers if all(name in table.numbers for table in tables.values())]
    names = dict.fromkeys(name for table in tables.values() for name in table.labels if name != "model")
    labels = [n for n in names if n == "run" or all(n in table.labels for table in tables.values())]
    columns: dict[str, NDArray[np.object_] | NDArray[np.float64]] = {
        "model": np.concatenate([np.full(len(table), name, dtype=object) for name, table, _ in parts]),
        UNITS[first.kind]: np.concatenate([table.ids[order] for _, table, order in parts]),
    }
    for name in labels:
        texts = [_texts(table, name) for _, table, _ in parts]
        columns[name] = np.concatenate([text[order] for text, (_, _, order) in zip(texts, parts, strict=True)])
    for name in numbers:
        columns[name] = np.concatenate([table.numbers[name][order] for _, table, order in parts])
    return columns


def _texts(table: Table, name: str) -> NDArray[np.object_]:
    if name not in table.labels:
        return np.full(len(table), "1", dtype=object)  # a table without runs, beside one with several, has one
    return table.labels[name].texts


def _order(table: Table) -> NDArray[np.int64]:
    """Row order by split, id and run."""
    keys = [table.labels[name].codes for name in ("run",) if name in table.labels]
    _, ids = np.unique(table.ids.astype(str), return_inverse=True)
    keys.append(ids)
    keys += [table.labels[name].codes for name in ("split",) if name in table.labels]
    return np.lexsort(keys)
