"""The summary for a pull request against a Markdown renderer: names from files cannot become markup."""

import re
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from assay.certificate.record import Certificate
from assay.report.markdown import certificate_markdown
from tests.certificate.issuing import certify_alone as certify
from tests.certificate.samples import issue, load, scores

NASTY = [
    "<script>alert(1)</script>",
    "a|b|c",
    "`code`",
    "**bold** _it_",
    "[click](http://example.com)",
    "![x](http://example.com/x.png)",
    "# heading",
    "- item",
    "+ item",
    "=====",
    "> quote",
    "line\n\n# second line",
    "back\\slash\\|pipe",
    "&lt;b&gt;",
    "~~gone~~",
    "@channel @here cc @octocat",
    "https://example.com/x www.example.com someone@example.com",
    "fixes #1 and owner/project#22",
]

#: GitHub Flavored Markdown 6.9 (extended autolinks), and what its pages and GitLab's make mentions and references of.
LINKED = re.compile(r"(?:https?|ftp)://\w|www\.\w|(?<![`\w])@\w|[\w.+-]@\w|#\d", re.IGNORECASE)


def rendered(text: str) -> str:
    return str(MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).render(text))


def named(name: str, folder: Path) -> Certificate:
    tables = [scores(9, 10) | {"model": [model] * 10} for model in ("old", name)]
    return certify(tables[0], tables[1], folder / "c.json")


@pytest.mark.parametrize("name", NASTY)
def test_names_stay_text(name: str, tmp_path: Path) -> None:
    html = rendered(certificate_markdown(named(name, tmp_path)))
    plain = rendered(certificate_markdown(named("model", tmp_path)))
    tags = [re.findall(r"<[^>]*>", page) for page in (html, plain)]
    assert tags[0] == tags[1]
    text = re.sub(r"<[^>]*>", "", html).replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", '"')
    assert name.replace("\n", r"\n") in text.replace("&amp;", "&").replace("\N{WORD JOINER}", "")


@pytest.mark.parametrize("name", NASTY)
def test_names_ping_nobody_and_link_nowhere(name: str, tmp_path: Path) -> None:
    assert LINKED.search("https://example.com")
    assert LINKED.search("@channel")
    assert not LINKED.search(certificate_markdown(named(name, tmp_path)))


def test_every_kind_has_a_verdict_a_sentence_and_a_table(tmp_path: Path) -> None:
    marks = {"losses": "✅", "plain scores": "❌", "broken rules": "⚠️"}
    for kind, mark in marks.items():
        certificate = Certificate.from_dict(load(issue(kind, tmp_path)))
        text = certificate_markdown(certificate)
        assert text.startswith(f"### {mark} Assay: {certificate.verdict}\n\n{certificate.sentence[:10]}")
        html = rendered(text)
        assert html.count("<table>") == 1
        assert html.count("<tr>") > 5
        assert ("rule not met" in html) is (kind == "broken rules")


def test_a_note_with_a_pipe_does_not_break_the_table(tmp_path: Path) -> None:
    document = load(issue("overrides", tmp_path))
    document["policy"]["note"] = "a | b\n| c"
    html = rendered(certificate_markdown(Certificate.from_dict(document)))
    assert "<td>a | b | c</td>" in html
