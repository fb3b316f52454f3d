"""What a name that nobody gives in this form may still safely mean (metrics.md 3.2, rule 6): word order, typing errors, hedges, qualifiers.

Precision goes before recall: where the rest of a text could change the code, the codes are offered as candidates and none is chosen.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from ontology.icd10.phrases import COURSE, GRADES, OPPOSITE, SIDE, compound, is_short_for, without_hedge, without_qualifier
from ontology.icd10.search import search_index
from ontology.icd10.spelling import stems
from ontology.icd10.tree import CATEGORY_DEPTH, icd_tree

THRESHOLD = 0.9
"""Likeness that a name must exceed."""

LONGEST = 200
_MOST_NESTED = 6
_DIGIT = re.compile(r"\d")


@dataclass(frozen=True, slots=True)
class Reading:
    """What a name was read as; without codes, `candidates` are what it may mean. `lexical` is the likeness, if that decided."""

    codes: tuple[str, ...] = ()
    candidates: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()
    lexical: float | None = None
    method: str = "none"


Exact = Callable[[str], Reading]


def read_name(text: str, exact: Exact, depth: int = 0) -> Reading:
    """Read a name that is not found as it stands.

    Args:
        text: the name.
        exact: looks a name up as it stands.
        depth: how many words or parts have been taken off already.
    """
    if len(text) > LONGEST or depth > _MOST_NESTED:
        return Reading()
    if depth:
        found = exact(text)
        if found.codes or found.candidates:
            return found
    rest, hedge = without_hedge(text)
    if hedge:
        return _after(f"hedge set aside: {hedge}", read_name(rest, exact, depth + 1))
    parts = compound(text)
    if parts is not None and parts.kind == "negated":
        return Reading(steps=("denied, or not of the present",))
    if parts is None or parts.kind != "alternatives":
        nearest = _lexical(text)
        if nearest.codes or nearest.candidates:
            return nearest
    if parts is not None:
        return _read_parts(parts.kind, parts.parts, exact, depth + 1)
    qualified = without_qualifier(text)
    if qualified is not None:
        rest, word = qualified
        return _after(f"qualifier set aside: {word}", _guarded(word, rest, read_name(rest, exact, depth + 1)))
    return Reading()


def _read_parts(kind: str, parts: tuple[str, ...], exact: Exact, depth: int) -> Reading:
    if kind == "brackets":
        return _with_brackets(parts[0], parts[1], exact, depth)
    if kind == "cause":
        return _with_cause(parts, exact, depth)
    read = [read_name(part, exact, depth) for part in parts]
    sets = {frozenset(found.codes) for found in read}
    if kind == "alternatives" and len(sets) == 1 and read[0].codes:
        return _after("all alternatives are the same", read[0])
    candidates = tuple(dict.fromkeys(code for found in read for code in (found.codes or found.candidates)))
    what = "alternatives" if kind == "alternatives" else "several conditions"
    return Reading(candidates=candidates, steps=(f"{what}: {' | '.join(parts)}",) if candidates else ())


def _with_cause(parts: tuple[str, ...], exact: Exact, depth: int) -> Reading:
    """The disease, its cause set aside, or as "secondary …" if that has a name.

    A mere symptom of a known cause is not chosen, nor a code for what is unspecified: with the cause it has another.
    """
    head, cause = parts[0], parts[-1]
    for joined in (f"{head} due to {cause}", f"{head} in {cause}"):
        whole = exact(joined)
        if whole.codes:
            return _after(f"read as {joined!r}", whole)
    secondary = exact(f"secondary {head}")
    if secondary.codes:
        return _after(f"cause set aside: {cause}", secondary)
    found = read_name(head, exact, depth)
    behind = read_name(cause, exact, depth)
    if found.codes and behind.codes and any(code.startswith("R") for code in found.codes):
        return Reading(candidates=found.codes + behind.codes, steps=(f"a symptom and its cause: {head} | {cause}",))
    if any(_is_vague(code) for code in found.codes):
        return Reading(candidates=found.codes + behind.codes, steps=(f"{head} has another code where the cause is known",))
    return _after(f"cause set aside: {cause}", found)


def _with_brackets(outside: str, inside: str, exact: Exact, depth: int) -> Reading:
    """A name with its abbreviation, another name or a qualifier in brackets."""
    if _DIGIT.search(inside) and not exact(inside).codes:
        return Reading()
    for joined in (f"{inside} {outside}", f"{outside} {inside}"):
        whole = exact(joined)
        if whole.codes:
            return _after(f"read as {joined!r}", whole)
    outer, inner = read_name(outside, exact, depth), read_name(inside, exact, depth)
    if not inner.codes:
        return _after(f"brackets set aside: {inside}", outer if is_short_for(inside, outside) else _without_detail(outer))
    if not outer.codes:
        return _after(f"by its abbreviation {inside}", inner) if is_short_for(inside, outside) else Reading(candidates=inner.codes)
    common = icd_tree().common([*outer.codes, *inner.codes])
    if common is None or common.depth < CATEGORY_DEPTH:
        if is_short_for(inside, outside):
            return _after(f"abbreviation set aside: {inside}", outer)
        return Reading(candidates=outer.codes + inner.codes, steps=(f"two names for different codes: {outside} | {inside}",))
    finer = inner if common.code in outer.codes else outer
    return _after("name and brackets agree", finer)


def _without_detail(found: Reading) -> Reading:
    """A reading of a name whose detail was not understood: for "unspecified" codes the category, if that is not one itself."""
    if len(found.codes) != 1 or not _is_vague(found.codes[0]):
        return found
    lineage = icd_tree().lineage(found.codes[0])[CATEGORY_DEPTH - 1 :]
    if not lineage or _is_vague(lineage[0].code):
        return replace(found, codes=(), candidates=found.codes)
    return replace(found, codes=(lineage[0].code,), steps=(*found.steps, f"the detail may mean another code of {lineage[0].code}"))


def _is_vague(code: str) -> bool:
    return "unspecified" in icd_tree().title(code).lower()


def _lexical(text: str) -> Reading:
    nearest = search_index().nearest(text)
    if nearest is None or nearest.score <= THRESHOLD:
        return Reading()
    path = f"lexical:{nearest.score:.2f}"
    if len(nearest.codes) != 1:
        return Reading(candidates=nearest.codes, steps=(f"{path}: several names as near as {nearest.matched!r}",))
    return Reading(nearest.codes, (), (f"{path} to {nearest.matched!r}",), nearest.score, "lexical")


def _guarded(word: str, name: str, found: Reading) -> Reading:
    """A reading of a name from which a qualifier was taken, if the qualifier cannot lead to another code.

    Where names with all these words exist elsewhere, the code is that of the node above both, at least a category; a code whose title
    says the opposite is refused.
    """
    if len(found.codes) != 1:
        return found
    tree = icd_tree()
    code = found.codes[0]
    titles = [set(stems(node.title)) for node in tree.lineage(code)[CATEGORY_DEPTH - 1 :]]
    if any(other in title for other in OPPOSITE.get(word, ()) for title in titles):
        return Reading(candidates=found.codes, steps=(*found.steps, f"{code} says the opposite of {word}"))
    if word in SIDE:
        return found
    above = tree.lineage(code)[CATEGORY_DEPTH - 1].code if len(tree.path(code)) > CATEGORY_DEPTH else code
    rivals = {other for other in search_index().holding({word, *stems(name)}) if not _below(other, code)}
    if word in COURSE and any(not _below(other, above) for other in rivals if other[0] == code[0]):
        return Reading(candidates=(code, *sorted(rivals)[:5]), steps=(*found.steps, f"names with {word} have other codes"))
    vague = word in GRADES and _is_vague(code)
    if above != code and (vague or any(_below(other, above) for other in rivals)):
        return replace(found, codes=(above,), steps=(*found.steps, f"{word} may mean another code of {above}"))
    return found


def _below(code: str, other: str) -> bool:
    tree = icd_tree()
    path = tree.path(other)
    return tree.path(code)[: len(path)] == path


def _after(step: str, found: Reading) -> Reading:
    return replace(found, steps=(step, *found.steps))
