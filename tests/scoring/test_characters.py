"""Characters under teacher forcing against a literal loop over a plain forward pass, and cases worked by hand."""

from collections.abc import Callable
from math import log
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the extra hf is not installed")
transformers = pytest.importorskip("transformers", reason="the extra hf is not installed")

from assay import models  # noqa: E402 - after the check that the extra is there
from assay.data.writing_systems import codes_of, scripts_of  # noqa: E402 - likewise
from assay.errors import InputError, UsageError  # noqa: E402 - likewise
from assay.scoring import Encoded  # noqa: E402 - likewise
from assay.scoring.characters import Prediction, characters, characters_of  # noqa: E402 - likewise
from assay.scoring.models_and_texts import Document, ModelSpec  # noqa: E402 - likewise
from assay.scoring.windows import Plan  # noqa: E402 - likewise

TEXTS = ["キクオン島はノケー川の河口の港です。𝄞と龘。", "今日はabcの日です。\n家は白い市場の家です。"]


def spec(folder: Path) -> ModelSpec:
    return ModelSpec(str(folder), dtype="float32", device="cpu")


def literal(folder: Path, text: str, start_token: int | None) -> tuple[np.ndarray[Any, Any], ...]:
    """(S,) counted, right and bits, character by character from the model's own logits and GPT-2's byte table."""
    from transformers.convert_slow_tokenizer import bytes_to_unicode

    table: Any = bytes_to_unicode
    byte_of = {sign: byte for byte, sign in table().items()}
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()

    def written(token: int) -> bytes:
        special = token in tokenizer.all_special_ids
        return b"" if special else bytes(byte_of[c] for c in tokenizer.convert_ids_to_tokens(token))

    ids = tokenizer(text, add_special_tokens=False)["input_ids"]
    row, before = (ids, 0) if start_token is None else ([start_token, *ids], 1)
    with torch.inference_mode():
        logits = model(torch.tensor([row])).logits[0]
    counted, right, bits = np.zeros(4), np.zeros(4), np.zeros(4)
    place = 0
    scripts = scripts_of(codes_of(text), "basic")
    for character, script in zip(text, scripts, strict=True):
        low, high = place, place + len(character.encode())
        place = high
        fine, predicted, nats, start = True, True, 0.0, 0
        for at, token in enumerate(ids):
            own = written(token)
            stop = start + len(own)
            if start < high and stop > low:  # the token has bytes of this character
                if at == 0 and not before:
                    predicted = False
                    break
                scores = logits[at - 1 + before]
                wanted = own[: min(high, stop) - start]
                fine = fine and written(int(scores.argmax())).startswith(wanted)
                loss = float(torch.logsumexp(scores, 0) - scores[token])
                nats += loss * (min(high, stop) - max(low, start)) / len(own)
            start = stop
        if predicted:
            counted[script] += 1
            right[script] += fine
            bits[script] += nats / log(2)
    return counted, right, bits


@pytest.mark.parametrize("bos", [True, False])
def test_a_random_model_against_the_literal_loop(tiny_model: Callable[..., Path], tmp_path: Path, bos: bool) -> None:
    check(tiny_model(bos=bos), tmp_path, start_token=0)


def test_the_shipped_model_against_the_literal_loop(tmp_path: Path) -> None:
    found = check(models.path("base"), tmp_path, start_token=0)  # it has no BOS, so its EOS
    assert 0 < found.right.sum() < found.characters.sum()
    assert found.left_out == 0


def test_the_shipped_model_without_a_start_token_against_the_literal_loop(tmp_path: Path) -> None:
    assert check(models.path("base"), tmp_path, start_token=None).left_out > 0


def check(folder: Path, tmp_path: Path, *, start_token: int | None) -> Any:
    for i, text in enumerate(TEXTS):
        (tmp_path / f"{i}.txt").write_text(text, encoding="utf-8")
    plan = Plan(prefix="none" if start_token is None else "auto")
    (found,) = characters({"m": spec(folder)}, [tmp_path / "0.txt", tmp_path / "1.txt"], plan=plan)
    assert (found.units, found.cluster_by) == (("0.txt", "1.txt"), "document")
    for i, text in enumerate(TEXTS):
        counted, right, bits = literal(folder, text, start_token)
        assert found.characters[i].tolist() == counted.tolist()
        assert found.right[i].tolist() == right.tolist()
        np.testing.assert_allclose(found.bits[i], bits, rtol=1e-4)
    assert found.left_out + found.characters.sum() == sum(map(len, TEXTS))
    return found


def by_hand(text: str, tokens: list[bytes], agreed: list[int], *, first: int = 0, spaced: bool = False) -> Any:
    lengths = [len(token) for token in tokens]
    n = len(tokens)
    window = np.array([-1] * first + [0] * (n - first))
    starts = np.concatenate([[0], np.cumsum(lengths)])
    encoded = Encoded(Document("d", text), np.arange(n), np.arange(n))
    losses = np.array([0.0] * first + [log(2) * (i + 1) for i in range(first, n)])  # token i has i + 1 bits
    return characters_of(Prediction(encoded, starts, spaced, losses, np.array(agreed), window), "basic")


