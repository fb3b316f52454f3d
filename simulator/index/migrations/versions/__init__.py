"""Alembic migrations of the index, run by simulator.index.database."""
