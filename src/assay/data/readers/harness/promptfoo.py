"""promptfoo: what ``promptfoo eval -o output.json`` writes, in all of its versions, and the export of its database.

A record is one test under one prompt by one provider. Records come in the order of completion. Repeats of a test get
new numbers, so that only its variables and assertions say what it is.
"""

import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from math import isfinite, isnan, nan
from pathlib import Path
from typing import Any, ClassVar

import msgspec

from assay.data.readers import Selection
from assay.data.readers.harness import Log, Rows, digest
from assay.data.readers.harness.answers import Answers, AnswersLog, attempts
from assay.data.readers.harness.decoding import decoded_file, decoded_lines
from assay.data.readers.harness.first_look import FirstLook
from assay.errors import InputError
from assay.names import one_line, shown

_TESTS = "tests"  # the task, where there is one prompt
_ERROR = 2  # as a reason of failure
_PASSED = "pass"
_LONGEST = 100  # characters of an item's name
#: What stands in the reason of an assertion that failed because it could not be evaluated.
_BROKEN = re.compile(
    r"Custom function threw|(Python|Ruby) code execution failed|Webhook error|Moderation API error|"
    r"(Search|Agent|Research) rubric evaluation failed|Could not (extract JSON|perform remote grading)|"
    r"Invalid regex pattern|Some grading calls failed|Unknown error fetching similarity"
)


class _Provider(msgspec.Struct):
    id: str = ""
    label: str | None = None


class _Prompt(msgspec.Struct):
    """The raw text is that of the test in records; label or display is that of the prompt."""

    raw: Any = None
    label: str | None = None
    display: str | None = None


class _Case(msgspec.Struct):
    vars: dict[str, Any] | None = None
    description: str | None = None
    assertions: Any = msgspec.field(name="assert", default=None)


class _Component(msgspec.Struct):
    reason: Any = None
    passed: Any = msgspec.field(name="pass", default=None)


class _Grading(msgspec.Struct, rename="camel"):
    reason: Any = None
    component_results: list[_Component | None] | None = None


class _Tokens(msgspec.Struct):
    prompt: float | None = None
    completion: float | None = None
    total: float | None = None


class _Response(msgspec.Struct, rename="camel"):
    output: Any = None
    token_usage: _Tokens | None = None


class _Record(msgspec.Struct, rename="camel"):
    success: bool
    score: float | None = None
    named_scores: dict[str, Any] | None = None
    provider: _Provider | str | None = None
    prompt: _Prompt | str | None = None
    prompt_id: str | None = None
    prompt_idx: int | None = None  # counts pairs of prompt and provider
    test_idx: int | None = None
    vars: dict[str, Any] | None = None
    test_case: _Case | None = None
    failure_reason: int | None = None
    error: Any = None
    grading_result: _Grading | None = None
    latency_ms: float | None = None
    cost: float | None = None
    response: _Response | None = None
    provider_response: _Response | None = None

    @property
    def model(self) -> str:
        if isinstance(self.provider, _Provider):
            return self.provider.label or self.provider.id
        return self.provider or ""

    @property
    def prompt_label(self) -> str:
        prompt = self.prompt if isinstance(self.prompt, _Prompt) else _Prompt(self.prompt)
        return " ".join((prompt.label or prompt.display or str(prompt.raw or "")).split())

    @property
    def test(self) -> Mapping[str, Any]:
        """The variables of the test, without those that the program adds."""
        told = self.test_case.vars if self.test_case is not None and self.test_case.vars is not None else self.vars
        return {name: value for name, value in (told or {}).items() if name[:1] != "_" and name != "sessionId"}

    @property
    def answered(self) -> _Response | None:
        return self.response or self.provider_response

    @property
    def lost(self) -> str:
        """Why there is no verdict on an answer; "" where there is one.

        A broken assertion leaves none, unless another one failed: then the test has failed whatever it would have said.
        """
        if self.broken and not any(one.passed is False and not _breaks(one.reason) for one in self._components):
            return self.broken
        told = _line(self.error) or "error"
        if self.failure_reason is not None:
            return told if self.failure_reason == _ERROR else ""
        graded = self.grading_result is not None or (self.answered is not None and self.answered.output is not None)
        return "" if graded or not self.error else told

    @property
    def broken(self) -> str:
        """What the assertion said that could not be evaluated; "" if all could."""
        if self.success:
            return ""
        whole = [self.grading_result.reason if self.grading_result is not None else None, self.error]
        return next((_line(one) for one in (*(one.reason for one in self._components), *whole) if _breaks(one)), "")

    @property
    def _components(self) -> list[_Component]:
        found = self.grading_result.component_results if self.grading_result is not None else None
        return [one for one in found or () if one is not None]


def _breaks(reason: Any) -> bool:
    return isinstance(reason, str) and _BROKEN.match(reason) is not None


class _Results(msgspec.Struct):
    results: list[_Record]
    version: int | None = None
    timestamp: str | None = None


