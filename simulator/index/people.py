"""What people add: users, annotations, matches and votes. Annotations and votes are append-only; the database itself refuses a change."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Literal

from sqlalchemy import Engine, exists, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session, aliased

from ontology.errors import BedsideError
from simulator.index.database import READ
from simulator.index.models import Annotation, Match, User, Vote

Choice = Literal["a", "b", "tie", "both_bad"]


class People:
    """Users and their judgements, on the engine of a `RunIndex`; each method is one transaction."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def user(self, name: str, role: str = "player") -> int:
        """The id of the user of that pseudonym, who is added if need be; a user known already keeps the role."""
        query = select(User.id).where(User.name == name)
        with Session(self._engine) as session:
            found = session.scalar(query)
            if found is not None:
                return found
            session.add(user := User(name=name, role=role, created_at=_now()))
            try:
                session.commit()
                return user.id
            except IntegrityError:  # another process added the same name meanwhile
                session.rollback()
                return session.scalars(query).one()

    def annotate(
        self,
        trace_sha256: str,
        user_id: int,
        kind: str,
        body: dict[str, Any],
        turn_idx: int | None = None,
        supersedes: int | None = None,
    ) -> int:
        """Add an annotation of a trace, named by its seal.

        Args:
            trace_sha256: the seal of the trace.
            user_id: who.
            kind: what it is about, such as mention, comment or adjudication.
            body: the annotation itself.
            turn_idx: the turn; null for the whole encounter.
            supersedes: the annotation whose place it takes.

        Returns:
            its id.

        Raises:
            BedsideError: `supersedes` is of another trace or kind, or is superseded already; or no such user.
        """
        row = Annotation(trace_sha256=trace_sha256, user_id=user_id, kind=kind, turn_idx=turn_idx, body=body, retracted=False)
        row.supersedes_id, row.created_at = supersedes, _now()
        with Session(self._engine) as session:
            if supersedes is not None:
                self._superseded(session, supersedes, trace_sha256, kind)
            return _added(session, row)

    def retract(self, annotation_id: int, user_id: int) -> int:
        """Withdraw an annotation; both it and the withdrawal stay on record.

        Raises:
            BedsideError: no such annotation, superseded already, or no such user.
        """
        with Session(self._engine) as session:
            old = self._superseded(session, annotation_id)
            row = Annotation(trace_sha256=old.trace_sha256, user_id=user_id, kind=old.kind, turn_idx=old.turn_idx, body={}, retracted=True)
            row.supersedes_id, row.created_at = annotation_id, _now()
            return _added(session, row)

    def annotations(self, trace_sha256: str, history: bool = False) -> list[Annotation]:
        """The annotations of a trace that hold, the oldest first; with `history`, all that were ever made."""
        query = select(Annotation).where(Annotation.trace_sha256 == trace_sha256).order_by(Annotation.id)
        if not history:
            later = aliased(Annotation)
            query = query.where(~exists().where(later.supersedes_id == Annotation.id), ~Annotation.retracted)
        return self._all(query)

    def add_match(self, match: Match) -> None:
        """Add a match.

        Raises:
            BedsideError: its id is taken.
        """
        with Session(self._engine) as session:
            match.created_at = match.created_at or _now()
            session.add(match)
            _commit(session, f"match {match.id}")

    def vote(self, match_id: str, user_id: int, choice: Choice, reasons: Sequence[str] = ()) -> int:
        """Vote on a match; a person's later vote on the same match supersedes the earlier one.

        Returns:
            the id of the vote.

        Raises:
            BedsideError: no such match or user, or the same person is voting at this moment elsewhere.
        """
        with Session(self._engine) as session:
            held = _holding().where(Vote.match_id == match_id, Vote.user_id == user_id)
            last = session.scalars(held).first()
            row = Vote(match_id=match_id, user_id=user_id, choice=choice, reasons=list(reasons), created_at=_now())
            row.supersedes_id = last.id if last else None
            return _added(session, row)

    def votes(self, match_id: str | None = None) -> list[Vote]:
        """The votes that hold, in the order they were cast; of one match, or of all."""
        query = _holding().order_by(Vote.id)
        return self._all(query if match_id is None else query.where(Vote.match_id == match_id))

    def matches(self) -> list[Match]:
        """All matches, the oldest first."""
        return self._all(select(Match).order_by(Match.created_at, Match.id))

    def _all(self, query: Any) -> list[Any]:
        with Session(self._engine.execution_options(**READ), expire_on_commit=False) as session:
            rows = list(session.scalars(query))
            session.expunge_all()
            return rows

    def _superseded(self, session: Session, key: int, trace_sha256: str | None = None, kind: str | None = None) -> Annotation:
        old = session.get(Annotation, key)
        if old is None or trace_sha256 not in (None, old.trace_sha256) or kind not in (None, old.kind):
            raise BedsideError("no such annotation of that trace and kind", f"annotation {key}")
        if session.scalar(select(exists().where(Annotation.supersedes_id == key))):
            raise BedsideError("superseded already", f"annotation {key}", "read the trace's annotations again and supersede the last")
        return old


def _holding() -> Any:
    later = aliased(Vote)
    return select(Vote).where(~exists().where(later.supersedes_id == Vote.id))


def _added(session: Session, row: Annotation | Vote) -> int:
    session.add(row)
    _commit(session, "this " + row.__tablename__.removesuffix("s"))
    return row.id


def _commit(session: Session, what: str) -> None:
    try:
        session.commit()
    except IntegrityError as error:
        reason = str(error.orig).strip().splitlines()[0]
        raise BedsideError(f"refused by the database ({reason})", what, "read the page again and repeat") from None


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
