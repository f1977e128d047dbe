"""Which rows are null, as lengths of runs: valid, null, valid, …, the first may be 0."""

from __future__ import annotations

import numpy as np

from ._buffers import Array


def of_mask(null: Array) -> Array:
    """The runs of rows, of which `null` says whether they are."""
    edges = np.flatnonzero(np.diff(null, prepend=False))
    return np.diff(edges, prepend=0, append=null.size).astype(np.uint64)


def are(runs: Array, rows: int) -> bool:
    """Whether these are runs of so many rows."""
    # In halves, as the sum of what a stranger wrote may pass 64 bits.
    high, low = runs >> np.uint64(32), runs & np.uint64(0xFFFF_FFFF)
    return (int(high.sum()) << 32) + int(low.sum()) == rows and bool(runs[1:].all())


def to_mask(runs: Array, wanted: int) -> Array:
    """Whether rows are null, the first `wanted` of them."""
    ends = np.minimum(np.cumsum(runs, dtype=np.uint64), np.uint64(wanted)).astype(np.int64)
    return np.repeat(np.arange(runs.size) % 2 == 1, np.diff(ends, prepend=0))
