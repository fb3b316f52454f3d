"""The schema: migrations with data in them, later releases, and rows that cannot be changed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import inspect, text
from sqlalchemy.exc import DBAPIError

from ontology.documents import content_hash
from ontology.errors import BedsideError
from simulator.index.database import HEAD, MIGRATIONS, open_engine
from simulator.index.models import Base, Match
from simulator.index.people import People
from simulator.index.runs import RunIndex
from simulator.trace import DialogueTrace

SEAL = "a" * 64
FIRST_DATA = (
    "INSERT INTO users (id, name, role, created_at) VALUES (1, 'ann', 'annotator', '2026')",
    "INSERT INTO runs (id, path, created_at, fingerprint, indexed_at, stamp, duplicates) "
    "VALUES (7, '/r', '2026', '{\"seeds\": [1]}', '', '{}', 0)",
    "INSERT INTO annotations (id, trace_sha256, user_id, kind, body, retracted, created_at) "
    f"VALUES (3, '{SEAL}', 1, 'comment', '{{\"text\": \"hm\"}}', FALSE, '2026')",
    f"INSERT INTO matches VALUES ('m', 'c', '{SEAL}', '{SEAL}', 'x', 'y', '2026')",
    "INSERT INTO votes (id, match_id, user_id, choice, reasons, created_at) VALUES (5, 'm', 1, 'a', '[]', '2026')",
)


def test_a_database_of_the_first_schema_keeps_its_data(database: str) -> None:
    old = open_engine(database, "0001")
    with old.begin() as connection:
        for statement in FIRST_DATA:
            connection.exec_driver_sql(statement)
    old.dispose()
    index = RunIndex(database)
    (run,) = index.runs()
    assert (run.run_id, run.fingerprint_sha256) == (7, content_hash({"seeds": [1]}))
    people = People(index.engine)
    assert [(a.id, a.body) for a in people.annotations(SEAL)] == [(3, {"text": "hm"})]
    assert [(v.id, v.choice) for v in people.votes("m")] == [(5, "a")]
    with pytest.raises(DBAPIError, match="append-only"), index.engine.begin() as connection:
        connection.execute(text("DELETE FROM votes"))


def test_the_migrations_make_what_the_models_say(database: str) -> None:
    """Tables, columns (with type and whether null), indexes and constraints, by name."""
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    engine = open_engine(database)
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, Base.metadata) == []
        assert inspect(connection).has_table("alembic_version")


def test_head_is_the_last_migration() -> None:
    names = sorted(path.name for path in (MIGRATIONS / "versions").glob("v*.py"))
    assert names[-1].startswith(f"v{HEAD}_")


def test_a_later_schema_is_refused(database: str) -> None:
    engine = open_engine(database)
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(BedsideError, match="later release"):
        open_engine(database)


@pytest.mark.parametrize("place", ["mysql://h/x", "nonsense://", "postgresql://127.0.0.1:1/none"])
def test_a_database_that_cannot_be_used_is_said_in_one_line(place: str) -> None:
    with pytest.raises(BedsideError) as raised:
        open_engine(place)
    assert "\n" not in raised.value.line()


def test_a_file_that_is_no_database_is_said(tmp_path: Path) -> None:
    (tmp_path / "x.db").write_text("not a database, but long enough to be taken for the head of one" * 20)
    with pytest.raises(BedsideError, match="cannot be used"):
        open_engine(str(tmp_path / "x.db"))


def test_a_password_is_not_shown() -> None:
    with pytest.raises(BedsideError) as raised:
        open_engine("postgresql://u:secret@127.0.0.1:1/none")
    assert "secret" not in raised.value.line()


def test_sqlite_writes_ahead(tmp_path: Path) -> None:
    with open_engine(str(tmp_path / "x.db")).connect() as connection:
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"


def test_annotations_are_superseded_not_changed(database: str) -> None:
    people = People(RunIndex(database).engine)
    ann, ben = people.user("ann"), people.user("ben")
    assert people.user("ann") == ann
    first = people.annotate(SEAL, ann, "mention", {"cui": "C1"}, turn_idx=2)
    second = people.annotate(SEAL, ben, "mention", {"cui": "C2"}, turn_idx=2, supersedes=first)
    other = people.annotate(SEAL, ann, "comment", {"text": "…"})
    assert [a.id for a in people.annotations(SEAL)] == [second, other]
    with pytest.raises(BedsideError, match="superseded already"):
        people.annotate(SEAL, ann, "mention", {"cui": "C3"}, supersedes=first)
    with pytest.raises(BedsideError, match="no such annotation"):
        people.annotate("b" * 64, ann, "mention", {}, supersedes=second)
    people.retract(second, ann)
    assert [a.id for a in people.annotations(SEAL)] == [other]
    assert len(people.annotations(SEAL, history=True)) == 4
    with pytest.raises(BedsideError, match="refused"):
        people.annotate(SEAL, 999, "comment", {})


def test_a_later_vote_supersedes_the_earlier_one(database: str) -> None:
    people = People(RunIndex(database).engine)
    ann, ben = people.user("ann"), people.user("ben")
    match = {"case_id": "c", "trace_a_sha256": SEAL, "trace_b_sha256": SEAL, "examiner_a": "x", "examiner_b": "y"}
    people.add_match(Match(id="m", **match))
    with pytest.raises(BedsideError, match="refused"):
        people.add_match(Match(id="m", **match))
    people.vote("m", ann, "a", ["thorough"])
    people.vote("m", ben, "tie")
    people.vote("m", ann, "b")
    assert [(v.user_id, v.choice) for v in people.votes("m")] == [(ben, "tie"), (ann, "b")]
    with pytest.raises(BedsideError, match="refused"):
        people.vote("none", ann, "a")


@pytest.mark.parametrize("table", ["annotations", "votes"])
@pytest.mark.parametrize("action", ["UPDATE {} SET created_at = 'x'", "DELETE FROM {}"])
def test_the_database_itself_refuses_a_change(database: str, table: str, action: str) -> None:
    people = People(RunIndex(database).engine)
    user = people.user("ann")
    people.annotate(SEAL, user, "comment", {})
    people.add_match(Match(id="m", case_id="c", trace_a_sha256=SEAL, trace_b_sha256=SEAL, examiner_a="x", examiner_b="y"))
    people.vote("m", user, "a")
    with pytest.raises(DBAPIError, match="append-only"), people._engine.begin() as connection:
        connection.execute(text(action.format(table)))


def test_annotations_outlive_reindex_and_their_run(
    database: str, tmp_path: Path, make_trace: Callable[..., DialogueTrace], fill: Callable[..., Path]
) -> None:
    run = fill(tmp_path / "run", [make_trace(0)])
    index = RunIndex(database)
    index.refresh(run)
    people = People(index.engine)
    seal = make_trace(0).sealed_sha256 or ""
    people.annotate(seal, people.user("ann"), "comment", {})
    index.reindex([run])
    assert index.forget(run)
    assert (index.contents()["encounters"], len(people.annotations(seal))) == ([], 1)
