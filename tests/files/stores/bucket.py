"""A bucket of the test server, seen with Amazon's own client, which knows nothing of ours."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any


def s3_filesystem() -> Any:
    """The object through which s3:// is read and written in this process."""
    from fsspec.core import url_to_fs

    return url_to_fs("s3://bucket/key")[0]


@dataclass(frozen=True, slots=True)
class Bucket:
    s3: Any
    name: str

    def __str__(self) -> str:
        return f"s3://{self.name}"

    def put(self, key: str, data: bytes | str) -> str:
        self.s3.put_object(Bucket=self.name, Key=key, Body=data)
        return f"{self}/{key}"

    def put_folder(self, folder: Path, prefix: str) -> str:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                self.put(f"{prefix}/{path.relative_to(folder).as_posix()}", path.read_bytes())
        return f"{self}/{prefix}"

    def read(self, key: str) -> bytes:
        data: bytes = self.s3.get_object(Bucket=self.name, Key=key)["Body"].read()
        return data

    def names(self, prefix: str = "") -> list[str]:
        found = self.s3.list_objects_v2(Bucket=self.name, Prefix=prefix)
        return [one["Key"] for one in found.get("Contents", [])]

    def files(self, prefix: str) -> dict[str, bytes]:
        return {key.removeprefix(f"{prefix}/"): self.read(key) for key in self.names(f"{prefix}/")}

    def delete(self, key: str) -> None:
        self.s3.delete_object(Bucket=self.name, Key=key)
