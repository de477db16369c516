"""Where the rows of a table come from: one file per family of formats."""

from assay.data.readers.selection import FORMATS, Format, Selection
from assay.data.readers.source import Reading, Source, one_line, open_source, open_sources, row_places, shown

__all__ = [
    "FORMATS",
    "Format",
    "Reading",
    "Selection",
    "Source",
    "one_line",
    "open_source",
    "open_sources",
    "row_places",
    "shown",
]
