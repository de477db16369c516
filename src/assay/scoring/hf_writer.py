"""What a `transformers` model writes after prompts, in batches that change nothing."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch
import transformers
from numpy.typing import NDArray

from assay.scoring.decoding import Continuation, Decoding, cut_at, draws_of, encoded_prompts, prompt_batches
from assay.scoring.hf import ModelScorer
from assay.scoring.loading import check_known, refusing

_CANNOT = "the model cannot generate"


class ModelWriter:
    """What a model writes after prompts, in fixed batches of prompts of similar length, padded on the left.

    Sampling is ours: a token is drawn by one uniform number of its prompt, so that batches and other prompts have no
    part in it. Whatever else the model's generation_config says (top-k, penalties, beams) does not apply.
    """

    served_as = None

    def __init__(self, scorer: ModelScorer) -> None:
        self.scorer, self.model, self.tokenizer = scorer, scorer.model, scorer.tokenizer
        self.ends = _end_tokens(self.model, self.tokenizer)
        self._pad = self.tokenizer.pad_token_id or 0
        with refusing(scorer.spec.name, _CANNOT):
            self.padded = self._ignores_padding()

    def written(
        self, items: Sequence[str], prompts: Sequence[str], decoding: Decoding, done: frozenset[int]
    ) -> Iterator[dict[int, Continuation]]:
        """Yield the answers of each batch that is not done."""
        rows = encoded_prompts(self.tokenizer, items, prompts, decoding, self.scorer.context)
        check_known(self.scorer.spec.name, self.scorer.known, rows)
        for batch in prompt_batches([len(row) for row in rows], decoding.batch_size, padded=self.padded):
            if not done.issuperset(batch):
                found = self.answers([items[i] for i in batch], [rows[i] for i in batch], decoding)
                yield dict(zip(batch, found, strict=True))

    def answers(self, items: Sequence[str], rows: Sequence[Sequence[int]], decoding: Decoding) -> list[Continuation]:
        """The answers to the prompts of one batch, given as tokens."""
        draws = None
        if decoding.temperature > 0:
            draws = np.array([draws_of(decoding.seed, item, decoding.max_tokens) for item in items])
        new = self.continued(rows, decoding, draws)
        return [self._answer(row, ids, decoding) for row, ids in zip(rows, new, strict=True)]

    @torch.inference_mode()
    def continued(
        self, rows: Sequence[Sequence[int]], decoding: Decoding, draws: NDArray[np.float64] | None
    ) -> list[list[int]]:
        """The new tokens of each row, without the end token and what follows it; ``draws`` are (rows, max_tokens)."""
        longest = max(map(len, rows))
        processors, criteria = transformers.LogitsProcessorList(), transformers.StoppingCriteriaList()
        if draws is not None:
            processors.append(_Drawn(draws, longest, decoding.temperature))
        if decoding.stop:
            criteria.append(_Stopped(decoding.stop, self.tokenizer, longest))
        self.model.generation_config = self._config(decoding.max_tokens)
        with refusing(self.scorer.spec.name, _CANNOT):
            found = self.model.generate(
                **self._inputs(rows, longest), logits_processor=processors, stopping_criteria=criteria
            )
        return [self._until_end(row) for row in found[:, longest:].tolist()]

    def _inputs(self, rows: Sequence[Sequence[int]], longest: int) -> dict[str, torch.Tensor]:
        ids = [[self._pad] * (longest - len(row)) + list(row) for row in rows]
        mask = [[0] * (longest - len(row)) + [1] * len(row) for row in rows]
        return {
            "input_ids": torch.tensor(ids, device=self.scorer.device),
            "attention_mask": torch.tensor(mask, device=self.scorer.device),
        }

    def _config(self, tokens: int, **more: Any) -> Any:
        """Greedy, and nothing else of what the model's own file says."""
        ends = sorted(self.ends) or None
        return transformers.GenerationConfig(
            do_sample=False, num_beams=1, max_new_tokens=tokens, eos_token_id=ends, pad_token_id=self._pad, **more
        )

    def _until_end(self, ids: list[int]) -> list[int]:
        return ids[: next((place for place, token in enumerate(ids) if token in self.ends), len(ids))]

    def _answer(self, prompt: Sequence[int], ids: list[int], decoding: Decoding) -> Continuation:
        """The text after that of the prompt: decoded together, so that a space between the two is not lost."""
        before, whole = (self._text(tokens) for tokens in (prompt, [*prompt, *ids]))
        text = whole[len(before) :] if whole.startswith(before) else self._text(ids)
        cut = cut_at(text, decoding.stop)
        if cut != text:
            return Continuation(cut, "stop", self._tokens_to_stop(ids, decoding.stop))
        return Continuation(text, "stop" if len(ids) < decoding.max_tokens else "length", len(ids))

    def _tokens_to_stop(self, ids: Sequence[int], stops: Sequence[str]) -> int:
        """How many tokens it took to write a stop; what follows in the row is padding, or was written for nothing."""
        so_far = (self._text(ids[:n]) for n in range(1, len(ids)))
        return next((n for n, text in enumerate(so_far, start=1) if any(stop in text for stop in stops)), len(ids))

    def _text(self, ids: Sequence[int]) -> str:
        return str(self.tokenizer.decode(ids, skip_special_tokens=True, clean_up_tokenization_spaces=False))

    @torch.inference_mode()
    def _ignores_padding(self) -> bool:
        """Whether what is padded on the left goes on as without padding; if not, only equal lengths share a batch."""
        row = [(7 * place + 3) % self.scorer.known for place in range(6)]
        self.model.generation_config = self._config(1, output_logits=True, return_dict_in_generate=True)
        alone, padded = (self.model.generate(**self._inputs([row], n)).logits[0].float() for n in (6, 11))
        return torch.allclose(alone, padded, rtol=1e-3, atol=1e-3 * float(alone.abs().max()))


