"""The embedded patient: no model at all. The annotator understands, the facts decide, the pool speaks."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from ontology.annotation import family_concept_of
from ontology.annotator import PRESENTING_COMPLAINT
from ontology.concepts import Attribute
from ontology.mentions import Act, DialogueRole, Mention
from ontology.vocabulary import Vocabulary
from simulator.case import Fact, PatientSide
from simulator.patients.facts import FactIndex, Finding
from simulator.patients.reading import examiner_words
from simulator.patients.record import Record
from simulator.pools.index import PoolIndex, choose
from simulator.pools.person import Person, fill
from simulator.protocols import PatientFailure, Reading, Reply
from simulator.trace import Player, Turn
from simulator.utterances import Polarity, Utterance

ROLE_OF_STATUS: dict[str, tuple[DialogueRole, Polarity]] = {
    "present": ("affirmed", "affirm"),
    "absent": ("denied", "deny"),
    "unknown": ("unsure", "unsure"),
}
OTHER_ACTS: dict[Polarity, str] = {"affirm": "affirm_other", "deny": "deny_other", "unsure": "unsure_other", "volunteer": "affirm_other"}
UTTERANCE = "utt_id"
"""Where the act of a remark without a concept keeps its utterance, as a mention does in its own field."""
QUALITIES = frozenset({"itching", "painfulness", "peeling", "swelling"})
"""Details by which an examiner describes a finding just named: "is the rash itchy?"."""
META_ACTS = {"greet", "thanks", "goodbye", "name", "age", "sex", "feelings", "consent"}


class EmbeddedPatient:
    """A patient bound to one case; see `simulator.protocols.Patient`."""

    def __init__(self, side: PatientSide, pool: PoolIndex, vocabulary: Vocabulary, max_concepts_per_turn: int = 3) -> None:
        self._side = side
        self._pool = pool
        self._vocabulary = vocabulary
        self._cap = max_concepts_per_turn
        self._facts = FactIndex(side, vocabulary)
        self._record = Record(side, vocabulary)
        self._person = Person(side.age, side.sex)
        concept_of = {fact.fact_id: vocabulary.canonical(fact.concept.cui) for fact in side.facts}
        self._complaint = next((concept_of[i] for i in side.presentation.chief_complaint if i in concept_of), None)

    @property
    def player(self) -> Player:
        """The embedded orchestrator names no model."""
        return Player(kind="embedded", id="embedded")

    # -- understanding ----------------------------------------------------------------------------------------------

    def read(self, text: str, turns: Sequence[Turn]) -> Reading:
        """Understand a turn; a span that could mean several concepts means the one this case speaks of."""
        focus = self._focus(turns)
        acts, found = examiner_words(self._vocabulary, text, len(turns), focus, self._side.caregiver_speaks)
        mentions: list[Mention] = []
        subject: str | None = None
        for mention in found:
            if mention.cui == focus and mention.attribute is not None and not self._vocabulary.find(mention.surface):
                mention = self._it(mention, mention.attribute)
            mention = self._resolved(self._about_me(mention, subject))
            subject = mention.cui if mention.dialogue_role == "stated" else subject
            mentions.append(mention)
        return Reading(acts, tuple(mentions))

    def _it(self, mention: Mention, attribute: Attribute) -> Mention:
        """The pronoun is what was last said to be so, unless only the complaint has such a detail."""
        if self._complaint is None or self._facts.details(mention.cui, attribute) or not self._facts.details(self._complaint, attribute):
            return mention
        return mention.model_copy(update={"cui": self._complaint})

    def _about_me(self, mention: Mention, subject: str | None) -> Mention:
        """A mention in the terms of this case: whose complaint it is, which family history, which detail of the rash that was named."""
        if mention.cui == PRESENTING_COMPLAINT and self._complaint is not None:
            return mention.model_copy(update={"cui": self._complaint})
        of_family = family_concept_of(mention, self._vocabulary)
        if of_family is not None:
            others = [c for c in (mention.cui, *mention.alt_cuis) if c != of_family]
            return mention.model_copy(update={"cui": of_family, "alt_cuis": others, "experiencer": "patient"})
        if mention.dialogue_role == "asked" and mention.attribute in QUALITIES and subject is not None:
            if self._facts.details(subject, mention.attribute):
                return mention.model_copy(update={"cui": subject, "alt_cuis": []})
            return mention.model_copy(update={"attribute": None})
        return mention

    def _resolved(self, mention: Mention) -> Mention:
        candidates = [mention.cui, *mention.alt_cuis]
        quality = next((c for c in candidates if self._vocabulary.detail(c) is not None), None)
        if quality is not None and mention.attribute is not None and not self._facts.details(quality, mention.attribute, near=False):
            return self._quality(mention, quality)
        best = self._facts.best(candidates)
        if best == mention.cui or self._vocabulary.kind(mention.cui) == "family_history":
            return mention
        return mention.model_copy(update={"cui": best, "alt_cuis": [c for c in candidates if c != best]})

    def _quality(self, mention: Mention, quality: str) -> Mention:
        """The finding that "is it worse when you move?" asks for, unless the case has only a detail of the complaint to tell."""
        of = self._complaint if mention.cui == quality else mention.cui
        if not self._facts.knows(quality) and of is not None and mention.attribute and self._facts.details(of, mention.attribute):
            return mention.model_copy(update={"cui": of, "alt_cuis": [quality]})
        others = [c for c in (mention.cui, *mention.alt_cuis) if c != quality]
        return mention.model_copy(update={"cui": quality, "attribute": None, "alt_cuis": others})

    def _focus(self, turns: Sequence[Turn]) -> str | None:
        """What "it" means: the finding last said to be so."""
        for turn in reversed(turns):
            for mention in reversed(turn.mentions):
                if mention.dialogue_role in ("affirmed", "volunteered") and turn.role == "patient":
                    return mention.cui
        return None

    # -- answering --------------------------------------------------------------------------------------------------

    async def reply(self, turn: Turn, turns: Sequence[Turn], rng: Random) -> list[tuple[str, Reply]]:
        """Answer an examiner turn: the patient what it is asked, the record what is ordered."""
        by_id = {mention.mention_id: mention for mention in turn.mentions}
        speech = _Speech(self, turn.idx + 1, turns, rng)
        orders: list[Mention] = []
        ordered = False
        for act in turn.acts:
            if act.type == "ask":
                self._answer_ask(speech, act, [by_id[m] for m in act.mentions])
            elif act.type == "order_test":
                ordered = True
                orders += [by_id[m] for m in act.mentions]
        replies: list[tuple[str, Reply]] = []
        if not speech.parts and not ordered:
            self._answer_rest(speech, turn.acts)
        if speech.parts:
            replies.append(("patient", speech.reply()))
        if ordered:
            replies.append(("record", self._record.reply(turn.idx + 1 + len(replies), orders)))
        return replies

    def _answer_ask(self, speech: _Speech, act: Act, asked: list[Mention]) -> None:
        if not asked and act.open_ended:
            self._volunteer(speech)
        elif not asked:
            speech.not_understood = True
        for mention in asked:
            if speech.answered >= self._cap:
                speech.truncated = True
                return
            speech.answered += 1
            self._answer_one(speech, mention)

    def _answer_one(self, speech: _Speech, mention: Mention) -> None:
        if mention.experiencer != "patient":
            # "I'm not sure it is chest pain" would speak of the patient, who was not asked about.
            speech.say_act("unsure_other", mention, Finding(mention.cui, "unknown", None))
            return
        finding = self._facts.presence(mention.cui)
        if mention.attribute is not None:
            # The severity of a pain elsewhere is no answer to how bad a headache is that is not there.
            details = self._facts.details(finding.concept, mention.attribute, near=finding.status == "present")
            if details:
                self._answer_detail(speech, mention, details)
                return
            if finding.status == "present" and self._vocabulary.kind(finding.concept) == "symptom":
                speech.say_act("no_attribute", mention, finding)
                return
        role, polarity = ROLE_OF_STATUS[finding.status]
        particulars = self._particulars(mention.cui) or self._particulars(finding.concept)
        if particulars:
            speech.say_detail(mention, particulars, role)
        else:
            speech.say_about(finding.concept, role, polarity, finding.fact, mention)

    def _particulars(self, concept: str) -> list[Fact]:
        """Which drug, which job, which allergy: what people say at once when asked for such a thing."""
        if self._vocabulary.kind(concept) == "symptom":
            return []
        # Of this very thing: to list all one's medicines is no answer to "do you take aspirin?".
        return [f for f in self._facts.details(concept, "detail", near=False) if f.status == "present" and f.value]

    def _answer_detail(self, speech: _Speech, mention: Mention, details: list[Fact]) -> None:
        known = [f for f in details if f.status == "present" and f.value]
        denied = next((f for f in details if f.status == "absent"), None)
        if not known and denied is not None:
            speech.deny_detail(mention, denied)
            return
        if not known:
            speech.say_act("no_attribute", mention, Finding(mention.cui, "unknown", details[0]))
            return
        speech.say_detail(mention, known)

    def _volunteer(self, speech: _Speech) -> None:
        told = speech.told_concepts()
        for fact in self._side.facts:
            concept = self._vocabulary.canonical(fact.concept.cui)
            if fact.disclosure == "volunteer" and fact.status == "present" and fact.attribute is None and concept not in told:
                speech.say_about(concept, "volunteered", "volunteer", fact, None)
                return
        speech.say_act("nothing_else", None, None)

    def _answer_rest(self, speech: _Speech, acts: Sequence[Act]) -> None:
        topics = [str(act.payload.get("topic")) for act in acts if act.type == "meta"]
        known = next((topic for topic in reversed(topics) if topic in META_ACTS), None)
        if known is not None and not speech.not_understood:
            speech.say_act({"age": "identity_age"}.get(known, known), None, None)
        elif speech.not_understood or not acts:
            speech.say_act("not_understood", None, None)
        elif any(act.type in ("advise", "treat", "triage", "diagnose") for act in acts):
            speech.say_act("advice_ack", None, None)
        else:
            speech.say_act("remark_ack", None, None)


class _Speech:
    """An answer under way: parts of text with their mentions."""

    def __init__(self, patient: EmbeddedPatient, turn_idx: int, turns: Sequence[Turn], rng: Random) -> None:
        self._patient = patient
        self._turn_idx = turn_idx
        self._turns = turns
        self._rng = rng
        self._used = {m.utt_id for turn in turns for m in turn.mentions if m.utt_id}
        self._used |= {str(act.payload[UTTERANCE]) for turn in turns for act in turn.acts if UTTERANCE in act.payload}
        self.parts: list[str] = []
        self._mentions: list[Mention] = []
        self._volunteered: list[str] = []
        self._answers: list[str] = []
        self._remarks: list[tuple[str, str]] = []
        self.answered = 0
        self.truncated = False
        self.not_understood = False

    def told_concepts(self) -> set[str]:
        """What the patient has said already, here or before."""
        before = {m.cui for turn in self._turns for m in turn.mentions if turn.role == "patient"}
        return before | {m.cui for m in self._mentions}

    def say_about(self, concept: str, role: DialogueRole, polarity: Polarity, fact: Fact | None, asked: Mention | None) -> None:
        """Affirm, deny, be unsure of or volunteer a concept."""
        pool = self._patient._pool
        # "My periods are not heavy" is no answer for a man.
        impossible = self._patient._vocabulary.impossible(concept, self._patient._side.sex)
        utterance = None if impossible else self._choose(pool.of_concept(concept, polarity))
        if utterance is None and polarity == "volunteer":
            utterance = self._choose(pool.of_concept(concept, "affirm"))
        if utterance is None:
            utterance = self._choose(pool.of_act(OTHER_ACTS[polarity]))
        name = self._patient._vocabulary.name(concept).lower()
        value = fact.value if fact is not None and fact.value else ""
        self._add(utterance, concept, role, fact, asked, name=name, value=value)

    def say_detail(self, asked: Mention, known: list[Fact], role: DialogueRole | None = None) -> None:
        """Give a detail; several values are listed. The role is that of the answer to "is it so?", where that was the question."""
        fact = known[0]
        concept = self._patient._vocabulary.canonical(fact.concept.cui)
        polarity: Polarity = "deny" if fact.value_class in ("none", "no") else "affirm"
        candidates = self._patient._pool.of_concept(concept, polarity, fact.attribute, fact.value_class or "any")
        utterance = self._choose(candidates) or self._choose(self._patient._pool.of_act("detail_other"))
        values = list(dict.fromkeys(f.value or "" for f in known))
        self._add(
            utterance, asked.cui, role or ("denied" if polarity == "deny" else "affirmed"), fact, asked, value=listed(values), name=""
        )

    def deny_detail(self, asked: Mention, fact: Fact) -> None:
        """Say that a detail is not so: it spreads nowhere."""
        pool = self._patient._pool
        concept = self._patient._vocabulary.canonical(fact.concept.cui)
        near = [concept, *self._patient._vocabulary.ancestors(concept, through_generic=True)]
        worded = next((found for c in near if (found := pool.of_concept(c, "deny", fact.attribute, "none"))), [])
        utterance = self._choose(worded) or self._choose(pool.of_act("deny_other"))
        self._add(utterance, asked.cui, "denied", fact, asked, value="", name="")

    def say_act(self, act: str, asked: Mention | None, finding: Finding | None) -> None:
        """Say something that is keyed by an act; with `asked`, it answers that mention with "unsure"."""
        utterance = self._choose(self._patient._pool.of_act(act))
        concept = finding.concept if finding is not None else None
        self._add(utterance, concept if asked is not None else None, "unsure", finding.fact if finding else None, asked)

    def _choose(self, candidates: list[Utterance]) -> Utterance | None:
        found = choose(candidates, self._patient._side.caregiver_speaks, self._used, self._rng)
        return found

    def _add(
        self, utterance: Utterance | None, concept: str | None, role: DialogueRole, fact: Fact | None, asked: Mention | None, **values: str
    ) -> None:
        if utterance is None:
            raise PatientFailure(f"the pool has no words for {concept or 'this'} ({role})")
        self._used.add(utterance.utt_id)
        said = fill(utterance.text, self._patient._person, **values)
        start = sum(len(part) + 1 for part in self.parts)
        self.parts.append(said)
        if concept is None:
            self._remarks.append((utterance.act or "", utterance.utt_id))
            return
        mention_id = f"t{self._turn_idx}m{len(self._mentions)}"
        polarity = {"affirmed": "present", "volunteered": "present", "denied": "absent"}.get(role, "unknown")
        self._mentions.append(
            Mention.model_validate(
                {
                    "mention_id": mention_id,
                    "start": start,
                    "end": start + len(said),
                    "surface": said,
                    "cui": concept,
                    "matcher": "pool",
                    "attribute": asked.attribute if asked is not None else None,
                    "polarity": polarity,
                    "experiencer": asked.experiencer if asked is not None else "patient",
                    "dialogue_role": role,
                    "links_to": asked.mention_id if asked is not None else None,
                    "fact_id": fact.fact_id if fact is not None else None,
                    "utt_id": utterance.utt_id,
                }
            )
        )
        (self._volunteered if asked is None else self._answers).append(mention_id)

    def reply(self) -> Reply:
        """What was said, as one message."""
        acts: list[Act] = []
        for kind, ids in (("answer", self._answers), ("volunteer", self._volunteered)):
            if ids:
                acts.append(Act.model_validate({"act_id": f"t{self._turn_idx}a{len(acts)}", "type": kind, "mentions": ids}))
        for topic, utt_id in self._remarks:
            acts.append(Act(act_id=f"t{self._turn_idx}a{len(acts)}", type="meta", payload={"topic": topic, UTTERANCE: utt_id}))
        return Reply(" ".join(self.parts), tuple(acts), tuple(self._mentions), self.truncated)


def listed(values: Sequence[str]) -> str:
    """Values in a sentence: a; a and b; a, b and c."""
    if len(values) <= 1:
        return "".join(values)
    return ", ".join(values[:-1]) + " and " + values[-1]