def test_of_a_token_of_several_characters_those_are_right_that_the_greedy_one_begins_with() -> None:
    found = by_hand("です。", ["です。".encode()], [6])
    assert found.right.tolist() == [True, True, False]
    np.testing.assert_allclose(found.bits, [1 / 3] * 3)


def test_a_character_in_several_tokens_is_right_if_all_its_parts_are() -> None:
    tokens = [b"\xe6\xb2", b"\xb3", "口".encode()]
    assert by_hand("河口", tokens, [2, 1, 3]).right.tolist() == [True, True]
    assert by_hand("河口", tokens, [2, 0, 3]).right.tolist() == [False, True]
    assert by_hand("河口", tokens, [1, 1, 3]).right.tolist() == [False, True]
    np.testing.assert_allclose(by_hand("河口", tokens, [2, 1, 3]).bits, [3, 3])


def test_a_token_with_the_end_of_one_character_and_the_next_one_shares_its_bits_by_bytes() -> None:
    found = by_hand("河a", [b"\xe6\xb2", b"\xb3a"], [2, 1])
    assert found.right.tolist() == [True, False]
    np.testing.assert_allclose(found.bits, [2, 1])
    assert found.mixed_bits == pytest.approx(2)  # the second token, kanji and Latin


def test_a_character_counts_only_if_all_its_tokens_were_predicted() -> None:
    found = by_hand("河口", [b"\xe6\xb2", b"\xb3", "口".encode()], [2, 1, 3], first=1)
    assert found.counted.tolist() == [False, True]


def test_a_space_that_the_tokenizer_adds_goes_with_the_first_character() -> None:
    found = by_hand("河口", [b" ", "河口".encode()], [0, 6], spaced=True)
    assert found.right.tolist() == [False, True]
    np.testing.assert_allclose(found.bits, [1 + 1, 1])


def test_one_document_is_cut_into_windows_and_all_of_it_is_predicted(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(TEXTS[1] * 6, encoding="utf-8")
    model = {"base": spec(models.path("base"))}
    (rolling,) = characters(model, [tmp_path / "a.txt"], plan=Plan(context=16))
    assert rolling.left_out == 0
    (apart,) = characters(model, [tmp_path / "a.txt"], plan=Plan(context=16, cut="fresh"))
    (over,) = characters(model, [tmp_path / "a.txt"], plan=Plan(context=16, stride=8, cut="fresh"))
    assert apart.cluster_by == "window"
    assert apart.units[1] == "a.txt:16"
    tokenizer = transformers.AutoTokenizer.from_pretrained(models.path("base"))
    first_token = tokenizer(TEXTS[1], return_offsets_mapping=True)["offset_mapping"][0]
    assert apart.left_out > over.left_out == first_token[1]
    assert (apart.context, apart.stride, over.stride) == (16, 16, 8)


def test_wide_scripts_and_nfkc_are_those_of_the_text(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("家はｶﾞﾗｽです。Ａ", encoding="utf-8")
    model = {"base": spec(models.path("base"))}
    (wide,) = characters(model, [tmp_path / "a.txt"], scripts="wide")
    (plain,) = characters(model, [tmp_path / "a.txt"], normalize="nfkc")
    assert dict(zip(wide.scripts, wide.characters.sum(axis=0), strict=True))["katakana"] == 4
    assert dict(zip(wide.scripts, wide.characters.sum(axis=0), strict=True))["full-width"] == 1
    assert dict(zip(plain.scripts, plain.characters.sum(axis=0), strict=True))["katakana"] == 3
    assert wide.text != plain.text


def test_what_makes_no_sense_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("家", encoding="utf-8")
    with pytest.raises(UsageError, match="needs a model"):
        characters({}, [tmp_path / "a.txt"])
    with pytest.raises(UsageError, match="whole text"):
        characters({"m": spec(models.path("base"))}, [tmp_path / "a.txt"], plan=Plan(draw=(1, 1)))
    with pytest.raises(InputError, match="no token that can be predicted"):
        characters({"m": spec(models.path("base"))}, [tmp_path / "a.txt"], plan=Plan(prefix="none"))
    with pytest.raises(UsageError, match="prefix must be"):
        characters({"m": spec(models.path("base"))}, [tmp_path / "a.txt"], plan=Plan(prefix="some"))  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="scripts must be"):
        characters({"m": spec(models.path("base"))}, [tmp_path / "a.txt"], scripts="all")  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", ["llama", "gemma2"])
def test_greedy_tokens_against_a_plain_forward_pass(tiny_model: Callable[..., Path], kind: str) -> None:
    """Also of a model whose forward caps its logits, and with the head in chunks."""
    from assay.scoring.hf import ModelScorer

    folder = tiny_model(kind)
    scorer = ModelScorer(spec(folder))
    scorer._chunk = 7
    rows = [np.random.default_rng(i).integers(2, 300, size=size).tolist() for i, size in enumerate((40, 33, 12))]
    counted = [39, 20, 11]
    losses, greedy = scorer.losses_and_greedy(rows, counted)
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    for row, count, loss, tokens in zip(rows, counted, losses, greedy, strict=True):
        with torch.inference_mode():
            logits = model(torch.tensor([row])).logits[0, -1 - count : -1]
        assert tokens.tolist() == logits.argmax(1).tolist()
        assert len(loss) == count
    for a, b in zip(losses, scorer.losses(rows, counted), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-6)
