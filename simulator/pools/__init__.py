"""Utterance pools: the bundled one, what a case may use of it, and how an utterance is chosen and filled."""

from simulator.pools.bundled import bundled_pool
from simulator.pools.index import PoolIndex
from simulator.pools.person import Person, fill

__all__ = ["Person", "PoolIndex", "bundled_pool", "fill"]
