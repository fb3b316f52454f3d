"""Reference examiners: a policy put into words. They ask in their own wordings and read the patient's answers, like anyone else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

from ontology.annotator import findings, read_answer
from ontology.mentions import Answer
from ontology.vocabulary import Vocabulary
from simulator.examiners.policies import History, Policy, conclude
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
        concept = None if situation.must_commit else self._policy.next_concept(history)
        if concept is None:
            return Move(render(conclude(self._policy.model, history)))
        rng = Random(f"{situation.seed}:{situation.view.case_id}:{len(situation.lines)}:{concept}")
        return Move(rng.choice(self._wordings[concept]))

    def history(self, situation: Situation) -> History:
        """What the transcript says so far."""
        lines = situation.lines
        volunteered = findings(lines[0].text, self._vocabulary) if lines else []
        return History(situation.view.age, situation.view.sex, volunteered, self._answers(lines))

    def _answers(self, lines: Sequence[Line]) -> list[tuple[str, Answer]]:
        found: list[tuple[str, Answer]] = []
        for asked, answer in zip(lines, lines[1:], strict=False):
            concept = self._concept_of.get(asked.text) if asked.role == "examiner" else None
            if concept is not None:
                found.append((concept, read_answer(answer.text) if answer.role == "patient" else "unanswered"))
        return found
