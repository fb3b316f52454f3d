"""Examiners: reference policies, a script, a person at a terminal, and any model behind an OpenAI-compatible endpoint.

Every one of them acts through text alone.
"""
