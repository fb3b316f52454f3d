"""The one family of errors that a user's input can cause."""

from __future__ import annotations


class BedsideError(Exception):
    """A problem that the user can mend; printed as one line, never as a traceback.

    Args:
        what: what is wrong, in plain words.
        where: the file, line, option or address it concerns.
        mend: what to do about it.
    """

    def __init__(self, what: str, where: str | None = None, mend: str | None = None) -> None:
        self.what = what
        self.where = where
        self.mend = mend
        super().__init__(self.line())

    def line(self) -> str:
        """The message on one line: `where: what; mend`."""
        text = f"{self.where}: {self.what}" if self.where else self.what
        if self.mend:
            text = f"{text}; {self.mend}"
        return " ".join(text.split())
