"""A table with a column per model and no usual name for its items: which column names them, or what to type."""

from pathlib import Path
from typing import Any

import pytest

from assay import InputError, Selection, compare, rank, summarize
from assay.data import read_tables

N = 12
GPT, LLAMA = [int(i % 3 > 0) for i in range(N)], [int(i % 2) for i in range(N)]
TEXTS = [f"What is {i}?" for i in range(N)]


def write(path: Path, columns: dict[str, list[Any]]) -> Path:
    rows = zip(*columns.values(), strict=True)
    path.write_text(",".join(columns) + "\n" + "".join(",".join(map(str, row)) + "\n" for row in rows))
    return path


#: Columns beside those of two models, which one names the items, and where they stand.
NAMED: dict[str, tuple[dict[str, list[Any]], str, bool]] = {
    "different texts": ({"question": TEXTS}, "question", True),
    "different texts after the models": ({"question": TEXTS}, "question", False),
    "different texts beside others": ({"topic": ["law", "art"] * 6, "problem": TEXTS}, "problem", True),
    "the first of two": ({"problem": TEXTS, "prompt": TEXTS[::-1]}, "problem", True),
    "numbers that count the rows": ({"nr": list(range(1, N + 1))}, "nr", True),
    "the index that pandas wrote": ({"Unnamed: 0": list(range(N))}, "Unnamed: 0", True),
}


@pytest.mark.parametrize("kind", NAMED)
def test_a_column_whose_cells_are_all_different_names_the_items(kind: str, tmp_path: Path) -> None:
    own, item, first = NAMED[kind]
    models = {"gpt": GPT, "llama": LLAMA}
    path = write(tmp_path / "wide.csv", own | models if first else models | own)
    tables = read_tables([path])
    assert [table.name for table in tables] == ["gpt", "llama"]
    assert tables[0].ids.tolist() == [str(cell) for cell in own[item]]
    assert f"{path}: no column item: {item!r} names the items, all its cells are different" in tables[0].notes
    expected = compare({"item": own[item], "score": GPT}, {"item": own[item], "score": LLAMA})
    assert compare(path).difference == expected.difference


NOT_NAMED: dict[str, dict[str, list[Any]]] = {
    "nothing beside the models": {},
    "texts that repeat": {"topic": ["law", "art"] * 6},
    "texts with a gap": {"question": [*TEXTS[:-1], ""]},
    "numbers that do not count": {"share": [i / 20 for i in range(N)]},
    "rows of models, it seems": {"method": TEXTS},
}


@pytest.mark.parametrize("kind", NOT_NAMED)
def test_without_such_a_column_it_is_refused_with_what_to_type_which_works(kind: str, tmp_path: Path) -> None:
    path = write(tmp_path / "wide.csv", NOT_NAMED[kind] | {"gpt": GPT, "llama": LLAMA})
    for verb in (compare, rank, summarize):
        with pytest.raises(InputError) as refused:
            verb(path)
        assert str(refused.value).endswith(
            "but none that names the items; name it with `columns={'item': 'NAME'}`, or take each row as an item with "
            "`Selection(pair_by='row')`."
        )
    found = compare(path, models=("gpt", "llama"), selection=Selection(pair_by="row"))
    assert found.difference.value == pytest.approx((sum(LLAMA) - sum(GPT)) / N)
    assert any(note.endswith("wide.csv: rows are paired by their place in the file") for note in found.notes)
    assert rank(path, selection=Selection(pair_by="row")).n_units == N


def test_an_answer_in_words_is_no_name_of_an_item(tmp_path: Path) -> None:
    path = write(tmp_path / "wide.csv", {"gpt": ["yes", "no", "null"], "llama": ["no", "yes", "yes"]})
    with pytest.raises(InputError, match=r"2 columns of scores \(gpt, llama\), but none that names the items"):
        read_tables([path])


def test_a_table_with_a_score_is_not_guessed_at(tmp_path: Path) -> None:
    path = write(tmp_path / "long.csv", {"question": TEXTS, "score": GPT})
    with pytest.raises(InputError, match="no column item among its columns question, score"):
        read_tables([path])
