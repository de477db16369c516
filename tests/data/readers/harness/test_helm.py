"""HELM: the oracle is what HELM itself says in stats.json, and a literal reading of its statistics per instance."""

import json
import math
from pathlib import Path
from typing import Any

import pytest

from assay.data.readers.harness import helm_stats
from assay.errors import InputError
from tests.data.files import panel_of
from tests.data.readers.harness.logs import (
    HELM,
    LARGE,
    SMALL,
    assert_refused,
    by_name,
    copy,
    edit_json,
    one,
    read_json,
    scores,
)


def run(task: str, model: str) -> Path:
    return HELM / f"{task}_model-huggingface_{model}"


def said(model: str, metric: str) -> float:
    [stat] = [stat for stat in read_json(run("tiny_stories", model) / "stats.json") if stat["name"]["name"] == metric]
    return float(stat["mean"])


def test_the_losses_give_helm_s_perplexity_and_bits_per_byte() -> None:
    table = one(run("tiny_stories", SMALL))
    total, tokens = float((table.numbers["tokens"] * table.numbers["loss"]).sum()), table.numbers["tokens"].sum()
    assert table.kind == "losses"
    assert math.exp(total / tokens) == pytest.approx(said(SMALL, "perplexity"), rel=1e-14)
    bits = total / table.numbers["bytes"].sum() / math.log(2)
    assert bits == pytest.approx(said(SMALL, "bits_per_byte"), rel=1e-14)
    per_byte = one(run("tiny_stories", SMALL), metric="bits_per_byte")
    assert per_byte.numbers["tokens"].tolist() == table.numbers["bytes"].tolist()
    assert float((per_byte.numbers["tokens"] * per_byte.numbers["loss"]).sum()) == pytest.approx(total, rel=1e-14)


def test_tokens_of_other_tokenizers_are_refused_and_bytes_pair() -> None:
    with pytest.raises(InputError, match="tokens 2"):
        panel_of(list(by_name(HELM, task="tiny_stories").values()))
    assert panel_of(list(by_name(HELM, task="tiny_stories", metric="bits_per_byte").values())).n == 2


def test_every_text_is_a_document_of_its_own() -> None:
    """So that `--per byte` pairs them, and nothing is said of windows that belong together."""
    table = one(run("tiny_stories", SMALL))
    assert table.labels["document"].names == tuple(table.ids)
    assert not any("document" in note for note in panel_of([table]).notes)


@pytest.mark.parametrize("model", [SMALL, LARGE])
@pytest.mark.parametrize("metric", ["exact_match", "max_prob", "num_prompt_tokens"])
def test_scores_against_a_literal_reading_without_the_perturbed(model: str, metric: str) -> None:
    path = run("tiny_choices", model)
    want: dict[str, float] = {}
    perturbed = 0
    for entry in read_json(path / "per_instance_stats.json"):
        if "perturbation" in entry:
            perturbed += 1
            continue
        for stat in entry["stats"]:
            if stat["name"]["name"] == metric:
                want[entry["instance_id"]] = stat["sum"] / stat["count"]
    table = one(path, metric=metric)
    assert scores(table) == want
    assert len(want) == perturbed == 2
    assert any("perturbed instances left out: 2" in note for note in table.notes)


def test_the_run_spec_names_the_model_and_the_task() -> None:
    tables = by_name(HELM, task="tiny_choices", metric="exact_match")
    assert set(tables) == {f"huggingface/{SMALL}", f"huggingface/{LARGE}"}
    assert {table.about["measure"]["task"] for table in tables.values()} == {"tiny_choices"}


def test_the_statistics_by_themselves_are_the_run_they_are_in() -> None:
    path = run("tiny_choices", SMALL)
    assert scores(one(path / "per_instance_stats.json", metric="exact_match")) == scores(
        one(path, metric="exact_match")
    )


@pytest.fixture
def choices(tmp_path: Path) -> Path:
    return copy(run("tiny_choices", SMALL), tmp_path)


def stats_of(folder: Path, change: Any) -> Path:
    edit_json(folder / "per_instance_stats.json", change)
    return folder


def test_trials_are_runs(choices: Path) -> None:
    def repeat(entries: list[dict[str, Any]]) -> None:
        entries.extend([json.loads(json.dumps(entry)) | {"train_trial_index": 1} for entry in entries])

    table = one(stats_of(choices, repeat), metric="exact_match")
    assert table.labels["run"].names == ("0", "1")
    assert len(table) == 4


def test_entries_of_one_instance_are_put_together(choices: Path) -> None:
    """Each metric of a run writes its own entries, and a long text is scored in several requests."""
    want = scores(one(choices, metric="exact_match"))

    def split(entries: list[dict[str, Any]]) -> None:
        for entry in list(entries):
            entries.append(entry | {"stats": entry["stats"][8:]})
            entry["stats"] = entry["stats"][:8]

    assert scores(one(stats_of(choices, split), metric="exact_match")) == want


def test_splits_are_chosen(choices: Path) -> None:
    def other(entries: list[dict[str, Any]]) -> None:
        for stat in entries[0]["stats"]:
            stat["name"]["split"] = "valid"

    stats_of(choices, other)
    assert_refused(choices, "2 splits (test, valid)", "`Selection(filter=...)`", metric="exact_match")
    assert list(scores(one(choices, metric="exact_match", filter="test"))) == ["id1"]


