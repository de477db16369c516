"""The server of `loopback_server`, running for a while."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def running_server() -> Iterator[Callable[[Sequence[Path]], int]]:
    """Start it; what is yielded takes the folders of its models, and gives its port."""
    command = [sys.executable, str(Path(__file__).with_name("loopback_server.py"))]
    environment = {name: value for name, value in os.environ.items() if "KEY" not in name}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment) as server:
        to_it, from_it = server.stdin, server.stdout
        assert to_it is not None
        assert from_it is not None

        def serve(folders: Sequence[Path]) -> int:
            to_it.write(json.dumps([str(folder) for folder in folders]) + "\n")
            to_it.flush()
            port = from_it.readline().strip()
            assert port.isdigit(), "the server did not start"
            return int(port)

        try:
            yield serve
        finally:
            server.kill()
