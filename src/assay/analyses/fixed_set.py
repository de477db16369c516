"""What is shown of a fixed set that units are a random part of."""

from assay.results import words
from assay.results.parts import Fact


def set_fact(population: int, unit: str) -> Fact:
    """How many there are in all."""
    return Fact("in all", population, "population", f"{words.count(population, unit)}; the answer is about these")
