"""SIGINT and SIGTERM as an exception, so that cleanup runs; held back where an interruption would do harm."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from threading import current_thread, main_thread

NAMES = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}


class Stopped(BaseException):
    """A signal that ends the command."""


class _State:
    """Signals that came to this process, and how many blocks hold them back."""

    came: list[int]
    holding = 0

    def __init__(self) -> None:
        self.came = []


_state = _State()


@contextmanager
def raised() -> Iterator[list[int]]:
    """Raise signals as exceptions inside, and list them: a library may turn the exception into one of its own."""
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
    """Delay signals to the end of the block: for short work that must not be left half done."""
    known = len(_state.came)
    _state.holding += 1
    try:
        yield
    finally:
        _state.holding -= 1
    if not _state.holding and len(_state.came) > known:
        raise Stopped(_state.came[-1])
