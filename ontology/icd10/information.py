"""Intrinsic information content: how specific a node is, by the shape of the tree alone (metrics.md 3.3)."""

from __future__ import annotations

from math import log
from typing import Literal

IcMethod = Literal["seco", "sanchez"]


def seco(sizes: list[int]) -> list[float]:
    """1 - log(descendants) / log(all nodes); leaves have 1.

    Args:
        sizes: descendants of each node, the node itself included.
    """
    whole = log(len(sizes))
    return [1.0 - log(size) / whole for size in sizes]


def sanchez(leaves: list[int], depths: list[int]) -> list[float]:
    """-log((leaves / subsumers + 1) / (all leaves + 1)), scaled so that the most informative node has 1.

    Args:
        leaves: leaves below each node; a leaf counts itself.
        depths: depth of each node; the subsumers are the ancestors-or-self and the virtual root.
    """
    roots = sum(count for count, depth in zip(leaves, depths, strict=True) if depth == 1)
    raw = [-log((count / (depth + 1) + 1) / (roots + 1)) for count, depth in zip(leaves, depths, strict=True)]
    highest = max(raw)
    return [value / highest for value in raw]
