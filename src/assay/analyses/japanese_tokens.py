"""Words of Japanese, as BLEU counts them: sacrebleu's tokenizers by their names."""

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, Literal, get_args

from assay.errors import UsageError

BleuTokenizer = Literal["ja-mecab", "char", "13a"]

_SACREBLEU = {"ja-mecab": ("tokenizer_ja_mecab", "TokenizerJaMecab"), "13a": ("tokenizer_13a", "Tokenizer13a")}

Cut = Callable[[str], list[str]]


def check_tokenizers(names: Sequence[str]) -> None:
    known = get_args(BleuTokenizer)
    for name in names:
        if name not in known:
            raise UsageError(f"bleu must be of {', '.join(known)}, but got {name!r}.")
    if not names or len(set(names)) < len(names):
        raise UsageError(f"bleu must name tokenizers, each once ({', '.join(known)}), but got {', '.join(names)!r}.")


def tokenizer_of(name: str) -> tuple[Cut, str]:
    """How a sentence is cut, and the version of it for the signature."""
    if name == "char":
        return characters, "char"
    made = _sacrebleu(name)
    return lambda text: made(text.rstrip()).split(), str(made.signature())


def characters(text: str) -> list[str]:
    """Every character that is not white space.

    >>> characters("猫 だ。")
    ['猫', 'だ', '。']
    """
    return [character for character in text if not character.isspace()]


def _sacrebleu(name: str) -> Any:
    try:
        module, tokenizer = _SACREBLEU[name]
        return getattr(import_module(f"sacrebleu.tokenizers.{module}"), tokenizer)()
    except (ImportError, RuntimeError) as error:  # sacrebleu without MeCab raises a RuntimeError
        raise UsageError(
            f"BLEU with {name} needs the extra ja: pip install 'assay-eval[ja]'. Or pass --bleu char, which needs none."
        ) from error
