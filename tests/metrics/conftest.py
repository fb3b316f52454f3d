"""A small world to score in: a headache case, three diseases, and a builder of sealed traces."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import ontology.icd10
from metrics.knowledge import Knowledge
from metrics.params import ScoreParams
from metrics.scorecard import score_trace
from metrics.scores import Scorecard
from ontology.concepts import ConceptRow
from ontology.profiles import DiseaseProfile, Feature, ProfileHeader, ProfileSet
from ontology.vocabulary import Vocabulary
from simulator.case import Diagnosis, Fact, GroundTruth, PatientFacts, PatientVector, Provenance, opaque_case_id
from simulator.trace import DialogueTrace, FinalAnswer, Player, RankedDiagnosis, Turn

GOLDEN = Path(__file__).parents[1] / "data" / "gca_dialogues.json"
EXTRA_KINDS = {"esr": "lab", "smoking": "social", "migraine_history": "family_history", "age": "demographic", "tenderness": "sign"}


@dataclass
class Dialogue:
    """Builds a trace turn by turn; concepts are given by their short keys."""

    world: World
    case: PatientVector
    turns: list[dict[str, Any]] = field(default_factory=list)

    def _turn(self, role: str, pieces: list[tuple[str, dict[str, Any]]], act: str | None, **act_fields: Any) -> Dialogue:
        idx = len(self.turns)
        text, mentions = "", []
        for number, (words, fields) in enumerate(pieces):
            start = len(text)
            text += words + ". "
            mention = {"mention_id": f"t{idx}m{number}", "start": start, "end": start + len(words), "surface": words, "matcher": "id"}
            mentions.append({**mention, **fields})
        acts = []
        if act is not None:
            ids = [m["mention_id"] for m in mentions]
            acts.append({"act_id": f"t{idx}a0", "type": act, "mentions": ids, **act_fields})
        self.turns.append({"idx": idx, "role": role, "text": text or "…", "acts": acts, "mentions": mentions})
        return self

    def opening(self, *keys: str) -> Dialogue:
        pieces = [(self.world.name(k), {"cui": self.world.id(k), "polarity": "present", "dialogue_role": "volunteered"}) for k in keys]
        return self._turn("patient", pieces, "volunteer")

    def ask(self, *questions: tuple[Any, ...]) -> Dialogue:
        """Ask and have answered. A question is (key, answer) or (key, answer, attribute[, fields of the answer])."""
        asked, replies = [], []
        idx = len(self.turns)
        for number, (key, answer, *rest) in enumerate(questions):
            attribute = rest[0] if rest else None
            more = rest[1] if len(rest) > 1 else {}
            cui = self.world.id(key)
            asked.append((self.world.name(key), {"cui": cui, "polarity": "queried", "dialogue_role": "asked", "attribute": attribute}))
            if answer in ("affirmed", "denied", "unsure"):
                polarity = {"affirmed": "present", "denied": "absent", "unsure": "unknown"}[answer]
                reply = {"cui": cui, "polarity": polarity, "dialogue_role": answer, "attribute": attribute, "links_to": f"t{idx}m{number}"}
                replies.append((f"{answer} {self.world.name(key)}", {**reply, **more}))
        self._turn("examiner", asked, "ask")
        return self._turn("patient", replies, "answer")

    def ask_of_relative(self, key: str) -> Dialogue:
        fields = {"cui": self.world.id(key), "polarity": "queried", "dialogue_role": "asked", "experiencer": "family"}
        return self._turn("examiner", [(self.world.name(key), fields)], "ask")

    def open_question(self, *volunteered: str) -> Dialogue:
        self._turn("examiner", [], "ask", open_ended=True)
        return self.opening(*volunteered)

    def remark(self) -> Dialogue:
        return self._turn("examiner", [], "meta")

    def state(self, key: str, confirmed: bool = False) -> Dialogue:
        """The examiner says that it is so; the patient may agree."""
        idx = len(self.turns)
        cui = self.world.id(key)
        self._turn("examiner", [(self.world.name(key), {"cui": cui, "polarity": "present", "dialogue_role": "stated"})], "state")
        if confirmed:
            fields = {"cui": cui, "polarity": "present", "dialogue_role": "affirmed", "links_to": f"t{idx}m0"}
            self._turn("patient", [("yes", fields)], "answer")
        return self

    def order(self, key: str) -> Dialogue:
        idx = len(self.turns)
        cui = self.world.id(key)
        self._turn("examiner", [(self.world.name(key), {"cui": cui, "polarity": "queried", "dialogue_role": "asked"})], "order_test")
        fields = {"cui": cui, "polarity": "present", "dialogue_role": "affirmed", "links_to": f"t{idx}m0"}
        return self._turn("record", [("raised", fields)], "answer")

    def commit(self, *ranked: tuple[Any, ...] | RankedDiagnosis, **more: Any) -> DialogueTrace:
        """End with an answer: (name, code[, probability]), most likely first."""
        items = [
            item
            if isinstance(item, RankedDiagnosis)
            else RankedDiagnosis(name=item[0], icd10=item[1], prob=item[2] if len(item) > 2 else None)
            for item in ranked
        ]
        self._turn("examiner", [], "diagnose", payload={"final": True, "name": items[0].name, "icd10": items[0].icd10})
        return self.seal(outcome=FinalAnswer(ranked=items), **more)

    def seal(self, **more: Any) -> DialogueTrace:
        examiner = more.pop("examiner", "examiner-1")
        fields = {
            "trace_id": f"trace-{examiner}-{self.case.case_id}-{more.get('seed', 1)}",
            "case_id": self.case.case_id,
            "case_sha256": self.case.sha256(),
            "pool_id": "pool",
            "pool_sha256": "0" * 64,
            "examiner": Player(kind="scripted", id=examiner).model_dump(),
            "patient": Player(kind="scripted", id="patient").model_dump(),
            "budget": {"max_turns": 15},
            "seed": 1,
            "kb_version": "toy",
            "software_version": "0",
            "started_at": "2026-01-01T00:00:00.000+00:00",
            "finished_at": "2026-01-01T00:00:01.000+00:00",
            "turns": self.turns,
            "termination": "examiner_committed" if more.get("outcome") else "budget",
        }
        raw = {**fields, **{k: v.model_dump() if isinstance(v, FinalAnswer) else v for k, v in more.items()}}
        return DialogueTrace.model_validate(raw).sealed()


class World:
    """The vocabulary, the profiles and the case of the golden file."""

    def __init__(self) -> None:
        self.golden: dict[str, Any] = json.loads(GOLDEN.read_text(encoding="utf-8"))
        self.ids = {row["key"]: row["id"] for row in self.golden["concepts"]}
        self.ids |= {key: "X:" + key.replace("_", "-") for key in EXTRA_KINDS}
        rows = [
            ConceptRow(
                id=row["id"],
                name=row["name"],
                basis="local",
                kind="symptom",
                parents=[self.ids[parent] for parent in row["parents"]],
                generic=row["generic"],
            )
            for row in self.golden["concepts"]
        ]
        rows += [
            ConceptRow.model_validate({"id": self.ids[key], "name": key.replace("_", " "), "basis": "local", "kind": kind})
            for key, kind in EXTRA_KINDS.items()
        ]
        self.vocabulary = Vocabulary(rows, {}, "none")
        self.profiles = ProfileSet(
            ProfileHeader(profile_set="toy", source="tests", license="Apache-2.0"), [self.profile(row) for row in self.golden["diseases"]]
        )
        self.knowledge = self.knowing(self.profiles)
        self.case = self.new_case()
        self.params = ScoreParams()

    def id(self, key: str) -> str:
        return self.ids.get(key, key)

    def name(self, key: str) -> str:
        return self.vocabulary.name(self.id(key))

    def profile(self, row: dict[str, Any]) -> DiseaseProfile:
        """A disease with what nobody asks for as well: the complaint, a blood value, something that never occurs."""
        classes = {"headache": "very_frequent", "esr": "very_frequent", "age": "obligate", **row["features"]}
        features = [
            Feature.model_validate(
                {"concept": self.id(key), "name": self.name(key), "kind": EXTRA_KINDS.get(key, "symptom"), "frequency_class": frequency}
            )
            for key, frequency in classes.items()
        ]
        return DiseaseProfile(disease_id=row["id"], name=row["name"], icd10=row["icd10"], features=features)

    def knowing(self, profiles: ProfileSet) -> Knowledge:
        return Knowledge(profiles, self.vocabulary, ontology.icd10, "kb-toy")

    def new_case(
        self,
        number: int = 1,
        icd10: tuple[str, ...] = ("M31.6",),
        disease: str = "gca",
        findings: tuple[str, ...] | None = None,
        **truth: Any,
    ) -> PatientVector:
        present = list(findings if findings is not None else self.golden["present_findings"])
        facts = [
            Fact(
                fact_id=f"f{i}",
                concept=self.vocabulary.ref(self.id(key)),
                kind=EXTRA_KINDS.get(key, "symptom"),
                status="present",
                disclosure="opening" if i == 0 else "on_ask",
            )
            for i, key in enumerate(["headache", *present, "esr", "age"])
        ]
        spread = {"attribute": "radiation", "value": "no", "value_class": "no"}
        facts.append(Fact(fact_id="radiation", concept=self.vocabulary.ref(self.id("fever")), kind="symptom", status="present", **spread))
        provenance = {"derived_from": truth.pop("derived_from", None), "split": truth.pop("split", None)}
        return PatientVector(
            case_id=opaque_case_id("toy", str(number)),
            provenance=Provenance(
                source="toy",
                source_id=str(number),
                source_version="1",
                license="Apache-2.0",
                redistributable=True,
                world_assumption="closed",
                icd_release="2026",
                pipeline_version="1",
                **provenance,
            ),
            ground_truth=GroundTruth(
                disease_id=disease,
                primary=Diagnosis(name="Giant cell arteritis", icd10=list(icd10), aliases=["Temporal arteritis"]),
                acuity=2,
                acuity_scale="curated",
                **truth,
            ),
            patient_facts=PatientFacts(age=74, sex="F", facts=facts),
            presentation={"chief_complaint": ["f0"], "opening_text": "I have a terrible headache."},  # type: ignore[arg-type]
        )

    def start(self, case: PatientVector | None = None) -> Dialogue:
        """A dialogue after the opening words."""
        return Dialogue(self, case or self.case).opening("headache")

    def golden_dialogue(self, name: str) -> Dialogue:
        """A, B, shotgun or shotgun_capped, before the commit."""
        return self.golden_dialogue_on(self.case, name)

    def golden_dialogue_on(self, case: PatientVector, name: str) -> Dialogue:
        """The same questions and answers on another case."""
        dialogue = self.start(case)
        if name in ("A", "B"):
            for turn in self.golden["dialogues"][name]["turns"]:
                dialogue.ask(*map(tuple, turn))
            return dialogue
        relevant = list(self.golden["diseases"][0]["features"])
        junk = [f"X:junk-{number}" for number in range(self.golden["shotgun_irrelevant"])]
        cap = self.golden["answer_cap"] if name == "shotgun_capped" else len(relevant) + len(junk)
        return dialogue.ask(*((key, "affirmed" if number < cap else None) for number, key in enumerate([*relevant, *junk])))

    def score(self, trace: DialogueTrace, case: PatientVector | None = None, **more: Any) -> Scorecard:
        return score_trace(trace, case or self.case, self.knowledge, **more)

    def values(self, trace: DialogueTrace, case: PatientVector | None = None, **more: Any) -> dict[str, Any]:
        return {name: score.value for name, score in self.score(trace, case, **more).scores.items()}

    def rebuilt(self, trace: DialogueTrace, turns: list[Turn] | list[dict[str, Any]], **more: Any) -> DialogueTrace:
        """The same trace with other turns, sealed anew."""
        raw = trace.model_dump(mode="json")
        raw["turns"] = [turn.model_dump(mode="json") if isinstance(turn, Turn) else turn for turn in turns]
        return DialogueTrace.model_validate({**raw, **more}).sealed()


@pytest.fixture(scope="session")
def world() -> World:
    """Shared by all tests; nothing in it is changed."""
    return World()
