"""Precision and recall into one number (metrics.md 4.3)."""

from __future__ import annotations


def f_beta(precision: float, recall: float, beta: float = 1.0) -> float:
    """(1 + b²) P R / (b² P + R); 0 if both are 0."""
    below = beta * beta * precision + recall
    return (1 + beta * beta) * precision * recall / below if below else 0.0
