"""The acts and mentions of a turn while it is being read."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from pydantic import JsonValue

from ontology import cues
from ontology.concepts import Attribute
from ontology.context import SentenceContext
from ontology.mentions import Act, ActType, DialogueRole, Mention
from ontology.vocabulary import Match, Vocabulary

NEXT_WORD = re.compile(r"(?<=\W)\w")


@dataclass
class Annotation:
    """The acts and mentions of one turn."""

    acts: list[Act] = field(default_factory=list)
    mentions: list[Mention] = field(default_factory=list)


class AnnotationBuilder:
    """Collects acts and mentions with ids that are unique in the trace."""

    def __init__(self, text: str, turn: int, others: re.Pattern[str]) -> None:
        self.text = text
        self.others = others
        self.turn = turn
        self.out = Annotation()
        self.details: set[tuple[str, str]] = set()
        self._spans: set[tuple[int, int, str]] = set()
        self._next = 0

    def mention(
        self,
        match: Match,
        role: DialogueRole,
        attribute: Attribute | None = None,
        family: bool = False,
        historical: bool = False,
        negated: bool = False,
    ) -> str:
        """Add a mention of a match; its id."""
        frame = cues.FRAME.match(self.text, match.start, match.end)
        start = frame.end() if frame and frame.end() < match.end else match.start
        if (start, match.end, role) in self._spans:
            start = match.start  # two mentions of one role never share a span
        while (start, match.end, role) in self._spans and (word := NEXT_WORD.search(self.text, start + 1, match.end)):
            start = word.start()
        self._spans.add((start, match.end, role))
        mention = Mention(
            mention_id=f"t{self.turn}m{self._next}",
            start=start,
            end=match.end,
            surface=self.text[start : match.end],
            cui=match.concept,
            alt_cuis=list(match.alternatives),
            matcher="lexicon",
            attribute=attribute,
            polarity="queried" if role == "asked" else "absent" if negated else "present",
            temporality="historical" if historical else "current",
            experiencer="family" if family else "patient",
            dialogue_role=role,
        )
        self._next += 1
        self.out.mentions.append(mention)
        return mention.mention_id

    def stated(self, matches: Sequence[Match], sentence: str, start: int) -> list[str]:
        """Add what a sentence that begins at `start` states of findings: whether they are so, when, and whose; their ids."""
        context = SentenceContext(sentence)
        ids = []
        for match in matches:
            says = context.of(match.start - start, match.end - start)
            family, past, absent = says.experiencer != "patient", says.temporality == "historical", says.polarity == "absent"
            ids.append(self.mention(match, "stated", family=family, historical=past, negated=absent))
        return ids

    def asked_again(self, mention_id: str, attribute: Attribute) -> str | None:
        """Make a stated mention the one whose detail is asked; None if it is stated no longer."""
        for place, mention in enumerate(self.out.mentions):
            if mention.mention_id == mention_id and mention.dialogue_role == "stated":
                update = {"dialogue_role": "asked", "polarity": "queried", "attribute": attribute}
                self.out.mentions[place] = mention.model_copy(update=update)
                for act in self.out.acts:
                    if act.type == "state":
                        act.mentions = [m for m in act.mentions if m != mention_id]
                self.out.acts = [act for act in self.out.acts if act.type != "state" or act.mentions or act.payload]
                return mention_id
        return None

    def act(
        self,
        kind: ActType,
        mentions: Sequence[str] = (),
        open_ended: bool = False,
        plan: Mapping[str, JsonValue] | None = None,
        **payload: str,
    ) -> None:
        """Add an act over mentions, by their ids."""
        self.out.acts.append(
            Act(
                act_id=f"t{self.turn}a{len(self.out.acts)}",
                type=kind,
                mentions=list(mentions),
                open_ended=open_ended,
                payload={**payload, **(plan or {})},
            )
        )


@dataclass(frozen=True)
class Focus:
    """What "it" means, and the mention by which the examiner has just stated it."""

    concept: str | None
    stated: str | None = None


def shifted(match: Match, by: int) -> Match:
    """A match of a part of a text, at its place in the whole."""
    return replace(match, start=match.start + by, end=match.end + by)


def disease_of(match: Match, text: str, vocabulary: Vocabulary) -> Match:
    """The disease that a phrase such as "family history of asthma" names, if it is one of the vocabulary's; else the phrase itself."""
    words = text[match.start : match.end]
    borders = [0, *(at for cue in cues.FAMILY_WORDS.finditer(words) for at in cue.span()), len(words)]
    found: list[Match] = []
    for begin, end in zip(borders[::2], borders[1::2], strict=True):
        inner = vocabulary.find(words[begin:end])
        found += [shifted(m, match.start + begin) for m in inner if vocabulary.kind(m.concept) != "family_history"]
    return replace(found[0], alternatives=(match.concept, *found[0].alternatives)) if len(found) == 1 else match


def family_concept_of(mention: Mention, vocabulary: Vocabulary) -> str | None:
    """The concept of the patient's own history that a relative's disease is: asthma in the family is "family history of asthma".

    None if the mention is the patient's own, or there is no such concept.
    """
    if mention.experiencer != "family":
        return None
    named = next((c for c in (mention.cui, *mention.alt_cuis) if vocabulary.kind(c) == "family_history"), None)
    return named or vocabulary.family_concept(mention.cui)
