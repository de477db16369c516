"""The figures of the house, on a package small enough to count by hand; and that ours has no import cycle."""

from pathlib import Path

import pytest

from tools.house import ROOT, Figure, House, code_lines, components

# a ↔ b (b late), c → package; d is imported from another folder only; `e` and `inner.e` are no cycle.
FILES = {
    "__init__.py": "",
    "a.py": "from assay import b\n\n\ndef f():\n    return b\n",
    "b.py": "def g():\n    from assay.a import f\n\n    return f\n",
    "c.py": "import assay.inner.d\nimport numpy\n",
    "e.py": "from assay.inner.e import h\n",
    "inner/__init__.py": "",
    "inner/d.py": "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    from assay.inner.e import h\n",
    "inner/e.py": "def h():\n    pass\n",
}


@pytest.fixture
def small(tmp_path: Path) -> House:
    for name, text in FILES.items():
        path = tmp_path / "src" / "assay" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return House.at(tmp_path)


def test_imports_by_hand(small: House) -> None:
    assert small.imports == {
        "assay": set(),
        "assay.a": {"assay.b"},
        "assay.b": {"assay.a"},
        "assay.c": {"assay.inner.d"},
        "assay.e": {"assay.inner.e"},
        "assay.inner": set(),
        "assay.inner.d": {"assay.inner.e"},
        "assay.inner.e": set(),
    }


def test_cycles_count_late_imports_by_hand(small: House) -> None:
    assert small.cycles == [["assay.a", "assay.b"]]


def test_what_only_type_checkers_read_is_no_import_at_run_time_by_hand(small: House) -> None:
    assert small.run_time_imports["assay.inner.d"] == set()
    assert small.run_time_imports["assay.b"] == {"assay.a"}


def test_a_module_with_one_importer_elsewhere_by_hand(small: House) -> None:
    assert small.lone == ["assay.inner.d"]  # inner.e has two, and a and b stand in one folder


def test_lines_and_functions_by_hand(small: House) -> None:
    assert small.lines["assay.a"] == 5
    assert small.functions == {"assay.a.f:4": 2, "assay.b.g:1": 4, "assay.inner.e.h:1": 2}


def test_lines_of_code_by_hand() -> None:
    text = (
        '"""Docstring\nof two lines."""\n\nx = 1  # one\n# alone\ny = (\n    2\n)\n\n\n'
        'def f():\n    """None."""\n    return """\n\n"""\n'
    )
    assert code_lines(text) == 8  # x, three of y, def, three of a text that is returned


def test_types_defined_twice_by_hand(tmp_path: Path) -> None:
    texts = {
        "a.py": "class Kind:\n    pass\n\n\nPlace = str | bytes\nLIMIT = 3 + 4\n",
        "b.py": "Kind = dict[str, int]\nPlace = tuple\nLIMIT = 5 + 6\n_Own = list[int]\n",
        "c.py": "_Own = list[str]\n",
    }
    for name, text in texts.items():
        path = tmp_path / "src" / "assay" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    assert House.at(tmp_path).types_twice == {"Kind": ["assay.a", "assay.b"]}


def test_components_by_hand() -> None:
    graph = {"a": {"b"}, "b": {"c"}, "c": {"a", "d"}, "d": {"e"}, "e": {"d"}, "f": {"a"}}
    assert sorted(map(sorted, components(graph))) == [["a", "b", "c"], ["d", "e"], ["f"]]


def test_a_goal_is_the_most_or_the_least() -> None:
    assert Figure("files", 200, 200).holds
    assert not Figure("files", 201, 200).holds
    assert Figure("tests", 0.8, 0.8, least=True).holds
    assert not Figure("tests", 0.7, 0.8, least=True).holds
    assert str(Figure("files", 201, 200)).endswith("NOT MET")
    assert str(Figure("lines", 1234)).endswith(" 1,234")


def test_our_own_modules_import_each_other_in_no_circle() -> None:
    assert House.at(ROOT).cycles == []
