"""The reference of Python has every public name, once."""

import re
from importlib import import_module
from inspect import unwrap

import assay
from tools.docs_outputs import ROOT
from tools.docstring_examples import fenced


def test_every_public_name_is_in_the_reference() -> None:
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    listed = re.findall(r"^::: assay\.[\w.]*?\.?(\w+)$", page, flags=re.MULTILINE)
    assert sorted(listed) == sorted(name for name in assay.__all__ if not name.startswith("__"))


def test_places_in_the_reference_exist() -> None:
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    for place in re.findall(r"^::: (assay[\w.]+)$", page, flags=re.MULTILINE):
        module, _, name = place.rpartition(".")
        assert unwrap(getattr(import_module(module), name)) is unwrap(getattr(assay, name))


def test_examples_of_docstrings_are_fenced_by_hand() -> None:
    found = fenced("Adds.\n\n>>> 1 + 1\n2\n\nSo it does.\n\n>>> 3\n3")
    code = "```python\n>>> 1 + 1\n2\n```"
    assert found == f"Adds.\n\n{code}\n\nSo it does.\n\n```python\n>>> 3\n3\n```"
