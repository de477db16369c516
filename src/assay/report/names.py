"""Names in charts and in names of files."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from assay.names import visible

__all__ = ["file_name", "visible", "visible_data"]


def visible_data(data: Any) -> Any:
    """The same for all texts in a chart's specification."""
    if isinstance(data, str):
        return visible(data)
    if isinstance(data, Mapping):
        return {key: visible_data(value) for key, value in data.items()}
    if isinstance(data, Sequence):
        return [visible_data(value) for value in data]
    return data


def file_name(text: str) -> str:
    """A name from a file, as part of a file's name."""
    return re.sub(r"[^\w.-]+", "-", text, flags=re.ASCII).strip("-.").lower()[:60] or "result"
