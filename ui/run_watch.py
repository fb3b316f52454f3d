"""Files that a run read at its start and that should not change before its end."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

MOST_FILES = 10_000

Mark = tuple[int, int, int]
"""inode, size, time of the last change in nanoseconds"""


class InputWatch:
    """Remembers how files looked; folders are watched file by file, subfolders not."""

    def __init__(self, paths: Iterable[str | Path]) -> None:
        """Look at the files now; a name that is no file or folder (a bundled set) is passed over."""
        self._roots = [Path(path) for path in paths if os.path.exists(path)]
        self._before = self._look()

    def changed(self) -> list[str]:
        """Files that changed, came or went since."""
        now = self._look()
        return sorted(name for name in self._before.keys() | now.keys() if self._before.get(name) != now.get(name))

    def _look(self) -> dict[str, Mark]:
        found: dict[str, Mark] = {}
        for root in self._roots:
            files = sorted(root.iterdir())[:MOST_FILES] if root.is_dir() else [root]
            for file in files:
                try:
                    state = file.stat()
                except FileNotFoundError:
                    continue
                found[str(file)] = (state.st_ino, state.st_size, state.st_mtime_ns)
        return found
