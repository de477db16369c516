"""What every result can do: be read as text, as HTML in a notebook, and as a data frame."""

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

Row = tuple[str, str]


class Result:
    """A result is a sentence and rows of a label and a value; everything shown of it comes from these two."""

    __slots__ = ()
    sentence: str

    def rows(self) -> Sequence[Row]:
        """The numbers a person reads, each with its label."""
        raise TypeError(f"{type(self).__name__} must list its rows")

    def __str__(self) -> str:
        rows = self.rows()
        width = max((len(label) for label, _ in rows), default=0)
        return "\n".join([self.sentence, "", *(f"{label:<{width}}  {value}".rstrip() for label, value in rows)])

    def _repr_html_(self) -> str:
        cells = "".join(
            f"<tr><th style='text-align:left'>{escape(a)}</th><td>{escape(b)}</td></tr>" for a, b in self.rows()
        )
        return f"<p><strong>{escape(self.sentence)}</strong></p><table>{cells}</table>"

    def to_frame(self) -> "pd.DataFrame":
        """The rows as a pandas data frame (pandas must be installed)."""
        import pandas as pd  # late: half a second, and not a dependency

        return pd.DataFrame(self.rows(), columns=["quantity", "value"])
