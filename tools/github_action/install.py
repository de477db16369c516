"""Install Assay for a job: the version that was asked for, or that of the action itself, with pinned dependencies."""

import os
import re
import subprocess
import sys
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


if __name__ == "__main__":
    given = os.environ
    models = bool(given.get("ASSAY_TEXT", "").strip())
    sys.exit(subprocess.call(command(given.get("ASSAY_VERSION", ""), given.get("ASSAY_EXTRAS", ""), models=models)))  # noqa: S603
