"""Training from Python: `assay.tune_run` takes names, files and documents, and gives runs that `assay.tune` takes."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import assay
from assay.models import path
from assay.training import Schedule, Settings
from tests.training.runs import one_thread

pytest.importorskip("peft")

STORY = [
    assay.Document(f"story {i}", f"Once there were {i} models, and all of them were small. " * 6) for i in range(6)
]
SMALL = Settings(steps=2, rows=2, rank=2)
RARE = Schedule(validation=0, memory=0, quality=0)


@pytest.fixture(autouse=True)
def quick() -> Iterator[None]:
    with one_thread():
        yield


def test_documents_and_files_train_the_same_run(tmp_path: Path) -> None:
    """The oracle is the command's own way: one text file for each part."""
    (tmp_path / "train.txt").write_text("".join(one.text for one in STORY[:4]), encoding="utf-8")
    (tmp_path / "valid.txt").write_text("".join(one.text for one in STORY[4:]), encoding="utf-8")
    files: dict[str, Any] = {"train": [tmp_path / "train.txt"], "valid": str(tmp_path / "valid.txt")}
    texts: dict[str, Any] = {
        "train": assay.Document("train.txt", "".join(one.text for one in STORY[:4])),
        "valid": assay.Document("valid.txt", "".join(one.text for one in STORY[4:])),
    }
    runs = [
        assay.tune_run(path("base"), tmp_path / name, **given, context=32, settings=SMALL, schedule=RARE)[0]
        for name, given in (("files", files), ("texts", texts))
    ]
    assert runs[0].validation_loss == runs[1].validation_loss
    assert runs[0].windows == runs[1].windows
    assert (runs[0].arm, runs[0].seed, runs[0].learning_rate) == ("lora r=2", 0, 2e-4)


def test_what_is_there_is_not_trained_again_and_another_run_is_refused(tmp_path: Path) -> None:
    given: dict[str, Any] = {"train": STORY[:4], "valid": STORY[4:], "context": 32, "schedule": RARE}
    seen: list[str] = []
    (first,) = assay.tune_run(
        path("base"), tmp_path / "r", **given, settings=SMALL, on_run=lambda r: seen.append(str(r))
    )
    events = (tmp_path / "r" / "events.jsonl").read_bytes()
    (again,) = assay.tune_run(str(path("base")), str(tmp_path / "r"), **given, settings=SMALL)
    assert again == first
    assert (tmp_path / "r" / "events.jsonl").read_bytes() == events
    assert seen == [str(first)]
    loss = f"validation loss {first.validation_loss:.4f} nats per token ({first.windows} windows)"
    assert seen[0] == f"lora r=2, seed 0, rate 0.0002: {loss} → {tmp_path / 'r'}"
    with pytest.raises(assay.InputError, match="holds another training run"):
        assay.tune_run(path("base"), tmp_path / "r", **given, settings=Settings(steps=3, rows=2, rank=2))


def test_every_learning_rate_has_a_folder_and_the_report_takes_the_runs(tmp_path: Path) -> None:
    runs = assay.tune_run(
        path("base"),
        tmp_path,
        train=STORY[:4],
        valid=STORY[4:],
        context=32,
        settings=SMALL,
        schedule=RARE,
        learning_rates=[1e-3, 1e-4],
    )
    assert [run.folder.name for run in runs] == ["lr-0.001", "lr-0.0001"]
    assert all(json.loads((run.folder / "training.json").read_text())["sweep"] for run in runs)
    (found,) = assay.tune(*runs).sensitivity
    assert {point.rate: point.loss for point in found.points} == {
        run.learning_rate: pytest.approx(run.validation_loss) for run in runs
    }


def test_what_cannot_be_trained_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    given: dict[str, Any] = {"train": STORY[:4], "valid": STORY[4:], "settings": SMALL}
    with pytest.raises(assay.UsageError, match="at least one rate"):
        assay.tune_run(path("base"), tmp_path / "r", **given, learning_rates=[])
    with pytest.raises(assay.UsageError, match="learning rate must be positive"):
        assay.tune_run(path("base"), tmp_path / "r", **given, learning_rates=[1e-3, float("nan")])
    with pytest.raises(assay.UsageError, match="context must be at most"):
        assay.tune_run(path("base"), tmp_path / "r", **given, context=10**6)
    with pytest.raises(assay.InputError, match="nowhere"):
        assay.tune_run(path("base"), tmp_path / "r", train=tmp_path / "nowhere.txt", valid=STORY)
    assert not (tmp_path / "r").exists()


