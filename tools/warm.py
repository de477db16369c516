"""The command `assay` without its start: each call is a fork of a process that has imported already what verbs need.

    with warm_assay(os.environ) as folder:  # put it first in PATH

A call gets the arguments, folder, environment and streams of whoever types it, and its exit code is the command's. The
documentation has some hundred and fifty commands, and most of them take longer to start than to run.
"""

import array
import gc
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from pkgutil import walk_packages
from signal import SIG_DFL, SIG_IGN, SIGCHLD, signal

import assay
from assay.errors import WriteError

#: Not what runs models: few commands need it, and it takes longer to import than all the rest.
LEFT_OUT = re.compile(r"assay\.(scoring|training|models)\b|.*\.__main__")
BESIDE = [
    *("cryptography.hazmat.primitives.asymmetric.ed25519", "duckdb", "msgspec", "rich.markdown"),
    *("scipy.stats", "typer.rich_utils", "vl_convert"),
    "typer._adapters",  # not in every version; brings pydantic, when the first option is parsed
]

CLIENT = """#!{python} -IS
import array, json, os, socket, sys
with socket.socket(socket.AF_UNIX) as line:
    line.connect({address!r})
    call = json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ)]).encode()
    streams = array.array("i", [0, 1, 2])
    line.sendmsg([len(call).to_bytes(8, "big")], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, streams)])
    line.sendall(call)
    code = line.recv(1)
sys.exit(code[0] if code else 70)
"""


@contextmanager
def warm_assay(environment: Mapping[str, str]) -> Iterator[Path]:
    """A folder with a command `assay` that starts at once."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        address = str(folder / "line")
        command = folder / "assay"
        command.write_text(CLIENT.format(python=sys.executable, address=address))
        command.chmod(0o700)
        script = [sys.executable, "-c", f"from tools.warm import serve; serve({address!r})"]
        root = Path(__file__).parents[1]
        with subprocess.Popen(script, cwd=root, stdout=subprocess.PIPE, env=environment) as server:  # noqa: S603
            assert server.stdout is not None
            server.stdout.readline()  # it listens
            try:
                yield folder
            finally:
                server.terminate()


def possible() -> bool:
    return hasattr(os, "fork") and hasattr(socket, "AF_UNIX") and shutil.which("sh") is not None


def prepare(*, left_out: re.Pattern[str] = LEFT_OUT, beside: Sequence[str] = ()) -> None:
    """Import what verbs need: a fork then need not."""
    names = [module.name for module in walk_packages(assay.__path__, "assay.")]
    for name in (*BESIDE, *beside, *(name for name in names if not left_out.match(name))):
        if find_spec(name):
            import_module(name)
    gc.collect()
    gc.freeze()  # or each fork would copy what it looks at in search of garbage


def serve(address: str) -> None:
    prepare()
    signal(SIGCHLD, SIG_IGN)  # nobody waits for the calls but those who made them
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(address)
        server.listen()
        print("listening", flush=True)
        while True:
            line, _ = server.accept()
            if not os.fork():
                server.close()
                answer(line)
            line.close()


def answer(line: socket.socket) -> None:
    """Run a call in this process, a fork, and end it."""
    size, streams = received(line)
    content = b""
    while len(content) < size and (more := line.recv(size - len(content))):
        content += more
    arguments, folder, environment = json.loads(content)
    take_over(streams)
    signal(SIGCHLD, SIG_DFL)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    code = called(arguments)
    with suppress(OSError):
        line.sendall(bytes([code]))
    os._exit(code)


def take_over(streams: Sequence[int]) -> None:
    """The caller's streams, instead of those that this process was started with."""
    for place, stream in enumerate(streams):
        os.dup2(stream, place)
    sys.stdin, sys.stdout = os.fdopen(0, encoding="utf-8"), os.fdopen(1, "w", encoding="utf-8")
    sys.stderr = os.fdopen(2, "w", encoding="utf-8", buffering=1)


def received(line: socket.socket) -> tuple[int, list[int]]:
    """The size of a call, and the streams of the caller."""
    found = array.array("i")
    size, extra, _, _ = line.recvmsg(8, socket.CMSG_LEN(3 * found.itemsize))
    for _, _, data in extra:
        found.frombytes(data[: len(data) - len(data) % found.itemsize])
    return int.from_bytes(size, "big"), found.tolist()


def called(arguments: list[str]) -> int:
    from assay.cli.main import main

    sys.argv = ["assay", *arguments]
    try:
        main()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    else:
        code = 0
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        code = WriteError.exit_code
    sys.stderr.flush()
    return code
