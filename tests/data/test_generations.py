"""Tables of generations: what is read, and one line for whatever cannot be used."""

import json
import math
from pathlib import Path
from typing import Any

import pytest

from assay.data.generations import read_generations
from assay.errors import InputError, UsageError

TABLE = {"item": ["b", "a"], "prediction": ["犬", "猫"], "reference": ["犬。", "猫。"]}


def test_rows_are_sorted_by_item_whatever_the_format(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("item,prediction,reference\nb,犬,犬。\na,猫,猫。\n", encoding="utf-8")
    (tmp_path / "x.tsv").write_text("item\tprediction\treference\nb\t犬\t犬。\na\t猫\t猫。\n", encoding="utf-8")
    lines = [json.dumps(dict(zip(TABLE, row, strict=True))) for row in zip(*TABLE.values(), strict=True)]
    (tmp_path / "x.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    for source in (TABLE, *tmp_path.iterdir()):
        (found,) = read_generations([source])
        assert (found.items, found.predictions, found.references) == (("a", "b"), ("猫", "犬"), ("猫。", "犬。"))
        assert found.clusters is None


def test_a_file_of_several_models_is_several_systems_in_its_order(tmp_path: Path) -> None:
    table = {name: values * 2 for name, values in TABLE.items()} | {"model": ["z", "z", "m", "m"]}
    assert [system.name for system in read_generations([table])] == ["z", "m"]
    path = tmp_path / "t.csv"
    path.write_text("item,prediction,reference\na,b,c\n")
    assert [system.name for system in read_generations([path])] == ["t"]
    assert [system.name for system in read_generations([f"new={path}"])] == ["new"]


def test_columns_may_have_other_names_and_optional_ones_be_left_out() -> None:
    table = {"id": ["1"], "out": ["猫"], "gold": ["犬"], "model": ["m"], "doc": ["d"]}
    names = {"item": "id", "prediction": "out", "reference": "gold", "cluster": "doc"}
    (found,) = read_generations([table], columns=names)
    assert (found.name, found.references, found.clusters) == ("m", ("犬",), ("d",))
    assert read_generations([table], columns=names | {"model": ""})[0].name != "m"


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        ({"prediction": ["", "猫"]}, ["row 1", "'prediction'", "empty", "`allow_empty=True`"]),
        ({"prediction": [None, "猫"]}, ["row 1", "'prediction'", "empty"]),
        ({"prediction": ["犬", math.nan]}, ["row 2", "'prediction'", "empty"]),
        ({"prediction": ["犬", "NaN"]}, ["row 2", "'prediction'", "missing number"]),
        ({"reference": ["犬。", " "]}, ["row 2", "'reference'", "empty"]),
        ({"reference": ["犬\ud83d", "猫"]}, ["row 1", "'reference'", "character 2", "unpaired surrogate", "U+D83D"]),
        ({"prediction": ["\udc00", "猫"]}, ["row 1", "character 1", "unpaired surrogate"]),
        ({"item": ["a", "a"]}, ["row 2", "'a' is in row 1 already", "'model'"]),
        ({"item": ["", "a"]}, ["row 1", "'item'", "empty"]),
        ({"item": [], "prediction": [], "reference": []}, ["no rows"]),
    ],
)
def test_cells_that_cannot_be_used_are_refused(change: dict[str, Any], parts: list[str]) -> None:
    with pytest.raises(InputError) as refused:
        read_generations([TABLE | change])
    assert [part for part in parts if part not in str(refused.value)] == [], refused.value
    assert "\n" not in str(refused.value)


def test_an_escaped_surrogate_in_jsonl_is_refused_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text('{"item": "a", "prediction": "\\ud83d", "reference": "b"}\n')
    with pytest.raises(InputError, match=r"x\.jsonl") as refused:
        read_generations([path])
    assert "\n" not in str(refused.value)


def test_an_empty_prediction_may_be_allowed() -> None:
    (found,) = read_generations([TABLE | {"prediction": ["", "猫"]}], allow_empty=True)
    assert found.predictions == ("猫", "")


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        ({"item": ["b", "c"]}, ["item 'a' (and 1 more)", "first only"]),
        ({"reference": ["犬。", "鳥。"]}, ["item 'a'", "two references", "'猫。' and '鳥。'"]),
        ({"cluster": ["x", "y"]}, ["clusters"]),
        ({"model": ["one", "one"]}, ["several systems are called 'one'", "new=FILE"]),
    ],
)
def test_systems_that_do_not_pair_are_refused(change: dict[str, Any], parts: list[str]) -> None:
    with pytest.raises(InputError) as refused:
        read_generations([TABLE | {"model": ["one", "one"]}, TABLE | {"model": ["two", "two"]} | change])
    assert [part for part in parts if part not in str(refused.value)] == [], refused.value


def test_columns_and_names_that_make_no_sense_are_refused(tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=r"no column 'prediction'.*did you mean `columns={'prediction': 'predictions'}`\?"
    ):
        read_generations([{"item": ["a"], "predictions": ["b"], "reference": ["c"]}])
    with pytest.raises(InputError, match=r"no column 'gold'"):
        read_generations([TABLE], columns={"reference": "gold"})
    with pytest.raises(InputError, match=r"no column 'system'"):
        read_generations([TABLE], columns={"model": "system"})
    with pytest.raises(UsageError, match=r"did you mean 'prediction'\?"):
        read_generations([TABLE], columns={"predicted": "x"})
    with pytest.raises(UsageError, match="needs a table"):
        read_generations([])
    path = tmp_path / "t.csv"
    path.write_text("item,prediction,reference,model\na,b,c,x\na,b,c,y\n")
    with pytest.raises(UsageError, match=r"new=… names one system, but .* holds 2: x, y"):
        read_generations([f"new={path}"])
