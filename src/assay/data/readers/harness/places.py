"""Where rows stand in their files, for messages: nothing is written out until one needs it."""

from collections.abc import Callable, Sequence
from typing import overload


class NumberedPlaces(Sequence[str]):
    """Where rows stand, as numbered lines, entries or rows of a file."""

    def __init__(self, label: str, numbers: Sequence[int], what: str = "line") -> None:
        self.label, self.numbers, self.what = label, numbers, what

    def __len__(self) -> int:
        return len(self.numbers)

    @overload
    def __getitem__(self, at: int) -> str: ...

    @overload
    def __getitem__(self, at: slice) -> "NumberedPlaces": ...

    def __getitem__(self, at: int | slice) -> "str | NumberedPlaces":
        if isinstance(at, slice):
            return NumberedPlaces(self.label, self.numbers[at], self.what)
        return f"{self.label}, {self.what} {self.numbers[at]}"


class MadePlaces(Sequence[str]):
    """Places that a function tells."""

    def __init__(self, size: int, make: Callable[[int], str]) -> None:
        self.size, self.make = size, make

    def __len__(self) -> int:
        return self.size

    @overload
    def __getitem__(self, at: int) -> str: ...

    @overload
    def __getitem__(self, at: slice) -> list[str]: ...

    def __getitem__(self, at: int | slice) -> str | list[str]:
        if isinstance(at, slice):
            return [self.make(i) for i in range(*at.indices(self.size))]
        if not -self.size <= at < self.size:
            raise IndexError(at)
        return self.make(at % self.size)


class ManyPlaces(Sequence[str]):
    """Places of several logs, one after the other."""

    def __init__(self, parts: Sequence[Sequence[str]]) -> None:
        self.parts = parts
        self.size = sum(map(len, parts))

    def __len__(self) -> int:
        return self.size

    @overload
    def __getitem__(self, at: int) -> str: ...

    @overload
    def __getitem__(self, at: slice) -> list[str]: ...

    def __getitem__(self, at: int | slice) -> str | list[str]:
        if isinstance(at, slice):
            return [self[i] for i in range(*at.indices(self.size))]
        left = at if at >= 0 else at + self.size
        for part in self.parts:
            if left < len(part):
                return part[left]
            left -= len(part)
        raise IndexError(at)
