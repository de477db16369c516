"""What every result can do: be read as text, as HTML in a notebook, and as a data frame."""

from collections.abc import Callable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any, ClassVar

from assay.analyses.sheet import Row, Sheet, lines_of
from assay.results.record import Result as Record
from assay.results.text import plain_html as record_html

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["AnyResult", "Record", "Result", "Row", "plain_html"]


class Result:
    """A result is a sentence, tables, and rows of a label and a value; everything shown of it comes from these."""

    __slots__ = ()
    sentence: str
    #: How a notebook shows a result; the package sets it, so that charts are drawn without a result knowing of them.
    notebook: ClassVar[Callable[["Result"], str] | None] = None

    def sheets(self) -> Sequence[Sheet]:
        """Its tables; most results have none."""
        return ()

    def evidence(self) -> Sequence[Row]:
        """The numbers outside of tables, and how they came about, each with its label."""
        raise TypeError(f"{type(self).__name__} must list its evidence")

    def rows(self) -> Sequence[Row]:
        """Everything a person reads, line by line."""
        rows: list[Row] = []
        for sheet in self.sheets():
            rows += [sheet.title, *lines_of(sheet), ("", "")]
        return [*rows, *self.evidence()]

    def to_dict(self) -> dict[str, Any]:
        """Plain data, exact and versioned."""
        raise TypeError(f"{type(self).__name__} must give its data")

    def __str__(self) -> str:
        rows = self.rows()
        width = max((len(label) for label, _ in rows), default=0)
        return "\n".join([self.sentence, "", *(f"{label:<{width}}  {value}".rstrip() for label, value in rows)])

    def _repr_html_(self) -> str:
        return plain_html(self) if Result.notebook is None else Result.notebook(self)

    def to_frame(self) -> "pd.DataFrame":
        """The rows as a pandas data frame (pandas must be installed)."""
        import pandas as pd  # late: half a second, and not a dependency

        return pd.DataFrame(self.rows(), columns=["quantity", "value"])


def plain_html(result: "AnyResult") -> str:
    """The sentence and the rows."""
    if isinstance(result, Record):
        return record_html(result)
    cells = "".join(
        f"<tr><th style='text-align:left'>{escape(a)}</th><td>{escape(b)}</td></tr>" for a, b in result.rows()
    )
    return f"<p><strong>{escape(result.sentence)}</strong></p><table>{cells}</table>"


#: A result of either kind, while some verbs still print tables of text.
AnyResult = Result | Record
