"""Losses from an OpenAI-compatible completions server.

Windows are sent as token ids, so a tokenizer is needed here. Two dialects return log-probabilities of a prompt: vLLM's
``prompt_logprobs``, and ``echo`` with ``logprobs``. If a server accepts only text, its tokens must turn out to be the
intended ones. A probe determines the dialect and verifies the numbers: the same tokenizer on both sides, and at each
position the distribution before its token (llama-cpp-python without a BOS token returns the one after it).

A token whose log-probability is null, infinite or −9999 (how servers write −∞) has no loss. Leaving it out would
flatter the model that found it impossible, and an average that includes it is meaningless: it is refused, or NaN.
"""

from collections.abc import Sequence
from functools import cached_property
from math import isfinite, nan
from pathlib import Path
from threading import Event
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from assay.errors import InputError, UsageError
from assay.scoring.completions_api import (
    WAYS,
    Dialect,
    OtherTokensError,
    Reply,
    ReplyError,
    Spellings,
    Way,
    prompt_tokens,
)
from assay.scoring.loading import load_tokenizer, own_bos, start_of
from assay.scoring.models_and_texts import ModelSpec
from assay.scoring.served import ServedModel, at_once, check_concurrency
from assay.scoring.server import Patience, RefusalError

IMPOSSIBLE = -9999.0
_UNKNOWN_CONTEXT = 1 << 24
_TOKENS_AT_ONCE = 1 << 16
_PROBES = ("One two three", "One two apples", "One two, four", "One two 7 6")  # the same start, then different tokens
_SAME = 0.25  # nats: a server in half precision does not repeat itself exactly, other distributions differ by more
_OTHER_WAY = (400, 422, 500, 501)  # refused like this, a request may be accepted if asked another way


