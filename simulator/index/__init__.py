"""The database index: what the run folders hold, made searchable, and what people add to it. Loads SQLAlchemy; import it where it is used.

- runs, encounters, scores are derived: run folders are canonical, and `RunIndex.reindex` makes these rows again.
- users, annotations, matches, votes have no other home. Annotations and votes are append-only: a later row supersedes an earlier one.
"""