class _File(msgspec.Struct, rename="camel"):
    """Version 1 and the export of the database have the records at the top, versions 2 and 3 within ``results``."""

    results: _Results | list[_Record]
    version: int | None = None
    created_at: Any = None
    config: Any = None


def recognises(look: FirstLook) -> bool:
    """Whether there are records of tests, where one of the versions has them."""
    if look.keys >= {"promptIdx", "testIdx", "success"}:
        return True  # lines of records
    found = look.record.get("results")
    if isinstance(found, dict):
        return "version" in found and bool(found.keys() & {"prompts", "results", "stats", "table"})
    first = found[0] if isinstance(found, list) and found else None
    return isinstance(first, dict) and (
        first.keys() >= {"promptIdx", "testIdx"} or first.keys() >= {"prompt", "vars", "success"}
    )


def logs_of(files: Sequence[Path]) -> list[Log]:
    return [log for path in files for log in _logs(path)]


def _logs(path: Path) -> list["PromptfooLog"]:
    """A log for each provider and prompt; of a single provider each prompt is a system of its own."""
    whole = _read(path)
    label, records = one_line(str(path)), whole.records
    if not records:
        raise InputError(f"{label}: no records; check what should have written them.")
    models, prompts = _models(whole, label), _prompts(records)
    items = _items(records)
    systems = len(set(prompts)) > 1 and len(set(models)) == 1 and _share_items(items, prompts)
    notes, named = _notes(label, records), _named(records, items)
    graded = bool(named) or any(_number(record.score) != record.success for record in records if not record.lost)
    groups: dict[tuple[str, str], list[int]] = {}
    for row, key in enumerate(zip(models, prompts, strict=True)):
        groups.setdefault(key, []).append(row)
    several = len(set(prompts)) > 1 and not systems
    return [
        PromptfooLog(
            label,
            (path,),
            (f"{model}, {prompt}" if model else prompt) if systems else model or path.stem,
            prompt if several else _TESTS if model or systems else "",
            whole.written,
            settings={} if several or systems else {"prompt": prompt},
            records=tuple(records[row] for row in rows),
            items=tuple(items[row] for row in rows),
            places=tuple(whole.places[row] for row in rows),
            named=named,
            said=notes,
            graded=graded,
        )
        for (model, prompt), rows in groups.items()
    ]


@dataclass(frozen=True)
class _Whole:
    """A file, whatever its version."""

    records: Sequence[_Record]
    places: Sequence[str]
    written: str = ""
    providers: tuple[str, ...] = ()  # of the configuration, where records do not have them


def _read(path: Path) -> _Whole:
    label = one_line(str(path))
    if path.suffix == ".jsonl":
        return _in_order(list(decoded_lines(path, _Record)))
    found = decoded_file(path, _File)
    inner = found.results if isinstance(found.results, _Results) else _Results(found.results)
    written = inner.timestamp or ("" if found.created_at is None else str(found.created_at))
    config = found.config if isinstance(found.config, dict) else {}
    providers = config.get("providers") if isinstance(config.get("providers"), list) else []
    names = tuple(_provider_name(one) for one in providers or ())
    return _in_order([(f"{label}, record {i}", one) for i, one in enumerate(inner.results, start=1)], written, names)


def _in_order(found: list[tuple[str, _Record]], written: str = "", providers: tuple[str, ...] = ()) -> _Whole:
    """The records in the order of the configuration, not of completion."""
    found.sort(key=lambda one: (one[1].prompt_idx or 0, one[1].test_idx or 0))
    return _Whole([record for _, record in found], [place for place, _ in found], written, providers)


def _provider_name(told: Any) -> str:
    if isinstance(told, dict):
        return str(told.get("label") or told.get("id") or next(iter(told), ""))
    return str(told)


def _models(whole: _Whole, label: str) -> list[str]:
    """The provider of each record; "" where neither the records nor the configuration tell."""
    found = [record.model for record in whole.records]
    if any(found):
        return found
    if len(whole.providers) > 1:
        raise InputError(
            f"{label}: an output of an early promptfoo, whose records do not say which of the {len(whole.providers)} "
            "providers they are of; evaluate each alone, or again with a later version."
        )
    return [whole.providers[0] if whole.providers else ""] * len(found)


def _prompts(records: Sequence[_Record]) -> list[str]:
    """What the prompt of each record is called; the same label of several prompts gets a number."""
    labels: dict[str, dict[str, str]] = {}
    for record in records:
        own = labels.setdefault(record.prompt_label, {})
        own.setdefault(record.prompt_id or "", f" #{len(own) + 1}" if own else "")
    return [record.prompt_label + labels[record.prompt_label][record.prompt_id or ""] for record in records]


