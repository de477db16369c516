"""What may be named as a model or a text, and what it is then called."""

from pathlib import Path

import pytest

from assay.errors import InputError, UsageError
from assay.scoring.specs import EndpointSpec, Model, ModelSpec, specs_of
from assay.scoring.texts import Document, read_documents

SERVER = EndpointSpec("http://localhost:1/v1", "served", "models/base")


@pytest.mark.parametrize("model", ["models/base", Path("models/base"), ModelSpec("models/base")])
def test_a_model_is_called_as_its_folder(model: Model) -> None:
    assert specs_of(model) == {"base": ModelSpec("models/base")}


def test_a_server_is_called_as_it_calls_its_model_and_names_given_stay() -> None:
    assert specs_of([SERVER, "a/b"]) == {"served": SERVER, "b": ModelSpec("a/b")}
    assert specs_of({"x": "models/base", "y": SERVER}) == {"x": ModelSpec("models/base"), "y": SERVER}
    assert specs_of([]) == {}


def test_a_folder_without_a_name_of_its_own_is_called_as_where_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert list(specs_of(".")) == [tmp_path.name]


def test_names_that_two_models_share_and_what_is_no_model_are_refused() -> None:
    with pytest.raises(UsageError, match="two models are called 'base'"):
        specs_of(["a/base", "b/base"])
    with pytest.raises(UsageError, match="is an EndpointSpec"):
        specs_of("endpoint:http://localhost:1/v1")
    with pytest.raises(UsageError, match="but got int"):
        specs_of([3])  # type: ignore[list-item]


def test_texts_are_files_or_documents_in_the_order_given(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("of a file", encoding="utf-8")
    mine = Document("mine", "of mine")
    assert read_documents(mine) == [mine]
    assert read_documents(str(tmp_path / "a.txt")) == [Document("a.txt", "of a file")]
    assert read_documents([mine, tmp_path / "a.txt"]) == [mine, Document("a.txt", "of a file")]


def test_documents_without_text_or_with_the_same_name_are_refused() -> None:
    with pytest.raises(InputError, match="empty: no text in it"):
        read_documents(Document("empty", " \n"))
    with pytest.raises(InputError, match="'x' is there twice"):
        read_documents([Document("x", "a"), Document("x", "b")])
