"""What becomes a certificate over tasks, and what is refused before anything is written."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay.certificate.record import Certificate
from assay.certificate.suite.record import SuiteCertificate
from assay.certificate.verify import verify
from assay.data import Panel
from assay.design import Policy
from assay.errors import AssayError, InputError, UsageError
from assay.limits import GroupLimits, Limits, TotalLimits
from tests.certificate.issuing import certify_any as certify
from tests.certificate.issuing import certify_tasks
from tests.certificate.samples import evidence_of, evidence_rows, scores
from tests.certificate.suite.samples import SIZES, Columns, equal, losses, with_costs

PAIR = equal(SIZES)


def test_a_column_of_tasks_needs_no_asking(tmp_path: Path) -> None:
    found = certify_tasks(*PAIR, tmp_path / "c.json")
    assert [row.name for row in found.tasks] == ["arc", "boolq", "gsm8k"]
    assert found.comparison.by == "task"
    assert sorted({*evidence_rows(evidence_of(tmp_path / "c.json"))}) == [
        "item",
        "lower_is_better",
        "model",
        "score",
        "task",
    ]


@pytest.mark.parametrize("name", ["subject", "category", "benchmark"])
def test_other_names_of_the_column_are_known(name: str, tmp_path: Path) -> None:
    tables = [{name if ours == "task" else ours: values for ours, values in table.items()} for table in PAIR]
    assert (
        certify_tasks(*tables, tmp_path / "c.json").to_dict()["tasks"]
        == certify_tasks(*PAIR, tmp_path / "d.json").to_dict()["tasks"]
    )


def test_any_column_may_tell_tasks_apart(tmp_path: Path) -> None:
    tables = [{**table, "language": ["de", "en"] * 95} for table in PAIR]
    found = certify_tasks(*tables, tmp_path / "c.json", by="language")
    assert ([row.name for row in found.tasks], found.comparison.by) == (["de", "en"], "language")
    assert "over 2 languages" in found.sentence
    assert verify(tmp_path / "c.json").true


def test_few_items_of_many_tasks_are_one_as_in_compare(tmp_path: Path) -> None:
    many: list[Columns] = [{**scores(180, 200), "task": [f"t{i // 4}" for i in range(200)]} for _ in range(2)]
    assert isinstance(certify(*many, tmp_path / "c.json"), Certificate)
    assert isinstance(certify(*many, tmp_path / "d.json", policy=Policy(every=False, each=Limits(max_drop=0.05))),
                      SuiteCertificate)  # fmt: skip


def test_one_task_with_limits_of_its_own_has_one_row(tmp_path: Path) -> None:
    policy = Policy(task="gsm8k", total=TotalLimits(min_score=0.5))
    found = certify_tasks(scores(180, 200), scores(181, 200), tmp_path / "c.json", policy=policy)
    assert [(row.name, row.n) for row in found.tasks] == [("gsm8k", 200)]
    assert found.total.ci == found.tasks[0].ci
    assert [one.limit for one in found.limits] == ["max_drop", "min_score", "max_drop"]
    nameless = certify_tasks(scores(180, 200), scores(181, 200), tmp_path / "d.json", policy=Policy(every=True))
    assert nameless.tasks[0].name == "all"
    for name in ("c", "d"):
        assert verify(tmp_path / f"{name}.json").true


def test_an_ordinary_policy_of_one_task_is_as_before(tmp_path: Path) -> None:
    assert isinstance(certify(scores(180, 200), scores(181, 200), tmp_path / "c.json", policy=Policy()), Certificate)
    named = Policy(method="bca", note="as in the paper")  # which tasks do not have
    assert isinstance(certify(*PAIR, tmp_path / "d.json", policy=named), Certificate)


def panel(names: tuple[str, ...] = ("old", "new"), **labels: Any) -> Panel:
    numbers = np.column_stack([PAIR[0]["score"], PAIR[1]["score"]])
    return Panel.from_arrays(numbers, ids=PAIR[0]["item"], systems=names, labels={"task": PAIR[0]["task"], **labels})


def test_a_panel_gives_the_rows_of_its_tables(tmp_path: Path) -> None:
    found = certify_tasks(panel(), None, tmp_path / "c.json")
    tables = certify_tasks(*PAIR, tmp_path / "d.json")
    assert (found.tasks, found.total, found.limits) == (tables.tasks, tables.total, tables.limits)
    assert found.subject == "old → new"


def test_losses_are_judged_as_perplexities(tmp_path: Path) -> None:
    found = certify_tasks(*losses({"code": 0.0, "prose": 0.01}), tmp_path / "c.json")
    assert (found.comparison.kind, found.comparison.lower_is_better, found.verdict) == ("perplexity", True, "pass")
    assert [one.limit for one in found.limits] == ["max_ratio"] * 3
    assert "has not risen beyond × 1.1" in found.sentence


def test_groups_of_a_column_are_known_by_their_names(tmp_path: Path) -> None:
    of = {"arc": "reasoning", "boolq": "reading", "gsm8k": "reasoning"}
    tables = [{**table, "group": [of[task] for task in table["task"]]} for table in PAIR]
    policy = Policy(groups={"reasoning": GroupLimits(max_drop=0.2)}, total=TotalLimits(weights="groups"), note="fair")
    found = certify_tasks(*tables, tmp_path / "c.json", policy=policy)
    assert [(row.name, row.tasks) for row in found.groups] == [("reasoning", ("arc", "gsm8k"))]
    assert [row.weight for row in found.tasks] == [0.25, 0.5, 0.25]
    assert found.policy.total_weights == "given"
    assert verify(tmp_path / "c.json").true


def test_costs_that_nothing_limits_are_not_kept(tmp_path: Path) -> None:
    tables = with_costs(PAIR)
    tables[0]["price"][3] = ""  # nor need they be there
    certify(*tables, tmp_path / "c.json")
    certify(*tables, tmp_path / "d.json", policy=Policy(total=TotalLimits(max_seconds_ratio=2)))
    kept = [set(evidence_rows(evidence_of(tmp_path / f"{name}.json"))) for name in ("c", "d")]
    assert [names & {"price", "seconds"} for names in kept] == [set(), {"seconds"}]
    assert verify(tmp_path / "c.json").true
    assert verify(tmp_path / "d.json").true


def without(table: Columns, task: str) -> Columns:
    kept = [name != task for name in table["task"]]
    return {name: [v for v, keep in zip(values, kept, strict=True) if keep] for name, values in table.items()}


OTHER_TASKS = {**PAIR[1], "task": ["arc"] * 190}
FREE = [{**table, "price": [0.0] * 190} for table in PAIR]
PERCENT = [{**t, "score": [s * (100 if name == "arc" else 1) for s, name in zip(t["score"], t["task"], strict=True)]}
           for t in PAIR]  # fmt: skip


@pytest.mark.parametrize(
    ("given", "asked", "error", "said"),
    [
        ((PAIR[0], without(PAIR[1], "gsm8k")), {}, InputError, "'gsm8k': no item of the task is in both"),
        ((without(PAIR[0], "arc"), PAIR[1]), {}, InputError, "'arc': no item of the task is in both"),
        (PAIR, {"policy": Policy(tasks={"mmlu": Limits()})}, InputError, "names the task 'mmlu', which is not there"),
        (PAIR, {"policy": Policy(each=Limits(max_price_ratio=2))}, InputError, "limits price, and the results have no"),
        (FREE, {"policy": Policy(each=Limits(max_price_ratio=2))}, InputError, "price is 0 everywhere"),
        ((PAIR[0], OTHER_TASKS), {"by": "task"}, InputError, "do not agree which task an item belongs to"),
        (PERCENT, {}, InputError, "tasks are on different scales"),
        (PAIR, {"by": "language"}, InputError, "no column 'language' for 'task'"),
        (PAIR, {"cluster": "task", "by": "task"}, UsageError, "cannot be the cluster too"),
        (PAIR, {"by": "task", "per": "byte"}, UsageError, "by is about tasks, which have no `per`"),
        (PAIR, {"policy": Policy(every=True, method="bca", note="x")}, UsageError, "which have no `method`"),
        (PAIR, {"policy": Policy(total=TotalLimits(weights={"arc": 1}), note="x")}, UsageError, "no weight for the"),
        (PAIR, {"policy": Policy(profile="ci", min_windows=999, note="x")}, InputError, "profile ci refuses: final"),
        (PAIR, {"each": Limits(max_drop=0.5)}, UsageError, "each.max_drop of the tier balanced changed: say why"),
    ],
)
def test_what_is_refused_before_anything_is_written(
    given: Any, asked: dict[str, Any], error: type[AssayError], said: str, tmp_path: Path
) -> None:
    with pytest.raises(error) as refused:
        certify(*given, tmp_path / "c.json", **asked)
    assert said in str(refused.value)
    assert list(tmp_path.iterdir()) == []


def test_costs_that_are_not_all_known_are_refused(tmp_path: Path) -> None:
    tables = with_costs(PAIR)
    tables[1]["seconds"] = ["", *tables[1]["seconds"][1:]]
    with pytest.raises(InputError, match="limits seconds, which is not known of 1 of 190 items; fill it in"):
        certify(*tables, tmp_path / "c.json", policy=Policy(each=Limits(max_seconds_ratio=2)))


def test_keywords_are_fields_of_the_policy(tmp_path: Path) -> None:
    keywords = certify_tasks(*PAIR, tmp_path / "c.json", each=Limits(max_drop=0.2), every=True, note="small")
    policy = Policy(each=Limits(max_drop=0.2), every=True, note="small")
    assert keywords.policy == certify_tasks(*PAIR, tmp_path / "d.json", policy=policy).policy


def test_the_order_of_rows_and_tasks_changes_nothing(tmp_path: Path) -> None:
    order = np.random.default_rng(1).permutation(190).tolist()
    mixed = [{name: [values[i] for i in order] for name, values in table.items()} for table in PAIR]
    found = [certify_tasks(*pair, tmp_path / "c.json").to_dict() for pair in (PAIR, mixed)]
    assert found[0] == found[1]


def test_copies_of_an_item_in_several_tasks_are_one_in_the_total(tmp_path: Path) -> None:
    """Every item is in both tasks: the total's error is that of one task, not smaller by √2."""
    before, after = equal({"a": 100})
    tables = []
    for table in (before, after):
        both: Columns = {"item": [f"{task}{i}" for task in "ab" for i in range(100)], "score": table["score"] * 2}
        tables.append(both | {"task": ["a"] * 100 + ["b"] * 100, "doc_hash": [f"h{i}" for i in range(100)] * 2})
    found = certify_tasks(*tables, tmp_path / "c.json")
    assert found.total.standard_error == pytest.approx(found.tasks[0].standard_error, rel=0.01)
    assert any("in several tasks" in caution.text for caution in found.cautions)
    assert verify(tmp_path / "c.json").true
