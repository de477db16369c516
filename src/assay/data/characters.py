"""What a model would have written, character by character, summed up by document and script."""

from dataclasses import dataclass

from assay.data.scripts import Normalization, Ranges
from assay.stats.units import Floats


@dataclass(frozen=True, eq=False)
class CharacterCounts:
    """The characters of a text under one model: how many there are, how many are right, and their bits."""

    name: str  # of the model
    units: tuple[str, ...]  # (n,) documents, or windows where there is one document
    cluster_by: str  # "document" or "window"
    scripts: tuple[str, ...]  # (S,)
    characters: Floats  # (n, S) that were predicted
    right: Floats  # (n, S)
    bits: Floats  # (n, S)
    left_out: int  # characters that were not predicted: the first of a document or window
    mixed_bits: float  # bits of tokens that hold characters of several scripts: shared out by bytes
    ranges: Ranges
    normalize: Normalization
    context: int
    stride: int
    text: str  # digest of the text
    tokenizer: str | None  # digest of the tokenizer's files
