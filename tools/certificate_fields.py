"""Write the tables of docs/certificate-fields.md from the JSON Schemas of certificates, of one task and of several.

    python -m tools.certificate_fields            rewrite the tables
    python -m tools.certificate_fields --check    only say whether they differ

`make docs-outputs` does it too. The schema says what a field holds; `TRUST` says why a reader may believe it, and
tests/docs/test_certificate_fields.py forges every field to see whether that is so.
"""

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from assay.certificate.gate.record import gate_certificate_schema
from assay.certificate.record import certificate_schema
from assay.certificate.suite.record import suite_certificate_schema
from tools.made_pages import refresh_page

PAGE = Path(__file__).resolve().parent.parent / "docs" / "certificate-fields.md"
#: The names of the places on the page, and what stands there.
SCHEMAS = {
    "fields": certificate_schema,
    "fields of several tasks": suite_certificate_schema,
    "fields of a gate": gate_certificate_schema,
}

#: The first pattern that fits decides; what none of them fits is recomputed.
TRUST = {
    "schema": "fixed",
    "meta.seeds.*": "chosen",
    "meta.*": "stated",
    "systems.*": "stated",
    "measure.*": "stated",
    "policy.profile": "stated",
    "policy.note": "stated",
    "policy.*": "chosen",
    "comparison.by": "chosen",
    "*.bootstrap.seed": "chosen",
    "*.cluster_by": "chosen",
    "plan.order": "stated",
    "plan.text": "stated",
    "plan.context": "stated",
    "found.tokens_planned": "stated",
    "plan.looks[].*": "recomputed",
    "plan.digest": "recomputed",
    "plan.*": "chosen",
    "evidence.file": "stated",
    "*": "recomputed",
}
WORDS = {"number": "number", "integer": "whole number", "string": "text", "boolean": "true or false"}


@dataclass(frozen=True)
class Field:
    """A field of the certificate, by its path; ``rules[].name`` is the name of every rule."""

    path: str
    kind: str
    meaning: str

    @property
    def trust(self) -> str:
        return next(trust for pattern, trust in TRUST.items() if fnmatchcase(self.path, pattern))


class Schema:
    """A JSON Schema, read as the paths of the documents that fit it."""

    def __init__(self, schema: dict[str, Any]) -> None:
        self.whole = schema

    def parts(self) -> Iterator[tuple[str, str, list[Field]]]:
        """The name of every top-level field, what it says about itself, and its fields."""
        for name, node in self.whole["properties"].items():
            target, optional = self.target(node)
            said = target.get("description", "" if optional else node.get("description", ""))
            yield name, said, list(self.fields(name, node))

    def fields(self, path: str, node: dict[str, Any]) -> Iterator[Field]:
        target, optional = self.target(node)
        items = target.get("items") or {}
        if "anyOf" in items:  # of several kinds: the fields of all
            kinds = [self.target(kind)[0]["properties"] for kind in items["anyOf"]]
            names = {"type": "string", "enum": [kind["name"]["enum"][0] for kind in kinds]}
            merged = {name: node for kind in kinds for name, node in kind.items()}
            items = {"properties": merged | {"name": names | {"description": "Which rule."}}}
        items, _ = self.target(items)
        if "properties" in items:
            yield Field(path, "list", node.get("description", ""))
            path, target = f"{path}[]", items
        if "properties" not in target:
            yield Field(path, self.kind(node), node.get("description", ""))
            return
        if optional:
            yield Field(path, "object or null", node.get("description", ""))
        for name, child in target["properties"].items():
            yield from self.fields(f"{path}.{name}", child)

    def target(self, node: dict[str, Any]) -> tuple[dict[str, Any], bool]:
        """What a node stands for, behind references, and whether it may be null."""
        choices = [choice for choice in node.get("anyOf", []) if choice.get("type") != "null"]
        optional = len(choices) < len(node.get("anyOf", []))
        if len(choices) == 1:
            node = choices[0]
        if "$ref" in node:
            node = self.whole["$defs"][node["$ref"].removeprefix("#/$defs/")]
        return node, optional

    def kind(self, node: dict[str, Any]) -> str:
        """What a field may hold, in words."""
        target, optional = self.target(node)
        return self._kind(target) + (" or null" if optional else "")

    def _kind(self, target: dict[str, Any]) -> str:
        if "const" in target:
            return f"`{target['const']}`"
        if "enum" in target:
            return ", ".join(f"`{value}`" for value in target["enum"])
        if "prefixItems" in target:
            return f"[{', '.join(self.kind(item) for item in target['prefixItems'])}]"
        if target.get("type") == "array":
            return f"list of {self.kind(target['items'])}"
        if "sha256" in target.get("pattern", ""):
            return "digest"
        return WORDS[target["type"]]


def certificate_fields(place: str = "fields") -> list[Field]:
    """Every field that a certificate may have."""
    return [field for _, _, fields in Schema(SCHEMAS[place]()).parts() for field in fields]


def tables(place: str) -> str:
    """The generated part of the page."""
    return "\n" + "\n".join(_part(*part) for part in Schema(SCHEMAS[place]()).parts())


def _part(name: str, said: str, fields: list[Field]) -> str:
    rows = [f"| `{field.path}` | {field.kind} | {_cell(field.meaning)} | {field.trust} |" for field in fields]
    head = ["| field | holds | meaning | trust |", "| --- | --- | --- | --- |"]
    alone = len(fields) == 1 and fields[0].path == name
    return "\n".join([f"### `{name}`", "", *([] if alone or not said else [said, ""]), *head, *rows, ""])


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def rewritten(page: str) -> str:
    """The page with tables of the schema as it is now."""
    for place in SCHEMAS:
        between = re.compile(rf"(?<=<!-- {place} -->\n).*(?=<!-- end of {place} -->)", re.DOTALL)
        if not between.search(page):
            raise ValueError(f"{PAGE.name} needs the lines <!-- {place} --> and <!-- end of {place} -->")
        page = between.sub(lambda _, place=place: tables(place) + "\n", page)  # type: ignore[misc]
    return page


def refresh(*, check: bool) -> int:
    """Rewrite the page, or only say that it differs; 1 if something is left to do."""
    return refresh_page(PAGE, rewritten, check=check)


if __name__ == "__main__":
    sys.exit(refresh(check="--check" in sys.argv[1:]))
