"""Write verdicts in the shapes of AlpacaEval, Arena-Hard and MT-Bench, and as a plain table, of a judge made up here.

    python tools/make_harness_fixtures/judgment_files.py tests/data/harness

The real programs ask a model behind a paid server for every verdict. This judge draws its verdicts: a model wins by its
strength, and the answer that is shown first has an advantage. Names and shapes of fields are those of the programs.
"""

import csv
import json
import sys
from collections.abc import Iterable
from math import exp
from pathlib import Path
from random import Random
from typing import Any

TOPICS = ("rivers", "bread", "chess", "tides", "paint", "maps", "birds", "bridges")
ASKS = (
    "Name three facts about {}.",
    "Explain {} to a child.",
    "Write two lines about {}.",
    "What do people get wrong about {}?",
)
FIRST = 0.8  # the advantage of the first place, in log-odds
MARKS = "<|The Start of Assistant {0}'s Answer|>\n{1}\n<|The End of Assistant {0}'s Answer|>"
SQUARE = "[The Start of Assistant {0}'s Answer]\n{1}\n[The End of Assistant {0}'s Answer]"


def seeded(name: str) -> Random:
    return Random(name)  # noqa: S311 - the same files each time are what is wanted


def prompts(n: int) -> list[str]:
    every = [ask.format(topic) for ask in ASKS for topic in TOPICS]
    return every[:n]


def answer(rng: Random, words: int) -> str:
    return " ".join(rng.choice(("one", "small", "river", "stone", "often", "bread")) for _ in range(words))


def chance(rng: Random, first: float, second: float) -> float:
    """That the first wins on this prompt."""
    return 1 / (1 + exp(-(first - second + FIRST + rng.gauss(0, 0.8))))


