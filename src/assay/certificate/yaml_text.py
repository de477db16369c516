"""YAML, read strictly: what stands there is what is meant.

Plain data only, as YAML 1.2 reads it: `no` and `on` are texts, `1e-3` is a number. Keys are texts and stand once; there
are no anchors, aliases, merges and tags, so that a short file cannot become a large one.
"""

import re
from collections.abc import Callable
from typing import Any, ClassVar

from assay.errors import InputError

DEEPEST = 50  # levels of lists and mappings
_WHOLE = re.compile(r"[-+]?[0-9]+")
_DECIMAL = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_WORDS = {"null": None, "~": None, "": None, "true": True, "false": False}
_WORDS |= {word.capitalize(): value for word, value in _WORDS.items()}

Number = Callable[[str, type], Any]


def parse_yaml(data: bytes, place: str, *, number: Number, advice: str) -> Any:
    r"""The content of a document; ``number`` makes values of numbers, which come as their text and their type.

    >>> parse_yaml(b"tier: balanced\nlimit: 2e-2", "a.yaml", number=lambda text, kind: kind(text), advice="")
    {'tier': 'balanced', 'limit': 0.02}
    """
    import yaml  # late: only where a file is YAML

    try:
        node = _loader(yaml)(data.decode("utf-8-sig")).get_single_node()
        return None if node is None else _value(node, number, 0)
    except UnicodeDecodeError as error:
        raise InputError(f"{place}: byte 0x{error.object[error.start]:02x} is not UTF-8; save it as UTF-8.") from error
    except yaml.YAMLError as error:
        raise InputError(f"{place}{_where(error)}: not YAML ({_what(error)}); {advice}.") from error
    except RecursionError as error:
        raise InputError(f"{place}: nested too deeply; {advice}.") from error


def _loader(yaml: Any) -> Any:
    class Plain(yaml.SafeLoader):  # type: ignore[misc]  # yaml has no types
        """Resolves nothing by itself, and refuses what repeats or points elsewhere."""

        yaml_implicit_resolvers: ClassVar[dict[str, Any]] = {}

        def compose_node(self, parent: Any, index: Any) -> Any:
            event = self.peek_event()
            if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
                raise _fault(yaml, event.start_mark, "anchors and aliases are not read; write the values out")
            return super().compose_node(parent, index)

    return Plain


def _value(node: Any, number: Number, depth: int) -> Any:
    import yaml

    if depth > DEEPEST:
        raise RecursionError
    if isinstance(node, yaml.MappingNode):
        return _mapping(node, number, depth)
    if isinstance(node, yaml.SequenceNode):
        _check_tag(node, "seq")
        return [_value(one, number, depth + 1) for one in node.value]
    _check_tag(node, "str")
    return _scalar(node, number)


def _mapping(node: Any, number: Number, depth: int) -> dict[str, Any]:
    import yaml

    _check_tag(node, "map")
    found: dict[str, Any] = {}
    for key, value in node.value:
        name = _scalar(key, number) if isinstance(key, yaml.ScalarNode) else None
        if not isinstance(name, str):
            raise _fault(yaml, key.start_mark, f"a key must be a text, but got {str(key.value)[:40]}; quote it")
        if name in found:
            raise _fault(yaml, key.start_mark, f"the key {name[:60]!r} appears twice")
        found[name] = _value(value, number, depth + 1)
    return found


def _scalar(node: Any, number: Number) -> Any:
    """Plain words by YAML's core schema; what is quoted is a text."""
    text: str = node.value
    if node.style is not None:
        return text
    if text in _WORDS:
        return _WORDS[text]
    if _WHOLE.fullmatch(text):
        return number(text, int)
    return number(text, float) if _DECIMAL.fullmatch(text) or _NOT_FINITE.fullmatch(text) else text


def _check_tag(node: Any, kind: str) -> None:
    import yaml

    if node.tag != f"tag:yaml.org,2002:{kind}":
        raise _fault(yaml, node.start_mark, f"the tag {node.tag[:60]!r} is not read; leave it out")


def _fault(yaml: Any, mark: Any, what: str) -> Exception:
    found: Exception = yaml.MarkedYAMLError(problem=what, problem_mark=mark)
    return found


def _where(error: Any) -> str:
    mark = getattr(error, "problem_mark", None)
    return "" if mark is None else f", line {mark.line + 1:,}"


def _what(error: Any) -> str:
    problem = getattr(error, "problem", None) or str(error)
    return " ".join(str(problem).split())[:200]
