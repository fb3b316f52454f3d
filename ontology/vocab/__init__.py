"""Vocabularies built from a UMLS release or from open ontologies, over the bundled one."""
