"""How far a sum can stray: Bennett's inequality, which bounds what a finite window leaves out."""

from math import log, log1p, sqrt


def bennett_window(lowest: float, highest: float, mass: float) -> tuple[float, float]:
    """A window around 0 that holds all but ``mass`` of a sum with mean 0 and variance 1.

    ``lowest`` and ``highest`` bound the independent, centred terms, in standard deviations of the sum. Bennett (1962):
    P(S ≥ t) ≤ exp(−h(bt)/b²), h(x) = (1 + x)·log(1 + x) − x, for terms of at most b.
    """
    return -_reach(-lowest, mass), _reach(highest, mass)


def _reach(b: float, mass: float) -> float:
    """Newton's method from Bernstein's (larger) bound: h is convex, so every iterate is a valid bound."""
    needed = -log(mass / 2)
    t = needed * b / 3 + sqrt((needed * b / 3) ** 2 + 2 * needed)
    if b < 1e-3:  # here the two agree to three digits
        return t
    for _ in range(4):
        x = b * t
        t -= (((1 + x) * log1p(x) - x) / (b * b) - needed) * b / log1p(x)
    return t