def test_the_untrained_base_is_scored_on_the_same_windows_before_the_first_step(tmp_path: Path) -> None:
    """The oracle is the loss that the callback measured at step 0, by another way through the model."""
    given: dict[str, Any] = {"train": STORY[:4], "valid": STORY[4:], "context": 32, "schedule": RARE}
    (run,) = assay.tune_run(path("base"), tmp_path / "r", **given, settings=SMALL)
    windows, base = (assay.read_table(tmp_path / "r" / name) for name in ("windows", "windows-base"))
    assert list(base.ids) == list(windows.ids)
    tokens = base.numbers["tokens"]
    events = [json.loads(line) for line in (tmp_path / "r" / "events.jsonl").read_text().splitlines()]
    start = next(event for event in events if event["kind"] == "validation" and event["step"] == 0)
    assert (base.numbers["loss"] * tokens).sum() / tokens.sum() == pytest.approx(start["loss"], rel=1e-5)
    (found,) = assay.tune(run).adapted
    assert found.base_loss == pytest.approx(start["loss"], rel=1e-5)
    assert found.windows is not None
    rates = assay.tune_run(path("base"), tmp_path / "s", **given, settings=SMALL, learning_rates=[1e-3])
    assert not (rates[0].folder / "windows-base").exists()  # a sweep is compared with no base


def test_a_run_of_an_earlier_version_gets_its_base_when_it_is_asked_for_again(tmp_path: Path) -> None:
    given: dict[str, Any] = {"train": STORY[:4], "valid": STORY[4:], "context": 32, "schedule": RARE}
    assay.tune_run(path("base"), tmp_path / "r", **given, settings=SMALL)
    events = (tmp_path / "r" / "events.jsonl").read_bytes()
    shutil.rmtree(tmp_path / "r" / "windows-base")
    (run,) = assay.tune_run(path("base"), tmp_path / "r", **given, settings=SMALL)
    assert assay.tune(run).adapted[0].windows is not None
    assert (tmp_path / "r" / "events.jsonl").read_bytes() == events


def test_scripts_are_measured_of_japanese_text_only(tmp_path: Path) -> None:
    for name, text in (("en", STORY[4].text), ("ja", "むかし、ある村に小さな犬がいました。" * 6)):
        (run,) = assay.tune_run(
            path("base"),
            tmp_path / name,
            train=STORY[:4],
            valid=assay.Document("v", text),
            context=32,
            settings=SMALL,
            schedule=RARE,
        )
        scores = set(assay.tune(run).arms[0].quality) & {"character_accuracy", "hiragana", "kanji", "other"}
        assert scores == (
            {"character_accuracy"} if name == "en" else {"character_accuracy", "hiragana", "kanji", "other"}
        )


def test_prompts_are_answered_at_the_end_and_only_once(tmp_path: Path) -> None:
    given: dict[str, Any] = {"train": STORY[:4], "valid": STORY[4:], "context": 32, "schedule": RARE, "settings": SMALL}
    prompts = {"prompt": ["Once there", "The fox"], "reference": ["were models.", "was small."], "id": ["a", "b"]}
    short = assay.Decoding(max_tokens=5)
    (bare,) = assay.tune_run(path("base"), tmp_path / "r", **given)
    assert bare.generations is None
    (run,) = assay.tune_run(path("base"), tmp_path / "r", **given, generate=prompts, decoding=short)  # it is added
    assert run.generations == tmp_path / "r" / "generations.jsonl"
    written = run.generations.read_bytes()
    spec = assay.ModelSpec(str(path("base")), adapter=str(tmp_path / "r" / "trained"))
    alone = assay.generate({run.arm: spec}, prompts, tmp_path / "alone.jsonl", decoding=short)
    assert written == alone.file.read_bytes()
    assay.tune_run(path("base"), tmp_path / "r", **given, generate=prompts, decoding=short)
    assert run.generations.read_bytes() == written
    with pytest.raises(assay.InputError, match=r"generations\.jsonl: holds generations with other settings"):
        assay.tune_run(path("base"), tmp_path / "r", **given, generate=prompts, decoding=assay.Decoding(max_tokens=6))
    language = assay.tune(run).language
    assert language is not None
    assert language.generations is not None
    assert language.generations.names == ["lora r=2"]
    (again,) = assay.tune_run(path("base"), tmp_path / "r", **given, overwrite=True)
    assert again.generations is None


def test_prompts_that_cannot_be_answered_are_refused_before_training(tmp_path: Path) -> None:
    given: dict[str, Any] = {"train": STORY[:4], "valid": STORY[4:], "context": 32, "settings": SMALL}
    with pytest.raises(assay.InputError, match="no column 'reference'"):
        assay.tune_run(path("base"), tmp_path / "r", **given, generate={"prompt": ["a"]})
    long = {"prompt": ["a"], "reference": ["b"]}
    with pytest.raises(assay.InputError, match=r"item '1'.* more than the model's 512; .*`max_tokens`"):
        assay.tune_run(path("base"), tmp_path / "r", **given, generate=long, decoding=assay.Decoding(max_tokens=512))
    assert not (tmp_path / "r").exists()
