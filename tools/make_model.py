"""Make the small language model that ships in ``assay.models``: text from the grammar, a tokenizer, a trained model.

    python -m tools.make_model [FOLDER] [--mix en=1,ja=1] [--steps N] [--work FOLDER]

The recipe is fixed: seeds, order of the text, number of threads, number of steps. On one machine, with one version of
torch, a run gives the same weights to the last bit, also when it was stopped and goes on from --work. Other machines
and versions add floats in another order and give a model that is alike, not equal. The text and the tokenizer have
no floats in them and come out the same everywhere.
"""

import argparse
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn.functional import cross_entropy

from tools.grammar import BETWEEN, LANGUAGES, stories, text
from tools.make_tokenizer import END, save_tokenizer, trained_tokenizer
from tools.muon import Muon

HELD_OUT = 1_000_000  # stories from this number on are never trained on
HELD_OUT_STORIES = 180  # of each language: enough for 360 full windows of 256 tokens, also story by story
TOKENIZER_STORIES = 400  # of each language: what the merges are learned from
LONGEST = 512  # tokens: what the model is trained on at once


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """Everything that decides a weight."""

    mix: tuple[tuple[str, float], ...] = (("en", 1.0), ("ja", 1.0))  # parts of each language, in tokens
    copying: int = 150  # steps on repetitions, before the stories
    steps: int = 1000  # steps on stories
    rows: int = 4  # of LONGEST tokens, in one step
    vocabulary: int = 2048
    width: int = 128
    hidden: int = 320
    layers: int = 4
    heads: int = 4
    rate: float = 0.025  # of Muon, for the matrices
    rate_embedding: float = 0.02  # of AdamW, for the embedding, the biases and the norms
    warmup: int = 10  # steps
    decay: float = 0.5  # part of the steps on stories, at the end
    seed: int = 0
    threads: int = 1  # more would add in an order that depends on the machine

    @property
    def tokens(self) -> int:
        return self.steps * self.rows * LONGEST


# --------------------------------------------------------------------------------------------------------------- text


def training_tokens(tokenizer: Any, recipe: Recipe) -> NDArray[np.int64]:
    """Every story once, in rows of LONGEST + 1 tokens whose order is shuffled: (rows, LONGEST + 1)."""
    total = sum(part for _, part in recipe.mix)
    parts = [rows_of(tokenizer, language, math.ceil(recipe.tokens * part / total)) for language, part in recipe.mix]
    rows = np.concatenate(parts)
    return rows[np.random.default_rng(recipe.seed).permutation(len(rows))]


def rows_of(tokenizer: Any, language: str, tokens: int) -> NDArray[np.int64]:
    """Stories one after another, as they stand in a file; after each eighth the text ends and another begins."""
    needed, found, size, number = math.ceil(tokens / LONGEST) + 1, [], 0, 0
    while size < needed * (LONGEST + 1):
        page = BETWEEN.join(stories(language, range(number, number + 8))) + "\n" + END
        found.append(np.array(tokenizer.encode(page).ids, dtype=np.int64))
        size, number = size + len(found[-1]), number + 8
    return np.concatenate(found)[: needed * (LONGEST + 1)].reshape(needed, LONGEST + 1)


def repetitions(recipe: Recipe, step: int) -> NDArray[np.int64]:
    """Random tokens that repeat after 8 to 31 places: all there is to learn is to look back and copy."""
    rng, length = np.random.default_rng((recipe.seed, step)), LONGEST // 8 + 1
    rows = [np.resize(rng.integers(recipe.vocabulary, size=rng.integers(8, 32)), length) for _ in range(16)]
    return np.stack(rows)


def held_out_text(language: str) -> str:
    return text(language, range(HELD_OUT, HELD_OUT + HELD_OUT_STORIES))


# ----------------------------------------------------------------------------------------------------------- training


