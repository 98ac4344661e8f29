"""Random numbers that depend on nothing but a seed, an epoch and a sample: not on order, ranks or threads.

A counter-based generator computes its n-th number from n alone. NumPy's `Philox` would be one, but it seeks
and draws for one sample at a time; here all samples of a batch are drawn together.
"""

import numpy as np

ROUNDS = 10
MULTIPLIERS = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
INCREMENTS = np.uint64(0x9E3779B9), np.uint64(0xBB67AE85)
WORD, BITS = np.uint64(0xFFFFFFFF), np.uint64(32)


def uniforms(seed: int, epoch: int, samples: np.ndarray, count: int, purpose: int = 1) -> np.ndarray:
    """Return independent numbers from [0, 1) for each sample: float64 (samples, count).

    Args:
        seed: At least 0.
        epoch: At least 0.
        samples: Numbers of the samples, int64 (n,).
        count: Numbers per sample; the first ones do not depend on it.
        purpose: What they are for, at least 1: the numbers for one purpose do not depend on another's.
    """
    # The order of an epoch comes from the same two numbers without a key: crops must not depend on it.
    key = np.random.SeedSequence([seed, epoch], spawn_key=(purpose,)).generate_state(2)
    blocks = -(-count // 4)
    counters = np.zeros((4, len(samples), blocks), np.uint64)
    counters[0], counters[1] = samples[:, None] & 0xFFFFFFFF, samples[:, None] >> 32
    counters[2] = np.arange(blocks)
    words = np.moveaxis(philox(counters, key), 0, -1)
    return words.reshape(len(samples), 4 * blocks)[:, :count] / 2.0**32


def philox(counters: np.ndarray, key: np.ndarray) -> np.ndarray:
    """Return the four words of 32 bits that Philox 4x32-10 computes from each counter and the key.

    From Salmon, Moraes, Dror and Shaw, Parallel random numbers: as easy as 1, 2, 3 (2011).

    Args:
        counters: uint64 (4, ...), each below 2**32.
        key: Two numbers below 2**32.

    Returns:
        uint64 (4, ...), each below 2**32.
    """
    a, b, c, d = counters
    keys = key.astype(np.uint64)
    for _ in range(ROUNDS):
        first, second = a * MULTIPLIERS[0], c * MULTIPLIERS[1]
        a, b = (second >> BITS) ^ b ^ keys[0], second & WORD
        c, d = (first >> BITS) ^ d ^ keys[1], first & WORD
        keys = (keys + INCREMENTS) & WORD
    return np.stack([a, b, c, d])
