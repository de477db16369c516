"""What a server says of its limits, and a pause that all its connections keep.

`Retry-After` (seconds or a date), `retry-after-ms`, and what OpenAI and those who follow it send with every answer:
`x-ratelimit-remaining-requests: 0` with `x-ratelimit-reset-requests: 6m0s`, and the same of tokens.
"""

import re
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from math import isfinite
from threading import Event, Lock

_PARTS = re.compile(r"(\d+(?:\.\d+)?)(ms|h|m|s)")
_SECONDS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
_EPOCH = 1e9  # a number above it is a time, not a number of seconds
_COUNTED = ("-requests", "-tokens", "")


def asked_wait(headers: Mapping[str, str]) -> float | None:
    """Seconds that a server that refuses asks to wait, if it says so."""
    milliseconds = _number(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    said = headers.get("Retry-After", "").strip()
    seconds = _number(said)
    if seconds is not None:
        return seconds
    try:
        return max(0.0, (parsedate_to_datetime(said) - datetime.now(UTC)).total_seconds())
    except (TypeError, ValueError):
        return until_reset(headers)


def until_reset(headers: Mapping[str, str]) -> float | None:
    """Seconds until a limit that is used up is set anew; ``None`` where none is used up.

    >>> until_reset({"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "1m2.5s"})
    62.5
    """
    waits = []
    for what in _COUNTED:
        left = _number(headers.get(f"x-ratelimit-remaining{what}", ""))
        reset = seconds_in(headers.get(f"x-ratelimit-reset{what}", ""))
        if left == 0 and reset is not None:
            waits.append(reset)
    return max(waits, default=None)


def seconds_in(text: str) -> float | None:
    """Seconds from a duration (`6m0s`, `20ms`), a number of seconds, or a time since 1970.

    >>> seconds_in("1h1m0.5s"), seconds_in("20ms"), seconds_in("7"), seconds_in("soon")
    (3660.5, 0.02, 7.0, None)
    """
    number = _number(text)
    if number is not None:
        return max(0.0, number - time.time()) if number > _EPOCH else number
    parts = _PARTS.findall(text.strip())
    if not parts or "".join(amount + unit for amount, unit in parts) != text.strip():
        return None
    return float(sum(float(amount) * _SECONDS[unit] for amount, unit in parts))


def _number(text: str) -> float | None:
    try:
        found = float(text.strip()) if text.isascii() else None
    except ValueError:
        return None
    return found if found is not None and isfinite(found) and found >= 0 else None


class CommonPause:
    """A pause that every connection keeps: a server that is asked no more lets all through the sooner."""

    def __init__(self) -> None:
        self._lock, self._until = Lock(), 0.0

    def extend(self, seconds: float) -> None:
        with self._lock:
            self._until = max(self._until, time.monotonic() + seconds)

    def kept(self, stopping: Event) -> bool:
        """Wait for its end; whether all is to be stopped instead."""
        while (left := self._until - time.monotonic()) > 0:
            if stopping.wait(left):
                return True
        return False
