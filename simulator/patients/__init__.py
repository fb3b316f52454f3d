"""Patients: they understand what is asked and answer from the pool."""

from simulator.patients.embedded import EmbeddedPatient

__all__ = ["EmbeddedPatient"]