def write_json(path: Path, data: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")


def write_lines(path: Path, rows: Iterable[Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


# ---------------------------------------------------------------------------------------------------------- AlpacaEval


def alpaca_eval(folder: Path) -> None:
    for model, strength, annotator, reference in (
        ("small-1b", -0.8, "weighted_judge", "new_reference"),
        ("medium-3b", 0.4, "weighted_judge", "new_reference"),
        ("early-7b", -0.6, "plain_judge", "old_reference"),
    ):
        rng, rows = seeded(f"alpaca {model}"), []
        for at, prompt in enumerate(prompts(32)):
            share = chance(rng, strength, FIRST)
            texts = answer(rng, 20 + at % 7), answer(rng, int(12 + 40 * share))
            weighted = annotator.startswith("weighted")
            preference: float | None = round(1 + share, 10) if weighted else float(1 + (rng.random() < share))
            if weighted and at == 5:
                preference = 1.5
            if not weighted:
                preference = {3: 0.0, 11: 0, 17: None}.get(at, preference)
            rows.append(
                {
                    "dataset": "helpful_base" if at % 2 else "vicuna",
                    "instruction": prompt,
                    "output_1": texts[0],
                    "generator_1": reference,
                    "output_2": texts[1],
                    "generator_2": model,
                    "annotator": annotator,
                    "preference": preference,
                }
            )
        write_json(folder / model / annotator / "annotations.json", rows)


# ---------------------------------------------------------------------------------------------------------- Arena-Hard


def label(rng: Random, share: float, *, other: bool = False) -> str:
    """What a judge writes where A wins with this probability."""
    drawn = rng.random()
    if abs(drawn - share) < 0.06:
        return "A=B"
    strong = ">>" if abs(share - 0.5) > 0.3 else ">"
    if drawn < share:
        return f"A{strong}B"
    return f"A{strong.replace('>', '<')}B" if other else f"B{strong}A"


def arena_hard(folder: Path) -> None:
    for model, strength in (("small-1b", -0.7), ("medium-3b", 0.3)):
        rng, rows = seeded(f"arena {model}"), []
        for at, prompt in enumerate(prompts(32)):
            mine, theirs = answer(rng, 15 + at % 9), answer(rng, 22 + at % 5)
            shares = chance(rng, 0.0, strength), chance(rng, strength, 0.0)
            games: list[dict[str, Any] | None] = [
                {
                    "user_prompt": "\n\n".join(
                        (f"<|User Prompt|>\n{prompt}", MARKS.format("A", texts[0]), MARKS.format("B", texts[1]))
                    ),
                    "judgment": "My final verdict is below.",
                    "score": label(rng, share, other=at % 10 == 9),
                }
                for share, texts in zip(shares, ((theirs, mine), (mine, theirs)), strict=True)
            ]
            if model == "medium-3b" and at == 7:
                games[1]["score"] = None  # type: ignore[index]
            if model == "medium-3b" and at == 20:
                games[0] = None
            rows.append({"question_id": f"q{at:03}", "model": model, "judge": "made-up-judge", "games": games})
        write_lines(folder / "model_judgment" / "made-up-judge" / f"{model}.jsonl", rows)


# ------------------------------------------------------------------------------------------------------------ MT-Bench


def mt_bench(folder: Path) -> None:
    single: list[dict[str, Any]] = []
    for model, level, repeats in (("small-1b", 5.6, 2), ("medium-3b", 6.8, 1)):
        for repeat in range(repeats):
            rng = seeded(f"single {model} {repeat}")
            for turn in (1, 2):
                for at in range(24):
                    score: float = min(10, max(1, round(level + (at % 8 - 3.5) / 2 - turn * 0.3 + rng.gauss(0, 0.9))))
                    score = 8.5 if at == 3 and turn == 1 else score
                    score = -1 if model == "small-1b" and (repeat, turn, at) == (0, 2, 12) else score
                    single.append(
                        {
                            "question_id": 81 + at,
                            "model": model,
                            "judge": ["made-up-judge", "single-math-v1" if at % 8 > 5 else "single-v1"],
                            "user_prompt": "",
                            "judgment": f"Rating: [[{score}]]",
                            "score": score,
                            "turn": turn,
                            "tstamp": 1700000000.5 + len(single),
                        }
                    )
    write_lines(folder / "made-up-judge_single.jsonl", single)
    strengths = {"small-1b": -0.6, "medium-3b": 0.2, "large-9b": 0.5}
    pairs: list[dict[str, Any]] = []
    for one, other in (("small-1b", "large-9b"), ("medium-3b", "large-9b"), ("small-1b", "medium-3b")):
        rng = seeded(f"pair {one} {other}")
        for turn in (1, 2):
            for at in range(24):
                winners = [
                    _winner(rng, chance(rng, strengths[first], strengths[second]), swapped=swapped)
                    for first, second, swapped in ((one, other, False), (other, one, True))
                ]
                winners[1] = "error" if (turn, at) == (2, 4) and other == "large-9b" else winners[1]
                texts = answer(rng, 18 + at), answer(rng, 25)
                given = [
                    "\n\n".join((SQUARE.format("A", a), SQUARE.format("B", b))) for a, b in (texts, reversed(texts))
                ]
                pairs.append(
                    {
                        "question_id": 81 + at,
                        "model_1": one,
                        "model_2": other,
                        "g1_winner": winners[0],
                        "g2_winner": winners[1],
                        "judge": ["made-up-judge", "pair-v2" if turn == 1 else "pair-v2-multi-turn"],
                        "g1_user_prompt": given[0] if turn == 1 else "",
                        "g1_judgment": "",
                        "g2_user_prompt": given[1] if turn == 1 else "",
                        "g2_judgment": "",
                        "turn": turn,
                        "tstamp": 1700000000.5 + len(pairs),
                    }
                )
    write_lines(folder / "made-up-judge_pair.jsonl", pairs)


def _winner(rng: Random, share: float, *, swapped: bool) -> str:
    drawn = rng.random()
    if abs(drawn - share) < 0.05:
        return "tie"
    return "model_1" if (drawn < share) != swapped else "model_2"


# --------------------------------------------------------------------------------------------------------- plain table


def verdicts(folder: Path) -> None:
    """Three models on 32 prompts, each pair in both orders; a few verdicts are ties or missing."""
    strengths = {"base": 0.0, "tuned": 0.7, "merged": 0.4}
    rng = seeded("verdicts")
    header = ("prompt", "category", "model_a", "model_b", "winner", "response_a", "response_b")
    rows: list[tuple[str, ...]] = []
    for at, prompt in enumerate(prompts(32)):
        texts = {model: answer(rng, int(20 + 8 * strength + at % 5)) for model, strength in strengths.items()}
        for one, other in (("base", "tuned"), ("base", "merged"), ("merged", "tuned")):
            for a, b in ((one, other), (other, one)):
                share, drawn = chance(rng, strengths[a], strengths[b]), rng.random()
                winner = "tie" if abs(drawn - share) < 0.05 else "model_a" if drawn < share else "model_b"
                winner = "" if (at, a) == (30, "merged") else winner
                rows.append((prompt, "nature" if at % 2 else "things", a, b, winner, texts[a], texts[b]))
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "verdicts.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *rows])


def main(target: Path) -> None:
    alpaca_eval(target / "alpaca_eval")
    arena_hard(target / "arena_hard")
    mt_bench(target / "mt_bench")
    verdicts(target / "verdicts")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
