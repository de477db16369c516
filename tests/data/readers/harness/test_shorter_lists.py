"""What is cut out of long lists before they are decoded: nothing that is asked for may go with it."""

import json
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.data.readers.harness.shorter_lists import Places, WithoutItems, WithoutLists

MARK = b"\n      ]"


class Kept(msgspec.Struct):
    id: str
    error: str | None = None
    lists: Any = None


@given(st.lists(st.sampled_from([MARK, b"\n      ", b"]", b"\n     ]", b"x", b" ", b"\n" * 9])))
def test_places_against_a_search_byte_by_byte(pieces: list[bytes]) -> None:
    data, places = b"".join(pieces), Places(MARK)
    expected = [at for at in range(len(data)) if data.startswith(MARK, at)]
    for _ in range(2):  # what is kept from one search to the next does not show
        assert places(data).tolist() == expected
        assert places(data[:40]).tolist() == [at for at in expected if at + len(MARK) <= 40]


def in_a_log(samples: list[dict[str, Any]]) -> bytes:
    return json.dumps({"samples": samples}, indent=2).partition('"samples": ')[2][:-2].encode()


def without_events() -> WithoutLists:
    return WithoutLists(("events", "messages"), 6, msgspec.json.Decoder(list[Kept]).decode)


values = st.recursive(
    st.none() | st.text(max_size=8) | st.sampled_from(["\n      ]", '"events": [\n', "]}"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["events", "messages", "id"]), inner, max_size=3)
    ),
    max_leaves=8,
)
samples = st.lists(
    st.fixed_dictionaries(
        {"id": st.text(max_size=4)},
        optional={
            "lists": values,
            "events": st.lists(values, max_size=4),
            "messages": st.lists(values, max_size=2),
            "error": st.none() | st.text(max_size=4),
        },
    ),
    min_size=1,
    max_size=5,
)


@given(samples)
def test_without_events_everything_else_is_the_same(found: list[dict[str, Any]]) -> None:
    part, shorter = in_a_log(found), without_events()
    whole = msgspec.json.decode(part, type=list[Kept])
    assert shorter(part) is None  # nothing is known of how it is written
    shorter.learn(part, whole)
    short = shorter(part)
    assert short is not None
    assert msgspec.json.decode(short, type=list[Kept]) == whole
    assert all(not one.get("events") for one in json.loads(short))


def test_a_list_that_is_indented_otherwise_is_decoded_whole() -> None:
    part = b'[{\n      "id": "a",\n      "events": [\n 1], "error": "lost", "lists": [\n 2\n      ]}]'
    shorter = without_events()
    shorter.learn(part, msgspec.json.decode(part, type=list[Kept]))
    assert shorter(part) is None


class Named(msgspec.Struct):
    name: str
    split: str = ""


class Stat(msgspec.Struct):
    name: Named
    sum: float


class Entry(msgspec.Struct):
    instance_id: str
    stats: list[Stat]


NAMES = ["count_1", "exact", "count_2", "count_3", "f1", "count_4"]


def entry(number: int, names: list[str], *, split: str = "test") -> dict[str, Any]:
    stats = [{"name": {"name": name, "split": split}, "count": 1, "sum": number + at} for at, name in enumerate(names)]
    return {"instance_id": f"id{number}", "train_trial_index": 0, "stats": stats}


def without_counts() -> WithoutItems:
    return WithoutItems(
        "instance_id", lambda one: [stat.name.name for stat in one.stats], lambda name: not name.startswith("count")
    )


def sums(entries: list[Entry]) -> list[tuple[str, str, str, float]]:
    """What is asked for of entries, and of the last item, which always stays."""
    return [
        (one.instance_id, stat.name.name, stat.name.split, stat.sum)
        for one in entries
        for stat in one.stats
        if not stat.name.name.startswith("count")
    ]


@pytest.mark.parametrize("indent", [2, None, 4])
def test_items_that_are_not_kept_are_left_out(indent: int | None) -> None:
    first, then = (
        json.dumps([entry(at, NAMES, split=split) for at, split in enumerate(splits)], indent=indent).encode()
        for splits in (["test"], ["test", "valid", "test"])
    )
    shorter = without_counts()
    assert shorter(then) is None
    shorter.learn(first, msgspec.json.decode(first, type=list[Entry]))
    short = shorter(then)
    assert short is not None
    found = msgspec.json.decode(short, type=list[Entry])
    assert sums(found) == sums(msgspec.json.decode(then, type=list[Entry]))
    assert [stat.name.name for stat in found[0].stats] == ["exact", "f1", "count_4"]


@pytest.mark.parametrize(
    "other",
    [
        ["count_1", "exact", "count_2", "exact_2", "f1", "count_4"],  # where one was that is left out
        [*NAMES, "f2"],
        NAMES[:-1],
        ["exact", "count_1", "count_2", "count_3", "f1", "count_4"],
        ["count_1", "exact", "count_2", "count_33", "f1", "count_4"],
        ["count_1", "exact", "count_2", 'count_3{"', "f1", "count_4"],
    ],
)
def test_entries_with_other_items_are_decoded_whole(other: list[str]) -> None:
    first, then = (
        json.dumps([entry(at, names) for at, names in enumerate(every)], indent=2).encode()
        for every in ([NAMES], [NAMES, other, NAMES])
    )
    shorter = without_counts()
    shorter.learn(first, msgspec.json.decode(first, type=list[Entry]))
    assert shorter(first) is not None
    assert shorter(then) is None


def test_what_cannot_be_learned_from_leaves_lists_as_they_are() -> None:
    for part in (b"[]", b'[{"instance_id": "a", "stats": []}]', b'[{"a": {}, "instance_id": "a", "stats": []}]'):
        shorter = without_counts()
        shorter.learn(part, msgspec.json.decode(part, type=list[Entry]))
        assert shorter(part) is None
    assert np.array_equal(Places(MARK)(b""), np.empty(0))
