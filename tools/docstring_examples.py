"""For the site: examples in docstrings (`>>>`) as code, where Markdown would make quotations of them."""

from typing import Any

from griffe import Extension, Object


def fenced(text: str) -> str:
    """The text with every example, from its first ``>>>`` to the next empty line, between fences."""
    lines: list[str] = []
    inside = False
    for line in [*text.splitlines(), ""]:
        if not inside and line.lstrip().startswith(">>>"):
            lines.append("```python")
            inside = True
        if inside and not line.strip():
            lines.append("```")
            inside = False
        lines.append(line)
    return "\n".join(lines[:-1])


class DocstringExamples(Extension):
    """What mkdocstrings calls for every object that it reads."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value)
