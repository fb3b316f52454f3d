"""An examiner that reads its lines from a file."""

from __future__ import annotations

from pathlib import Path

from ontology.documents import content_hash
from ontology.errors import BedsideError
from simulator.final_answer import parse_message
from simulator.protocols import Abandoned, Move, Situation
from simulator.trace import Player


class ScriptedExaminer:
    """Says the given messages in order; the last one should hold the final answer."""

    def __init__(self, messages: list[str], name: str = "scripted") -> None:
        self._messages = messages
        self._name = name

    @property
    def player(self) -> Player:
        """Named after the file; the revision is the hash of the lines."""
        return Player(kind="scripted", id=self._name, revision=content_hash(self._messages)[:12])

    async def move(self, situation: Situation) -> Move:
        """The next message; when the budget ends, the first that holds a final answer."""
        said = sum(line.role == "examiner" for line in situation.lines)
        if situation.must_commit:
            for message in self._messages[said:]:
                if parse_message(message).answer is not None:
                    return Move(message)
        if said >= len(self._messages):
            raise Abandoned("the script ended without a final answer")
        return Move(self._messages[said])


def read_script(path: Path) -> ScriptedExaminer:
    """Read a script: one message a line; blank lines and lines that start with # are left out.

    Raises:
        BedsideError: the file cannot be read, or holds no message.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise BedsideError(f"cannot be read ({error.strerror})", str(path)) from None
    except UnicodeDecodeError:
        raise BedsideError("not UTF-8 text", str(path)) from None
    messages = [line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")]
    if not messages:
        raise BedsideError("holds no message", str(path), "write one examiner message a line, the last with the final answer as JSON")
    return ScriptedExaminer(messages, path.stem)
