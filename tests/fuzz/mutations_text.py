"""Changes of JSON, JSON lines and CSV that know what they change: values, fields, cells, columns, lines."""

import json
from collections.abc import Callable
from random import Random
from typing import Any

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


JSON: dict[str, Mutation] = {
    "a value replaced": _value_replaced,
    "a field removed": _field_removed,
    "a key twice": _key_twice,
    "two values swapped": _values_swapped,
}


def in_a_line(change: Mutation) -> Mutation:
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


LINES: dict[str, Mutation] = {
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


CSV: dict[str, Mutation] = LINES | {
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
