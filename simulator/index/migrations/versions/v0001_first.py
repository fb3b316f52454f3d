"""The first schema."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision: str | None = None


def upgrade() -> None:
    """Create the tables."""
    _people()
    _runs()
    _encounters()
    _scores()
    _judgements()


def downgrade() -> None:
    """Drop the tables."""
    for name in ("votes", "matches", "annotations", "scores", "encounters", "runs", "users"):
        op.drop_table(name)


def _text(name: str, length: int | None, null: bool = False) -> sa.Column[str]:
    return sa.Column(name, sa.String(length), nullable=null)


def _key() -> sa.Column[int]:
    return sa.Column("id", sa.Integer, primary_key=True)


def _people() -> None:
    op.create_table(
        "users", _key(), _text("name", 200), _text("role", 40), _text("created_at", 40), sa.UniqueConstraint("name", name="uq_users_name")
    )


def _runs() -> None:
    op.create_table(
        "runs",
        _key(),
        _text("path", 4096),
        _text("created_at", 40),
        sa.Column("fingerprint", sa.JSON, nullable=False),
        _text("indexed_at", 40),
        sa.Column("stamp", sa.JSON, nullable=False),
        sa.Column("duplicates", sa.Integer, nullable=False),
        sa.UniqueConstraint("path", name="uq_runs_path"),
    )


def _encounters() -> None:
    op.create_table(
        "encounters",
        _key(),
        sa.Column("run_id", sa.Integer, sa.ForeignKey("runs.id", name="fk_encounters_run_id", ondelete="CASCADE"), nullable=False),
        _text("file", 40),
        sa.Column("start", sa.BigInteger, nullable=False),
        sa.Column("length", sa.BigInteger, nullable=False),
        _text("trace_id", 200),
        _text("trace_sha256", 64),
        sa.Column("finished", sa.Boolean, nullable=False),
        _text("case_id", 200),
        _text("case_sha256", 64),
        _text("match_id", 200, null=True),
        _text("examiner_kind", 40),
        _text("examiner_id", 400),
        _text("examiner_model", 400, null=True),
        _text("patient_id", 400),
        _text("seed", 40),
        _text("termination", 40),
        sa.Column("forced_commit", sa.Boolean, nullable=False),
        sa.Column("examiner_turns", sa.Integer, nullable=False),
        sa.Column("leaks", sa.Integer, nullable=False),
        _text("top_diagnosis", None, null=True),
        _text("top_icd10", None, null=True),
        sa.Column("prompt_tokens", sa.BigInteger),
        sa.Column("completion_tokens", sa.BigInteger),
        sa.Column("requests", sa.BigInteger, nullable=False),
        _text("kb_version", 400),
        _text("software_version", 200),
        _text("started_at", 40),
        _text("finished_at", 40),
        sa.UniqueConstraint("run_id", "file", "start", name="uq_encounters_run_id_file_start"),
    )
    op.create_index("ix_encounters_run_id_trace_id", "encounters", ["run_id", "trace_id"])
    op.create_index("ix_encounters_trace_sha256", "encounters", ["trace_sha256"])
    op.create_index("ix_encounters_case_id", "encounters", ["case_id"])


def _scores() -> None:
    stamp = ("run_id", "trace_sha256", "name", "layer", "params_hash", "kb_version", "scorer_version")
    op.create_table(
        "scores",
        _key(),
        sa.Column("run_id", sa.Integer, sa.ForeignKey("runs.id", name="fk_scores_run_id", ondelete="CASCADE"), nullable=False),
        _text("trace_sha256", 64),
        _text("name", 200),
        sa.Column("number", sa.Float),
        _text("label", None, null=True),
        _text("null_reason", None, null=True),
        _text("layer", 40),
        _text("params_hash", 64),
        _text("kb_version", 400),
        _text("scorer_version", 40),
        sa.UniqueConstraint(*stamp, name="uq_scores_stamp"),
    )


def _judgements() -> None:
    op.create_table(
        "annotations",
        _key(),
        _text("trace_sha256", 64),
        sa.Column("user_id", sa.Integer, sa.ForeignKey("users.id", name="fk_annotations_user_id"), nullable=False),
        _text("kind", 40),
        sa.Column("turn_idx", sa.Integer),
        sa.Column("body", sa.JSON, nullable=False),
        sa.Column("retracted", sa.Boolean, nullable=False),
        sa.Column("supersedes_id", sa.Integer, sa.ForeignKey("annotations.id", name="fk_annotations_supersedes_id")),
        _text("created_at", 40),
        sa.UniqueConstraint("supersedes_id", name="uq_annotations_supersedes_id"),
    )
    op.create_index("ix_annotations_trace_sha256", "annotations", ["trace_sha256"])
    op.create_table(
        "matches",
        sa.Column("id", sa.String(200), primary_key=True),
        _text("case_id", 200),
        _text("trace_a_sha256", 64),
        _text("trace_b_sha256", 64),
        _text("examiner_a", 400),
        _text("examiner_b", 400),
        _text("created_at", 40),
    )
    op.create_table(
        "votes",
        _key(),
        sa.Column("match_id", sa.String(200), sa.ForeignKey("matches.id", name="fk_votes_match_id"), nullable=False),
        sa.Column("user_id", sa.Integer, sa.ForeignKey("users.id", name="fk_votes_user_id"), nullable=False),
        _text("choice", 20),
        sa.Column("reasons", sa.JSON, nullable=False),
        sa.Column("supersedes_id", sa.Integer, sa.ForeignKey("votes.id", name="fk_votes_supersedes_id")),
        _text("created_at", 40),
        sa.UniqueConstraint("supersedes_id", name="uq_votes_supersedes_id"),
    )
    op.create_index("ix_votes_match_id", "votes", ["match_id"])
