"""A result of every kind, made once: from what ships with the package, and small made-up ones."""

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from assay import examples
from assay.analyses.calibrate import calibrate
from assay.analyses.compare import compare
from assay.analyses.context import context
from assay.analyses.japanese import japanese
from assay.analyses.power import power
from assay.analyses.power.survey_noise import SurveyPlan
from assay.analyses.rank import rank
from assay.analyses.reliability import reliability
from assay.analyses.suite import compare_suite
from assay.analyses.summarize import summarize
from assay.analyses.survey import report_of
from assay.analyses.tune import tune
from assay.analyses.watch import watch
from assay.certificate import certify
from assay.certificate.fields import BothSystems, ComparedSystem, EvidenceFile, Measured
from assay.certificate.gate.build import gate_facts
from assay.certificate.gate.plan import Candidate, PlannedLooks, in_order, plan_of
from assay.certificate.gate.record import GateCertificate
from assay.certificate.issuing import NO_DIGEST, issuer
from assay.certificate.rules import union_of
from assay.data import Panel, read_table
from assay.design import Design, Policy
from assay.examples import RUNS
from assay.report.document import Part
from assay.report.saved import part_of
from assay.results.record import Result
from tests.analyses.survey.surveys import made
from tests.data.runs.token_runs import story, write_run

QUICK = Design(resamples=300)
Data = dict[str, Any]


def _comparison() -> Result:
    return compare(examples.path("losses-base.csv"), examples.path("losses-int8.csv"))


def _scores() -> Result:
    """With the names and numbers that are awkward: a margin, clusters, ids that do not pair."""
    rng = np.random.default_rng(0)
    items = [str(i) for i in range(40)]
    a = {"item": items, "score": rng.random(40).tolist(), "model": ["ALPHA"] * 40}
    b = {"item": [*items[:-1], "ITEM"], "score": rng.random(40).tolist(), "model": ["BETA"] * 40}
    return compare(a, b, design=Design(margin=0.1, resamples=500))


def _certificate() -> Data:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "c.json"
        return certify(examples.path("losses-base.csv"), examples.path("losses-int3.csv"), path).to_dict()


def _leaderboard() -> Result:
    return leaderboard(5)


def leaderboard(k: int) -> Result:
    rng = np.random.default_rng(k)
    values = rng.normal(size=(50, 1)) + rng.normal(size=(50, k)) - 0.4 * np.arange(k)
    parts = [{"item": list(range(50)), "score": column.tolist()} for column in values.T]
    names = ["ALPHA", "BETA", *(f"m{i:02d}" for i in range(2, k))]
    return rank(*parts, names=names, design=QUICK)


def _survey() -> Result:
    models = {"ALPHA": 0.2, "BETA": 0.21, "bad": 0.6}
    return report_of(made(models=models, questions=10, contexts=(0, 5), runs=2, worse={2: 0.2}), Design(resamples=1000))


def _tuning() -> Result:
    arms = ("lora", "lora-embeddings", "full")
    return tune(*(RUNS / f"{arm}-{seed}" for arm in arms for seed in range(3)), RUNS / "lora-rates")


def _context() -> Result:
    with TemporaryDirectory() as folder:
        a = write_run(Path(folder) / "a", story(3, 60, shortest=40), called="ALPHA")
        b = write_run(Path(folder) / "b", story(3, 60, shortest=40, shift=0.1), called="BETA")
        return context(a, b, design=QUICK)


def _japanese() -> Result:
    references = ["猫がいる。", "カメラ", "犬が走る。", "鳥が飛ぶ。", "山に登る。"]
    data = {"item": list("abcde"), "reference": references}
    good = data | {"prediction": ["猫がいた。", "カメラ", "犬が走る", "鳥の飛ぶ。", "川に登る。"]}
    poor = data | {"prediction": ["猫", "カラ", "犬は走った", "鳥よ", "川が登る。"]}
    named = (good | {"model": ["日本語モデル"] * 5}, poor | {"model": ["ALPHA"] * 5})
    return japanese(*named, bleu=["char"], design=Design(resamples=200))


def _reliability() -> Result:
    rng = np.random.default_rng(1)
    rows = [(m, str(run), f"q{i}") for m in ("ALPHA", "BETA") for run in range(3) for i in range(20)]
    columns = {name: [row[place] for row in rows] for place, name in enumerate(("model", "run", "item"))}
    return reliability(columns | {"score": rng.random(len(rows)).tolist()})


def _suite() -> Result:
    """Five tasks of unequal sizes, one of which gains."""
    rng, tasks = np.random.default_rng(5), np.repeat(["arc", "boolq", "gsm8k", "mmlu", "wino"], [40, 60, 50, 90, 30])
    a = (rng.random(len(tasks)) < 0.6).astype(float)
    b = np.where((tasks == "gsm8k") | (rng.random(len(tasks)) < 0.05), 1.0, a)
    return compare_suite(Panel.from_arrays(np.column_stack([a, b]), systems=["ALPHA", "BETA"], labels={"task": tasks}))


