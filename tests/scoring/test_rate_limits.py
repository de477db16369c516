"""What servers say of their limits: headers as OpenAI's documentation and RFC 9110 show them."""

import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from threading import Event, Thread

import pytest

from assay.scoring.rate_limits import CommonPause, asked_wait, seconds_in, until_reset

GONE = {"x-ratelimit-remaining-requests": "0"}


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"Retry-After": "120"}, 120.0),
        ({"Retry-After": "1.5"}, 1.5),
        ({"retry-after-ms": "250", "Retry-After": "1"}, 0.25),
        ({"Retry-After": "soon"}, None),
        ({"Retry-After": "-3"}, None),
        ({"Retry-After": "nan"}, None),
        ({"Retry-After": "inf"}, None),
        (GONE | {"x-ratelimit-reset-requests": "6m0s"}, 360.0),
        ({"x-ratelimit-remaining-requests": "59", "x-ratelimit-reset-requests": "1s"}, None),
        (GONE | {"x-ratelimit-reset-requests": "1s", "x-ratelimit-remaining-tokens": "0"}, 1.0),
        ({"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "20ms"}, 0.02),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": "17"}, 17.0),
        (GONE | {"x-ratelimit-reset-requests": "tomorrow"}, None),
        (GONE, None),
    ],
)
def test_waits_that_are_asked_for_by_hand(headers: dict[str, str], seconds: float | None) -> None:
    assert asked_wait(headers) == seconds


def test_the_longer_of_two_limits_counts() -> None:
    tokens = {"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "3s"}
    assert until_reset(GONE | {"x-ratelimit-reset-requests": "1s"} | tokens) == 3.0


def test_dates_and_times_since_1970() -> None:
    later = datetime.now(UTC) + timedelta(seconds=40)
    assert asked_wait({"Retry-After": format_datetime(later, usegmt=True)}) == pytest.approx(40, abs=2)
    assert asked_wait({"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}) == 0.0
    assert seconds_in(str(time.time() + 30)) == pytest.approx(30, abs=2)


def test_a_pause_is_kept_by_all_and_ends_when_all_is_stopped() -> None:
    pause, stopping, ended = CommonPause(), Event(), []
    pause.extend(0.3)
    pause.extend(0.1)  # a shorter one takes nothing away
    began = time.monotonic()
    threads = [Thread(target=lambda: ended.append((pause.kept(Event()), time.monotonic() - began))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(not stopped and took >= 0.29 for stopped, took in ended)
    pause.extend(60)
    stopping.set()
    assert pause.kept(stopping)
