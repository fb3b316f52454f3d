"""The tables. Times are ISO 8601 strings in UTC as in the traces; a trace is named by its seal, so that notes outlive a reindex."""

from __future__ import annotations

from typing import Any, ClassVar

from sqlalchemy import JSON, BigInteger, Boolean, Float, ForeignKey, Index, Integer, MetaData, String, UniqueConstraint
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

NAMES = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s",
    "pk": "pk_%(table_name)s",
}
"""Constraints with names that both databases agree on, so that migrations can name them."""


class Base(DeclarativeBase):
    """What all tables share."""

    metadata = MetaData(naming_convention=NAMES)
    type_annotation_map: ClassVar[dict[Any, Any]] = {dict[str, Any]: JSON, list[str]: JSON}


class User(Base):
    """A person who plays, annotates or votes, under a pseudonym."""

    __tablename__ = "users"

    id: Mapped[int] = mapped_column(Integer, primary_key=True)
    name: Mapped[str] = mapped_column(String(200), unique=True)
    role: Mapped[str] = mapped_column(String(40))
    created_at: Mapped[str] = mapped_column(String(40))


class Run(Base):
    """A run folder, and how far its files have been read."""

    __tablename__ = "runs"

    id: Mapped[int] = mapped_column(Integer, primary_key=True)
    path: Mapped[str] = mapped_column(String(4096), unique=True)
    created_at: Mapped[str] = mapped_column(String(40))
    fingerprint: Mapped[dict[str, Any]]
    fingerprint_sha256: Mapped[str] = mapped_column(String(64), index=True)
    indexed_at: Mapped[str] = mapped_column(String(40))
    stamp: Mapped[dict[str, Any]]
    """file name → bytes read, size and modification time then; tells what is new"""
    duplicates: Mapped[int] = mapped_column(Integer, default=0)
    """further finished traces with an id already seen; only the first is indexed"""


class EncounterRow(Base):
    """One sealed trace, without its text; `file`, `start`, `length` say where that lies."""

    __tablename__ = "encounters"
    __table_args__ = (UniqueConstraint("run_id", "file", "start"), Index("ix_encounters_run_id_trace_id", "run_id", "trace_id"))

    id: Mapped[int] = mapped_column(Integer, primary_key=True)
    run_id: Mapped[int] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"))
    file: Mapped[str] = mapped_column(String(40))
    start: Mapped[int] = mapped_column(BigInteger)
    length: Mapped[int] = mapped_column(BigInteger)
    trace_id: Mapped[str] = mapped_column(String(200))
    trace_sha256: Mapped[str] = mapped_column(String(64), index=True)
    finished: Mapped[bool] = mapped_column(Boolean)
    case_id: Mapped[str] = mapped_column(String(200), index=True)
    case_sha256: Mapped[str] = mapped_column(String(64))
    match_id: Mapped[str | None] = mapped_column(String(200))
    examiner_kind: Mapped[str] = mapped_column(String(40))
    examiner_id: Mapped[str] = mapped_column(String(400))
    examiner_model: Mapped[str | None] = mapped_column(String(400))
    patient_id: Mapped[str] = mapped_column(String(400))
    seed: Mapped[str] = mapped_column(String(40))
    """as text: a seed may be larger than a database's integers"""
    termination: Mapped[str] = mapped_column(String(40))
    forced_commit: Mapped[bool] = mapped_column(Boolean)
    examiner_turns: Mapped[int] = mapped_column(Integer)
    leaks: Mapped[int] = mapped_column(Integer)
    top_diagnosis: Mapped[str | None] = mapped_column(String)
    top_icd10: Mapped[str | None] = mapped_column(String)
    prompt_tokens: Mapped[int | None] = mapped_column(BigInteger)
    completion_tokens: Mapped[int | None] = mapped_column(BigInteger)
    requests: Mapped[int] = mapped_column(BigInteger)
    kb_version: Mapped[str] = mapped_column(String(400))
    software_version: Mapped[str] = mapped_column(String(200))
    started_at: Mapped[str] = mapped_column(String(40))
    finished_at: Mapped[str] = mapped_column(String(40))


class ScoreValue(Base):
    """One score of one trace; null with a reason. Several rows of one name differ in parameters, knowledge, scorer or layer."""

    __tablename__ = "scores"
    __table_args__ = (
        UniqueConstraint("run_id", "trace_sha256", "name", "layer", "params_hash", "kb_version", "scorer_version", name="uq_scores_stamp"),
    )

    id: Mapped[int] = mapped_column(Integer, primary_key=True)
    run_id: Mapped[int] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"))
    trace_sha256: Mapped[str] = mapped_column(String(64))
    name: Mapped[str] = mapped_column(String(200))
    number: Mapped[float | None] = mapped_column(Float)
    label: Mapped[str | None] = mapped_column(String)
    null_reason: Mapped[str | None] = mapped_column(String)
    layer: Mapped[str] = mapped_column(String(40))
    params_hash: Mapped[str] = mapped_column(String(64))
    kb_version: Mapped[str] = mapped_column(String(400))
    scorer_version: Mapped[str] = mapped_column(String(40))


class Annotation(Base):
    """A person's stand-off note on a trace. Never changed nor deleted: a row with `supersedes_id` takes the place of an earlier one."""

    __tablename__ = "annotations"

    id: Mapped[int] = mapped_column(Integer, primary_key=True)
    trace_sha256: Mapped[str] = mapped_column(String(64), index=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"))
    kind: Mapped[str] = mapped_column(String(40))
    turn_idx: Mapped[int | None] = mapped_column(Integer)
    body: Mapped[dict[str, Any]]
    retracted: Mapped[bool] = mapped_column(Boolean)
    """withdraws the row it supersedes and puts nothing in its place"""
    supersedes_id: Mapped[int | None] = mapped_column(ForeignKey("annotations.id"), unique=True)
    created_at: Mapped[str] = mapped_column(String(40))


class Match(Base):
    """Two encounters over the same case and seed, to be compared."""

    __tablename__ = "matches"

    id: Mapped[str] = mapped_column(String(200), primary_key=True)
    case_id: Mapped[str] = mapped_column(String(200))
    trace_a_sha256: Mapped[str] = mapped_column(String(64))
    trace_b_sha256: Mapped[str] = mapped_column(String(64))
    examiner_a: Mapped[str] = mapped_column(String(400))
    examiner_b: Mapped[str] = mapped_column(String(400))
    created_at: Mapped[str] = mapped_column(String(40))


class Vote(Base):
    """A person's judgement of a match; append-only like an annotation."""

    __tablename__ = "votes"

    id: Mapped[int] = mapped_column(Integer, primary_key=True)
    match_id: Mapped[str] = mapped_column(ForeignKey("matches.id"), index=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"))
    choice: Mapped[str] = mapped_column(String(20))
    reasons: Mapped[list[str]]
    supersedes_id: Mapped[int | None] = mapped_column(ForeignKey("votes.id"), unique=True)
    created_at: Mapped[str] = mapped_column(String(40))
