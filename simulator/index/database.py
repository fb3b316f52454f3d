"""Opening the database: SQLite in a file by default, PostgreSQL by URL, brought to the current schema by whichever process comes first."""

from __future__ import annotations

import os
import sqlite3
import time
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError

from ontology.errors import BedsideError

MIGRATIONS = Path(__file__).parent / "migrations"
HEAD = "0002"
"""The schema this release writes: the last file of migrations/versions."""
ADVISORY_LOCK = 0x62656473
"""Held on PostgreSQL while migrating, so that processes that start together do it one after the other."""
BUSY_MS = 60_000
READ = {"bedside_read": True}
"""Execution options of a connection that only reads: on SQLite it does not wait for writers."""


def default_url() -> str:
    """Where the index lies if nobody says: BEDSIDE_DB, else a SQLite file in the user's data folder."""
    from platformdirs import user_data_path

    return os.environ.get("BEDSIDE_DB") or str(user_data_path("bedside", appauthor=False) / "index.sqlite3")


def open_engine(place: str, migrate_to: str = HEAD) -> Engine:
    """Connect, and bring the schema up to date.

    Args:
        place: a SQLite file, or a URL such as `postgresql://user@host/name`.
        migrate_to: the revision to stop at; another than HEAD is for tests of migrations.

    Raises:
        BedsideError: no such database, no driver, or a schema of a later release.
    """
    url = _url(place)
    shown = url.render_as_string(hide_password=True)
    try:
        engine = create_engine(url)
    except ImportError:
        mend = "pip install 'bedside[postgres]'" if url.get_backend_name() == "postgresql" else "use SQLite or PostgreSQL"
        raise BedsideError("the driver of this database is not installed", shown, mend) from None
    if url.get_backend_name() == "sqlite":
        _prepare_sqlite(engine)
    try:
        _bring_up(engine, migrate_to, shown)
    except DBAPIError as error:
        engine.dispose()
        reason = str(error.orig).strip().splitlines()[0] if str(error.orig).strip() else type(error.orig).__name__
        raise BedsideError(f"the database cannot be used ({reason})", shown, "name another with --db or BEDSIDE_DB") from None
    except BaseException:
        engine.dispose()
        raise
    return engine


def _url(place: str) -> URL:
    if "://" not in place:
        file = Path(place).expanduser().absolute()
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise BedsideError(f"cannot be written ({error.strerror})", str(file), "name another with --db or BEDSIDE_DB") from None
        return URL.create("sqlite", database=str(file))
    try:
        url = make_url(place)
    except ArgumentError:
        raise BedsideError("not a database URL", "--db", "give a file, or postgresql://user@host/name") from None
    if url.get_backend_name() not in ("sqlite", "postgresql"):
        raise BedsideError(f"{url.get_backend_name()} is not supported", "--db", "give a file, or postgresql://user@host/name")
    return url.set(drivername="postgresql+psycopg") if url.drivername in ("postgresql", "postgres") else url


def _prepare_sqlite(engine: Engine) -> None:
    @event.listens_for(engine, "connect")
    def settings(connection: sqlite3.Connection, record: Any) -> None:
        connection.isolation_level = None  # SQLAlchemy's BEGIN below, not the driver's, which would start writing too late
        connection.execute(f"PRAGMA busy_timeout={BUSY_MS}")
        connection.execute("PRAGMA foreign_keys=ON")
        connection.execute("PRAGMA synchronous=FULL")  # a vote survives a power cut
        _write_ahead(connection)

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        reads = connection.get_execution_options().get("bedside_read")
        # a writer takes its place in the queue at once: one that begins by reading is refused when it comes to write
        connection.exec_driver_sql("BEGIN" if reads else "BEGIN IMMEDIATE")


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Switch to WAL; SQLite does not wait by itself for another process that is switching."""
    until = time.monotonic() + BUSY_MS / 1000
    while connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
        try:
            connection.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError:
            if time.monotonic() > until:
                raise
            time.sleep(0.02)


def _bring_up(engine: Engine, target: str, shown: str) -> None:
    with engine.connect().execution_options(**READ) as connection:
        at = _revision(connection)
    if at == target:
        return
    with engine.begin() as connection:
        if connection.dialect.name == "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": ADVISORY_LOCK})
        at = _revision(connection)  # another process may have been here meanwhile
        if at is not None and at > target:
            raise BedsideError(f"the database has the schema of a later release ({at}, this one knows {target})", shown, "update Bedside")
        if at != target:
            _upgrade(connection, target)


def _revision(connection: Connection) -> str | None:
    from sqlalchemy import inspect

    if not inspect(connection).has_table("alembic_version"):
        return None
    found: str | None = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
    return found


def _upgrade(connection: Connection, target: str) -> None:
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, target)
