"""What is done to a file: at random, but the same for the same seed. Bytes in, bytes out.

Some changes leave the data equal (`NEUTRAL`); then the answer must be the same. All others may be refused.
"""

import io
import json
import struct
import zipfile
from collections.abc import Callable
from random import Random
from typing import Any, Literal

Kind = Literal["csv", "jsonl", "json", "zip", "zstandard", "parquet", "toml", "pem", "txt"]
Mutation = Callable[[bytes, Random], bytes]

#: Put in the place of a value; what JSON cannot hold is written as it stands here.
RAW = (
    *("NaN", "Infinity", "-Infinity", "1e999", "-1", "0", "-0.0", "1e308", "-1e308", "5e-324", "1e-320", "0.1e1"),
    *("true", "false", "null", '""', '"text"', '"nan"', '"1e3"', '"-inf"', "[]", "{}", "[[]]", '{"a": 1}', "[1, 2]"),
    *(
        '"\\ud800"',
        '"\\u0000"',
        '"\\u202e\\u001b[31m"',
        '"../../etc/passwd"',
        '"=1+1"',
        '"<script>"',
        "9007199254740993",
    ),
    *("1" + "0" * 400, "-" + "9" * 5000, "[" * 50 + "]" * 50, "[" * 3000, "[" * 500 + "]" * 500, '{"a":' * 200),
    *('"' + "x" * 100_000 + '"', '"' + "9" * 400 + '"', "0x10", "01", "1_000", "1.5e", "'a'", '"2026-11-16T00:00:00"'),
)
CELLS = (
    *(
        "",
        " ",
        "nan",
        "NaN",
        "inf",
        "-inf",
        "1e999",
        "-1",
        "0",
        "1e308",
        "5e-324",
        "true",
        "text",
        "1,5",
        "1_000",
        "0x10",
    ),
    *('"', '""', '"a', 'a"b', "\0", "\u202e", "\ud7ff", "é", "'", ";", "\t", "|", "=1+1", "9" * 400, "x" * 100_000),
    *("\r", "\n", "\r\n", "1.0", "2.5", " 1 ", "None", "null", "[]", "{}", "１", "٣", "1e3", "+5", "-0"),
)


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


# ---------------------------------------------------------------------------------------------------------------- JSON

_PLACE = "@@here@@"


