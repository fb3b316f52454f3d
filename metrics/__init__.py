"""Scores: pure functions of traces, cases, knowledge and parameters."""
