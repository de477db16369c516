"""A server that speaks S3 (moto), in a process of its own: for tests, examples of the documentation, and benchmarks."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

#: What the server's users are called by; a secret that no output may hold.
SECRET = "moto-secret-key-0815"  # noqa: S105 - of a server that forgets everything
_SERVE = """
import sys, time
from moto.server import ThreadedMotoServer
server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
print(server.get_host_and_port()[1], flush=True)
sys.stdin.read()
"""


@dataclass(frozen=True, slots=True)
class S3Server:
    """A running server, and what must stand in the environment of those who use it."""

    process: subprocess.Popen[str]
    environment: dict[str, str]

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


@contextmanager
def s3_server(bucket: str | None = None) -> Iterator[S3Server]:
    """A server with an empty store, and one bucket in it if it is named."""
    process = subprocess.Popen(  # noqa: S603 - our own lines
        [sys.executable, "-c", _SERVE],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "PYTHONWARNINGS": "ignore"},
    )
    try:
        assert process.stdout is not None
        port = int(process.stdout.readline())
        server = S3Server(process, _environment(port))
        if bucket is not None:
            client(server).create_bucket(Bucket=bucket)
        yield server
    finally:
        process.kill()
        process.communicate()


def _environment(port: int) -> dict[str, str]:
    return {
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
        "AWS_ACCESS_KEY_ID": "AKIAMOTOACCESSKEY",
        "AWS_SECRET_ACCESS_KEY": SECRET,
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
    }


def client(server: S3Server):  # type: ignore[no-untyped-def]
    """A client of Amazon's own library, which knows nothing of ours."""
    import boto3

    told = server.environment
    return boto3.client(
        "s3",
        endpoint_url=told["AWS_ENDPOINT_URL"],
        aws_access_key_id=told["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=told["AWS_SECRET_ACCESS_KEY"],
        region_name=told["AWS_DEFAULT_REGION"],
    )
