"""Gates: `certify` decides whether a model may replace another, and writes the certificate beside its evidence."""

from collections.abc import Mapping
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any, Unpack

from assay.analyses.contrast import check_clusters
from assay.analyses.suite.tasks import TASK
from assay.certificate.build import assumed, computed_facts
from assay.certificate.evidence import evidence_path, file_digest, write_tables, written_files
from assay.certificate.fields import EvidenceFile
from assay.certificate.inputs import (
    Given,
    check_limit,
    check_measure,
    given_files,
    given_panel,
    measured,
    policy_with,
    selection_with,
)
from assay.certificate.issuing import NO_DIGEST, issuer, written
from assay.certificate.keywords import GateFields, with_asked
from assay.certificate.policy_file import policy_of
from assay.certificate.record import Certificate
from assay.certificate.released import check_against, released, with_release
from assay.certificate.rules import enforce, rules_of, windows_of
from assay.certificate.signing import load_private_key
from assay.certificate.suite.build import SuiteEvidence, suite_facts
from assay.certificate.suite.issue import assumed as items_assumed
from assay.certificate.suite.issue import (
    check_tasks,
    evidence_tables,
    has_tasks,
    may_have_tasks,
    policy_over,
    with_tasks,
)
from assay.certificate.suite.record import SuiteCertificate
from assay.data import Panel, Selection
from assay.data.runs.rates import Size
from assay.data.sources import Models, Source
from assay.design import Design, Policy
from assay.errors import UsageError
from assay.files.places import check_outputs

__all__ = ["certify", "evidence_path", "file_digest", "write_tables", "written_files"]


def certify(
    baseline: Source | Panel | None,
    subject: Source | None,
    output: str | PathLike[str],
    *,
    policy: Policy | str | PathLike[str] | None = None,
    models: Models = (None, None),
    columns: Mapping[str, str] | None = None,
    cluster: str | None = None,
    lower_is_better: bool | None = None,
    per: Size | None = None,
    selection: Selection | None = None,
    sign_with: str | PathLike[str] | None = None,
    timestamp: bool = False,
    by: str | None = None,
    against: str | PathLike[str] | None = None,
    design: Design | None = None,
    **settings: Unpack[GateFields],
) -> Certificate | SuiteCertificate:
    """May the subject replace the baseline? Writes ``output`` and, beside it, the evidence from which it was computed.

    The verdict is *pass*, *regression* or *insufficient evidence*; the interval's bound decides, not the point.
    ``policy`` is a `Policy` or a file of one. Its fields (``level``, ``method``, ``profile``, ``note``, …) may be
    keywords as well, and ``design`` may say how the interval is computed. Beside a policy they, ``selection``,
    ``cluster`` and ``lower_is_better`` may be stricter, but not contradict it.
    ``baseline`` may be a `Panel` of both, in this order or with their names as ``models``, and ``subject`` ``None``;
    windows with the label ``split`` are told apart by it. ``per`` byte or character the bits of whole documents are
    judged, by the policy's ``max_drop``, also where the tokenizers of the models differ.

    Several tasks (a column ``task``, or ``by``, the name of another one; all tasks of a harness) have a row each in a
    `SuiteCertificate`, whose verdict is *pass*, *fail* or *undecided*: the total's bound decides, and no single task
    may be shown to be beyond its limit; ``policy`` may have limits of tasks, groups of tasks and costs.

    ``against`` is the certificate of the last release: what it certified is the baseline, read from its evidence, and
    ``baseline`` is ``None``. A certificate that is not true, or did not pass, is refused.

    >>> import tempfile
    >>> before = {"item": list(range(400)), "score": [i % 5 > 0 for i in range(400)]}
    >>> after = before | {"score": [i % 5 > 0 or i < 20 for i in range(400)]}  # four items better
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     certificate = certify(before, after, f"{folder}/gate.json")
    >>> certificate.verdict, certificate.primary_metric.difference_vs_baseline
    ('pass', 0.01)
    """
    path = Path(output)
    check_outputs(written_files(path), [baseline, subject, sign_with, policy, against])
    asked = with_asked(policy_of(policy), design, settings)
    policy = policy_with(asked, selection, cluster=cluster, lower_is_better=lower_is_better).complete()
    if path.suffix != ".json":
        raise UsageError(f"the certificate must be a .json file, but got {str(output)!r}.")
    check_measure(per, policy)
    tasks = may_have_tasks(policy, by, per)
    key = None if sign_with is None else load_private_key(Path(sign_with))
    release = None
    if against is not None:
        check_against(baseline, subject)
        baseline, release = released(against)
    if baseline is None:
        raise UsageError("certify needs the results of a baseline, or `against=CERT`, the certificate of a release.")
    if isinstance(baseline, Panel):
        given = given_panel(baseline, models, policy, per, by, subject=subject, columns=columns, selection=selection)
    else:
        own = columns if by in (None, TASK) else {**(columns or {}), TASK: str(by)}
        picked = selection_with(policy, selection, every_task=tasks)
        given = given_files(baseline, subject, models, own, picked, policy, per)
        given = given if release is None else with_release(given, release)
    check_limit(asked, scores=given.union.kind == "scores")
    described: dict[str, Any] = {
        "meta": issuer(policy.design().seed, timestamp=timestamp),
        "systems": given.systems,
        "measure": measured((given.baseline, given.subject), policy, per),
        "evidence": EvidenceFile(file=evidence_path(path).name, sha256=NO_DIGEST, rows=0),
        "digest": NO_DIGEST,
    }
    if tasks and has_tasks(given, policy, by):
        return _certify_tasks(path, given, policy, by, described, key)
    windows = windows_of(given.union)
    check_clusters(windows.final, policy.cluster)
    rules = rules_of(windows, policy)
    enforce(rules, policy, windows.final.unit)
    certificate = Certificate(**described, **computed_facts(windows, policy, rules))
    return written(path, certificate, evidence_tables(given, None), key).beside(assumed(windows, policy))


def _certify_tasks(
    path: Path, given: Given, policy: Policy, by: str | None, described: dict[str, Any], key: Any
) -> SuiteCertificate:
    """A certificate with a row for every task."""
    given = with_tasks(given, policy.task)
    windows = windows_of(given.union)
    check_clusters(windows.final, policy.cluster)
    check_tasks(given.union, windows.final)
    policy = policy_over(policy, replace(windows.final, groups=given.union.groups))
    rules = rules_of(windows, policy)
    enforce(rules, policy, windows.final.unit)
    facts = suite_facts(SuiteEvidence(windows, by or TASK), policy, rules)
    certificate = SuiteCertificate(**described, **facts)
    return written(path, certificate, evidence_tables(given, policy), key).beside(items_assumed(windows.final))