def _paths(found: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    paths = [path] if path else []
    inner = found.items() if isinstance(found, dict) else enumerate(found) if isinstance(found, list) else ()
    for name, value in inner:
        paths += _paths(value, (*path, name))
    return paths


def _holder(found: Any, path: tuple[Any, ...]) -> Any:
    for name in path[:-1]:
        found = found[name]
    return found


def _with_raw(found: Any, raw: str) -> bytes:
    return json.dumps(found).replace(json.dumps(_PLACE), raw).encode("utf-8", "surrogatepass")


def _value_replaced(data: bytes, rng: Random) -> bytes:
    found = json.loads(data)
    path = rng.choice(_paths(found) or [()])
    if not path:
        return rng.choice(RAW).encode()
    _holder(found, path)[path[-1]] = _PLACE
    return _with_raw(found, rng.choice(RAW))


def _field_removed(data: bytes, rng: Random) -> bytes:
    found = json.loads(data)
    paths = _paths(found)
    if paths:
        path = rng.choice(paths)
        del _holder(found, path)[path[-1]]
    return json.dumps(found).encode()


def _key_twice(data: bytes, rng: Random) -> bytes:
    found = json.loads(data)
    paths = [path for path in _paths(found) if isinstance(path[-1], str)]
    if not paths:
        return data
    path = rng.choice(paths)
    holder, name = _holder(found, path), path[-1]
    own = json.dumps(name) + ": " + json.dumps(holder.pop(name))
    holder[_PLACE] = 0
    other = json.dumps(name) + ": " + rng.choice(RAW[:20])
    return json.dumps(found).replace(f"{json.dumps(_PLACE)}: 0", f"{own}, {other}").encode()


def _values_swapped(data: bytes, rng: Random) -> bytes:
    found = json.loads(data)
    paths = _paths(found)
    if len(paths) < 2:
        return data
    one, other = rng.sample(paths, 2)
    if one == other[: len(one)] or other == one[: len(other)]:
        return data  # one is inside the other
    a, b = _holder(found, one), _holder(found, other)
    a[one[-1]], b[other[-1]] = b[other[-1]], a[one[-1]]
    return json.dumps(found).encode()


_JSON: dict[str, Mutation] = {
    "a value replaced": _value_replaced,
    "a field removed": _field_removed,
    "a key twice": _key_twice,
    "two values swapped": _values_swapped,
}


def _in_a_line(change: Mutation) -> Mutation:
    def apply(data: bytes, rng: Random) -> bytes:
        lines = data.splitlines()
        at = rng.randrange(len(lines))
        lines[at] = change(lines[at], rng)
        return b"\n".join(lines) + b"\n"

    return apply


def _lines(change: Callable[[list[bytes], Random], object]) -> Mutation:
    def apply(data: bytes, rng: Random) -> bytes:
        lines = data.splitlines()
        change(lines, rng)
        return b"\n".join(lines) + b"\n"

    return apply


_OF_LINES: dict[str, Mutation] = {
    "a line twice": _lines(lambda lines, rng: lines.insert(rng.randrange(len(lines)), rng.choice(lines))),
    "a line gone": _lines(lambda lines, rng: lines.pop(rng.randrange(len(lines)))),
    "lines shuffled": _lines(lambda lines, rng: rng.shuffle(lines)),
    "only one line": _lines(lambda lines, rng: lines.__setitem__(slice(None), [rng.choice(lines)])),
}


# ----------------------------------------------------------------------------------------------------------------- CSV


def _cell_replaced(data: bytes, rng: Random) -> bytes:
    lines = data.split(b"\n")
    at = rng.randrange(len(lines))
    cells = lines[at].split(b",")
    cells[rng.randrange(len(cells))] = rng.choice(CELLS).encode("utf-8", "surrogatepass")
    lines[at] = b",".join(cells)
    return b"\n".join(lines)


def _column(change: Callable[[list[bytes], int, Random], object]) -> Mutation:
    def apply(data: bytes, rng: Random) -> bytes:
        rows = [line.split(b",") for line in data.splitlines()]
        at = rng.randrange(len(rows[0]))
        for row in rows:
            if at < len(row):
                change(row, at, rng)
        return b"\n".join(b",".join(row) for row in rows) + b"\n"

    return apply


def _all_replaced(data: bytes, rng: Random) -> bytes:
    head, _, rest = data.partition(b"\n")
    at, cell = rng.randrange(head.count(b",") + 1), rng.choice(CELLS).encode("utf-8", "surrogatepass")
    rows = [line.split(b",") for line in rest.splitlines()]
    for row in rows:
        row[min(at, len(row) - 1)] = cell
    return head + b"\n" + b"\n".join(b",".join(row) for row in rows) + b"\n"


_CSV: dict[str, Mutation] = _OF_LINES | {
    "a cell replaced": _cell_replaced,
    "a column of one value": _all_replaced,
    "a column gone": _column(lambda row, at, _: row.pop(at)),
    "a column twice": _column(lambda row, at, _: row.append(row[at])),
    "many columns": lambda data, _: b"\n".join(line + b",x" * 3000 for line in data.splitlines()),
    "another delimiter": lambda data, rng: data.replace(b",", rng.choice((b";", b"\t", b"|", b":", b", "))),
    "mixed line ends": lambda data, rng: b"".join(
        line + rng.choice((b"\n", b"\r\n", b"\r", b"\n\n")) for line in data.splitlines()
    ),
}


# ------------------------------------------------------------------------------------------------------------ archives


def _members(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _packed(members: list[tuple[str, bytes]], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", compression=method) as archive:
        for name, content in members:
            archive.writestr(zipfile.ZipInfo(name), content, compress_type=method)
    return target.getvalue()


def _of_members(change: Callable[[dict[str, bytes], Random], object]) -> Mutation:
    def apply(data: bytes, rng: Random) -> bytes:
        members = _members(data)
        change(members, rng)
        return _packed(list(members.items()))

    return apply


def _member_changed(members: dict[str, bytes], rng: Random) -> None:
    name = rng.choice(list(members))
    if not name.endswith(".json"):
        return
    members[name] = mutated(members[name], "json", rng)[1]


def _renamed(members: dict[str, bytes], rng: Random) -> None:
    name = rng.choice(list(members))
    members[rng.choice(("../../x.json", "samples/.json", "samples/a\0b.json", "/etc/x", "x" * 5000))] = members.pop(
        name
    )


def _bomb(members: dict[str, bytes], rng: Random) -> None:
    names = [name for name in members if name.startswith("samples/")]
    members[rng.choice(names)] = b'{"id": "' + b"0" * 400_000_000 + b'"}'


def _index_changed(data: bytes, rng: Random) -> bytes:
    start = data.rfind(b"PK\x01\x02")
    at = rng.randrange(max(start, 0), len(data))
    return data[:at] + rng.randbytes(1) + data[at + 1 :]


def _same_name_twice(data: bytes, rng: Random) -> bytes:
    members = list(_members(data).items())
    name, content = rng.choice(members)
    target = io.BytesIO(data)
    with zipfile.ZipFile(target, "a") as archive:
        archive.fp.seek(0, 2)  # type: ignore[union-attr]
        info = zipfile.ZipInfo(name)
        archive.NameToInfo.pop(name, None)
        archive.writestr(info, content[: len(content) // 2])
    return target.getvalue()


_ZIP: dict[str, Mutation] = {
    "a member changed": _of_members(_member_changed),
    "a member gone": _of_members(lambda members, rng: members.pop(rng.choice(list(members)))),
    "a member renamed": _of_members(_renamed),
    "a bomb": _of_members(_bomb),
    "the index changed": _index_changed,
    "a member twice": _same_name_twice,
}


# ------------------------------------------------------------------------------------------------------------- Parquet


def _footer_changed(data: bytes, rng: Random) -> bytes:
    length = struct.unpack("<I", data[-8:-4])[0]
    at = rng.randrange(max(4, len(data) - 8 - length), len(data) - 8)
    return data[:at] + rng.randbytes(1) + data[at + 1 :]


_PARQUET: dict[str, Mutation] = {
    "the footer changed": _footer_changed,
    "another length of the footer": lambda data, rng: (
        data[:-8] + struct.pack("<I", rng.choice((0, 1, len(data), 2**31, 2**32 - 1))) + data[-4:]
    ),
    "pages of zeros": lambda data, rng: data[:4] + bytes(rng.randrange(1, len(data) - 12)) + data[-8:],
    "no magic at the end": lambda data, _: data[:-4] + b"PARX",
    "an encrypted one": lambda data, _: b"PARE" + data[4:-4] + b"PARE",
}

OF_KIND: dict[Kind, dict[str, Mutation]] = {
    "csv": _CSV,
    "json": _JSON,
    "jsonl": {**{f"{name} in a line": _in_a_line(change) for name, change in _JSON.items()}, **_OF_LINES},
    "zip": _ZIP,
    "parquet": _PARQUET,
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
    rows = [line.split(b",") for line in data.splitlines()]
    return b"\n".join(b",".join(b'"' + cell + b'"' for cell in row) for row in rows) + b"\n"


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
        "stored": lambda data, _: _packed(list(_members(data).items()), zipfile.ZIP_STORED),
        "deflated": lambda data, _: _packed(list(_members(data).items())),
    },
    "txt": {"a mark in front": _TEXT["a mark in front"], "as it is": _TEXT["as it is"]},
    "zstandard": {"as it is": lambda data, _: data},
    "parquet": {"as it is": lambda data, _: data},
}
