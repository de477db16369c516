"""Changes of archives and Parquet files: members, the index, the footer."""

import io
import struct
import zipfile
from collections.abc import Callable
from random import Random

from tests.fuzz.mutations_text import JSON, Mutation

# ------------------------------------------------------------------------------------------------------------ archives


def members_of(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(members: list[tuple[str, bytes]], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", compression=method) as archive:
        for name, content in members:
            archive.writestr(zipfile.ZipInfo(name), content, compress_type=method)
    return target.getvalue()


def _of_members(change: Callable[[dict[str, bytes], Random], object]) -> Mutation:
    def apply(data: bytes, rng: Random) -> bytes:
        members = members_of(data)
        change(members, rng)
        return packed(list(members.items()))

    return apply


def _member_changed(members: dict[str, bytes], rng: Random) -> None:
    name = rng.choice(list(members))
    if not name.endswith(".json"):
        return
    members[name] = rng.choice(list(JSON.values()))(members[name], rng)


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
    members = list(members_of(data).items())
    name, content = rng.choice(members)
    target = io.BytesIO(data)
    with zipfile.ZipFile(target, "a") as archive:
        archive.fp.seek(0, 2)  # type: ignore[union-attr]
        info = zipfile.ZipInfo(name)
        archive.NameToInfo.pop(name, None)
        archive.writestr(info, content[: len(content) // 2])
    return target.getvalue()


ZIP: dict[str, Mutation] = {
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


PARQUET: dict[str, Mutation] = {
    "the footer changed": _footer_changed,
    "another length of the footer": lambda data, rng: (
        data[:-8] + struct.pack("<I", rng.choice((0, 1, len(data), 2**31, 2**32 - 1))) + data[-4:]
    ),
    "pages of zeros": lambda data, rng: data[:4] + bytes(rng.randrange(1, len(data) - 12)) + data[-8:],
    "no magic at the end": lambda data, _: data[:-4] + b"PARX",
    "an encrypted one": lambda data, _: b"PARE" + data[4:-4] + b"PARE",
}
