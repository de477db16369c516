"""What all Markdown shares: text from files that stays text."""


def cell(text: str) -> str:
    """Text that cannot become markup: names come from files."""
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    for sign in "\\`*_[]|#~$":
        escaped = escaped.replace(sign, "\\" + sign)
    escaped = " ".join(escaped.split())
    return "\\" + escaped if escaped.startswith(("-", "+", "=")) else escaped  # no list or heading at its start
