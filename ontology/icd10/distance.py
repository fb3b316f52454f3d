"""Semantic diagnostic distance on the ICD-10-CM tree (metrics.md 3.1 to 3.4).

Codes are in normal form, as `normalise` and `resolve` give them. A diagnosis is one code (a string) or a set
of codes; two sets are as far apart as their nearest pair, and an empty set (unresolved) is at distance 1 from
everything. With A(c) the ancestors-or-self of a code, I, x and y below are the weights of what prediction and
truth share, of what the prediction adds, and of what it lacks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from ontology.icd10.information import IcMethod
from ontology.icd10.tree import CATEGORY_DEPTH, icd_tree

Codes: TypeAlias = str | Iterable[str]
Relation = Literal[
    "exact",
    "under_specified",
    "over_specified",
    "same_subcategory",
    "same_category",
    "same_block",
    "same_chapter",
    "different_chapter",
    "unresolved",
]

UNRESOLVED = 1.0
"""Distance of a diagnosis without any code (intention to treat)."""

SECONDARY_PENALTY = 0.25
"""Lambda of `sdd_case`."""

TVERSKY = (1.0, 0.5, 0.5)
"""alpha, beta, gamma of `d_tversky`."""

_SHARED: tuple[Relation, ...] = (
    "different_chapter",
    "same_chapter",
    "same_block",
    "same_category",
    "same_subcategory",
)
_DEPTH = {"chapter": 1, "block": 2, "category": CATEGORY_DEPTH}


class Overlap(NamedTuple):
    """I, x and y of a pair with unit weights: numbers of ancestors-or-self."""

    shared: int
    extra: int
    missed: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """All distances of a prediction from a truth.

    Every distance is the least over the pairs of codes; relation and overlap are those of the nearest pair in
    `sdd`, then `sdd_sym`. Of an unresolved side, pair, overlap and path are None.
    """

    relation: Relation
    pair: tuple[str, str] | None
    overlap: Overlap | None
    path: int | None
    sdd: float
    sdd_sym: float
    sdd_jaccard: float
    sdd_ic: float
    sdd_directional: float


@dataclass(frozen=True, slots=True)
class CaseDistance:
    """Distance from a case with secondary diagnoses, and which kind of diagnosis it comes from."""

    value: float
    via: Literal["primary", "secondary"]


def overlap(pred: str, truth: str) -> Overlap:
    """I, x and y of two codes with unit weights."""
    tree = icd_tree()
    mine, theirs = tree.path(pred), tree.path(truth)
    shared = 0
    for one, other in zip(mine, theirs, strict=False):
        if one != other:
            break
        shared += 1
    return Overlap(shared, len(mine) - shared, len(theirs) - shared)


def sdd(pred: Codes, truth: Codes) -> float:
    """The headline distance: 0 if the prediction is the truth or a descendant of it, else `sdd_sym`."""
    return _least(_sdd, pred, truth)


def sdd_sym(pred: Codes, truth: Codes) -> float:
    """1 - Wu-Palmer, which is 1 - hierarchical F1: (x + y) / (2I + x + y)."""
    return _least(_wu_palmer, pred, truth)


def sdd_jaccard(pred: Codes, truth: Codes) -> float:
    """1 - Jaccard: (x + y) / (I + x + y); a metric on any structure."""
    return _least(_jaccard, pred, truth)


def d_path(pred: Codes, truth: Codes) -> int | None:
    """Edges between the codes, by way of the virtual root if need be; None if a side is unresolved."""
    mine, theirs = _as_tuple(pred), _as_tuple(truth)
    return min((_edges(one, other) for one in mine for other in theirs), default=None)


def d_lin(pred: Codes, truth: Codes, method: IcMethod = "seco") -> float:
    """1 - Lin: `sdd_sym` with information content for weights."""
    return _least(lambda one, other: _informed(one, other, method, 2.0), pred, truth)


def d_jaccard_ic(pred: Codes, truth: Codes, method: IcMethod = "seco") -> float:
    """1 - Jaccard with information content for weights."""
    return _least(lambda one, other: _informed(one, other, method, 1.0), pred, truth)


def d_resnik(pred: Codes, truth: Codes, method: IcMethod = "seco") -> float:
    """1 - information content of the lowest common ancestor; of a code to itself it need not be 0."""

    def measure(one: str, other: str) -> float:
        tree = icd_tree()
        return 1.0 - tree.information_at(tree.path(one)[: overlap(one, other).shared], method)

    return _least(measure, pred, truth)


def d_tversky(pred: Codes, truth: Codes, alpha: float = TVERSKY[0], beta: float = TVERSKY[1], gamma: float = TVERSKY[2]) -> float:
    """Directional distance (a x + beta y) / (I + a x + beta y).

    Here a is gamma where the truth is met (y = 0), else alpha.

    Args:
        pred: the prediction.
        truth: the truth.
        alpha: weight of what is committed to and wrong.
        beta: weight of missed detail.
        gamma: weight of detail beyond the truth.
    """
    return _least(lambda one, other: _tversky(one, other, alpha, beta, gamma), pred, truth)


def relation(pred: Codes, truth: Codes) -> Relation:
    """How the prediction stands to the truth in the tree; for sets, in the nearest pair."""
    pair = _nearest(_as_tuple(pred), _as_tuple(truth))
    return "unresolved" if pair is None else _relation(overlap(*pair))


def compare(pred: Codes, truth: Codes) -> Comparison:
    """All distances that are always reported."""
    mine, theirs = _as_tuple(pred), _as_tuple(truth)
    pair = _nearest(mine, theirs)
    between = None if pair is None else overlap(*pair)
    return Comparison(
        relation="unresolved" if between is None else _relation(between),
        pair=pair,
        overlap=between,
        path=d_path(mine, theirs),
        sdd=sdd(mine, theirs),
        sdd_sym=sdd_sym(mine, theirs),
        sdd_jaccard=sdd_jaccard(mine, theirs),
        sdd_ic=d_lin(mine, theirs),
        sdd_directional=d_tversky(mine, theirs),
    )


def sdd_case(pred: Codes, primary: Codes, secondary: Sequence[Codes] = (), penalty: float = SECONDARY_PENALTY) -> CaseDistance:
    """Distance from a case: a secondary diagnosis counts, at a penalty.

    Args:
        pred: the prediction.
        primary: the first diagnosis.
        secondary: the further diagnoses.
        penalty: lambda in lambda + (1 - lambda) sdd; 0 gives full credit.
    """
    if not 0.0 <= penalty <= 1.0:
        raise ValueError("penalty must be in 0..1")
    mine = _as_tuple(pred)
    first = sdd(mine, primary)
    others = [penalty + (1.0 - penalty) * sdd(mine, truth) for truth in secondary]
    if others and min(others) < first:
        return CaseDistance(min(others), "secondary")
    return CaseDistance(first, "primary")


def best_of(preds: Iterable[Codes], truth: Codes) -> float:
    """The least `sdd` among ranked answers; 1 if there are none."""
    truths = _as_tuple(truth)
    return min((sdd(pred, truths) for pred in preds), default=UNRESOLVED)


def expected_sdd(preds: Iterable[tuple[Codes, float]], truth: Codes) -> float:
    """Mean `sdd` under the stated probabilities; mass that is not given away counts as distance 1.

    Args:
        preds: answers with their probabilities.
        truth: the truth.
    """
    truths = _as_tuple(truth)
    mass = value = 0.0
    for pred, probability in preds:
        if probability < 0.0:
            raise ValueError("probabilities must not be negative")
        mass += probability
        value += probability * sdd(pred, truths)
    if mass > 1.0 + 1e-9:
        raise ValueError("probabilities sum to more than 1")
    return min(UNRESOLVED, value + max(0.0, 1.0 - mass) * UNRESOLVED)  # sums of shares may pass 1 by a rounding


def is_same_or_descendant(pred: Codes, truth: Codes) -> bool:
    """Whether a predicted code is a code of the truth or below it (acc_truth, as far as codes can tell)."""
    return _any_pair(lambda one, other: overlap(one, other).missed == 0, pred, truth)


def same_at(level: Literal["chapter", "block", "category"], pred: Codes, truth: Codes) -> bool:
    """Whether prediction and truth have the same ancestor-or-self at a level; never for codes above it."""
    depth = _DEPTH[level]
    return _any_pair(lambda one, other: overlap(one, other).shared >= depth, pred, truth)


def _as_tuple(codes: Codes) -> tuple[str, ...]:
    return (codes,) if isinstance(codes, str) else tuple(codes)


def _least(measure: Callable[[str, str], float], pred: Codes, truth: Codes) -> float:
    if isinstance(pred, str) and isinstance(truth, str):
        return measure(pred, truth)
    mine, theirs = _as_tuple(pred), _as_tuple(truth)
    return min((measure(one, other) for one in mine for other in theirs), default=UNRESOLVED)


def _any_pair(test: Callable[[str, str], bool], pred: Codes, truth: Codes) -> bool:
    mine, theirs = _as_tuple(pred), _as_tuple(truth)
    return any(test(one, other) for one in mine for other in theirs)


def _nearest(preds: tuple[str, ...], truths: tuple[str, ...]) -> tuple[str, str] | None:
    pairs = [(one, other) for one in preds for other in truths]
    return min(pairs, key=lambda pair: (_sdd(*pair), _wu_palmer(*pair)), default=None)


def _relation(between: Overlap) -> Relation:
    shared, extra, missed = between
    if not extra:
        return "under_specified" if missed else "exact"
    if not missed:
        return "over_specified"
    return _SHARED[min(shared, len(_SHARED) - 1)]


def _sdd(pred: str, truth: str) -> float:
    shared, extra, missed = overlap(pred, truth)
    return (extra + missed) / (2 * shared + extra + missed) if missed else 0.0


def _wu_palmer(pred: str, truth: str) -> float:
    shared, extra, missed = overlap(pred, truth)
    return (extra + missed) / (2 * shared + extra + missed)


def _jaccard(pred: str, truth: str) -> float:
    shared, extra, missed = overlap(pred, truth)
    return (extra + missed) / (shared + extra + missed)


def _edges(pred: str, truth: str) -> int:
    _, extra, missed = overlap(pred, truth)
    return extra + missed


def _tversky(pred: str, truth: str, alpha: float, beta: float, gamma: float) -> float:
    shared, extra, missed = overlap(pred, truth)
    off = (alpha if missed else gamma) * extra + beta * missed
    return off / (shared + off) if off else 0.0


def _informed(pred: str, truth: str, method: IcMethod, doubling: float) -> float:
    """(x + y) / (doubling I + x + y) with information content for weights."""
    tree = icd_tree()
    mine, theirs = tree.path(pred), tree.path(truth)
    common = tree.information_at(mine[: overlap(pred, truth).shared], method)
    apart = tree.information_at(mine, method) + tree.information_at(theirs, method) - 2.0 * common
    return apart / (doubling * common + apart) if apart else 0.0
