"""Counter-based random numbers: word c of a stream depends on (seed, purpose, c) and on nothing else.

Cutting the work into other batches, threads or machines therefore changes no bit. The generator is SplitMix64
(Steele, Lea, Flood 2014) read at any position of its sequence; the seed and the purpose choose where the sequence
starts.
"""

from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]

GOLDEN = 0x9E3779B97F4A7C15
MIX_1 = 0xBF58476D1CE4E5B9
MIX_2 = 0x94D049BB133111EB


def stream_key(seed: int, purpose: str) -> int:
    """Where the stream of this seed and purpose starts: 64 bits, unrelated for any two pairs."""
    return int.from_bytes(blake2b(f"{seed}/{purpose}".encode(), digest_size=8).digest(), "little")


def words(key: int, first: int, count: int) -> Words:
    """(count,) Words first, first + 1, … of the stream."""
    z = np.arange(first + 1, first + count + 1, dtype=np.uint64)
    z *= np.uint64(GOLDEN)  # all arithmetic is modulo 2⁶⁴
    z += np.uint64(key)
    return mixed(z)


def mixed(z: Words) -> Words:
    """The words of the states key + (c + 1)·GOLDEN, in their place."""
    z ^= z >> np.uint64(30)
    z *= np.uint64(MIX_1)
    z ^= z >> np.uint64(27)
    z *= np.uint64(MIX_2)
    z ^= z >> np.uint64(31)
    return z


def signs(key: int, first: int, rows: int, n: int) -> NDArray[np.bool_]:
    """(rows, n) Fair bits for the replicates first, first + 1, …"""
    per_row = -(-n // 64)
    bits = np.unpackbits(words(key, first * per_row, rows * per_row).astype("<u8").view(np.uint8), bitorder="little")
    return bits.reshape(rows, per_row * 64)[:, :n].astype(np.bool_)
