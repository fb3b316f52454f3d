"""A pool by key, and the choice of one utterance for what is to be said."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable
from random import Random

from ontology.concepts import Attribute
from simulator.case import ValueClass
from simulator.utterances import Polarity, Utterance, UtterancePool

Key = tuple[str, str | None, str | None, str]


class PoolIndex:
    """Utterances of one or more pools by (concept, attribute, value class, polarity) and by act."""

    def __init__(self, pools: Iterable[UtterancePool]) -> None:
        self.pools = list(pools)
        self._unwanted: Callable[[Utterance], bool] | None = None
        self._by_concept: dict[Key, list[Utterance]] = defaultdict(list)
        self._by_act: dict[str, list[Utterance]] = defaultdict(list)
        for pool in self.pools:
            for utterance in pool.utterances:
                if utterance.act is not None:
                    self._by_act[utterance.act].append(utterance)
                else:
                    self._by_concept[_key(utterance)].append(utterance)

    def of_concept(
        self,
        concept: str,
        polarity: Polarity,
        attribute: Attribute | None = None,
        value_class: ValueClass | None = None,
    ) -> list[Utterance]:
        """Utterances with exactly this key; for a detail, those of any value serve too."""
        found = list(self._by_concept.get((concept, attribute, value_class, polarity), ()))
        if attribute is not None and value_class not in ("any", "none", "no"):
            found += self._by_concept.get((concept, attribute, "any", polarity), ())
        if attribute is not None and value_class is not None:
            found += self._by_concept.get((concept, attribute, None, polarity), ())
        return self._wanted(found)

    def of_act(self, act: str) -> list[Utterance]:
        """Utterances of an act."""
        return self._wanted(list(self._by_act.get(act, ())))

    def without(self, unwanted: Callable[[Utterance], bool]) -> PoolIndex:
        """The index with some utterances left out; looked at when they are asked for, since a case needs few of a pool's thousands."""
        kept = PoolIndex([])
        kept.pools, kept._by_concept, kept._by_act = self.pools, self._by_concept, self._by_act
        before = self._unwanted
        kept._unwanted = unwanted if before is None else lambda utterance: before(utterance) or unwanted(utterance)
        return kept

    def _wanted(self, found: list[Utterance]) -> list[Utterance]:
        return found if self._unwanted is None else [u for u in found if not self._unwanted(u)]


def _key(utterance: Utterance) -> Key:
    return (utterance.concept or "", utterance.attribute, utterance.value_class, utterance.polarity or "")


def choose(candidates: list[Utterance], third_party: bool, used: Collection[str], rng: Random) -> Utterance | None:
    """One utterance of the right voice, a fresh one if there is any left.

    Args:
        candidates: what could be said.
        third_party: whether a caregiver speaks.
        used: ids of utterances spoken before.
        rng: the only source of chance.
    """
    voiced = [u for u in candidates if (u.form == "third_party") == third_party]
    fresh = [u for u in voiced if u.utt_id not in used]
    pick_from = sorted(fresh or voiced, key=lambda u: u.utt_id)
    return rng.choice(pick_from) if pick_from else None
