"""What an examiner's words mean, remembered: models at one temperature, and reference examiners always, ask the same at the same point."""

from __future__ import annotations

from functools import lru_cache

from ontology.annotator import annotate_examiner
from ontology.mentions import Act, Mention
from ontology.vocabulary import Vocabulary

REMEMBERED = 2048


@lru_cache(maxsize=REMEMBERED)
def examiner_words(
    vocabulary: Vocabulary, text: str, turn: int, focus: str | None, for_child: bool
) -> tuple[tuple[Act, ...], tuple[Mention, ...]]:
    """Acts and mentions as `ontology.annotator.annotate_examiner` finds them; shared by all who ask, so never to be changed in place."""
    found = annotate_examiner(text, vocabulary, turn, focus, for_child)
    return tuple(found.acts), tuple(found.mentions)
