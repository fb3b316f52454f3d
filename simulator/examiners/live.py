"""A person as examiner: moves come from outside the loop, whether from a terminal or a page."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from simulator.protocols import Move, Situation
from simulator.trace import Player

AskForMove = Callable[[Situation], Awaitable[Move]]


class LiveExaminer:
    """Waits for a person's moves."""

    def __init__(self, name: str, ask: AskForMove) -> None:
        """Make an examiner.

        Args:
            name: how the trace names the person; a pseudonym, please.
            ask: called when a move is due; raises `Abandoned` if the person leaves.
        """
        self._name = name
        self._ask = ask

    @property
    def player(self) -> Player:
        """A human."""
        return Player(kind="human", id=self._name)

    async def move(self, situation: Situation) -> Move:
        """The person's next move."""
        return await self._ask(situation)


class MoveQueue:
    """Hands moves from a page's event handlers to the loop."""

    def __init__(self) -> None:
        self._queue: asyncio.Queue[Move | Exception] = asyncio.Queue()

    def put(self, move: Move | Exception) -> None:
        """Hand over a move, or the exception that ends the encounter."""
        self._queue.put_nowait(move)

    async def ask(self, situation: Situation) -> Move:
        """Wait for the next one; see `AskForMove`."""
        item = await self._queue.get()
        if isinstance(item, Exception):
            raise item
        return item
