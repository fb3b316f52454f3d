"""How many requests one endpoint is sent at once: one more after every round that went well, half as many when it is overrun."""

from __future__ import annotations

import asyncio
from collections import deque
from types import TracebackType
from typing import Self

DECREASE = 0.5
"""Additive increase, multiplicative decrease (Chiu and Jain 1989, Computer Networks 17:1-14), as TCP does it."""


class Throttle:
    """Places for requests to one endpoint; used by all its clients, in one event loop at a time.

    Starts at the most that is allowed. `limit` grows by one for as many answers as it counts, up to `most`, and is halved, down to one, by
    `overrun`: once for all requests that were under way at that time, since they tell of one and the same overload.
    """

    def __init__(self, most: int) -> None:
        """Make a throttle.

        Args:
            most: requests at once that are never exceeded, at least 1.
        """
        if most < 1:
            raise ValueError("at least one request at a time")
        self.most = most
        self.limit = float(most)
        self.lowest = most
        """the smallest limit there has been"""
        self.under_way = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._begun = 0
        self._deaf_until = 0

    async def place(self) -> Place:
        """Wait for a place, first come, first served; leave it with `Place.__exit__`."""
        if self.under_way >= int(self.limit) or self._waiting:
            mine: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append(mine)
            try:
                await mine
            except asyncio.CancelledError:
                if mine.done() and not mine.cancelled():  # called up and cancelled at once: the place goes to the next
                    self._leave()
                elif mine in self._waiting:
                    self._waiting.remove(mine)
                raise
        else:
            self.under_way += 1
        self._begun += 1
        return Place(self, self._begun)

    def went_well(self) -> None:
        """Count an answer."""
        self.limit = min(float(self.most), self.limit + 1 / self.limit)

    def overrun(self, number: int) -> None:
        """Halve the limit, unless that was done after this request had begun.

        Args:
            number: the request's (`Place.number`).
        """
        if number <= self._deaf_until:
            return
        self._deaf_until = self._begun
        self.limit = max(1.0, self.limit * DECREASE)
        self.lowest = min(self.lowest, int(self.limit))

    def _leave(self) -> None:
        self.under_way -= 1
        while self._waiting and self.under_way < int(self.limit):
            next_one = self._waiting.popleft()
            if not next_one.done():  # cancelled, or of an event loop that is over
                self.under_way += 1
                next_one.set_result(None)


class Place:
    """A place taken; use it in a `with` block around the request."""

    def __init__(self, throttle: Throttle, number: int) -> None:
        self._throttle = throttle
        self.number = number
        """how many requests had begun by then, this one included"""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._throttle._leave()
