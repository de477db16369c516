"""What is done to a file: at random, but the same for the same seed. Bytes in, bytes out.

Some changes leave the data equal (`NEUTRAL`); then the answer must be the same. All others may be refused.
"""

import csv
import io
import json
import struct
import zipfile
from collections.abc import Callable
from random import Random
from typing import Any, Literal

from tests.fuzz.mutations_binary import PARQUET, ZIP, members_of, packed
from tests.fuzz.mutations_text import CSV, JSON, LINES, Mutation, in_a_line

Kind = Literal["csv", "jsonl", "json", "zip", "zstandard", "parquet", "toml", "pem", "txt"]


def mutated(data: bytes, kind: Kind, rng: Random) -> tuple[str, bytes]:
    """The name of a mutation that fits the kind, and its work."""
    names = [*ANY, *OF_KIND.get(kind, ())]
    weights = [1] * len(ANY) + [4] * (len(names) - len(ANY))
    name = rng.choices(names, weights)[0]
    return name, (ANY.get(name) or OF_KIND[kind][name])(data, rng)


def again(data: bytes, kind: Kind, rng: Random) -> tuple[str, bytes]:
    """A second change, of the bytes where the first has left nothing that fits the kind."""
    try:
        return mutated(data, kind, rng)
    except (ValueError, IndexError, KeyError, zipfile.BadZipFile, struct.error, RecursionError):
        return "bits flipped", _flipped(data, rng) if data else b""


def neutral(data: bytes, kind: Kind, rng: Random) -> tuple[str, bytes]:
    """A change that leaves the data equal."""
    name = rng.choice(list(NEUTRAL[kind]))
    return name, NEUTRAL[kind][name](data, rng)


# ----------------------------------------------------------------------------------------------------------- any bytes


def _span(data: bytes, rng: Random, most: int = 64) -> tuple[int, int]:
    start = rng.randrange(len(data) + 1)
    return start, min(len(data), start + rng.randrange(1, most))


def _inserted(piece: bytes) -> Mutation:
    def insert(data: bytes, rng: Random) -> bytes:
        at = rng.choice((0, len(data), rng.randrange(len(data) + 1)))
        return data[:at] + piece + data[at:]

    return insert


def _flipped(data: bytes, rng: Random) -> bytes:
    found = bytearray(data)
    for _ in range(rng.randrange(1, 9)):
        found[rng.randrange(len(found))] ^= 1 << rng.randrange(8)
    return bytes(found)


def _deleted(data: bytes, rng: Random) -> bytes:
    start, stop = _span(data, rng)
    return data[:start] + data[stop:]


def _doubled(data: bytes, rng: Random) -> bytes:
    start, stop = _span(data, rng, 2000)
    return data[:stop] + data[start:]


def _random_bytes(data: bytes, rng: Random) -> bytes:
    start, stop = _span(data, rng, 16)
    return data[:start] + rng.randbytes(stop - start) + data[stop:]


def _as_text(data: bytes) -> str:
    return data.decode("utf-8", errors="replace")


ANY: dict[str, Mutation] = {
    "cut off": lambda data, rng: data[: rng.randrange(len(data))],
    "last byte gone": lambda data, _: data[:-1],
    "first byte gone": lambda data, _: data[1:],
    "bits flipped": _flipped,
    "bytes deleted": _deleted,
    "a part twice": _doubled,
    "random bytes": _random_bytes,
    "all twice": lambda data, _: data + data,
    "nothing left": lambda _, __: b"",
    "only blanks": lambda _, rng: rng.choice((b" ", b"\n\n\n", b"\xef\xbb\xbf", b"\t \r\n")),
    "a NUL": _inserted(b"\0"),
    "a byte order mark": _inserted(b"\xef\xbb\xbf"),
    "a byte of Latin-1": _inserted(b"\xe9"),
    "half a character": _inserted(b"\xed\xa0\x80"),
    "UTF-16": lambda data, rng: _as_text(data).encode(rng.choice(("utf-16", "utf-16-le", "utf-16-be", "utf-32"))),
    "deep lists": lambda _, rng: b"[" * rng.choice((150, 5_000, 1_000_000)),
    "deep objects": lambda _, rng: b'{"a":' * rng.choice((150, 5_000, 200_000)),
    "a pointer": lambda _, __: b"version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 5\n",
    "another kind": lambda _, rng: rng.choice(
        (b"PAR1", b"PK\x03\x04", b"\x1f\x8b\x08", b"{}", b"[]", b"7", b'"a"', b"a,b\n1,2\n")
    ),
    "old line ends": lambda data, _: data.replace(b"\r\n", b"\n").replace(b"\n", b"\r"),
}


OF_KIND: dict[Kind, dict[str, Mutation]] = {
    "csv": CSV,
    "json": JSON,
    "jsonl": {**{f"{name} in a line": in_a_line(change) for name, change in JSON.items()}, **LINES},
    "zip": ZIP,
    "parquet": PARQUET,
}


# --------------------------------------------------------------------------------------------------- the data are equal


def _reversed_keys(found: Any) -> Any:
    if isinstance(found, dict):
        return {name: _reversed_keys(found[name]) for name in reversed(found)}
    return [_reversed_keys(value) for value in found] if isinstance(found, list) else found


def _turned(found: Any) -> Any:
    """The keys of the document itself turned round: further inside, their order may be that of the questions."""
    return dict(reversed(found.items())) if isinstance(found, dict) else found


def _quoted(data: bytes, _: Random) -> bytes:
    made = io.StringIO()
    rows = csv.reader(io.StringIO(data.decode(), newline=""))
    csv.writer(made, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(rows)
    return made.getvalue().encode()


def _each_line(change: Callable[[Any], str]) -> Mutation:
    return lambda data, _: b"".join(change(json.loads(line)).encode() + b"\n" for line in data.splitlines())


_TEXT: dict[str, Mutation] = {
    "a mark in front": lambda data, _: b"\xef\xbb\xbf" + data,
    "lines end in CRLF": lambda data, _: data.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"),
    "no last line end": lambda data, _: data.rstrip(b"\n"),
    "blank lines at the end": lambda data, _: data + b"\n\n",
    "as it is": lambda data, _: data,
}
NEUTRAL: dict[Kind, dict[str, Mutation]] = {
    "csv": _TEXT | {"every cell quoted": _quoted},
    "json": {
        "a mark in front": _TEXT["a mark in front"],
        "indented": lambda data, _: json.dumps(json.loads(data), indent=3).encode(),
        "keys in another order": lambda data, _: json.dumps(_turned(json.loads(data))).encode(),
        "every character escaped": lambda data, _: json.dumps(json.loads(data), ensure_ascii=True).encode(),
    },
    "jsonl": _TEXT
    | {
        "keys in another order": _each_line(lambda found: json.dumps(_reversed_keys(found))),
        "no spaces": _each_line(lambda found: json.dumps(found, separators=(",", ":"), ensure_ascii=False)),
    },
    "zip": {
        "stored": lambda data, _: packed(list(members_of(data).items()), zipfile.ZIP_STORED),
        "deflated": lambda data, _: packed(list(members_of(data).items())),
    },
    "txt": {"a mark in front": _TEXT["a mark in front"], "as it is": _TEXT["as it is"]},
    "zstandard": {"as it is": lambda data, _: data},
    "parquet": {"as it is": lambda data, _: data},
}