def _end_tokens(model: Any, tokenizer: Any) -> frozenset[int]:
    """The tokens that end a text: those of the model's generation_config, and the tokenizer's."""
    config = getattr(model, "generation_config", None)
    named = (getattr(config, "eos_token_id", None), tokenizer.eos_token_id)
    return frozenset(token for one in named if one is not None for token in (one if isinstance(one, list) else [one]))


class _Drawn(transformers.LogitsProcessor):  # type: ignore[misc]  # mypy does not look into transformers
    """Leaves one token possible, the one that a uniform number falls on in the distribution at a temperature."""

    def __init__(self, draws: NDArray[np.float64], prompt: int, temperature: float) -> None:
        self._draws, self._prompt, self._temperature = torch.from_numpy(draws), prompt, temperature

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        logits = scores.double().cpu() / self._temperature
        summed = torch.softmax(logits, dim=1).cumsum(dim=1)
        drawn = self._draws[:, input_ids.shape[1] - self._prompt, None] * summed[:, -1:]
        tokens = torch.searchsorted(summed, drawn, right=True).clamp_(max=logits.shape[1] - 1)
        return torch.full_like(scores, -torch.inf).scatter_(1, tokens.to(scores.device), 0.0)


class _Stopped(transformers.StoppingCriteria):  # type: ignore[misc]  # as above
    """Ends rows whose last tokens hold a text to stop at."""

    def __init__(self, stops: Sequence[str], tokenizer: Any, prompt: int) -> None:
        self._stops, self._tokenizer, self._prompt = stops, tokenizer, prompt
        self._tail = max(len(stop.encode()) for stop in stops) + 4  # tokens: each is a byte at least

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor, **_: Any) -> torch.Tensor:  # noqa: ARG002
        new = input_ids[:, max(self._prompt, input_ids.shape[1] - self._tail) :].tolist()
        texts = [self._tokenizer.decode(row, clean_up_tokenization_spaces=False) for row in new]
        ended = [any(stop in text for stop in self._stops) for text in texts]
        return torch.tensor(ended, device=input_ids.device)
