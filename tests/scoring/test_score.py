"""Runs: what is stored, against a computation by hand; killed at random, against a run that was left in peace."""

import errno
import json
import multiprocessing
import random
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import assay

pytest.importorskip("torch", reason="the extra hf is not installed")

import torch
import transformers

from assay.certificate.rules import overlapping_spans
from assay.data import pair, read_table, runs
from assay.data.readers.database import copy_columns
from assay.data.runs.positions import check_plans, open_tokens
from assay.data.runs.rates import rates_of_tables
from assay.errors import InputError, UsageError, WriteError
from assay.scoring import score
from assay.scoring.checkpoint import definition_digest
from assay.scoring.hf import ModelScorer
from assay.scoring.loading import load_tokenizer
from assay.scoring.models_and_texts import Document, ModelSpec
from assay.scoring.windows import Plan
from tests.scoring.conftest import TEXT
from tests.scoring.lm_eval_windows import get_rolling_token_windows


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_text("\n\n".join(TEXT[i * 200 : i * 200 + 150 + 20 * i] for i in range(5)), encoding="utf-8")
    return path


def run_bytes(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def test_a_run_of_windows_that_begin_anew_against_losses_by_hand(
    tiny_model: Callable[..., Path], text: Path, tmp_path: Path
) -> None:
    spec = ModelSpec(str(tiny_model()), dtype="float32", device="cpu")
    plan = Plan(context=32, stride=16, cut="fresh")
    run = score({"m": spec}, [text], tmp_path / "run", plan=plan, split_on="\n\n")["m"]
    table = read_table(run.folder)
    scorer = ModelScorer(spec)
    documents = text.read_text(encoding="utf-8").split("\n\n")
    total = 0.0
    for number, document in enumerate(documents):
        ids = scorer.tokenizer(document, add_special_tokens=False)["input_ids"]
        for start in range(0, len(ids), 16):
            stop = min(start + 31, len(ids))
            done = 0 if start == 0 else min(start - 16 + 31, len(ids))
            if done < stop:
                assert scorer.bos is not None
                losses = scorer.losses([[scorer.bos, *ids[start:stop]]])[0]
                total += float(losses[len(losses) - (stop - done) :].sum())
            if stop == len(ids):
                break
        rows = table.where(np.array([name == f"text.txt#{number}" for name in _documents(table)]))
        assert rows.numbers["tokens"].sum() == len(ids)
        assert rows.numbers["bytes"].sum() == len(document.encode())  # with a BOS and context every byte counts once
        assert rows.numbers["chars"].sum() == len(document)
    panel = pair(table, table, names=("a", "b"))
    assert panel.estimate(0) * panel.denominators.sum() == pytest.approx(total, rel=1e-6)


@pytest.mark.parametrize("bos", [True, False])
@pytest.mark.parametrize("stride", [None, 16])
def test_a_run_against_the_rolling_log_likelihood_of_lm_eval(
    tiny_model: Callable[..., Path], text: Path, tmp_path: Path, bos: bool, stride: int | None
) -> None:
    """Its windows (tests/scoring/lm_eval_windows.py), its prefix token, and a plain forward pass of each window."""
    folder = tiny_model(bos=bos, seed=int(bos))
    spec = ModelSpec(str(folder), dtype="float32", device="cpu")
    run = score({"m": spec}, [text], tmp_path / "run", plan=Plan(context=32, stride=stride), split_on="\n\n")["m"]
    table = read_table(run.folder)
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    documents = text.read_text(encoding="utf-8").split("\n\n")
    for number, document in enumerate(documents):
        ids = tokenizer(document, add_special_tokens=False)["input_ids"]
        total = 0.0
        for fed, wanted in get_rolling_token_windows(ids, tokenizer.bos_token_id, 32, 32 - (stride or 32) + 1):
            with torch.inference_mode():
                likely = torch.log_softmax(model(input_ids=torch.tensor([fed])).logits[0].double(), -1)
            total += float(likely[len(fed) - len(wanted) :].gather(1, torch.tensor(wanted)[:, None]).sum())
        rows = table.where(np.array([name == f"text.txt#{number}" for name in _documents(table)]))
        tokens = rows.numbers["tokens"]
        assert tokens.sum() == len(ids)
        assert rows.numbers["bytes"].sum() == len(document.encode())
        assert -(rows.numbers["loss"] * tokens).sum() == pytest.approx(total, rel=1e-5)
    start, stop = table.numbers["start"], table.numbers["stop"]
    assert overlapping_spans(start, stop, table.labels["document"].codes) == 0  # of what is predicted


def test_without_a_start_token_all_but_the_first_of_a_document_are_predicted(
    tiny_model: Callable[..., Path], text: Path, tmp_path: Path
) -> None:
    specs = {"m": ModelSpec(str(tiny_model()))}
    runs = [
        score(specs, [text], tmp_path / prefix, plan=Plan(context=32, prefix=prefix), split_on="\n\n")["m"]
        for prefix in ("auto", "none")
    ]
    auto, none = (read_table(run.folder) for run in runs)
    assert auto.numbers["tokens"].sum() - none.numbers["tokens"].sum() == 5  # documents
    with pytest.raises(InputError, match="score both with the same `prefix`"):
        pair(auto, none)


def test_runs_of_different_rules_do_not_pair(tiny_model: Callable[..., Path], text: Path, tmp_path: Path) -> None:
    specs = {"m": ModelSpec(str(tiny_model()))}
    rolling = score(specs, [text], tmp_path / "rolling", plan=Plan(context=24, keep_tokens=True))["m"]
    fresh = score(specs, [text], tmp_path / "fresh", plan=Plan(context=24, cut="fresh", keep_tokens=True))["m"]
    assert rolling.manifest["layout"]["cut"] == "rolling"
    tables = [read_table(run.folder) for run in (rolling, fresh)]
    with pytest.raises(InputError, match=r"`cut='rolling'` and .* with `cut='fresh'`.*score one of them again"):
        pair(*tables)
    with pytest.raises(InputError, match="`cut='rolling'`"):
        rates_of_tables("byte", tables)
    with pytest.raises(InputError, match="cut rolling and fresh"):
        check_plans(open_tokens(rolling.folder), open_tokens(fresh.folder))


def test_a_run_from_before_the_rule_was_recorded_is_of_the_older_rule(
    tiny_model: Callable[..., Path], text: Path, tmp_path: Path
) -> None:
    specs, plan = {"m": ModelSpec(str(tiny_model()))}, Plan(context=24, cut="fresh")
    run = score(specs, [text], tmp_path / "run", plan=plan)["m"]
    manifest = json.loads((run.folder / "run.json").read_text())
    del manifest["layout"]["cut"]
    (run.folder / "run.json").write_text(json.dumps(manifest, indent=2, sort_keys=True))
    before = run_bytes(run.folder)
    run.shard(0).unlink()
    score(specs, [text], tmp_path / "run", plan=plan)  # finishes it
    assert run_bytes(run.folder) == before
    with pytest.raises(InputError, match=r"holds another run .*layout"):
        score(specs, [text], tmp_path / "run", plan=Plan(context=24))


def test_rates_of_tables_byte_of_two_tokenizers_divide_by_the_same_bytes(
    tiny_model: Callable[..., Path], text: Path, tmp_path: Path
) -> None:
    tables = []
    for seed, bos, context in ((0, True, 24), (9, False, 40)):
        specs = {"m": ModelSpec(str(tiny_model(seed=seed, bos=bos)))}
        run = score(specs, [text], tmp_path / str(seed), plan=Plan(context=context), split_on="\n\n")["m"]
        tables.append(read_table(run.folder))
    sizes = [len(part.encode()) for part in text.read_text(encoding="utf-8").split("\n\n")]
    rates = rates_of_tables("byte", tables)
    assert rates.denominators.tolist() == sizes
    assert not rates.notes


def test_windows_of_parts_of_a_character_are_read_and_their_bytes_add_up(
    tiny_model: Callable[..., Path], tmp_path: Path
) -> None:
    """A byte-level tokenizer that has seen none of these characters, in windows of two tokens."""
    words = "鬱蒼たる森𠮷野家" * 6
    specs = {str(seed): ModelSpec(str(tiny_model(seed=seed))) for seed in (0, 5)}
    documents = [assay.Document(f"d{i}", words[i:]) for i in range(3)]
    runs = score(specs, documents, tmp_path / "runs", plan=Plan(context=2))
    tables = [read_table(run) for run in runs.values()]
    assert (tables[0].numbers["bytes"] == 0).any()
    total = sum(len(document.text.encode()) for document in documents)
    assert tables[0].numbers["bytes"].sum() == total
    found = assay.compare(*runs.values())
    assert found.bits_per_byte is not None
    nats = float((tables[0].numbers["loss"] * tables[0].numbers["tokens"]).sum())
    assert found.bits_per_byte.a == pytest.approx(nats / np.log(2) / total, rel=1e-12)
    per = assay.compare(*runs.values(), per="byte")
    assert per.a == pytest.approx(found.bits_per_byte.a, rel=1e-12)


@pytest.mark.parametrize("context", [0, -1, 1])
def test_contexts_without_a_context_are_refused(
    tiny_model: Callable[..., Path], text: Path, tmp_path: Path, context: int
) -> None:
    with pytest.raises(UsageError, match=f"context must be at least 2 tokens, but got {context}"):
        score({"m": ModelSpec(str(tiny_model()))}, [text], tmp_path / "run", plan=Plan(context=context))
    assert not (tmp_path / "run").exists()


def test_text_without_a_token_to_predict_is_refused_and_nothing_is_written(
    tiny_model: Callable[..., Path], tmp_path: Path
) -> None:
    (tmp_path / "a.txt").write_text("A")
    with pytest.raises(InputError, match="no token that can be predicted"):
        score({"m": ModelSpec(str(tiny_model()))}, [tmp_path / "a.txt"], tmp_path / "run", plan=Plan(prefix="none"))
    assert not (tmp_path / "run").exists()


def _documents(table: object) -> list[str]:
    labels = table.labels["document"]  # type: ignore[attr-defined]  # a Table
    return [labels.names[code] for code in labels.codes.tolist()]


def test_the_same_arguments_give_the_same_bytes_and_resume_nothing(
    tiny_model: Callable[..., Path], text: Path, tmp_path: Path
) -> None:
    specs = {"m": ModelSpec(str(tiny_model()))}
    first = score(specs, [text], tmp_path / "a", plan=Plan(context=24, keep_tokens=True))["m"]
    score(specs, [text], tmp_path / "b", plan=Plan(context=24, keep_tokens=True))
    before = run_bytes(first.folder)
    assert before == run_bytes(tmp_path / "b")
    score(specs, [text], tmp_path / "a", plan=Plan(context=24, keep_tokens=True))
    assert run_bytes(first.folder) == before


def test_another_model_text_or_plan_is_refused_and_overwriting_is_explicit(
    tiny_model: Callable[..., Path], text: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    spec = ModelSpec(str(tiny_model()))
    score({"m": spec}, [text], run, plan=Plan(context=24))
    with pytest.raises(InputError, match=r"holds another run .model"):
        score({"m": ModelSpec(str(tiny_model(seed=3)))}, [text], run, plan=Plan(context=24))
    with pytest.raises(InputError, match=r"holds another run .layout"):
        score({"m": spec}, [text], run, plan=Plan(context=25))
    text.write_text("other text " * 50)
    with pytest.raises(InputError, match=r"holds another run .*text"):
        score({"m": spec}, [text], run, plan=Plan(context=24))
    score({"m": spec}, [text], run, plan=Plan(context=24), overwrite=True)
    assert json.loads((run / "run.json").read_text())["text"]["documents"] == 1


def test_overwriting_what_is_no_run_is_refused(tiny_model: Callable[..., Path], text: Path, tmp_path: Path) -> None:
    folder = tmp_path / "precious"
    folder.mkdir()
    (folder / "thesis.txt").write_text("years of work")
    for overwrite in (False, True):
        with pytest.raises(InputError, match="not a run"):
            score({"m": ModelSpec(str(tiny_model()))}, [text], folder, overwrite=overwrite)
    assert (folder / "thesis.txt").read_text() == "years of work"


def test_an_incomplete_run_is_not_read(tiny_model: Callable[..., Path], text: Path, tmp_path: Path) -> None:
    run = score({"m": ModelSpec(str(tiny_model()))}, [text], tmp_path / "run", plan=Plan(context=24))["m"]
    run.shard(0).unlink()
    with pytest.raises(InputError, match="not complete, 1 of 1 shards"):
        read_table(run.folder)


def test_several_models_tokenize_once_and_compare(tiny_model: Callable[..., Path], text: Path, tmp_path: Path) -> None:
    specs = {f"seed{seed}": ModelSpec(str(tiny_model(seed=seed))) for seed in (0, 5)}
    runs = score(specs, [text], tmp_path / "runs", plan=Plan(context=24, draw=(4, 4)))
    tables = [read_table(run.folder) for run in runs.values()]
    panel = pair(*tables, missing="refuse")
    assert panel.systems == ("seed0", "seed5")
    assert panel.n == 8
    assert set(tables[0].labels["split"].names) == {"preview", "final"}


def test_paths_and_texts_do_where_a_spec_and_a_file_do(
    tiny_model: Callable[..., Path], text: Path, tmp_path: Path
) -> None:
    """With what the package exports: a path for a model, a document for a text, a run for its folder."""
    model = tiny_model(seed=0)
    given = assay.score(ModelSpec(str(model)), [text], tmp_path / "a", plan=Plan(context=24))
    plain = assay.score(
        model, assay.Document(text.name, text.read_text("utf-8")), tmp_path / "b", plan=assay.Plan(context=24)
    )
    assert list(given) == list(plain) == [model.name]
    a, b = (assay.read_table(run) for run in (given[model.name], plain[model.name]))
    assert a.ids.tolist() == b.ids.tolist()
    assert (a.numbers["loss"] == b.numbers["loss"]).all()
    assert assay.compare(given[model.name], plain[model.name]).difference.value == 0


def test_perplexities_of_different_tokenizers_are_refused(
    tiny_model: Callable[..., Path], text: Path, tmp_path: Path
) -> None:
    other = _copied(tiny_model(), tmp_path / "other", lambda model: model["merges"].pop(0))
    runs = score([tiny_model(), other], [text], tmp_path / "runs", plan=Plan(context=24, keep_tokens=True))
    with pytest.raises(InputError, match="tokenized differently"):
        pair(*(read_table(run.folder) for run in runs.values()))
    with pytest.raises(InputError, match="different tokenizers"):
        assay.context(*runs.values())


def _copied(model: Path, folder: Path, change: Callable[[dict[str, Any]], object]) -> Path:
    """A copy of a model whose tokenizer.json is written in another order and on one line, after a change."""
    shutil.copytree(model, folder)
    told = json.loads((folder / "tokenizer.json").read_text("utf-8"))
    change(told["model"])
    turned = {name: told[name] for name in reversed(told)} | {"truncation": None}
    (folder / "tokenizer.json").write_text(json.dumps(turned), "utf-8")
    return folder


def _saved_again(model: Path, folder: Path) -> Path:
    """A copy as `transformers` 5 saves it: without tokenizer.model, and with a tokenizer_config.json of its own."""
    shutil.copytree(model, folder)
    (model / "tokenizer.model").write_bytes(b"the file of another library")
    transformers.AutoTokenizer.from_pretrained(folder).save_pretrained(folder)
    return folder


def _comparable(models: list[Path], text: Path, folder: Path) -> assay.Comparison:
    """The comparison of two models, which differ in what their folders say of the tokenizer."""
    runs = list(score(models, [text], folder, plan=Plan(context=24, keep_tokens=True), split_on="\n\n").values())
    first, second = (run.manifest["model"]["digests"]["tokenizer"] for run in runs)
    assert first != second
    assert runs[0].manifest["text"] == runs[1].manifest["text"]
    alike = [note for note in assay.context(*runs).notes if "defined differently" in note]
    found = assay.compare(*runs)
    assert [note for note in found.notes if "defined differently" in note] == alike
    return found


@pytest.mark.parametrize("again", [True, False])
def test_the_same_tokenizer_in_other_files_is_the_same(
    tiny_model: Callable[..., Path], text: Path, tmp_path: Path, *, again: bool
) -> None:
    """The oracle is the model itself: a copy with the same weights has the same losses."""
    model = Path(shutil.copytree(tiny_model(), tmp_path / "model"))
    copy = tmp_path / "copy"
    copy = _saved_again(model, copy) if again else _copied(model, copy, lambda _: None)
    found = _comparable([model, copy], text, tmp_path / "runs")
    assert found.difference.value == 0
    assert not any("defined differently" in note for note in found.notes)


def test_tokenizers_that_agree_on_the_text_compare_with_a_note(
    tiny_model: Callable[..., Path], text: Path, tmp_path: Path
) -> None:
    """One cannot write a token that the text does not have."""
    unused = "Z"
    assert unused not in text.read_text("utf-8")
    other = _copied(
        tiny_model(), tmp_path / "other", lambda model: model["vocab"].update({"ZZ": model["vocab"].pop(unused)})
    )
    found = _comparable([tiny_model(), other], text, tmp_path / "runs")
    assert found.difference.value == 0
    assert any("are defined differently, but give this text the same tokens" in note for note in found.notes)


def test_a_run_from_before_token_ids_were_recorded_compares_by_its_files(
    tiny_model: Callable[..., Path], text: Path, tmp_path: Path
) -> None:
    other = _copied(tiny_model(), tmp_path / "other", lambda _: None)
    runs = score({"a": tiny_model(), "b": tiny_model(), "c": other}, [text], tmp_path / "runs", plan=Plan(context=24))
    manifest = json.loads((runs["a"].folder / "run.json").read_text("utf-8"))
    del manifest["text"]["token_ids"], manifest["model"]["digests"]["tokenizer_definition"]
    (runs["a"].folder / "run.json").write_text(json.dumps(manifest), "utf-8")
    assert assay.compare(runs["a"], runs["b"]).difference.value == 0
    with pytest.raises(InputError, match="tokenized differently"):
        assay.compare(runs["a"], runs["c"])
    manifest["text"]["token_ids"] = 7
    (runs["a"].folder / "run.json").write_text(json.dumps(manifest), "utf-8")
    with pytest.raises(InputError, match="a digest must be a text"):
        assay.compare(runs["a"], runs["b"])


def test_what_a_tokenizer_was_last_asked_does_not_count(tiny_model: Callable[..., Path]) -> None:
    tokenizer = load_tokenizer(ModelSpec(str(tiny_model())))
    before = definition_digest(tokenizer)
    tokenizer.pad_token = tokenizer.eos_token
    tokenizer(["a b c", "d"], padding=True, truncation=True, max_length=2)
    assert tokenizer.backend_tokenizer.padding is not None
    assert definition_digest(tokenizer) == before
    tokenizer.split_special_tokens = True
    assert definition_digest(tokenizer) != before


def test_a_context_longer_than_the_model_is_refused(
    tiny_model: Callable[..., Path], text: Path, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match="at most the model's 128"):
        score({"m": ModelSpec(str(tiny_model()))}, [text], tmp_path / "run", plan=Plan(context=129))


def test_text_that_is_not_utf8_names_the_byte(tiny_model: Callable[..., Path], tmp_path: Path) -> None:
    bad = tmp_path / "bad.txt"
    bad.write_bytes(b"good \xff bad")
    with pytest.raises(InputError, match=r"bad.txt: not UTF-8 at byte 5 \(0xff\)"):
        score({"m": ModelSpec(str(tiny_model()))}, [bad], tmp_path / "run")


#: What a scoring process would import first; with these loaded before it forks it starts to score at once.
LOADED_BY_SCORING = [
    "torch",
    "transformers",
    "transformers.models.auto.modeling_auto",
    "transformers.models.llama.modeling_llama",
    "transformers.tokenization_utils_tokenizers",
    "duckdb",
]


def _score_slowly(model: str, text: str, folder: str) -> None:
    """In a process of its own, forked after torch was imported: many small shards, many moments to be killed in."""
    import assay.scoring.windows as core

    core.SHARD_TOKENS = 200
    score({"m": ModelSpec(model)}, [text], folder, plan=Plan(context=24, keep_tokens=True))


def test_twenty_kills_change_no_byte_against_an_undisturbed_run(
    tiny_model: Callable[..., Path], text: Path, tmp_path: Path
) -> None:
    server = multiprocessing.get_context("forkserver")
    server.set_forkserver_preload([*LOADED_BY_SCORING, "assay.scoring", "assay.scoring.hf"])

    def start(folder: str) -> multiprocessing.process.BaseProcess:
        process = server.Process(target=_score_slowly, args=(str(tiny_model()), str(text), str(tmp_path / folder)))
        process.start()
        return process

    start("warm").join()
    began = time.monotonic()
    whole = start("whole")
    whole.join()
    assert whole.exitcode == 0
    took, chance = time.monotonic() - began, random.Random(7)  # noqa: S311 - moments to kill in, no secret
    for _ in range(20):
        process = start("killed")
        process.join(timeout=took * chance.uniform(0.3, 1.0))
        process.kill()
        process.join()
    last = start("killed")
    last.join()
    assert last.exitcode == 0
    killed = {name: data for name, data in run_bytes(tmp_path / "killed").items() if not name.endswith(".part")}
    assert killed == run_bytes(tmp_path / "whole")


def test_a_loss_that_is_not_finite_is_refused_with_its_token(tmp_path: Path) -> None:
    from assay.scoring import Encoded, score_encoded
    from assay.scoring.models_and_texts import Document
    from assay.scoring.windows import Layout

    encoded = [Encoded(Document("d", "abcdef"), np.arange(6), np.arange(1, 7))]

    def losses(rows: object, counted: object) -> list[np.ndarray]:
        return [np.array([1.0, 2.0, np.inf, 1.0, 1.0])]

    plan = Plan(batch_tokens=8)
    with pytest.raises(InputError, match="d:0: token 3 has the loss inf"):
        score_encoded(encoded, losses, tmp_path / "run", about={}, layout=Layout(6, cut="fresh"), plan=plan, bos=None)
    assert not list((tmp_path / "run").glob("*.parquet"))


def test_a_full_disk_names_the_path_and_the_space_needed(
    tiny_model: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rest of the run, at the mean size of the shards that are there, by hand."""
    monkeypatch.setattr("assay.scoring.windows.SHARD_TOKENS", 64)
    texts = [Document(f"d{i}", "The quick brown fox jumps over the lazy dog. " * 9) for i in range(6)]
    whole = score(tiny_model(), texts, tmp_path / "whole", plan=Plan(context=32, batch_tokens=64))[tiny_model().name]
    fill = copy_columns

    def full(columns: Any, part: Path) -> None:
        if "00002" in part.name:
            raise OSError(errno.ENOSPC, "No space left on device")
        fill(columns, part)

    monkeypatch.setattr(runs, "copy_columns", full)
    monkeypatch.setattr("assay.errors._MB", 1.0)  # a unit in which something is to be seen
    with pytest.raises(WriteError) as caught:
        score(tiny_model(), texts, tmp_path / "run", plan=Plan(context=32, batch_tokens=64))
    sizes = [(tmp_path / "run" / f"windows-{i:05d}.parquet").stat().st_size for i in range(2)]
    needed = sum(sizes) / 2 * (whole.shards - 2)
    assert "windows-00002.parquet: cannot be written (No space left on device)" in str(caught.value)
    assert f"make room for {needed:,.1f} MB, then run the same command again" in str(caught.value)
