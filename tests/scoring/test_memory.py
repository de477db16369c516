"""Memory that is short, made so by torch's own error from a real forward pass; no graphics card is needed or tried."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay.data.runs import HALVED, MANIFEST
from assay.engines import Engine
from assay.errors import InputError, UsageError
from assay.scoring import local_scorer, score
from assay.scoring.loading import find_device
from assay.scoring.memory import InTurn, MemoryShortError, spreads, weights_bytes
from assay.scoring.models_and_texts import Document, ModelSpec
from assay.scoring.stepwise import load
from assay.scoring.windows import Plan

pytest.importorskip("torch", reason="the extra hf is not installed")

import torch

from assay.scoring.hf import ModelScorer

TEXTS = [Document(f"d{i}", "The quick brown fox jumps over the lazy dog. " * (4 + i)) for i in range(6)]
PLAN = Plan(context=32, batch_tokens=256)
ROWS = [[1 + (7 * i + 3 * j) % 290 for j in range(24)] for i in range(7)]


def limited(model: Any, tokens: int) -> list[int]:
    """Let a model's forward pass fail as on a full graphics card where it is fed more tokens; sizes that were tried."""
    forward, tried = model.forward, []

    def bounded(*args: Any, input_ids: Any = None, **options: Any) -> Any:
        tried.append(input_ids.numel())
        if input_ids.numel() > tokens:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")
        return forward(*args, input_ids=input_ids, **options)

    model.forward = bounded
    return tried


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Every model that is loaded after the call fits so many tokens."""
    before = ModelScorer.__init__

    def set_to(tokens: int) -> None:
        def begin(self: ModelScorer, spec: ModelSpec) -> None:
            before(self, spec)
            limited(self.model.base_model, tokens)

        monkeypatch.setattr(ModelScorer, "__init__", begin)

    return set_to


def scorer_of(folder: Path, **how: Any) -> ModelScorer:
    return ModelScorer(ModelSpec(str(folder), device="cpu", **how))


@pytest.mark.parametrize("kind", ["llama", "gemma2"])
def test_batches_are_halved_until_they_fit_against_one_row_at_a_time(
    tiny_model: Callable[..., Path], kind: str
) -> None:
    scorer = scorer_of(tiny_model(kind))
    alone = [scorer.losses([row])[0] for row in ROWS]
    tried = limited(scorer.model if kind == "gemma2" else scorer.model.base_model, 50)
    for found, expected in zip(scorer.losses(ROWS), alone, strict=True):
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5)
    assert kind == "gemma2" or scorer.halved_to is not None
    failed = sum(size > 50 for size in tried)
    scorer.losses(ROWS)
    assert sum(size > 50 for size in tried) == failed  # what did not fit is not tried again


def test_greedy_tokens_of_halves_are_those_of_the_whole(tiny_model: Callable[..., Path]) -> None:
    scorer, counted = scorer_of(tiny_model()), [len(row) - 1 for row in ROWS]
    _, whole = scorer.losses_and_greedy(ROWS, counted)
    limited(scorer.model.base_model, 50)
    _, halves = scorer.losses_and_greedy(ROWS, counted)
    assert [part.tolist() for part in halves] == [part.tolist() for part in whole]


def test_a_window_that_never_fits_is_refused(tiny_model: Callable[..., Path]) -> None:
    scorer = scorer_of(tiny_model())
    limited(scorer.model.base_model, 10)
    with pytest.raises(MemoryShortError, match=r"a window of 24 tokens does not fit into memory; give a shorter"):
        scorer.losses(ROWS)


def test_other_errors_of_a_forward_pass_are_not_taken_for_it(tiny_model: Callable[..., Path]) -> None:
    scorer = scorer_of(tiny_model())

    def broken(*_: Any, **__: Any) -> Any:
        raise RuntimeError("mat1 and mat2 shapes cannot be multiplied")

    scorer.model.base_model.forward = broken
    with pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
        scorer.losses(ROWS)
    assert scorer.halved_to is None


def manifest(run: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((run / MANIFEST).read_text())
    return found


def losses_in(run: Path) -> np.ndarray[Any, Any]:
    import assay

    return assay.Panel.from_tables([assay.read_table(run)]).numerators[:, 0]


def test_a_run_notes_that_batches_were_halved_and_is_resumed(
    tiny_model: Callable[..., Path], tmp_path: Path, short: Callable[[int], None]
) -> None:
    whole = score(tiny_model(), TEXTS, tmp_path / "whole", plan=PLAN)[tiny_model().name]
    assert HALVED not in whole.manifest
    short(70)
    run = score(tiny_model(), TEXTS, tmp_path / "run", plan=PLAN)[tiny_model().name]
    noted = manifest(tmp_path / "run")
    assert noted.pop(HALVED) <= 128
    assert noted == manifest(tmp_path / "whole")
    np.testing.assert_allclose(losses_in(tmp_path / "run"), losses_in(tmp_path / "whole"), rtol=1e-6)
    run.shard(0).unlink()
    score(tiny_model(), TEXTS, tmp_path / "run", plan=PLAN)  # the same run, whatever its memory was
    assert manifest(tmp_path / "run")[HALVED] <= 128


@pytest.mark.slow
def test_workers_tell_that_batches_were_halved(tiny_model: Callable[..., Path], tmp_path: Path) -> None:
    from assay.scoring import on_workers

    with Engine(workers=2).started(on_workers._Scoring(ModelSpec(str(tiny_model())), load_short)) as workers:
        scorer = on_workers.ScorerOnWorkers(ModelSpec(str(tiny_model())), workers)
        list(scorer.shards([[(ROWS, [3] * len(ROWS))]]))
        assert scorer.halved_to == 84


def load_short(spec: ModelSpec) -> ModelScorer:
    scorer = local_scorer(spec)
    limited(scorer.model.base_model, 100)
    return scorer


def test_a_run_goes_on_with_the_batches_it_began_with(
    tiny_model: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = Plan(context=32)
    score(tiny_model(), TEXTS, tmp_path / "run", plan=plan)
    before = manifest(tmp_path / "run")
    monkeypatch.setattr(ModelScorer, "batch_tokens", lambda _, asked: asked or 77)  # another machine
    score(tiny_model(), TEXTS, tmp_path / "run", plan=plan)
    assert manifest(tmp_path / "run") == before


# ------------------------------------------------------------------------------------------------ one after the other


def test_two_models_that_do_not_fit_together_take_turns(
    tiny_model: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """There is room for one: loading a second one fails as on a full graphics card."""
    specs = [ModelSpec(str(tiny_model(seed=seed)), device="cpu") for seed in (0, 1)]
    apart = [ModelScorer(spec).losses(ROWS) for spec in specs]
    present: list[Any] = []
    before = ModelScorer.__init__

    def begin(self: ModelScorer, spec: ModelSpec) -> None:
        if any(one.present for one in present):
            raise MemoryShortError("the model cannot be run (CUDA out of memory)")
        before(self, spec)

    monkeypatch.setattr(ModelScorer, "__init__", begin)
    for spec in specs:
        found = object.__new__(InTurn)
        present.append(found)
        found._scorer = None
        found.__init__(partial(local_scorer, spec))  # type: ignore[misc]  # known before it loads
    for _ in range(2):
        for place, one in enumerate(present):
            for losses, expected in zip(one.losses(ROWS), apart[place], strict=True):
                np.testing.assert_array_equal(losses, expected)
            assert [other.present for other in present].count(True) == 1


def test_models_that_fit_together_stay(tiny_model: Callable[..., Path]) -> None:
    both = [load(f"m{seed}", ModelSpec(str(tiny_model(seed=seed))), TEXTS, PLAN) for seed in (0, 1)]
    assert all(isinstance(one.scorer, InTurn) and one.scorer.present for one in both)


def test_one_model_that_does_not_fit_alone_is_refused(
    tiny_model: Callable[..., Path], short: Callable[[int], None]
) -> None:
    short(5)
    alone = InTurn(partial(local_scorer, ModelSpec(str(tiny_model()))))
    with pytest.raises(InputError, match="does not fit into memory"):
        alone.losses(ROWS)


def test_several_models_of_a_command_are_never_in_memory_together(
    tiny_model: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import gc
    from weakref import WeakSet

    made: WeakSet[ModelScorer] = WeakSet()
    before = ModelScorer.__init__

    def begin(self: ModelScorer, spec: ModelSpec) -> None:
        gc.collect()
        assert len(made) == 0
        before(self, spec)
        made.add(self)

    monkeypatch.setattr(ModelScorer, "__init__", begin)
    score({"a": str(tiny_model()), "b": str(tiny_model(seed=1))}, TEXTS, tmp_path / "runs", plan=PLAN)


# ------------------------------------------------------------------------------------------------------------- devices


def test_the_device_left_to_us(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = []
    for cuda, mps in ((True, True), (False, True), (False, False)):
        monkeypatch.setattr(torch.cuda, "is_available", lambda found=cuda: found)
        monkeypatch.setattr(torch.backends.mps, "is_available", lambda found=mps: found)
        chosen.append(find_device("auto").type)
    assert chosen == ["cuda", "mps", "cpu"]
    with pytest.raises(UsageError, match="device must be auto, spread, cpu"):
        find_device("gpu")


def test_a_model_is_spread_where_it_does_not_fit_on_one_card(
    tiny_model: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    from assay.scoring.loading import load_config, load_model

    spec = ModelSpec(str(tiny_model()))
    config = load_config(spec)
    by_hand = sum(one.numel() * one.element_size() for one in load_model(spec).parameters())
    assert weights_bytes(spec, config) == by_hand
    assert not spreads(spec, config)  # no card
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    for free, wanted in ((by_hand, True), (2 * by_hand, False)):
        monkeypatch.setattr(torch.cuda, "mem_get_info", lambda found=free: (found, found))
        assert spreads(spec, config) is wanted
        assert not spreads(ModelSpec(spec.name, device="cuda"), config)
    half = ModelSpec(spec.name, dtype="bfloat16")
    assert weights_bytes(half, config) == by_hand / 2


def test_batches_of_a_card_are_by_what_is_free(
    tiny_model: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    scorer = scorer_of(tiny_model())
    assert scorer.batch_tokens(None) == 8192
    scorer.device = torch.device("cuda")
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda: (80 << 30, 80 << 30))
    assert scorer.batch_tokens(None) == 65_536
    assert scorer.batch_tokens(500) == 500


def test_a_spread_model_against_one_in_a_piece(
    tiny_model: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half of its layers wait on disk, with the hooks that move inputs between graphics cards."""
    import transformers

    whole = scorer_of(tiny_model()).losses(ROWS)
    auto: Any = transformers.AutoModelForCausalLM
    plain = auto.from_pretrained

    def parted(*args: Any, **options: Any) -> Any:
        if options.pop("device_map", None) is None:
            return plain(*args, **options)
        places = {"model.embed_tokens": "cpu", "model.layers.0": "cpu", "model.layers.1": "disk"}
        places |= {"model.norm": "cpu", "model.rotary_emb": "cpu", "lm_head": "cpu"}
        return plain(*args, device_map=places, offload_folder=str(tmp_path), **options)

    monkeypatch.setattr(auto, "from_pretrained", parted)
    scorer = ModelScorer(ModelSpec(str(tiny_model()), device="spread"))
    assert set(scorer.model.hf_device_map.values()) == {"cpu", "disk"}
    for found, expected in zip(scorer.losses(ROWS), whole, strict=True):
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6)


def test_spread_without_a_card_is_the_memory_of_the_machine(tiny_model: Callable[..., Path]) -> None:
    scorer = ModelScorer(ModelSpec(str(tiny_model()), device="spread"))
    np.testing.assert_array_equal(scorer.losses(ROWS)[0], scorer_of(tiny_model()).losses(ROWS)[0])
