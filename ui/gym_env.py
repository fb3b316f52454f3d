"""A Gymnasium environment for training examiners (extra `gym`): the agent's words are the actions, any score of ours is the reward.

    from ui.gym_env import ConsultationEnv

    env = ConsultationEnv(cases="starter", reward="top1")
    observation, info = env.reset(seed=1)
    observation, reward, terminated, truncated, info = env.step("Do you have a fever?")

The encounter is the very one of `bedside run`: the same patient, budget, ending and trace. The reward is zero until the encounter ends.
"""

from __future__ import annotations

import asyncio
import string
import unicodedata
from typing import Any

import gymnasium

from metrics.scorecard import score_trace
from ontology.errors import BedsideError
from simulator.build import Bed, default_ward, make_bed
from simulator.case import PatientVector
from simulator.examiners.live import LiveExaminer
from simulator.protocols import Abandoned, Move, Situation
from simulator.trace import Budget, DialogueTrace
from ui.wiring import Bookshelf, load_cases

LONGEST_ACTION = 2000
LONGEST_OBSERVATION = 4000
CHARACTERS = string.ascii_letters + string.digits + string.punctuation + " \n"
LARGEST_SEED = 2**31


class ConsultationEnv(gymnasium.Env[str, str]):  # type: ignore[misc,unused-ignore]  # Any where Gymnasium is not installed
    """One case a reset: the patient speaks, the agent asks, and ends with a final answer (see `simulator.final_answer`).

    `terminated` means that the agent answered or said nothing at all; `truncated`, that the budget ended without an answer. `info` holds
    `text` (the patient's words as they are; the observation has ASCII only), `turns_left`, `must_commit`, `case_id`, and at the end
    `trace`, `scores` and, where the reward's score is undefined and counts as 0, `null_reason`.
    """

    metadata: dict[str, Any] = {"render_modes": ["ansi"]}  # noqa: RUF012

    def __init__(
        self, cases: str = "starter", reward: str = "top1", max_turns: int = 20, profiles: str = "auto", render_mode: str | None = None
    ) -> None:
        """Make an environment.

        Args:
            cases: a bundled set, or a file or folder.
            reward: the name of a score, as `bedside score --json` prints it.
            max_turns: questions before the final answer is due.
            profiles: as `bedside run --profiles`.
            render_mode: None or "ansi".

        Raises:
            BedsideError: no such cases, or no such score.
        """
        self.action_space = gymnasium.spaces.Text(LONGEST_ACTION, min_length=1, charset=CHARACTERS)
        self.observation_space = gymnasium.spaces.Text(LONGEST_OBSERVATION, min_length=0, charset=CHARACTERS)
        self.render_mode = render_mode
        self._cases = load_cases(cases)
        self._shelf = Bookshelf(profiles)
        self._shelf.check(self._cases)
        self._reward = reward
        self._budget = Budget(max_turns=max_turns)
        self._loop = asyncio.new_event_loop()
        self._task: asyncio.Task[DialogueTrace] | None = None
        self._asked: asyncio.Queue[Situation] = asyncio.Queue()
        self._answer: asyncio.Queue[Move | Exception] = asyncio.Queue()
        self._said = ""
        self._case = self._cases[0]
        self._refuse_unknown_reward()

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        """Begin an encounter with a case drawn by the seed, or with `options={"case_id": …}`.

        Raises:
            BedsideError: no case of that id.
        """
        super().reset(seed=seed)
        self._leave()
        self._case = self._chosen((options or {}).get("case_id"))
        bed = self._bed(int(self.np_random.integers(LARGEST_SEED)))
        self._asked, self._answer = asyncio.Queue(), asyncio.Queue()
        self._task = self._loop.create_task(bed.run())
        situation = self._next()
        if situation is None:
            raise RuntimeError("an encounter ended before it began")
        view = situation.view
        return self._observed(f"{view.age}-year-old, {view.sex}. {view.opening_text}"), self._info(situation, view.opening_text)

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Say something to the patient.

        Raises:
            BedsideError: there is no encounter under way.
        """
        if self._task is None:
            raise BedsideError("no encounter is under way", "ConsultationEnv.step", "call reset first")
        self._answer.put_nowait(Move(action))
        situation = self._next()
        if situation is not None:
            lines = list(situation.lines)
            last = max(index for index, line in enumerate(lines) if line.role == "examiner")
            text = "\n".join(line.text for line in lines[last + 1 :])
            return self._observed(text), 0.0, False, False, self._info(situation, text)
        trace, self._task = self._task.result(), None
        card = score_trace(trace, self._case, self._shelf.knowledge(self._case))
        score = card.scores[self._reward]
        info: dict[str, Any] = {"text": "", "case_id": self._case.case_id, "trace": trace, "scores": card}
        if not isinstance(score.value, int | float):
            info["null_reason"] = score.null_reason or "not a number"
        reward = float(score.value) if isinstance(score.value, int | float) else 0.0
        truncated = trace.termination == "budget"
        return self._observed(""), reward, not truncated, truncated, info

    def render(self) -> str | None:  # type: ignore[override,unused-ignore]
        """What the agent saw last."""
        return self._said if self.render_mode == "ansi" else None

    def close(self) -> None:
        """Leave the encounter."""
        if not self._loop.is_closed():
            self._leave()
            self._loop.close()

    def _refuse_unknown_reward(self) -> None:
        """What scores there are, a scorecard tells: that of an encounter without a question."""

        async def silent(situation: Situation) -> Move:
            return Move("I cannot tell.")

        profiles = self._shelf.profiles(self._case)
        bed = make_bed(self._case, LiveExaminer("silent", silent), default_ward(), profiles, Budget(max_turns=0), 0)
        trace = self._loop.run_until_complete(bed.run())
        known = score_trace(trace, self._case, self._shelf.knowledge(self._case)).scores
        if self._reward not in known:
            self._loop.close()
            raise BedsideError(f"no score is called {self._reward!r}", "reward", f"known: {', '.join(sorted(known))}")

    def _chosen(self, case_id: str | None) -> PatientVector:
        if case_id is None:
            return self._cases[int(self.np_random.integers(len(self._cases)))]
        for case in self._cases:
            if case.case_id == case_id:
                return case
        raise BedsideError(f"no case is called {case_id!r}", "ConsultationEnv.reset")

    def _bed(self, seed: int) -> Bed:
        async def ask(situation: Situation) -> Move:
            self._asked.put_nowait(situation)
            answer = await self._answer.get()
            if isinstance(answer, Exception):
                raise answer
            return answer

        profiles = self._shelf.profiles(self._case)
        return make_bed(self._case, LiveExaminer("agent", ask), default_ward(), profiles, self._budget, seed)

    def _next(self) -> Situation | None:
        """Play on until the agent is asked again; None when the encounter is over."""
        task = self._task

        async def wait() -> Situation | None:
            asked = asyncio.ensure_future(self._asked.get())
            await asyncio.wait({asked, task} if task else {asked}, return_when=asyncio.FIRST_COMPLETED)
            if asked.done():
                return asked.result()
            asked.cancel()
            return None

        return self._loop.run_until_complete(wait())

    def _leave(self) -> None:
        if self._task is not None:
            self._answer.put_nowait(Abandoned("left"))
            self._loop.run_until_complete(asyncio.wait({self._task}))
            self._task = None

    def _observed(self, text: str) -> str:
        plain = unicodedata.normalize("NFKD", text.replace("’", "'"))
        self._said = "".join(c if c in CHARACTERS else "?" for c in plain if not unicodedata.combining(c))[:LONGEST_OBSERVATION]
        return self._said

    def _info(self, situation: Situation, text: str) -> dict[str, Any]:
        return {
            "text": text,
            "case_id": situation.view.case_id,
            "turns_left": situation.turns_left,
            "must_commit": situation.must_commit,
        }
