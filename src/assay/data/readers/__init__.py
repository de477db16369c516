"""Where the rows of a table come from: one file per family of formats."""

from assay.data.readers.source import Reading, Source, one_line, open_source, shown

__all__ = ["Reading", "Source", "one_line", "open_source", "shown"]
