"""Score windows in a given order, step by step, and only as far as they are needed.

The steps of a run are fixed before the first one: its manifest names them, and their shards are numbered through. A
run that was stopped is resumed, as any other.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.data.runs import Run, create_or_resume, finish, note_halving
from assay.scoring import (
    Encoded,
    WindowScorer,
    about_model,
    encoded_by,
    loaded,
    local_scorer,
    manifest_of,
    window_id,
    write_windows,
)
from assay.scoring.checkpoint import definition_digest, model_digests
from assay.scoring.memory import InTurn
from assay.scoring.models_and_texts import Document, ModelOrEndpoint, ModelSpec
from assay.scoring.windows import Layout, Plan, Window, layout_for, shards_of, start_token

if TYPE_CHECKING:
    from assay.scoring.endpoint import EndpointScorer
    from assay.scoring.hf import ModelScorer


@dataclass(frozen=True, eq=False)
class Loaded:
    """A model that is ready to score a text."""

    name: str
    spec: ModelOrEndpoint
    scorer: "InTurn | ModelScorer | EndpointScorer"
    definition: str  # digest of what its tokenizer does
    encoded: Sequence[Encoded]
    plan: Plan  # with as many tokens in a forward pass as suit it

    @property
    def context(self) -> int:
        """The longest input of the model."""
        return self.scorer.context

    @cached_property
    def start(self) -> int | None:
        """The token before a document."""
        return start_token(self.plan, self.scorer)

    @cached_property
    def about(self) -> dict[str, Any]:
        """What its manifest says of the model."""
        digests = model_digests(self.spec) | {"tokenizer_definition": self.definition}
        return about_model(self.name, self.spec, self.scorer, digests) | {"bos": self.start}

    def layout(self, context: int | None = None) -> Layout:
        """How the text is cut; ``context`` where the plan leaves it open."""
        plan = self.plan if self.plan.context is not None else replace(self.plan, context=context)
        return layout_for(plan, self.context, bos=self.start is not None)


def load(
    name: str,
    spec: ModelOrEndpoint,
    documents: Sequence[Document],
    plan: Plan,
    known: dict[str, list[Encoded]] | None = None,
) -> Loaded:
    """Load a model and tokenize the documents; ``known`` are those of other models, by tokenizer."""
    scorer: InTurn | ModelScorer | EndpointScorer
    scorer = InTurn(partial(local_scorer, spec)) if isinstance(spec, ModelSpec) else loaded(spec)
    definition = definition_digest(scorer.tokenizer)
    encoded = encoded_by(scorer.tokenizer, definition, documents, {} if known is None else known)
    portion = replace(plan, batch_tokens=scorer.batch_tokens(plan.batch_tokens))
    return Loaded(name, spec, scorer, definition, encoded, portion)


@dataclass(frozen=True, eq=False)
class StepwiseRun:
    """A run of windows in order, of which the first steps are scored."""

    model: Loaded
    layout: Layout
    windows: Sequence[Window]  # in the order in which they are scored
    stops: Sequence[int]  # after how many windows each step ends
    folder: Path
    manifest: Mapping[str, Any]  # what it says beside what every run says
    overwrite: bool = False

    @cached_property
    def ids(self) -> list[str]:
        return [window_id(self.model.encoded, window, self.layout) for window in self.windows]

    @cached_property
    def steps(self) -> list[list[tuple[int, list[list[int]]]]]:
        """The shards of each step: their numbers, and their batches of windows."""
        assert self.model.plan.batch_tokens is not None  # chosen when it was loaded
        found, number, begin = [], 0, 0
        for stop in self.stops:
            shards = shards_of(self.windows[begin:stop], self.model.plan.batch_tokens)
            found.append([(number + i, [[begin + at for at in b] for b in shard]) for i, shard in enumerate(shards)])
            number, begin = number + len(shards), stop
        return found

    @cached_property
    def whole(self) -> dict[str, Any]:
        """Everything that its manifest says."""
        usual = manifest_of(self.model.about, self.model.encoded, self.layout, self.model.plan)
        return {**usual, **self.manifest, "shards": sum(map(len, self.steps))}

    @cached_property
    def run(self) -> Run:
        """The run on disk, made or resumed."""
        return create_or_resume(self.folder, self.whole, overwrite=self.overwrite)

    def score(self, step: int, tell: Callable[[int], None] | None = None) -> list[Path]:
        """Score what is missing of a step; the files of all steps so far."""
        windows, missing = list(self.windows), set(self.run.missing())
        feeds = WindowScorer(self.model.encoded, self.model.scorer.losses, self.layout, self.model.start)
        for number, batches in self.steps[step]:
            if number in missing:
                found = feeds.losses_of(windows, batches, tell or _silent)
                note_halving(self.run, getattr(self.model.scorer, "halved_to", None))
                write_windows(
                    self.run, number, self.model.encoded, windows, found, layout=self.layout, keep_tokens=False
                )
            elif tell is not None:
                tell(sum(windows[i].tokens for batch in batches for i in batch))
        return [self.run.shard(number) for part in self.steps[: step + 1] for number, _ in part]

    def finish(self) -> Run:
        """Move the run into place, if it replaces another."""
        return finish(self.run)


def _silent(_tokens: int) -> None:
    pass
