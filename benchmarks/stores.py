"""What results in an object store cost: the same commands on a disk and on a server that speaks S3 (moto).

    python benchmarks/stores.py
    python benchmarks/stores.py --out benchmarks/results/stores.md

Commands run in turns, each in a process of its own; times are medians of CPU time. The server is on the same machine,
so that the time is that of copies and of the protocol, without a network. Bytes are counted by a relay between the two.
"""

import os
import socket
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # so that the script runs from any folder

import duckdb

from assay.examples import path as example
from benchmarks.simulation.command import publish, report_parser
from benchmarks.simulation.tables import table
from benchmarks.timing.processes import ASSAY, MANY_ROWS, Process, measured
from tools.s3_server import client, s3_server

MANY = 1_000_000
BUCKET = "bench"


class Relay:
    """Passes bytes on to a server, and counts them."""

    def __init__(self, port: int) -> None:
        self.moved = 0
        self._port, self._lock = port, threading.Lock()
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{self._listening.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with suppress(OSError):  # closed
            while True:
                near, _ = self._listening.accept()
                far = socket.create_connection(("127.0.0.1", self._port))
                for source, target in ((near, far), (far, near)):
                    threading.Thread(target=self._pass, args=(source, target), daemon=True).start()

    def _pass(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(1 << 16):
                with self._lock:
                    self.moved += len(data)
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        self._listening.close()


def main(arguments: Sequence[str] | None = None) -> None:
    parser = report_parser("What results in an object store cost, beside results on a disk.")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--rows", type=int, default=MANY)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as name, _stored(Path(name), options.rows) as relay:
        rows = [_row(*one, Path(name), relay, options.turns) for one in _commands(options.rows)]
    head = ["command", "files, MB", "disk, CPU s", "store, CPU s", "ratio", "moved, MB"]
    note = "Most of the difference is the start: importing s3fs and botocore, and finding out about credentials."
    publish(f"{table(head, rows)}\n\n{note}", options.out)


def _commands(rows: int) -> list[tuple[str, list[str], Callable[[str, int], list[str]]]]:
    small, large = ["scores-base.csv", "scores-int3.csv"], ["a.parquet", "b.parquet"]
    return [
        ("compare, 500 items", small, lambda at, _: ["compare", f"{at}/{small[0]}", f"{at}/{small[1]}"]),
        (
            f"compare, {rows:,} windows, Parquet",
            large,
            lambda at, _: ["compare", f"{at}/{large[0]}", f"{at}/{large[1]}"],
        ),
        (
            "certify, 500 items, with evidence",
            small,
            lambda at, turn: ["certify", *(f"{at}/{name}" for name in small), "-o", f"{at}/cert{turn}.json"],
        ),
    ]


@contextmanager
def _stored(folder: Path, rows: int) -> Iterator[Relay]:
    """The files on the disk and in a store, which the environment names."""
    for name in ("scores-base.csv", "scores-int3.csv"):
        (folder / name).write_bytes(example(name).read_bytes())
    for arm, name in enumerate(("a.parquet", "b.parquet")):
        text = MANY_ROWS.replace("$arm", str(arm)).replace("$many", str(rows))
        duckdb.execute(f"COPY ({text}) TO '{folder / name}' (FORMAT parquet)")
    with s3_server(BUCKET) as server:
        store = client(server)
        for path in folder.iterdir():
            store.upload_file(str(path), BUCKET, path.name)
        relay = Relay(int(server.environment["AWS_ENDPOINT_URL"].rpartition(":")[2]))
        os.environ.update({**server.environment, "AWS_ENDPOINT_URL": relay.address})
        try:
            yield relay
        finally:
            relay.close()


def _row(
    what: str, files: Sequence[str], command: Callable[[str, int], list[str]], folder: Path, relay: Relay, turns: int
) -> list[str]:
    found: dict[str, list[Process]] = {"disk": [], "store": []}
    moved = []
    for turn in range(turns + 1):  # the first one is not counted
        for where, at in (("disk", str(folder)), ("store", f"s3://{BUCKET}")):
            relay.moved = 0
            done = measured(str(ASSAY), *command(at, turn))
            if done.code not in (0, 1):
                raise SystemExit(f"{what} failed: {done.errors}")
            if turn:
                found[where].append(done)
                moved += [relay.moved] if where == "store" else []
    cpu = {where: median(one.cpu for one in every) for where, every in found.items()}
    size = sum((folder / name).stat().st_size for name in files)
    return [
        what,
        _number(size / 1e6),
        *(f"{cpu[where]:.2f}" for where in found),
        f"{cpu['store'] / cpu['disk']:.2f}",
        _number(median(moved) / 1e6),
    ]


def _number(megabytes: float) -> str:
    return f"{megabytes:,.1f}" if megabytes >= 1 else f"{megabytes:.3f}"


if __name__ == "__main__":
    main()
