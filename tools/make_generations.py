"""Make ``prompts.jsonl`` and ``generations.csv`` of ``assay.examples``: what the shipped model and a 3-bit copy write.

    python -m tools.make_generations [FOLDER]

An item is a Japanese story that the model was not trained on. Its beginning, up to the end of a sentence, is the
prompt; the next two sentences are the reference; the prediction is what the model goes on to write, always the most
probable token, up to the end of its second sentence. Some minutes on one core. Other machines and versions of torch
may round differently, and so write another character now and then.
"""

import csv
import io
import json
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay import models
from assay.files.writing import write_bytes
from assay.models import round_weights

FILE = "generations.csv"
PROMPTS = "prompts.jsonl"
PROMPT = 150  # characters at the least
SENTENCES = 2  # of a reference
LONGEST = 60  # characters of a reference: longer ones are passed over, or the file would be large
TOKENS = 64  # that a model may write
END = "。"


@dataclass(frozen=True)
class Item:
    """A story cut in two."""

    name: str
    prompt: str
    reference: str


def main(folder: Path) -> None:
    items = items_of(models.path("ja.txt").read_text(encoding="utf-8"))
    write_bytes(folder / PROMPTS, prompts_of(items).encode())
    rows = []
    with tempfile.TemporaryDirectory() as made:
        rounded = round_weights(models.path("base"), Path(made) / "int3", bits=3)
        for name, model in (("base", models.path("base")), ("int3", rounded)):
            rows += [
                (name, item.name, text, item.reference) for item, text in zip(items, written(model, items), strict=True)
            ]
    table = io.StringIO()
    csv.writer(table, lineterminator="\n").writerows([("model", "item", "prediction", "reference"), *rows])
    write_bytes(folder / FILE, table.getvalue().encode())
    print(f"{len(rows)} rows → {folder / FILE}")


def prompts_of(items: Sequence[Item]) -> str:
    """What the models are asked, for `assay generate`."""
    rows = ({"item": item.name, "prompt": item.prompt, "reference": item.reference} for item in items)
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def items_of(text: str) -> list[Item]:
    """The stories that can be cut, with a reference that is not too long."""
    stories = enumerate(text.split("\n\n"))
    cut = [(f"story-{number:03d}", divided(story)) for number, story in stories]
    return [Item(name, *parts) for name, parts in cut if parts is not None and len(parts[1]) <= LONGEST]


def divided(story: str) -> tuple[str, str] | None:
    """A prompt that ends with a sentence, and the next sentences of the same paragraph."""
    stop = story.find(END, PROMPT)
    prompt, rest = story[: stop + 1], story[stop + 1 :]
    found = first_sentences(rest)
    return None if stop < 0 or found is None or "\n" in found else (prompt, found)


def first_sentences(text: str) -> str | None:
    """The text up to the end of its last counted sentence; none where there are fewer."""
    parts = text.split(END)
    return None if len(parts) <= SENTENCES else END.join(parts[:SENTENCES]) + END


def written(folder: Path, items: Sequence[Item]) -> list[str]:
    """What a model goes on to write after each prompt."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer: Any = AutoTokenizer.from_pretrained(folder)
    loader: Any = AutoModelForCausalLM
    model = loader.from_pretrained(folder).eval()
    texts = []
    for item in items:
        prompt = torch.tensor([tokenizer(item.prompt)["input_ids"]])
        with torch.inference_mode():
            made = model.generate(
                prompt, attention_mask=torch.ones_like(prompt), max_new_tokens=TOKENS, do_sample=False, pad_token_id=0
            )
        text = tokenizer.decode(made[0, prompt.shape[1] :], skip_special_tokens=True)
        texts.append(first_sentences(text) or text)
    return texts


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[1] / "src/assay/examples")
