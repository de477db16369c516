"""Long JSON lists, decoded some records at a time: no more of them is in memory than of a block of the file.

Where records end shows in how the next one begins, such as ``}, {"instance_id":``. Quotation marks within texts are
escaped, so this cannot stand in a text; should it stand deeper in a record, the part before it is no JSON, and the
decoder refuses it.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Generic, TypeVar

import msgspec

from assay.data.readers.harness.equal_keys import MOST_OF_A_LIST, EqualKeys
from assay.data.readers.harness.shorter_lists import Shortens
from assay.files.reading import LINES, cannot_open, keep_memory, opened

T = TypeVar("T")

_BLOCK = 1 << 21
_MARK = b"\xef\xbb\xbf"


class NotPlainError(Exception):
    """A list that has to be read as a whole: the parser of any JSON says what is wrong, if anything is."""


def file_blocks(path: Path) -> Iterator[bytes]:
    """A file bit by bit."""
    keep_memory()
    with opened(path, LINES) as file:
        try:
            while block := file.read(_BLOCK):
                yield block
        except OSError as error:
            raise cannot_open(path, error) from error


def parts_of_list(blocks: Iterable[bytes], between: re.Pattern[bytes]) -> Iterator[bytes]:
    r"""A list in parts that are lists; the first group of ``between`` is what separates two records.

    >>> list(parts_of_list([b'[{"a": 1}, {"a', b'": 2}, {"a": 3}]'], re.compile(rb'\}(\s*,\s*)\{\s*"a":')))
    [b'[{"a": 1}, {"a": 2}]', b'[{"a": 3}]']
    """
    rest: list[bytes] = []
    for block in blocks:
        cut = _last(between, block)
        if cut is None and rest:
            # What separates two records may itself be cut, so the end of what came before is looked at again.
            block = rest.pop() + block  # noqa: PLW2901 - the same, with more before it
            cut = _last(between, block)
        if cut is None:
            rest.append(block) if len(block) < _BLOCK else rest.extend((block[:-_LONGEST], block[-_LONGEST:]))
            continue
        yield b"".join([*rest, memoryview(block)[: cut.start(1)], b"]"])
        rest = [b"[" + block[cut.end(1) :]]
    yield b"".join(rest)


_LONGEST = 1 << 12  # bytes of what separates two records, with the beginning of the next one


def _last(pattern: re.Pattern[bytes], data: bytes) -> re.Match[bytes] | None:
    """The last match in some bytes, looked for from their end."""
    window = _LONGEST
    while True:
        start = max(0, len(data) - window)
        found = None
        for found in pattern.finditer(data, start):  # noqa: B007 - the last one is wanted
            pass
        if found is not None or start == 0:
            return found
        window *= 4


class RecordsOfPart(Generic[T]):
    """Decodes the records of each part of a list.

    The first ones are looked at for keys that are there twice. Of the others ``once`` says whether the keys that matter
    are in the bytes as often as in the records; if not, they may be there deeper down, or twice, which is looked at.
    What they need not be decoded for is left out by ``shorter``.
    """

    def __init__(
        self, kind: type[T], once: Callable[[list[T], bytes], bool] | None = None, shorter: Shortens | None = None
    ) -> None:
        self._decode = msgspec.json.Decoder(list[kind]).decode  # type: ignore[valid-type]
        self._once, self._shorter = once, shorter
        self._first, self._suspicious = EqualKeys(MOST_OF_A_LIST), EqualKeys(MOST_OF_A_LIST)
        self._mark = _MARK

    @property
    def looks(self) -> bool:
        """Whether parts are still looked at for keys that are there twice."""
        return self._first.looks

    def __call__(self, whole: bytes) -> list[T]:
        plain, self._mark = whole.removeprefix(self._mark), b""
        short = None if self._shorter is None or self.looks else self._shorter(plain)
        part = plain if short is None else short
        try:
            found = self._decode(part)
        except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
            raise NotPlainError from error
        wrong = self._once is not None and not self._once(found, part)
        if self._first.found_in(part) or (wrong and self._suspicious.found_in(part)):
            raise NotPlainError
        if self._shorter is not None and short is None:
            self._shorter.learn(part, found)
        return found


def records_of_list(
    parts: Iterable[bytes],
    kind: type[T],
    once: Callable[[list[T], bytes], bool] | None = None,
    shorter: Shortens | None = None,
) -> Iterator[list[T]]:
    """The records of each part of a list."""
    return map(RecordsOfPart(kind, once, shorter), parts)