def _summary() -> Result:
    """Losses in clusters, with the names that are looked for."""
    paths = {"ALPHA": examples.path("losses-base.csv"), "BETA": examples.path("losses-trigram.csv")}
    return summarize(*(f"{name}={path}" for name, path in paths.items()), cluster="document")


def _gate() -> Data:
    """A certificate over tasks."""
    tasks = [task for task in ("arc", "gsm8k", "mmlu") for _ in range(80)]
    tables = [
        {"item": [f"ITEM{i}" for i in range(240)], "task": tasks, "model": [name] * 240,
         "score": [float((i + shift) % 7 > 1) for i in range(240)]}
        for name, shift in (("ALPHA", 0), ("BETA", 1))
    ]  # fmt: skip
    with TemporaryDirectory() as folder:
        first, second = tables
        return certify(first, second, Path(folder) / "c.json").to_dict()


def _stopped() -> Data:
    """A certificate of a gate that stopped early."""
    rng, policy = np.random.default_rng(6), Policy().complete()
    chosen = [Candidate(f"d{i // 4}:{i}", f"d{i // 4}", 30 + i % 7, full=True) for i in range(180)]
    plan = plan_of(chosen, policy, PlannedLooks(), text=f"sha256:{'1' * 64}", context=37)
    chosen = [chosen[i] for i in in_order(0, [one.name for one in chosen], None)][: plan.looks[1].windows]
    base = rng.normal(3, 0.5, len(chosen))
    tables = [
        read_table({
            "window": [one.name for one in chosen], "document": [one.document for one in chosen],
            "tokens": [one.tokens for one in chosen], "loss": losses.tolist(), "model": [name] * len(chosen),
        })
        for name, losses in (("ALPHA", base), ("BETA", base + rng.normal(0.02, 0.05, len(chosen))))
    ]  # fmt: skip
    facts = gate_facts(union_of(*tables, cluster=None, lower_is_better=None), plan, policy, 6000)
    about = {"file": None, "sha256": None, "model": None, "tokenizer": None}
    return GateCertificate(
        meta=issuer(0, timestamp=False),
        systems=BothSystems(
            baseline=ComparedSystem(name="ALPHA", **about), subject=ComparedSystem(name="BETA", **about)
        ),
        measure=Measured(task=None, tasks=(), metric="perplexity", filter=None, scorer=None),
        evidence=EvidenceFile(file="c.evidence.parquet", sha256=NO_DIGEST, rows=2 * len(chosen)),
        digest=NO_DIGEST,
        **facts,
    ).to_dict()


def _watch() -> Result:
    rng = np.random.default_rng(8)
    a = (rng.random(300) < 0.6).astype(float)
    b = np.where(rng.random(300) < 0.05, 1.0, a)
    return watch(Panel.from_arrays(np.column_stack([a, b]), systems=["ALPHA", "BETA"]), population=2000)


def _calibration() -> Result:
    rng = np.random.default_rng(9)
    a = rng.normal(size=40)
    panel = Panel.from_arrays(np.column_stack([a, a + rng.exponential(size=40)]), systems=["ALPHA", "BETA"])
    return calibrate(panel, simulations=20)


def _power() -> Result:
    return power(examples.path("losses-base.csv"), examples.path("losses-int3.csv"), difference=0.005)


_MAKERS: dict[str, Callable[[], Result | Data]] = {
    "comparison": _comparison,
    "scores": _scores,
    "certificate": _certificate,
    "gate": _gate,
    "stopped": _stopped,
    "watch": _watch,
    "calibration": _calibration,
    "leaderboard": _leaderboard,
    "survey": _survey,
    "tuning": _tuning,
    "context": _context,
    "japanese": _japanese,
    "reliability": _reliability,
    "power": _power,
    "noise": lambda: power(SurveyPlan(options=[3, 4], respondents=[20, 50])),
    "suite": _suite,
    "summary": _summary,
}
KINDS = tuple(_MAKERS)
RECORDS = tuple(kind for kind in KINDS if kind not in ("certificate", "gate", "stopped"))


@cache
def result(kind: str) -> Any:
    """The result of a kind: a record, or what a certificate holds."""
    return _MAKERS[kind]()


@cache
def part(kind: str) -> Part:
    return part_of(result(kind))


def data_of(kind: str) -> Data:
    found = result(kind)
    data: Data = found if isinstance(found, dict) else found.to_dict()
    return data


def renamed(data: Any, names: Mapping[str, str]) -> Any:
    """The same data with other names, as a file could hold them: in every text and key."""
    if isinstance(data, str):
        for old, new in names.items():
            data = data.replace(old, new)
        return data
    if isinstance(data, dict):
        return {renamed(key, names): renamed(value, names) for key, value in data.items()}
    return [renamed(value, names) for value in data] if isinstance(data, list) else data
