"""A small causal language model that ships with Assay, text that it has not seen, and real edits of weights.

``python -m assay.models FOLDER`` writes all of it, with the edited copies that the demo certifies; ``README.md`` beside
this file says how the model was made.

An edit (rounding to few bits, pruning) reads a folder for ``from_pretrained`` with weights in safetensors and writes
another one. Only matrices change: vectors (norms, biases) are a thousandth of the weights and carry their scale.
Tensors keep their name, shape and type.
"""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from assay.errors import InputError, UsageError, cannot_write
from assay.files.writing import make_folder, write_bytes

if TYPE_CHECKING:
    from torch import Tensor

Edit = Callable[["Tensor"], "Tensor"]
PRUNED_SHARE = 0.3  # of the weights, in the demo
_COPIED = (".json", ".txt", ".model", ".jinja")  # what stands beside weights: settings and tokenizers
_FOLDER = Path(__file__).parent
_PATHS = {"base": _FOLDER / "base", "en.txt": _FOLDER / "text" / "en.txt", "ja.txt": _FOLDER / "text" / "ja.txt"}


def names() -> tuple[str, ...]:
    """The model and the texts.

    >>> names()
    ('base', 'en.txt', 'ja.txt')
    """
    return tuple(_PATHS)


def path(name: str) -> Path:
    """Where the model (a folder for ``from_pretrained``) or a text is on disk.

    >>> path("base").is_dir()
    True
    """
    if name not in _PATHS:
        raise UsageError(f"there is no model or text {name!r}; there are {', '.join(names())}.")
    return _PATHS[name]


def round_weights(folder: Path | str, out: Path | str, *, bits: int) -> Path:
    """Round every matrix to ``bits`` bits: symmetric, round to nearest, one scale for each output channel.

    With s the largest |w| of a row divided by 2^(bits − 1) − 1, a weight becomes s · round(w / s). An embedding's rows
    are its tokens, which are the output channels of a head that shares it.
    """
    if not 2 <= bits <= 16:
        raise UsageError(f"bits must be from 2 to 16, but got {bits}.")
    return _edited(Path(folder), Path(out), lambda matrix: _rounded(matrix, 2 ** (bits - 1) - 1))


def prune(folder: Path | str, out: Path | str, *, share: float) -> Path:
    """Set the smallest weights of every matrix to zero: ``share`` of them, by magnitude."""
    if not 0 < share < 1:
        raise UsageError(f"share must be between 0 and 1, but got {share}.")
    return _edited(Path(folder), Path(out), lambda matrix: _pruned(matrix, share))


def variants(out: Path | str, folder: Path | str | None = None) -> dict[str, Path]:
    """The edited copies of the demo in folders under ``out``: 8, 4 and 3 bits, and ``PRUNED_SHARE`` pruned."""
    source, target = Path(folder) if folder is not None else path("base"), Path(out)
    rounded = {f"int{bits}": round_weights(source, target / f"int{bits}", bits=bits) for bits in (8, 4, 3)}
    return rounded | {"pruned": prune(source, target / "pruned", share=PRUNED_SHARE)}


def copies(out: Path | str) -> dict[str, Path]:
    """The shipped model and its texts as they are, and the edited copies, all under ``out``."""
    for name in names():
        files = sorted(path(name).iterdir()) if path(name).is_dir() else [path(name)]
        for file in files:
            _write(Path(out, name, file.name) if path(name).is_dir() else Path(out, name), file.read_bytes())
    return {name: Path(out, name) for name in names()} | variants(out)


def _rounded(matrix: "Tensor", steps: int) -> "Tensor":
    largest = matrix.abs().amax(dim=-1, keepdim=True)
    scale = largest.clamp_min(1e-30) / steps  # a row of zeros stays a row of zeros
    return (matrix / scale).round().clamp(-steps, steps) * scale


def _pruned(matrix: "Tensor", share: float) -> "Tensor":
    gone = int(share * matrix.numel())
    if gone == 0:
        return matrix
    order = matrix.abs().flatten().argsort(stable=True)  # of equal weights the first go: exactly so many
    kept = matrix.flatten().clone()
    kept[order[:gone]] = 0
    return kept.view_as(matrix)


def _edited(folder: Path, out: Path, edit: Edit) -> Path:
    weights = sorted(folder.glob("*.safetensors"))
    if not weights:
        raise InputError(f"{folder}: no weights in safetensors; name the folder of a model.")
    if out.resolve() == folder.resolve():
        raise UsageError(f"{out}: the edited model must go to another folder than the original.")
    for file in weights:
        _write(out / file.name, _edited_file(file, edit))
    for file in sorted(folder.iterdir()):
        if file.suffix in _COPIED:
            _write(out / file.name, file.read_bytes())
    return out


def _edited_file(file: Path, edit: Edit) -> bytes:
    try:
        from safetensors import SafetensorError, safe_open
        from safetensors.torch import save
    except ImportError as error:
        raise UsageError("editing weights needs torch and safetensors: pip install 'assay-eval[hf]'.") from error
    try:
        with safe_open(file, framework="pt") as opened:
            metadata = opened.metadata()
            tensors = {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118 - not a dict
    except (OSError, SafetensorError) as error:
        raise InputError(f"{file}: the weights cannot be read ({error}); name the folder of a model.") from error
    return save({name: _matrix_edited(tensor, edit) for name, tensor in tensors.items()}, metadata)


def _matrix_edited(tensor: "Tensor", edit: Edit) -> "Tensor":
    if tensor.ndim != 2 or not tensor.is_floating_point():
        return tensor
    return edit(tensor.float()).to(tensor.dtype).contiguous()


def _write(path: Path, content: bytes) -> None:
    """Write a file, unless it is there already; one that differs is not overwritten."""
    try:
        if path.exists():
            if path.read_bytes() != content:
                raise InputError(f"{path} exists and differs; move it away, or choose another folder.")
            return
    except OSError as error:
        raise cannot_write(path, error, "choose another folder") from error
    make_folder(path.parent)
    write_bytes(path, content)