def test_what_describes_a_request_is_no_metric_unless_it_is_asked_for(choices: Path) -> None:
    found = one(choices)
    assert found.about["measure"]["metric"] == "exact_match"
    assert found.numbers["tokens_in"].min() > 0
    assert found.numbers["seconds"].min() > 0
    assert one(choices, metric="max_prob").about["measure"]["metric"] == "max_prob"


def test_many_metrics_are_refused_with_the_choices(choices: Path) -> None:
    def doubled(entries: list[dict[str, Any]]) -> None:
        for entry in entries:
            same = [dict(stat, name=stat["name"] | {"name": "f1"}) for stat in entry["stats"] if _exact(stat)]
            entry["stats"] += same

    edit_json(choices / "per_instance_stats.json", doubled)
    assert_refused(choices, "2 metrics (exact_match, f1)", "`Selection(metric=...)`")
    assert_refused(HELM, "2 tasks (tiny_choices, tiny_stories)", "`Selection(task=...)`")
    assert_refused(choices, "only task", metric="exact_match", cluster="topic")
    assert one(choices, metric="exact_match", cluster="task").labels["task"].names == ("tiny_choices",)


def _exact(stat: dict[str, Any]) -> bool:
    return bool(stat["name"]["name"] == "exact_match")


def entry_of(**changes: Any) -> Any:
    return lambda entries: entries[0].update(changes)


def stat_of(**changes: Any) -> Any:
    def change(entries: list[dict[str, Any]]) -> None:
        next(stat for stat in entries[0]["stats"] if stat["name"]["name"] == "exact_match").update(changes)

    return change


@pytest.mark.parametrize(
    ("change", "part"),
    [
        (entry_of(instance_id=None), "'instance_id' must be a text"),
        (entry_of(train_trial_index=math.inf), "'train_trial_index' must be a whole number"),
        (entry_of(stats=None), "'stats' must be a list"),
        (entry_of(stats=[7]), "must be an object with a field 'name'"),
        (stat_of(name="exact_match"), "'name' must be an object"),
        (stat_of(sum=math.nan), "exact_match must be a finite number"),
        (stat_of(sum="1"), "exact_match must be a finite number"),
        (stat_of(count=None), "count of exact_match must be a finite number"),
        (stat_of(count=0), "no field 'exact_match'"),
    ],
)
def test_a_bad_entry_is_refused_by_name(choices: Path, change: Any, part: str) -> None:
    assert_refused(stats_of(choices, change), str(choices), "entry 1", part, metric="exact_match")


@pytest.mark.parametrize("content", [[], {}, 7, None])
def test_statistics_that_are_no_list_are_refused(choices: Path, content: Any) -> None:
    (choices / "per_instance_stats.json").write_text(json.dumps(content))
    assert_refused(choices, "must be a list of instances", metric="exact_match")


def test_a_run_with_nothing_but_perturbed_instances_is_refused(choices: Path) -> None:
    stats_of(choices, lambda entries: [entry.update(perturbation={"name": "typos"}) for entry in entries])
    assert_refused(choices, "no instance without perturbation", metric="exact_match")


def test_a_damaged_or_lonely_file_is_refused(choices: Path, tmp_path: Path) -> None:
    lonely = copy(choices / "per_instance_stats.json", tmp_path)
    assert_refused(lonely, "no run_spec.json and per_instance_stats.json")
    spec = choices / "run_spec.json"
    spec.write_text(spec.read_text()[:300])
    assert_refused(choices, str(spec), "not JSON", metric="exact_match")


def test_losses_that_are_none_are_refused(tmp_path: Path) -> None:
    folder = copy(run("tiny_stories", SMALL), tmp_path)

    def nothing(entries: list[dict[str, Any]]) -> None:
        next(stat for stat in entries[0]["stats"] if stat["name"]["name"] == "num_perplexity_tokens").update(sum=0)

    assert_refused(stats_of(folder, nothing), "entry 1", "give no loss")


@pytest.mark.parametrize("block", [100, 5000, 1 << 18])
@pytest.mark.parametrize("model", [SMALL, LARGE])
def test_instances_read_some_at_a_time_are_those_of_the_whole_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: str, block: int
) -> None:
    """The oracle is the parser of any JSON, which reads all of it."""
    path = run("tiny_choices", model)
    with monkeypatch.context() as whole:
        whole.setattr(helm_stats, "_quickly", helm_stats._slowly)
        want = one(path, metric="exact_match")
    monkeypatch.setattr("assay.data.readers.harness.long_lists._BLOCK", block)
    tight = copy(path, tmp_path)
    stats = tight / "per_instance_stats.json"
    stats.write_text(json.dumps(read_json(stats)), "utf-8")
    for found in (one(path, metric="exact_match"), one(tight, metric="exact_match")):
        assert scores(found) == scores(want)
        assert {name: values.tolist() for name, values in found.numbers.items()} == {
            name: values.tolist() for name, values in want.numbers.items()
        }
        assert found.labels["doc_hash"].names == want.labels["doc_hash"].names
