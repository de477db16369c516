"""The README names every verb."""

from assay.cli.verbs import VERBS
from tools.docs_outputs import ROOT


def test_every_verb_has_its_line() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert [verb for verb in VERBS if f"| `assay {verb}" not in text] == []
