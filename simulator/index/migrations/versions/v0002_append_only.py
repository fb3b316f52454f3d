"""Annotations and votes are append-only by the database's own hand; a run's fingerprint has a hash to search by."""

from __future__ import annotations

import json

import sqlalchemy as sa
from alembic import op

from ontology.documents import content_hash

revision = "0002"
down_revision: str | None = "0001"

APPEND_ONLY = ("annotations", "votes")


def upgrade() -> None:
    """Add the column, fill it, and set the triggers."""
    op.add_column("runs", sa.Column("fingerprint_sha256", sa.String(64), nullable=False, server_default=""))
    connection = op.get_bind()
    for key, fingerprint in connection.execute(sa.text("SELECT id, fingerprint FROM runs")).all():
        raw = json.loads(fingerprint) if isinstance(fingerprint, str) else fingerprint
        connection.execute(sa.text("UPDATE runs SET fingerprint_sha256 = :hash WHERE id = :key"), {"hash": content_hash(raw), "key": key})
    op.create_index("ix_runs_fingerprint_sha256", "runs", ["fingerprint_sha256"])
    postgresql = connection.dialect.name == "postgresql"
    if postgresql:
        op.execute(
            "CREATE FUNCTION bedside_append_only() RETURNS trigger AS "
            "$$ BEGIN RAISE EXCEPTION '% is append-only', TG_TABLE_NAME; END $$ LANGUAGE plpgsql"
        )
    for table in APPEND_ONLY:
        for action in ("UPDATE", "DELETE"):
            does = (
                "FOR EACH ROW EXECUTE FUNCTION bedside_append_only()"
                if postgresql
                else f"BEGIN SELECT RAISE(ABORT, '{table} is append-only'); END"
            )
            op.execute(f"CREATE TRIGGER {table}_no_{action.lower()} BEFORE {action} ON {table} {does}")


def downgrade() -> None:
    """Undo all of it."""
    postgresql = op.get_bind().dialect.name == "postgresql"
    for table in APPEND_ONLY:
        for action in ("update", "delete"):
            op.execute(f"DROP TRIGGER {table}_no_{action}" + (f" ON {table}" if postgresql else ""))
    if postgresql:
        op.execute("DROP FUNCTION bedside_append_only()")
    op.drop_index("ix_runs_fingerprint_sha256", "runs")
    op.drop_column("runs", "fingerprint_sha256")
