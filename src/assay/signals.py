"""SIGINT and SIGTERM as an exception, so that the way out tidies up; held back where that would do harm."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from threading import current_thread, main_thread

NAMES = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}


class Stopped(BaseException):
    """A signal that ends the command."""


class _State:
    """Of this process: signals that came, and how many blocks hold them back."""

    came: list[int]
    holding = 0

    def __init__(self) -> None:
        self.came = []


_state = _State()


@contextmanager
def raised() -> Iterator[list[int]]:
    """Signals are exceptions inside, and listed: a library may turn the exception into one of its own."""
    _state.came.clear()
    before = {}
    if current_thread() is main_thread():  # elsewhere Python allows no handlers
        wanted = [number for number in NAMES if signal.getsignal(number) is not signal.SIG_IGN]
        before = {number: signal.signal(number, _stop) for number in wanted}
    try:
        yield _state.came
    finally:
        for number, handler in before.items():
            signal.signal(number, handler or signal.SIG_DFL)


def _stop(number: int, _: object) -> None:
    signal.signal(number, signal.SIG_DFL)  # the second one ends the process at once
    _state.came.append(number)
    if not _state.holding:
        raise Stopped(number)


@contextmanager
def held() -> Iterator[None]:
    """A signal that comes inside is an exception at the end: for what is short and must not be done by half."""
    known = len(_state.came)
    _state.holding += 1
    try:
        yield
    finally:
        _state.holding -= 1
    if not _state.holding and len(_state.came) > known:
        raise Stopped(_state.came[-1])
