"""A document as one HTML file that loads nothing."""

from assay.report.page.write import page_html, write_page

__all__ = ["page_html", "write_page"]
