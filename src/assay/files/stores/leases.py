"""One writer at a time: who writes a run or a table of generations holds a lease, an object beside it.

Leases are numbered. To take one is to put the object with the next number, which must not be there: of two who try, the
store lets one succeed (S3 and Google's store do; elsewhere it is looked for first, which two at the same moment can
both pass). The holder puts its own object again every half minute with a later end, and removes it when it is done or
stopped. One that was killed leaves it, and after its end anybody may take the next number. The clocks of machines that
write the same run must agree to well within two minutes.
"""

import json
import os
import socket
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from secrets import token_hex
from threading import Event, Thread

from assay.errors import InputError, StoreError
from assay.files.stores.addresses import Address, address_of
from assay.files.stores.objects import files_like, put_new, put_small, removed, small
from assay.names import one_line, shown

SECONDS = 120.0
_RENEWED = 30.0  # seconds between renewals
_SCHEMA = "assay/writer/1"
_TRIES = 5


@dataclass
class Lease:
    """The right to write at a place, until a time."""

    place: Address
    name: str  # how its objects begin, beside or in the place
    number: int
    owner: str = field(default_factory=lambda: token_hex(8))
    until: float = 0.0
    lost: bool = False
    _over: Event = field(default_factory=Event)

    @property
    def object(self) -> Address:
        return self.place.below(f"{self.name}{self.number:05d}.json")

    def content(self) -> bytes:
        self.until = time.time() + SECONDS
        about = {"schema": _SCHEMA, "owner": self.owner, "host": socket.gethostname(), "process": os.getpid()}
        return json.dumps({**about, "until": round(self.until)}).encode()

    def watch(self) -> None:
        Thread(target=self._renew, name="assay-lease", daemon=True).start()

    def _renew(self) -> None:
        while not self._over.wait(_RENEWED):
            with suppress(InputError, StoreError):  # it is tried again, as long as the lease runs
                if _newest(self.place, self.name)[0] != self.number:
                    self.lost = True
                    return
                put_small(self.content(), self.object)

    def check(self) -> None:
        """Refuse to write when somebody else may."""
        if self.lost or time.time() > self.until:
            raise StoreError(
                f"{one_line(str(self.place))}: somebody else may write it by now, as the store did not answer for "
                f"{SECONDS:g} seconds; run the same command again."
            )

    def release(self) -> None:
        self._over.set()
        if not self.lost:
            with suppress(InputError, StoreError):  # it ends by itself
                removed(self.object)


_held: dict[Path, Lease] = {}


def hold(path: Path, *, folder: bool) -> None:
    """Take the right to write a folder, or a file, until `release_leases`; refused while somebody else has it."""
    address = address_of(str(path))
    if address is None or path in _held:
        return
    place, name = (address, ".writer-") if folder else (address.parent, f".{address.name}.writer-")
    for _ in range(_TRIES):
        number, end, who = _newest(place, name)
        if end > time.time():
            left = max(1, round(end - time.time()))
            raise InputError(
                f"{one_line(str(address))}: is being written by {who}; wait until it is done, or, if it was killed, "
                f"{left} seconds, then run the same command again."
            )
        lease = Lease(place, name, number + 1)
        if put_new(lease.content(), lease.object):
            _held[path] = lease
            for old in range(max(1, number), number + 1):
                with suppress(InputError, StoreError):
                    removed(Lease(place, name, old).object)
            lease.watch()
            return
    raise InputError(f"{one_line(str(address))}: others are about to write it as well; wait, then look what is there.")


def _newest(place: Address, name: str) -> tuple[int, float, str]:
    """The number of the last lease, when it ends, and who has it; 0 where there is none."""
    numbers = [_number(one.name, name) for one in files_like(place.below(f"{name}*.json"))]
    number = max(numbers, default=0)
    data = small(Lease(place, name, number).object) if number else None
    if data is None:
        return number, 0.0, ""
    try:
        found = json.loads(data)
        return number, float(found["until"]), f"{shown(str(found['host']))}, process {int(found['process'])}"
    except (ValueError, KeyError, TypeError):
        return number, 0.0, ""


def _number(text: str, name: str) -> int:
    digits = text.removeprefix(name).removesuffix(".json")
    return int(digits) if digits.isdecimal() else 0


def check_leases(targets: Sequence[Path]) -> None:
    """Refuse to write below what another writer has taken over."""
    for path, lease in _held.items():
        if any(target == path or target.is_relative_to(path) for target in targets):
            lease.check()


def release(path: Path) -> None:
    lease = _held.pop(path, None)
    if lease is not None:
        lease.release()


def release_leases() -> None:
    """Give all rights back, whatever happened."""
    for path in list(_held):
        release(path)
