"""Install Assay for a job: the version that was asked for, or that of the action itself, with pinned dependencies."""

import hashlib
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def command(version: str, extras: str, *, models: bool) -> list[str]:
    """What pip is told; a version or an extra that is none is refused."""
    named = [extra.strip() for extra in extras.split(",") if extra.strip()]
    if models and "hf" not in named:
        named.append("hf")
    for extra in named:
        if not re.fullmatch(r"[A-Za-z][A-Za-z0-9-]*", extra):
            sys.exit(f"::error::extras must be names separated by commas, but got {extra!r}")
    if version and not re.fullmatch(r"[0-9]+(\.[0-9a-z]+)*", version):
        sys.exit(f"::error::version must be a version such as 0.1.0, but got {version!r}")
    wanted = f"[{','.join(named)}]" if named else ""
    pip = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check", "--quiet"]
    if version:
        return [*pip, f"assay-eval{wanted}=={version}"]
    return [*pip, "--constraint", str(ROOT / "constraints.txt"), f"{ROOT}{wanted}"]


def stamp() -> str:
    """A digest of what is installed: runs of other versions are not used again."""
    listed = subprocess.run([sys.executable, "-m", "pip", "freeze"], stdout=subprocess.PIPE, check=True)
    return hashlib.sha256(sys.version.encode() + listed.stdout).hexdigest()[:16]


def main(given: Mapping[str, str]) -> int:
    models = bool(given.get("ASSAY_TEXT", "").strip())
    code = subprocess.call(command(given.get("ASSAY_VERSION", ""), given.get("ASSAY_EXTRAS", ""), models=models))  # noqa: S603
    if code == 0 and given.get("GITHUB_OUTPUT"):
        with Path(given["GITHUB_OUTPUT"]).open("a", encoding="utf-8") as file:
            file.write(f"stamp={stamp()}\n")
    return code


if __name__ == "__main__":
    sys.exit(main(os.environ))
