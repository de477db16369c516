"""The script that makes the shipped model, on a recipe small enough to run twice."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from tools import make_model  # noqa: E402
from tools.grammar import text  # noqa: E402 - after the skip
from tools.make_model import LONGEST, Recipe, keep, new_model, rows_of, schedule, train, training_tokens  # noqa: E402
from tools.make_tokenizer import END, trained_tokenizer  # noqa: E402

SMALL = Recipe(mix=(("en", 1.0),), steps=100, rows=1, vocabulary=300, width=8, hidden=16, layers=1, heads=2)


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    return trained_tokenizer([text("en", range(5))], SMALL.vocabulary)


def trained(tokenizer: Any, work: Path | None) -> list[np.ndarray[Any, Any]]:
    torch.set_num_threads(1)
    model = new_model(SMALL, 0)
    train(model, training_tokens(tokenizer, SMALL), SMALL, work)
    return [tensor.numpy() for tensor in model.state_dict().values()]


def test_a_run_that_was_stopped_halfway_gives_the_same_bits(
    tokenizer: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def keep_halfway(path: Path, model: Any, makers: Any, step: int) -> None:
        if step == SMALL.steps // 2:
            keep(path, model, makers, step)

    monkeypatch.setattr(make_model, "keep", keep_halfway)
    whole = trained(tokenizer, tmp_path)
    assert torch.load(tmp_path / "state.pt", weights_only=True)["step"] == SMALL.steps // 2
    for a, b in zip(whole, trained(tokenizer, tmp_path), strict=True):
        np.testing.assert_array_equal(a, b)


def test_rows_hold_the_text_in_order_and_end_some_stories(tokenizer: Any) -> None:
    rows = rows_of(tokenizer, "en", 40 * LONGEST)
    assert rows.shape[1] == LONGEST + 1
    said = tokenizer.decode(rows.ravel().tolist(), skip_special_tokens=False)
    first = said.split(END)[0]
    assert text("en", range(8)) == first
    assert said.count(END) >= 1


def test_the_mix_decides_the_share_of_each_language(tokenizer: Any) -> None:
    recipe = Recipe(mix=(("en", 3.0), ("ja", 1.0)), steps=40, rows=1, vocabulary=300)
    rows = training_tokens(tokenizer, recipe)
    japanese = ["。" in tokenizer.decode(row.tolist()) for row in rows]
    assert np.mean(japanese) == pytest.approx(0.25, abs=0.05)


def test_the_rate_goes_up_stays_and_goes_down_to_nearly_nothing() -> None:
    recipe = Recipe(copying=100, steps=1000, warmup=20, decay=0.5)
    rates = np.array([schedule(step, recipe) for step in range(1100)])
    assert rates[0] == pytest.approx(1 / 20)
    assert np.all(rates[19:600] == 1)
    assert np.all(np.diff(rates[600:]) < 0)
    assert rates[-1] == pytest.approx(1 / 500)
