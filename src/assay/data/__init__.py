"""What users bring: tables of losses and scores, and the panel that pairs them."""

from assay.data.columns import parse_columns
from assay.data.pairing import pair, panel_of
from assay.data.panel import Dropped, Kind, Metric, Panel, Sums
from assay.data.tables import Table, read_table

__all__ = [
    "Dropped",
    "Kind",
    "Metric",
    "Panel",
    "Sums",
    "Table",
    "pair",
    "panel_of",
    "parse_columns",
    "read_table",
]
