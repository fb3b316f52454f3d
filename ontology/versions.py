"""One version for all knowledge that an encounter and its scores rest on."""

from __future__ import annotations

from ontology.clinical import clinical_version
from ontology.documents import content_hash
from ontology.icd10 import icd_tree, synonyms_version
from ontology.profiles import ProfileSet
from ontology.vocabulary import Vocabulary


def kb_version(profiles: ProfileSet, vocabulary: Vocabulary) -> str:
    """Changes with the profiles, the vocabulary, the ICD-10-CM release, our names for its codes, or the clinical tables."""
    return content_hash([profiles.version, vocabulary.version, icd_tree().table.version, synonyms_version(), clinical_version()])[:16]