def _items(records: Sequence[_Record]) -> list[str]:
    """What tests are called: after their variables, and their assertions where several have the same ones."""
    names = [_item(record) for record in records]
    checks = [digest(record.test_case.assertions if record.test_case else None) for record in records]
    asked: dict[str, set[str]] = {}
    for name, check in zip(names, checks, strict=True):
        asked.setdefault(name, set()).add(check)
    return [f"{name} #{check[:6]}" if len(asked[name]) > 1 else name for name, check in zip(names, checks, strict=True)]


def _item(record: _Record) -> str:
    given = record.test
    if not given:
        told = record.test_case.description if record.test_case is not None else None
        return told or f"test {record.test_idx}"
    plain = {
        name: value if isinstance(value, str) else msgspec.json.encode(value).decode() for name, value in given.items()
    }
    ordered = sorted(plain.items())
    text = ordered[0][1] if len(ordered) == 1 else ", ".join(f"{name}={value}" for name, value in ordered)
    whole = " ".join(text.split())
    if whole == text and len(text) <= _LONGEST:
        return text
    return f"{whole[: _LONGEST - 20]}… {digest(ordered)[:8]}"


def _named(records: Sequence[_Record], items: Sequence[str]) -> dict[str, set[str]]:
    """The tests that have each named score, by any provider: one whose request failed has none."""
    found: dict[str, set[str]] = {}
    for record, item in zip(records, items, strict=True):
        for name in record.named_scores or ():
            found.setdefault(name, set()).add(item)
    return found


def _share_items(items: Sequence[str], prompts: Sequence[str]) -> bool:
    """Whether the same test runs under several prompts: then they are what is compared."""
    under: dict[str, str] = {}
    return any(under.setdefault(item, prompt) != prompt for item, prompt in zip(items, prompts, strict=True))


def _notes(label: str, records: Sequence[_Record]) -> tuple[str, ...]:
    broken = [reason for record in records if (reason := record.broken)]
    if not broken:
        return ()
    undecided = sum(bool(record.broken and record.lost) for record in records)
    nothing = f"; in {undecided:,} nothing else failed, and these are missing" if undecided else ""
    many = f"{len(broken):,} of {len(records):,} records ({shown(broken[0])})"
    return (f"warning: {label}: an assertion could not be evaluated in {many}{nothing}; mend it, and evaluate again",)


@dataclass(frozen=True)
class PromptfooLog(AnswersLog):
    """The records of a provider under a prompt."""

    format: ClassVar[str] = "promptfoo"
    paired_on: ClassVar[str] = "the variables of the test"

    records: tuple[_Record, ...] = ()
    items: tuple[str, ...] = ()
    places: tuple[str, ...] = ()
    named: Mapping[str, Set[str]] = field(default_factory=dict)  # the tests that have a score of this name
    said: tuple[str, ...] = ()
    graded: bool = True  # whether the scores of the file are more than passes

    def read(self) -> Answers:
        errors = [record.lost for record in self.records]
        named = [name for name, items in self.named.items() if items & set(self.items)]
        metrics = {_PASSED: [float(record.success) for record in self.records]}
        if any(record.score is not None for record in self.records):
            metrics["score"] = [_number(record.score) for record in self.records]
        metrics |= {name: [_number((record.named_scores or {}).get(name)) for record in self.records] for name in named}
        return Answers(
            items=list(self.items),
            places=list(self.places),
            metrics={name: _without(values, errors) for name, values in metrics.items()},
            runs=attempts(self.items),
            errors=errors,
            costs=_costs(self.records),
            not_for={
                name: frozenset(row for row, item in enumerate(self.items) if item not in self.named[name])
                for name in named
            },
            notes=list(self.said),
        )

    def rows(self, selection: Selection, cluster: str | None) -> Rows:
        return super().rows(self._known(selection), cluster)

    def measures(self, selection: Selection) -> list[Selection]:
        return super().measures(self._known(selection))

    def _known(self, selection: Selection) -> Selection:
        """The metric need not be chosen where every test passes with 1 or fails with 0: then there is but one."""
        return selection if self.graded or selection.metric is not None else replace(selection, metric=_PASSED)


def _line(told: Any) -> str:
    """The first line of what was said: the others are a stack trace."""
    return next(iter(str(told or "").strip().splitlines()), "")


def _number(found: Any) -> float:
    if isinstance(found, bool | int | float) and isfinite(found):
        return float(found)
    return nan


def _without(values: Sequence[float], errors: Sequence[str]) -> list[float]:
    return [nan if error else value for value, error in zip(values, errors, strict=True)]


def _costs(records: Sequence[_Record]) -> dict[str, list[float]]:
    used = [record.answered.token_usage if record.answered is not None else None for record in records]
    found = {
        "tokens_in": [nan if one is None else _number(one.prompt) for one in used],
        "tokens_out": [nan if one is None else _number(one.completion) for one in used],
        "tokens_total": [nan if one is None else _number(one.total) for one in used],
        "seconds": [_number(record.latency_ms) / 1000 for record in records],
        "price": [_number(record.cost) for record in records],
    }
    return {name: values for name, values in found.items() if any(values) and not all(map(isnan, values))}
