"""What users bring: tables of losses and scores, and the panel that pairs them."""

from assay.data.metrics import Kind, Metric
from assay.data.panel import Panel
from assay.data.panel_views import Dropped, Sums
from assay.data.readers import Selection
from assay.data.readers.registry import open_sources
from assay.data.reading import read_table, read_tables
from assay.data.sources import pair
from assay.data.tables import Table

__all__ = [
    "Dropped",
    "Kind",
    "Metric",
    "Panel",
    "Selection",
    "Sums",
    "Table",
    "open_sources",
    "pair",
    "read_table",
    "read_tables",
]
