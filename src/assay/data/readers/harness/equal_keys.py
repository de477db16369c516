"""Keys that are there twice in an object: the quick decoder takes the last, so they are looked for here.

Where a reader can, it counts keys in the bytes, at little cost. Otherwise the parser looks at so much of a file that
nobody waits for it; what comes after that is taken as it is.
"""

import json
from typing import Any

#: Bytes that are looked at of a file, and of a list that may be far longer: some hundredths of a second.
MOST_OF_A_FILE, MOST_OF_A_LIST = 8_000_000, 2_000_000


class EqualKeys:
    """Looks for keys that are there twice, in no more of a file than ``most`` bytes."""

    def __init__(self, most: int) -> None:
        self._left = most

    @property
    def looks(self) -> bool:
        """Whether anything is still looked at."""
        return self._left > 0

    def found_in(self, data: bytes) -> bool:
        """Whether an object of some JSON has a key twice; False where that is not looked for any more."""
        self._left -= len(data)
        return self._left >= 0 and key_twice(data)


def key_twice(data: bytes) -> bool:
    """Whether an object of some JSON has a key twice, at any depth.

    >>> key_twice(b'[{"score": 1, "of": {"score": 0}}]'), key_twice(b'[{"score": 1, "score": 0}]')
    (False, True)
    """
    try:
        json.loads(data, object_pairs_hook=_checked)
    except _TwiceError:
        return True
    except (ValueError, RecursionError):
        return False  # no JSON: the reader says so
    return False


class _TwiceError(Exception):
    pass


def _checked(pairs: list[tuple[str, Any]]) -> None:
    if len(dict(pairs)) != len(pairs):
        raise _TwiceError
