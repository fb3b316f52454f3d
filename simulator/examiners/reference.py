"""Reference examiners: a policy put into words. They ask in their own wordings and read the patient's answers, like anyone else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from random import Random

from ontology.annotator import findings, read_answer
from ontology.mentions import Answer
from ontology.vocabulary import Vocabulary
from simulator.examiners.policies import History, Policy
from simulator.final_answer import render
from simulator.protocols import Line, Move, Situation
from simulator.trace import Player

FALLBACK_WORDINGS = (
    "Have you had {name}?",
    "Do you have {name}?",
    "Have you noticed any {name}?",
    "Any {name}?",
    "Has there been any {name}?",
)


SAYS_NOTHING = "I see."


class ReferenceExaminer:
    """A policy that acts through text. Stateless: the transcript is all it remembers."""

    def __init__(self, policy: Policy, vocabulary: Vocabulary) -> None:
        """Make an examiner.

        Args:
            policy: what to ask and conclude.
            vocabulary: for the wordings, and to read what the patient says.
        """
        self._policy = policy
        self._vocabulary = vocabulary
        self._wordings: Mapping[str, tuple[str, ...]] = {concept: self.wordings(concept) for concept in policy.model.askable}
        self._concept_of = {text: concept for concept, texts in self._wordings.items() for text in texts}

    @property
    def player(self) -> Player:
        """Named after the policy and the knowledge it uses."""
        return Player(
            kind="reference",
            id=self._policy.name,
            revision=self._policy.model.profiles.version,
            sampling={"profiles": self._policy.model.profiles.header.profile_set},
        )

    def wordings(self, concept: str) -> tuple[str, ...]:
        """The ways in which a concept is asked, at least five."""
        row = self._vocabulary.rows.get(self._vocabulary.canonical(concept))
        own = tuple(row.ask) if row is not None else ()
        name = self._vocabulary.name(concept).lower()
        spare = tuple(text.format(name=name) for text in FALLBACK_WORDINGS)
        return own if len(own) >= len(FALLBACK_WORDINGS) else own + spare

    async def move(self, situation: Situation) -> Move:
        """Ask the policy's next question in one of its wordings, or commit."""
        history = self.history(situation)
        wanted = [] if situation.must_commit else self._next_concepts(history)
        if not wanted:
            return Move(render(self._policy.answer(history)) if self._policy.commits else SAYS_NOTHING)
        rng = Random(f"{situation.seed}:{situation.view.case_id}:{len(situation.lines)}:{wanted[0]}")
        return Move(" ".join(rng.choice(self._wordings[concept]) for concept in wanted))

    def _next_concepts(self, history: History) -> list[str]:
        """The concepts of the next turn: as many as the policy puts into one."""
        found: list[str] = []
        while len(found) < self._policy.per_turn:
            asked: list[tuple[str, Answer]] = [(concept, "unanswered") for concept in found]
            concept = self._policy.next_concept(replace(history, answers=[*history.answers, *asked]))
            if concept is None:
                break
            found.append(concept)
        return found

    def history(self, situation: Situation) -> History:
        """What the transcript says so far."""
        lines = situation.lines
        volunteered = findings(lines[0].text, self._vocabulary) if lines else []
        return History(situation.view.age, situation.view.sex, volunteered, self._answers(lines))

    def _answers(self, lines: Sequence[Line]) -> list[tuple[str, Answer]]:
        found: list[tuple[str, Answer]] = []
        for asked, answer in zip(lines, lines[1:], strict=False):
            if asked.role != "examiner":
                continue
            concept = self._concept_of.get(asked.text)
            if concept is not None:
                found.append((concept, read_answer(answer.text) if answer.role == "patient" else "unanswered"))
            elif self._policy.per_turn > 1:
                found += self._compound_answers(asked.text, answer)
        return found

    def _compound_answers(self, asked: str, answer: Line) -> list[tuple[str, Answer]]:
        """Answers to several questions in one turn: those that name what they are about; a bare yes or no settles nothing."""
        named = dict(findings(answer.text, self._vocabulary)) if answer.role == "patient" else {}
        found: list[tuple[str, Answer]] = []
        for concept in self._concepts_in(asked):
            present = named.get(concept)
            found.append((concept, "unanswered" if present is None else "affirmed" if present else "denied"))
        return found

    def _concepts_in(self, asked: str) -> list[str]:
        """The concepts of a turn that is made of wordings, one after another."""
        found = []
        while asked:
            wording = max((text for text in self._concept_of if asked.startswith(text)), key=len, default=None)
            if wording is None:
                break
            found.append(self._concept_of[wording])
            asked = asked[len(wording) :].lstrip()
        return found
