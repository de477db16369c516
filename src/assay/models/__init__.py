"""A small causal language model that ships with Assay, text that it has not seen, and real edits of its weights.

``python -m assay.models FOLDER`` writes all of it, with the edited copies that the demo certifies; ``README.md`` beside
this file says how the model was made.
"""

from pathlib import Path

from assay.errors import UsageError

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
