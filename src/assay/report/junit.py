"""A result as JUnit XML, which the test tables of CI servers read: a case for each answer, and each task of a suite."""

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from msgspec.structs import replace

from assay.files.writing import make_folder, together, write_bytes
from assay.names import visible
from assay.results.parts import CheckedCase
from assay.results.record import Result

#: What XML 1.0 cannot hold, however it is escaped.
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit_xml(result: Result, worded: Callable[[str], str] = str) -> bytes:
    """The document, valid against the schema of Jenkins (junit-10.xsd); the same result gives the same bytes.

    What the library says of its arguments is ``worded`` as the caller's readers know them.
    """
    cases, kind = result.cases, f"assay.{result.kind_name.replace(' ', '_')}"
    counts = Counter(case.outcome for case in cases)
    whole = {"name": "assay", "tests": str(len(cases)), "failures": str(counts["failed"]), "errors": "0"}
    root = Element("testsuites", whole)
    suite = SubElement(root, "testsuite", {**whole, "name": _clean(kind), "skipped": str(counts["skipped"])})
    properties = SubElement(suite, "properties")
    for name, value in (("question", result.question), ("subject", result.subject), ("signature", result.signature)):
        if value:
            SubElement(properties, "property", {"name": name, "value": _clean(value)})
    for case in cases:
        _add(suite, replace(case, said=worded(case.said)), kind)
    SubElement(suite, "system-out").text = _clean(worded(result.to_text()))
    indent(root)
    data: bytes = tostring(root, encoding="utf-8", xml_declaration=True)
    return data + b"\n"


def write_junit(result: Result, path: Path, worded: Callable[[str], str] = str) -> None:
    """Write the document, whole or not at all."""
    with together():
        make_folder(path.parent)
        write_bytes(path, junit_xml(result, worded))


def _add(suite: Element, case: CheckedCase, kind: str) -> None:
    added = SubElement(suite, "testcase", {"classname": _clean(kind), "name": _clean(case.name)})
    said, why = _clean(case.said), {"type": _clean(case.kind), "message": _clean(case.said.partition("\n")[0])}
    if case.outcome == "passed":
        SubElement(added, "system-out").text = said
    else:
        SubElement(added, "failure" if case.outcome == "failed" else "skipped", why).text = said


def _clean(text: str) -> str:
    return _NOT_XML.sub("\N{REPLACEMENT CHARACTER}", visible(text))
