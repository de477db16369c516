"""Which results can be shown, and how a saved one is recognised: by its schema."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from assay.analyses.result import AnyResult, Record
from assay.design import Policy
from assay.errors import InputError, UsageError, WriteError
from assay.files.json_text import read_json
from assay.report.document import Part
from assay.report.part import part_of_result
from assay.report.sound import check_part
from assay.results.record import SCHEMAS


@dataclass(frozen=True, slots=True)
class Kind:
    """Where the record of a kind and its part of a document are defined; imported when one is met."""

    record: str | None  # module:class; None: the data themselves
    part: str  # module:function

    def read(self, data: dict[str, Any]) -> Any:
        """The record that was saved."""
        return data if self.record is None else _named(self.record).from_dict(data)

    @property
    def build(self) -> Callable[[Any], Part]:
        found: Callable[[Any], Part] = _named(self.part)
        return found


CERTIFICATE = "assay/certificate/2"
_PARTS = "assay.report.parts"
_VERSION = re.compile(r"/\d+$")
KINDS = {
    **{schema: Kind(record, "assay.report.part:part_of_result") for schema, record in SCHEMAS.items()},
}


def _named(place: str) -> Any:
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)


def part_of(result: AnyResult | dict[str, Any]) -> Part:
    """A result, or what its `to_dict` gave, as a part of a document."""
    if isinstance(result, Record):
        return part_of_result(result)
    data = result if isinstance(result, dict) else result.to_dict()
    kind = KINDS.get(str(data.get("schema")))
    if kind is None:
        raise InputError(f"no page can be made of schema {data.get('schema')!r}; known are {', '.join(KINDS)}.")
    live = isinstance(result, AnyResult) and kind.record is not None
    return kind.build(result if live else kind.read(data))


def _checked(path: Path, policy: Policy | None) -> Part:
    """A certificate says who may rely on it only after it was checked."""
    from assay.certificate.verify import verify

    return part_of_result(verify(path, policy=policy))


#: What records and charts raise of data that are not theirs.
_DAMAGE = (KeyError, TypeError, ValueError, AttributeError, IndexError, ArithmeticError, AssertionError, RecursionError)


def _refusal() -> type[Exception]:
    """What altair raises, for instance of a name that is a list."""
    from altair.utils.schemapi import SchemaValidationError  # late: half a second

    return SchemaValidationError


def read_part(path: Path, *, draw: bool = True, policy: Policy | None = None) -> Part:
    """The part of a result that was saved as JSON; ``draw`` makes its charts now, so that what is wrong shows here.

    Certificates are judged by the ``policy`` of whoever reads the page, if there is one.
    """
    data = read_json(path, label=str(path), strict=True, advice="give what --json or --save wrote")
    if not isinstance(data, dict) or str(data.get("schema")) not in KINDS:
        found = data.get("schema") if isinstance(data, dict) else type(data).__name__
        this = next((schema for schema in KINDS if _VERSION.sub("", schema) == _VERSION.sub("", str(found))), None)
        if this == CERTIFICATE:
            from assay.certificate.verify import check_version

            check_version(path, found)
        if this is not None:
            raise InputError(f"{path}: written by another version of Assay (schema {found!r}); this one reads {this}.")
        raise InputError(f"{path}: not a result of Assay (schema {found!r}); give what --json or --save wrote.")
    try:
        return check_part(_checked(path, policy) if data["schema"] == CERTIFICATE else part_of(data), draw=draw)
    except (InputError, WriteError):
        raise
    except (UsageError, *_DAMAGE, _refusal()) as error:  # a setting that no command would have taken is damage too
        what = f"no field {error}" if isinstance(error, KeyError) else f"{type(error).__name__}: {error}"
        raise InputError(
            f"{path}: a damaged result of schema {data['schema']!r}, or one of another version of Assay "
            f"({what.partition(chr(10))[0]}); save it again."
        ) from error
