"""What a bug report needs: versions, what is installed, devices, the terminal, caches."""

import locale
import os
import platform
import shutil
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from assay.version import VERSION

#: What Assay runs on, in the order of `pyproject.toml`.
RUNS_ON = (
    "numpy",
    "scipy",
    "duckdb",
    "msgspec",
    "nanoarrow",
    "typer",
    "rich",
    "httpx",
    "zstandard",
)
#: What each extra adds, and the packages that it brings.
EXTRAS: dict[str, tuple[str, tuple[str, ...]]] = {
    "charts": ("charts as SVG, PNG and PDF files, and in notebooks", ("vl-convert-python",)),
    "cloud": ("files in object stores: s3:// and other addresses", ("fsspec", "s3fs")),
    "fast": ("compiled loops for large inputs; the same numbers, sooner", ("numba",)),
    "hf": (
        "runs models: score, generate, tune run, japanese MODEL",
        ("torch", "transformers", "peft", "accelerate", "safetensors"),
    ),
    "ja": ("BLEU and chrF of Japanese", ("sacrebleu",)),
    "ray": ("work on a cluster: score and tune run with --engine ray", ("ray",)),
    "sign": ("signed certificates", ("cryptography",)),
    "xlsx": ("Excel workbooks", ("openpyxl",)),
}


def described(*, devices: bool = True) -> list[tuple[str, str]]:
    """Labels and values, in the order in which they are shown; ``devices`` loads torch, where it is installed."""
    return [
        ("assay", f"{VERSION}, {Path(__file__).parent}"),
        ("python", f"{platform.python_version()} ({platform.python_implementation()}), {sys.executable}"),
        ("system", f"{platform.platform()}, {os.cpu_count()} cores, {_memory()}"),
        *((name, _version(name)) for name in RUNS_ON),
        *((f"[{name}]", _extra(what, packages)) for name, (what, packages) in EXTRAS.items()),
        ("devices", _devices() if devices else "not looked at"),
        *_terminal(),
        *_caches(),
    ]


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def _extra(what: str, packages: tuple[str, ...]) -> str:
    lacking = [name for name in packages if _version(name) == "not installed"]
    if lacking:
        return f"not installed ({', '.join(lacking)}): {what}"
    return f"{', '.join(f'{name} {_version(name)}' for name in packages)}: {what}"


def _memory() -> str:
    try:
        total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError, AttributeError):
        return "memory unknown"
    return f"{total / 2**30:.1f} GiB"


def _devices() -> str:
    if find_spec("torch") is None:
        return "cpu (torch is not installed)"
    import torch  # late: seconds

    found = [f"cuda:{i} {torch.cuda.get_device_name(i)}" for i in range(torch.cuda.device_count())]
    apple = ["mps"] if torch.backends.mps.is_available() else []
    return ", ".join(["cpu", *apple, *found])


def _terminal() -> Iterator[tuple[str, str]]:
    size = shutil.get_terminal_size((0, 0)).columns
    kind = f"{size} columns" if sys.stdout.isatty() else "none: output is piped"
    colours = "off (NO_COLOR)" if os.environ.get("NO_COLOR") else "on"
    yield "terminal", f"{kind}, colours {colours}, {sys.stdout.encoding}, locale {locale.getlocale()[0] or 'C'}"


def _caches() -> Iterator[tuple[str, str]]:
    """Where compiled code and downloaded models are kept, and how much it is."""
    kernels = list(Path(__file__).parent.rglob("*.nbc"))
    compiled = f"{len(kernels)} compiled functions beside the package, {_size(kernels)}"
    yield "kernels", compiled if "NUMBA_CACHE_DIR" not in os.environ else f"in {os.environ['NUMBA_CACHE_DIR']}"
    hub = Path(os.environ.get("HF_HOME", Path.home() / ".cache" / "huggingface")) / "hub"
    models = list(hub.glob("models--*")) if hub.is_dir() else []
    yield "models", f"{len(models)} in {hub}" if models else f"none in {hub}"


def _size(files: list[Path]) -> str:
    return f"{sum(path.stat().st_size for path in files) / 2**20:.1f} MiB"
