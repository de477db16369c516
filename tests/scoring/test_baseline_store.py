"""Runs that are found again, and those that are refused: the oracle is the manifest that the run was made with."""

import copy
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.data.runs import Run, create_or_resume
from assay.errors import InputError, UsageError
from assay.scoring.baseline_store import BaselineStore, key_of

MANIFEST: dict[str, Any] = {
    "model": {
        "name": "org/base",
        "dtype": "float32",
        "digests": {"model": "sha256:a", "tokenizer": "sha256:b", "adapter": None, "tokenizer_definition": "sha256:c"},
    },
    "versions": {"torch": "2.4", "transformers": "5.0"},
    "assay": "0.1.0",
    "text": {"documents": 2, "sha256": "sha256:d", "token_ids": "sha256:e"},
    "layout": {"context": 64, "stride": 64, "cut": "fresh"},
    "bos": 1,
    "gate": {"looks": [21, 42], "order": "sha256:f"},
    "shards": 2,
}
FOUND_BY = [
    ("model", "digests", "model"),
    ("model", "digests", "tokenizer"),
    ("model", "digests", "adapter"),
    ("model", "digests", "tokenizer_definition"),
    ("text", "sha256"),
    ("text", "token_ids"),
    ("layout", "context"),
    ("gate", "order"),
]
STALE = [("versions", "torch"), ("assay",), ("model", "dtype"), ("shards",)]


def changed(place: tuple[str, ...], value: Any = "other") -> dict[str, Any]:
    found = copy.deepcopy(MANIFEST)
    inside = found
    for name in place[:-1]:
        inside = inside[name]
    inside[place[-1]] = value
    return found


@pytest.fixture
def store(tmp_path: Path) -> BaselineStore:
    return BaselineStore(tmp_path / "cache")


@pytest.fixture
def run(store: BaselineStore) -> Run:
    """A run that was stored and sealed."""
    made = create_or_resume(store.place(MANIFEST), MANIFEST)
    for number in range(2):
        made.write_shard(number, {"window": np.array(["w1"], dtype=object), "loss": np.array([float(number)])})
    store.seal(made)
    return made


def test_a_run_is_found_again(store: BaselineStore, run: Run) -> None:
    assert store.place(MANIFEST) == run.folder
    assert create_or_resume(store.place(MANIFEST), MANIFEST).missing() == []
    assert run.folder.name.startswith("org")
    assert "/" not in run.folder.name.removeprefix("org")


@pytest.mark.parametrize("place", FOUND_BY)
def test_another_model_text_context_or_tokenizer_has_a_place_of_its_own(
    store: BaselineStore, run: Run, place: tuple[str, ...]
) -> None:
    found = store.place(changed(place))
    assert found != run.folder
    assert not found.exists()


@pytest.mark.parametrize("place", STALE)
def test_a_stale_run_is_refused_with_what_differs(store: BaselineStore, run: Run, place: tuple[str, ...]) -> None:
    with pytest.raises(InputError, match=rf"is stale \({place[0]}.* → (other|7)\)") as refused:
        store.place(changed(place, 7 if place == ("shards",) else "other"))
    assert ".".join(place) in str(refused.value)
    assert store.place(changed(place), overwrite=True) == run.folder  # asked for: it is replaced


@pytest.mark.parametrize("damage", ["changed", "gone"])
def test_a_run_that_is_not_what_was_stored_is_refused(store: BaselineStore, run: Run, damage: str) -> None:
    shard = run.shard(1)
    if damage == "gone":
        shard.unlink()
    else:
        shard.write_bytes(run.shard(0).read_bytes())
    with pytest.raises(InputError, match="changed or damaged"):
        store.place(MANIFEST)


@pytest.mark.parametrize("seal", ["{}", "[1]", '{"schema": "assay/sealed-run/1", "shards": 3}', "{"])
def test_a_seal_that_is_none_is_refused(store: BaselineStore, run: Run, seal: str) -> None:
    run.folder.with_name(f"{run.folder.name}.sealed.json").write_text(seal)
    with pytest.raises(InputError, match="delete it together with"):
        store.place(MANIFEST)


def test_a_run_that_was_killed_is_resumed(store: BaselineStore) -> None:
    begun = create_or_resume(store.place(MANIFEST), MANIFEST)
    begun.write_shard(0, {"loss": np.array([1.0])})
    assert create_or_resume(store.place(MANIFEST), MANIFEST).missing() == [1]


def test_more_shards_than_were_sealed_are_those_of_a_gate_that_went_further(store: BaselineStore) -> None:
    made = create_or_resume(store.place(MANIFEST), MANIFEST)
    made.write_shard(0, {"loss": np.array([1.0])})
    store.seal(made)
    made.write_shard(1, {"loss": np.array([1.0])})
    assert store.place(MANIFEST) == made.folder
    store.seal(made)
    assert store.place(MANIFEST) == made.folder


def test_a_model_without_a_digest_is_not_stored(store: BaselineStore) -> None:
    with pytest.raises(UsageError, match="leave `cache` out"):
        store.place(changed(("model", "digests", "model"), None))


@given(st.dictionaries(st.text(), st.integers() | st.text(), max_size=4))
def test_the_order_of_fields_does_not_count(more: dict[str, Any]) -> None:
    one = {**MANIFEST, "layout": {**more, "context": 64}}
    other = json.loads(json.dumps(one, sort_keys=True))
    assert key_of(one) == key_of(other)