class EndpointScorer:
    """A model behind a completions server that returns the loss of every token of a batch.

    ``url`` is that of the API (http://HOST:PORT/v1), ``tokenizer`` a folder or hub name, ``api_key_env`` the
    environment variable that holds the key (by default OPENAI_API_KEY, then sent only encrypted or to this machine).
    """

    def __init__(
        self,
        url: str,
        model: str,
        *,
        tokenizer: str,
        dialect: Dialect | Literal["auto"] = "auto",
        concurrency: int = 8,
        patience: Patience | None = None,
        api_key_env: str | None = None,
        impossible: Literal["refuse", "nan"] = "refuse",
    ) -> None:
        check_concurrency(concurrency)
        if dialect not in ("auto", *get_args(Dialect)):
            raise UsageError(f"dialect must be auto, {' or '.join(get_args(Dialect))}, but got {dialect!r}.")
        self._served = ServedModel(url, model, api_key_env=api_key_env, patience=patience)
        self.url, self.model = self._served.url, model
        self._concurrency, self._impossible = concurrency, impossible
        self.tokenizer = load_tokenizer(ModelSpec(tokenizer))
        self._tokenizer_name = tokenizer
        self._spellings = Spellings(self.tokenizer)
        self.bos = own_bos(self.tokenizer)
        self._unseen: int | None = 0  # tokens that the server puts before a text and does not show: a BOS token
        self._way = self._found_way([way for way in WAYS if dialect in ("auto", way.dialect)])
        self._check_alignment()

    def __repr__(self) -> str:
        return f"EndpointScorer({self.url!r}, {self.model!r})"

    @property
    def start(self) -> int | None:
        """The token before a text: BOS, else EOS; for a server that accepts only text, the one it adds itself."""
        return self.bos if self._way.prompt == "text" else start_of(self.tokenizer)

    @property
    def about(self) -> dict[str, Any]:
        """What determines the numbers, for the manifest; never the key."""
        folder = Path(self._tokenizer_name)
        return {
            "source": f"endpoint:{self.url}",
            "model": self.model,
            "served_as": self._served.served_as,
            "tokenizer": folder.name if folder.is_dir() else self._tokenizer_name,
            "dialect": self._way.dialect,
            "prompt": self._way.prompt,
            "unseen_tokens": self._unseen,
        }

    @cached_property
    def context(self) -> int:
        """The longest context according to the server, or else the tokenizer; minus two.

        One is for the last token of a row, which is sent although only predicted; one for the token that is generated.
        """
        served = next(
            (entry.get("max_model_len") for entry in self._served.models() if entry.get("id") == self.model), None
        )
        length = served if isinstance(served, int) else self.tokenizer.model_max_length
        return int(min(length, _UNKNOWN_CONTEXT)) - 2

    def batch_tokens(self, asked: int | None) -> int:  # noqa: ARG002 - a server makes its own batches
        """Tokens per batch: many, to keep all connections busy."""
        return _TOKENS_AT_ONCE

    def losses(self, rows: Sequence[Sequence[int]], counted: Sequence[int] | None = None) -> list[NDArray[np.float64]]:
        """The losses of the last tokens of each row, as many as ``counted`` says (default: all but the first)."""
        found = self._by_row(rows)
        if counted is None:
            return found
        return [losses[len(losses) - count :] for losses, count in zip(found, counted, strict=True)]

    def _by_row(self, rows: Sequence[Sequence[int]]) -> list[NDArray[np.float64]]:
        prompts = [self._prompt(list(row)) for row in rows]  # here, since tokenizers and threads do not get on

        def losses(place: int, stopping: Event) -> NDArray[np.float64]:
            return self._row_losses(list(rows[place]), prompts[place], stopping)

        return list(at_once(losses, len(rows), self._concurrency))

    def _row_losses(self, row: list[int], prompt: list[int] | str, stopping: Event) -> NDArray[np.float64]:
        if len(row) < 2:
            return np.empty(0)
        reply = self._reply(row, prompt, stopping)
        if self._way.prompt == "text":
            self._check_tokens(self._way, reply, row)
        return np.array([self._loss(row, place, reply.logprobs[place]) for place in range(1, len(row))])

    def _loss(self, row: list[int], place: int, value: float | None) -> float:
        if value is None or not isfinite(value) or value <= IMPOSSIBLE:
            if self._impossible == "nan":
                return nan
            raise InputError(
                f"{self._where(row)}: the log-probability of token {place} is {'null' if value is None else value}, "
                "which has no loss; serve the model in a wider number format, or leave this document out of all runs."
            )
        if value > 1e-3:
            raise InputError(
                f"{self._where(row)}: the log-probability of token {place} is {value:g}, above 0; "
                "have the server give log-probabilities (vLLM: --logprobs-mode raw_logprobs)."
            )
        return -value

    def _reply(self, row: list[int], prompt: list[int] | str, stopping: Event | None = None) -> Reply:
        try:
            return self._read(self._answer(self._way, prompt, stopping), row)
        except RefusalError as refusal:
            raise self._explained(refusal, len(row)) from None
        except ReplyError as error:
            raise InputError(f"{self._where(row)}: {error}; is it the same server as at the start?") from None

    def _read(self, answer: dict[str, Any], row: list[int]) -> Reply:
        """What an answer says of a row; a server that counts other tokens than in the probe saw other ones."""
        found, counted = self._way.read(answer, row), prompt_tokens(answer)
        if counted is not None and self._unseen is not None and counted != len(row) + self._unseen:
            raise OtherTokensError(f"the server counts {counted} tokens in a prompt of {len(row)}")
        return found

    def _answer(
        self, way: Way, prompt: list[int] | str, stopping: Event | None = None, *, probing: bool = False
    ) -> dict[str, Any]:
        return self._served.completion(way.request(prompt), stopping, probing=probing)

    def _explained(self, refusal: RefusalError, tokens: int) -> InputError:
        what = f"a window of {tokens} tokens and one that the server writes are too long for it"
        return self._served.explained(refusal, what, "give a shorter `context`")

    def _prompt(self, row: list[int]) -> list[int] | str:
        """The prompt for this row. The server adds a BOS token to text itself."""
        if self._way.prompt == "ids":
            return row
        if self.bos is not None and row[:1] != [self.bos]:
            raise InputError(
                f"{self._where(row)}: the server takes no token ids and begins every text with a BOS token, so a "
                "window from the middle of a document cannot be sent; use a server that takes token ids (vLLM), "
                "documents that fit into one window, or `cut='fresh'`."
            )
        bare = row if self.bos is None else row[1:]
        text = str(self.tokenizer.decode(bare, clean_up_tokenization_spaces=False))
        if self._ids(text) != bare:
            raise InputError(
                f"{self._where(row)}: the server takes no token ids, and as text this window is not the same tokens; "
                "use a server that takes token ids (vLLM), or documents that fit into one window."
            )
        return text

    def _ids(self, text: str) -> list[int]:
        return list(self.tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"])

    def _where(self, row: Sequence[int]) -> str:
        return f"{self.url}, window of {len(row)} tokens that begins {self.tokenizer.decode(row[:12])!r}"

    # ------------------------------------------------------------------------------------------------------- the probe

    def _found_way(self, ways: Sequence[Way]) -> Way:
        """The first way in which the server returns log-probabilities of the prompt."""
        reasons: list[str] = []
        for way in ways:
            try:
                self._try(way)
            except RefusalError as refusal:
                explained = self._explained(refusal, 0)
                final = refusal.status not in _OTHER_WAY or (refusal.status == 500 and way == ways[-1])
                if final or explained is not refusal:
                    raise explained from None
                reasons.append(refusal.said or f"status {refusal.status}")
            except OtherTokensError as error:
                if way == ways[-1]:
                    raise self._other_tokens(str(error)) from None
            except ReplyError as error:
                reasons.append(str(error))
            else:
                return way
        raise InputError(
            f"{self.url}: the server gives no log-probabilities of the prompt ({'; '.join(dict.fromkeys(reasons))}); "
            "serve the model with vLLM, or with a server that has echo and logprobs."
        )

    def _other_tokens(self, different: str) -> InputError:
        return InputError(
            f"{self.url}: the server's tokens are not those of {self._tokenizer_name} ({different}); "
            "name the model's own tokenizer with `tokenizer`."
        )

    def _try(self, way: Way) -> None:
        """Try one probe in this way. The server may add a BOS token to text, visibly or not."""
        ids = self._ids(_PROBES[0])
        answer = self._answer(way, _started(self.bos, ids) if way.prompt == "ids" else _PROBES[0], probing=True)
        if way.prompt == "text":
            self.bos = self._shown_bos(way, answer, ids)
        row, counted = _started(self.bos, ids), prompt_tokens(answer)
        self._check_tokens(way, way.read(answer, row), row)
        self._unseen = None if counted is None else counted - len(row)

    def _shown_bos(self, way: Way, answer: dict[str, Any], ids: list[int]) -> int | None:
        bos: int | None = self.tokenizer.bos_token_id
        row = _started(bos, ids)
        try:
            return bos if self._spellings.difference(way.read(answer, row), row, sent_as_ids=False) is None else None
        except ReplyError:
            return None

    def _check_alignment(self) -> None:
        """Check that the top log-probability at a position does not depend on the token there (an off-by-one error)."""
        rows = [_started(self.bos, self._ids(text)) for text in _PROBES]
        different = (place for place, tokens in enumerate(zip(*rows, strict=False)) if len(set(tokens)) > 1)
        if not (place := next(different, 0)):
            return
        found = [self._reply(row, self._prompt(row)).tops[place] for row in rows]
        tops = [top for top in found if top is not None]
        if tops and max(tops) - min(tops) > _SAME:
            raise InputError(
                f"{self.url}: the server gives each token the log-probability of another place (off by one), as "
                "llama-cpp-python does for models without a BOS token; use another server."
            )

    def _check_tokens(self, way: Way, reply: Reply, row: Sequence[int]) -> None:
        different = self._spellings.difference(reply, row, sent_as_ids=way.prompt == "ids")
        if different is not None:
            raise self._other_tokens(different)


def _started(bos: int | None, ids: list[int]) -> list[int]:
    return ids if bos is None else [bos, *ids]
