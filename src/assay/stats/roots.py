"""One root finder: of an increasing function, from a guess. (scipy.optimize costs half a second to import.)"""

from collections.abc import Callable


def increasing_root(f: Callable[[float], float], guess: float, step: float, tolerance: float = 1e-12) -> float:
    """The x with f(x) = 0 to within ``tolerance`` steps, by Chandrupatla's method inside an expanding bracket."""
    low, high, f_low, f_high = _bracket(f, guess, step)
    a, fa, b, fb = low, f_low, high, f_high  # b: the newest point
    c, fc, t = a, fa, 0.5
    for _ in range(200):
        if fb == 0 or abs(b - a) <= tolerance * step:
            break
        x = a + t * (b - a)
        fx = f(x)
        if (fx > 0) == (fa > 0):
            c, fc = a, fa
        else:
            c, fc, b, fb = b, fb, a, fa
        a, fa = x, fx
        t = _next_fraction(a, b, c, fa, fb, fc)
        limit = 0.25 * tolerance * step / max(abs(b - a), 1e-300)
        t = min(max(t, limit), 1 - limit)
        if fa == 0:
            return a
    return a if abs(fa) < abs(fb) else b


def _bracket(f: Callable[[float], float], guess: float, step: float) -> tuple[float, float, float, float]:
    low, high = guess - step, guess + step
    f_low, f_high = f(low), f(high)
    for _ in range(60):
        if f_low <= 0 <= f_high:
            break
        step *= 2
        if f_low > 0:
            low, high, f_high = low - step, low, f_low
            f_low = f(low)
        else:
            low, high, f_low = high, high + step, f_high
            f_high = f(high)
    return low, high, f_low, f_high


def _next_fraction(a: float, b: float, c: float, fa: float, fb: float, fc: float) -> float:
    """Inverse quadratic interpolation where it is safe, otherwise one half (Chandrupatla 1997)."""
    if fb in (fa, fc) or fa == fc or c == b:
        return 0.5
    xi, phi = (a - b) / (c - b), (fa - fb) / (fc - fb)
    if phi * phi < xi and (1 - phi) * (1 - phi) < 1 - xi:
        return fa / (fb - fa) * fc / (fb - fc) + (c - a) / (b - a) * fa / (fc - fa) * fb / (fc - fb)
    return 0.5
