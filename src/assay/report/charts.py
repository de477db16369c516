"""What all charts share: colours, formats, and how a chart becomes a file, without a browser or the network."""

from pathlib import Path
from typing import Any

from assay.data.writing import write_bytes
from assay.errors import UsageError

FORMATS = (".svg", ".png")

#: Okabe and Ito's colours, which those who do not see red or green can tell apart; the lightest are left out.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")


def check_chart(path: Path) -> None:
    """Refuse a chart that cannot be written, before anything is computed for it."""
    if path.suffix.lower() not in FORMATS:
        raise UsageError(f"a chart is written as {' or '.join(FORMATS)}, but got {path.name!r}.")


def write_chart(chart: Any, path: Path) -> None:
    """An altair chart as a file in the format of its name."""
    check_chart(path)
    import vl_convert  # late: it carries a drawing engine

    specification = chart.to_dict()
    if path.suffix.lower() == ".svg":
        data = vl_convert.vegalite_to_svg(specification).encode()
    else:
        data = vl_convert.vegalite_to_png(specification, scale=2)
    write_bytes(path, data)
