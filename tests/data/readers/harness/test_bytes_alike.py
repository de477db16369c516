"""What stands at many places of some bytes; the oracle is a search byte by byte."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from assay.data.readers.harness.bytes_alike import Alike, BytePlaces, before_commas, until_comma

pieces = st.lists(st.sampled_from([b"{", b"{{", b"}", b'"a": ', b"{ " * 4, b"x" * 9, b"\xff{", b"\x7b\x7a"]))


@given(st.lists(pieces.map(b"".join), min_size=1, max_size=4))
def test_braces_against_a_search_byte_by_byte(several: list[bytes]) -> None:
    braces = BytePlaces(ord("{"))
    for data in several:  # what is kept from one search to the next does not show
        assert braces(data).tolist() == [at for at in range(len(data)) if data[at : at + 1] == b"{"]


texts = st.text(alphabet="0123456789.eE+- \x00\x7f-\x2b\x2d\xac", max_size=31).map(lambda text: text.encode("latin-1"))


@given(st.lists(texts, min_size=1, max_size=9))
def test_bytes_before_the_first_comma_by_hand(found: list[bytes]) -> None:
    data = b",".join(found) + b"," + bytes(64)
    lengths = np.array([len(one) for one in found])
    places = np.cumsum(np.append(0, lengths + 1))[:-1]
    told = until_comma(data, places, 31)
    assert told is not None
    assert told.tolist() == lengths.tolist()
    assert (until_comma(data, places, 7) is None) == (max(lengths) > 7)
    rows = before_commas(data, places, lengths)
    width = rows.shape[1] * 8
    assert rows.tobytes() == b"".join(one.ljust(width - 1) + b"," for one in found)


def test_no_comma_at_all() -> None:
    assert until_comma(b"1" * 64, np.array([0, 8]), 31) is None


@given(st.binary(min_size=1, max_size=20), st.binary(max_size=3), st.integers(0, 30))
def test_what_follows_everywhere_by_hand(head: bytes, between: bytes, changed: int) -> None:
    record = head + between
    data = record * 3
    places = np.arange(3)[:, None] * len(record)
    alike = Alike.of({0: head})
    assert alike.are_in(data + bytes(8), places)
    other = bytearray(data + bytes(8))
    at = changed % len(data)
    other[at] ^= 1
    assert alike.are_in(bytes(other), places) == (at % len(record) >= len(head))
    assert not alike.are_in(data[:-1] if not between else data[: -len(between) - 1], places)
    assert alike.are_in(b"", places[:0])
    assert not alike.are_in(data + bytes(8), places - 1)