def new_model(recipe: Recipe, end: int) -> Any:
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(recipe.seed)
    config = LlamaConfig(
        vocab_size=recipe.vocabulary,
        hidden_size=recipe.width,
        intermediate_size=recipe.hidden,
        num_hidden_layers=recipe.layers,
        num_attention_heads=recipe.heads,
        num_key_value_heads=recipe.heads // 2,
        max_position_embeddings=LONGEST,
        attention_bias=True,
        tie_word_embeddings=True,
        bos_token_id=None,
        eos_token_id=end,
        pad_token_id=end,
    )
    build: Any = LlamaForCausalLM  # has no types
    model = build(config)
    start_calmly(model)
    look_back(model.model.layers[0].self_attn, recipe.width // recipe.heads)
    return model


@torch.no_grad()
def start_calmly(model: Any) -> None:
    """Every block adds nothing at first, so that the tokens themselves are what the first steps see."""
    for layer in model.model.layers:
        layer.self_attn.o_proj.weight.zero_()
        layer.mlp.down_proj.weight.zero_()


@torch.no_grad()
def look_back(attention: Any, size: int, strength: float = 10.0) -> None:
    """Two heads of the first layer start by looking one and two tokens back.

    Rotary positions turn pair f of a query by its place times an angle a(f), and of a key likewise. Constant ones that
    differ by d a(f) have the product sum of cos((distance - d) a(f)), which is largest at the distance d. Copying
    needs such heads, and without this start their discovery takes most of the training.
    """
    half, pairs = size // 2, min(6, size // 2)
    angles = 10000.0 ** (-torch.arange(pairs) / half)
    attention.k_proj.bias[:pairs] = strength
    for head, distance in enumerate((1, 2)):
        query = attention.q_proj.bias[head * size : (head + 1) * size]
        query[:pairs] = strength * torch.cos(-distance * angles)
        query[half : half + pairs] = strength * torch.sin(-distance * angles)


def optimizers(model: Any, recipe: Recipe) -> list[torch.optim.Optimizer]:
    """Muon for the matrices inside the model, which learns far faster here; AdamW for the rest."""
    named = list(model.named_parameters())
    matrices = [p for name, p in named if p.ndim == 2 and "embed" not in name]
    others = [p for name, p in named if p.ndim != 2 or "embed" in name]
    return [
        Muon(matrices, recipe.rate),
        torch.optim.AdamW(others, lr=recipe.rate_embedding, betas=(0.9, 0.95), weight_decay=0.0),
    ]


def schedule(step: int, recipe: Recipe) -> float:
    """Up in a straight line, level, and down in a straight line."""
    left = recipe.copying + recipe.steps - step
    return min(1.0, (step + 1) / recipe.warmup, left / (recipe.decay * recipe.steps))


def batch_at(step: int, rows: NDArray[np.int64], recipe: Recipe) -> torch.Tensor:
    """What a step learns from: repetitions first, then every story once."""
    if step < recipe.copying:
        return torch.from_numpy(repetitions(recipe, step))
    first = (step - recipe.copying) * recipe.rows
    return torch.from_numpy(rows[first : first + recipe.rows])


def train(model: Any, rows: NDArray[np.int64], recipe: Recipe, work: Path | None) -> None:
    """All steps. What the folder ``work`` holds is gone on with."""
    makers, first, began = optimizers(model, recipe), 0, time.monotonic()
    rates = [maker.param_groups[0]["lr"] for maker in makers]
    if work is not None and (work / "state.pt").exists():
        first = restored(work / "state.pt", model, makers)
    last = recipe.copying + recipe.steps - 1
    for step in range(first, last + 1):
        for maker, rate in zip(makers, rates, strict=True):
            maker.param_groups[0]["lr"] = rate * schedule(step, recipe)
        loss = one_step(model, makers, batch_at(step, rows, recipe))
        if step % 50 == 0 or step == last:
            print(f"step {step:4d}  loss {loss:.4f}  {time.monotonic() - began:5.0f} s", flush=True)
        if work is not None and step % 50 == 49:
            keep(work / "state.pt", model, makers, step + 1)


def one_step(model: Any, makers: Sequence[torch.optim.Optimizer], batch: torch.Tensor) -> float:
    logits = model(input_ids=batch[:, :-1], use_cache=False).logits
    loss = cross_entropy(logits.flatten(0, 1), batch[:, 1:].flatten())
    torch.autograd.backward(loss)
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    for maker in makers:
        maker.step()
        maker.zero_grad()
    return float(loss.detach())


def keep(path: Path, model: Any, makers: Sequence[torch.optim.Optimizer], step: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    state = {"model": model.state_dict(), "makers": [maker.state_dict() for maker in makers], "step": step}
    torch.save(state, path.with_suffix(".part"))
    path.with_suffix(".part").replace(path)


def restored(path: Path, model: Any, makers: Sequence[torch.optim.Optimizer]) -> int:
    state = torch.load(path, weights_only=True)
    model.load_state_dict(state["model"])
    for maker, kept in zip(makers, state["makers"], strict=True):
        maker.load_state_dict(kept)
    return int(state["step"])


# ---------------------------------------------------------------------------------------------------- what it learned


@torch.inference_mode()
def losses_by_position(model: Any, ids: NDArray[np.int64]) -> NDArray[np.float64]:
    """The loss of each token of full windows given those before it in the window: (windows, LONGEST - 1)."""
    windows = torch.from_numpy(ids[: len(ids) // LONGEST * LONGEST].reshape(-1, LONGEST))
    found = []
    for batch in torch.split(windows, 16):
        logits = model(input_ids=batch, use_cache=False).logits[:, :-1]
        found.append(cross_entropy(logits.transpose(1, 2), batch[:, 1:], reduction="none").double().numpy())
    return np.concatenate(found)


def unigram_loss(training: NDArray[np.int64], ids: NDArray[np.int64], size: int) -> float:
    """The loss of a model that knows how frequent each token is, and nothing else."""
    counts = np.bincount(training.ravel(), minlength=size) + 1.0
    return float(-np.log(counts / counts.sum())[ids].mean())


def report(model: Any, tokenizer: Any, training: NDArray[np.int64], recipe: Recipe) -> None:
    for language, _ in recipe.mix:
        ids = np.array(tokenizer.encode(held_out_text(language)).ids, dtype=np.int64)
        losses, bare = losses_by_position(model, ids), unigram_loss(training, ids, recipe.vocabulary)
        mean = losses.mean()
        print(f"{language}: {len(ids):,} tokens held out, loss {mean:.4f} (perplexity {np.exp(mean):.2f})")
        print(f"    of token frequencies alone: {bare:.4f} (perplexity {np.exp(bare):.1f})")
        for low, high in ((0, 16), (16, 32), (32, 64), (64, 128), (128, 256), (256, LONGEST - 1)):
            print(f"    after {low + 1:3d} to {high:3d} tokens of context: {losses[:, low:high].mean():.4f}")


# --------------------------------------------------------------------------------------------------------------- main


def make(folder: Path, recipe: Recipe, work: Path | None) -> None:
    torch.set_num_threads(recipe.threads)
    torch.use_deterministic_algorithms(mode=True)
    tokenizer = trained_tokenizer(
        [text(language, range(TOKENIZER_STORIES)) for language in LANGUAGES], recipe.vocabulary
    )
    rows = training_tokens(tokenizer, recipe)
    model = new_model(recipe, tokenizer.token_to_id(END))
    print(f"{sum(p.numel() for p in model.parameters()):,} parameters, {rows.size:,} tokens to train on")
    train(model, rows, recipe, work)
    report(model.eval(), tokenizer, rows, recipe)
    model.save_pretrained(folder / "base")
    save_tokenizer(tokenizer, folder / "base", LONGEST)
    (folder / "text").mkdir(exist_ok=True)
    for language in LANGUAGES:
        (folder / "text" / f"{language}.txt").write_text(held_out_text(language), encoding="utf-8", newline="\n")


def main() -> None:
    parser = argparse.ArgumentParser(description="Make the small language model that ships with Assay.")
    parser.add_argument("folder", nargs="?", type=Path, default=Path("src/assay/models"))
    parser.add_argument("--mix", default="en=1,ja=1", help="parts of each language: en=1 is English only")
    parser.add_argument("--steps", type=int, default=Recipe.steps)
    parser.add_argument("--work", type=Path, help="where to keep the state, so that a stopped run goes on")
    asked = parser.parse_args()
    mix = tuple((name, float(part)) for name, part in (one.split("=") for one in asked.mix.split(",")))
    make(asked.folder, replace(Recipe(), mix=mix, steps=asked.steps), asked.work)


if __name__ == "__main__":
    main()
