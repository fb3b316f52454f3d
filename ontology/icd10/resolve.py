"""From a diagnosis as somebody wrote it to ICD-10-CM codes and the way there (metrics.md 3.2, rule 6).

The text may be a code or a list of codes, a name with a code, or a name: one that the classification or our synonyms give, or one that
comes down to such a name when word order, typing errors, hedges and qualifiers are set aside.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal, cast

from ontology.icd10.names import Kind, fold_name, name_index
from ontology.icd10.names_in_text import Reading, read_name
from ontology.icd10.normalise import NormalisedCodes, is_code_shaped, normalise, who_table
from ontology.icd10.synonyms import synonym_table

Route = Literal["code", "embedded_code", "synonym", Kind, "who_title", "lexical", "none"]

_BRACKETED = re.compile(r"[(\[]([^()\[\]]*)[)\]]")
_PREFIX = re.compile(r"^\s*ICD[\s-]*10(?:[\s-]*CM)?(?:\s+codes?)?\s*[:=]?\s*", re.IGNORECASE)
_CODE = r"([A-Za-z][0-9A-Za-z]{2}(?:\.?[0-9A-Za-z]{1,5})?)"
_LEADING = re.compile(rf"\s*{_CODE}(?:\s*[:(\[–—-]\s*|\s+)(?=\S)")
_TRAILING = re.compile(rf"(?<=\S)(?:\s*[:–—]\s*|\s+-\s+|,\s+){_CODE}\s*$")


@dataclass(frozen=True, slots=True)
class Resolution:
    """What a text was taken to mean; iterating gives the codes (none: unresolved).

    `unresolved` holds what of the text gave no code; `candidates` the codes among which a name does not
    choose; `likeness` is how like the text is to the name, where that decided (method `lexical`).
    """

    text: str
    codes: tuple[str, ...]
    method: Route
    unresolved: tuple[str, ...] = ()
    candidates: tuple[str, ...] = ()
    manifestation_only: bool = False
    steps: tuple[str, ...] = ()
    likeness: float | None = None

    @property
    def path(self) -> str:
        """The method, with the likeness if that decided: "synonym", "lexical:0.93"."""
        return self.method if self.likeness is None else f"{self.method}:{self.likeness:.2f}"

    def __iter__(self) -> Iterator[str]:
        """The codes."""
        return iter(self.codes)


def resolve(text: str, synonyms: Mapping[str, str] | None = None, keep_extension: bool = False) -> Resolution:
    """Find the codes of a diagnosis.

    Args:
        text: a code or list of codes, a name with a code, or a name.
        synonyms: further names, folded by `fold_name`, with their codes; they go before the classification's
            own names.
        keep_extension: as in `normalise`.
    """
    bare = _PREFIX.sub("", text)
    plain = normalise(bare, keep_extension)
    if plain.codes and not plain.unresolved:
        return _from_codes(text, "code", plain, ())
    named = _by_name(text, synonyms or {}, keep_extension)
    if named.codes:
        return named
    embedded = _embedded(text, keep_extension)
    if embedded is not None:
        rest, codes = embedded
        steps: tuple[str, ...] = (f"code in the text: {codes.raw}",)
        other = _by_name(rest, synonyms or {}, keep_extension) if rest else named
        if other.codes and other.codes != codes.codes:
            steps = (*steps, f"the name alone reads as {', '.join(other.codes)}")
        return _from_codes(text, "embedded_code", codes, steps)
    if any(item.code and _trustworthy(item.raw) for item in plain.items):
        return _from_codes(text, "code", plain, ())
    return named if named.candidates or named.method != "none" else _by_reading(text, synonyms or {}, keep_extension)


def _from_codes(text: str, method: Route, found: NormalisedCodes, steps: tuple[str, ...]) -> Resolution:
    return Resolution(text, found.codes, method, found.unresolved, (), found.manifestation_only, (*steps, *found.steps))


def _by_name(text: str, synonyms: Mapping[str, str], keep_extension: bool) -> Resolution:
    """The whole text as a name: caller's synonyms, ours, ICD-10-CM, then WHO titles of codes that CM has too."""
    key = fold_name(text)
    if key in synonyms:
        found = normalise(synonyms[key], keep_extension)
        return _from_codes(text, "synonym", found, (f"synonym of {synonyms[key]}",))
    ours = synonym_table().get(key)
    if ours is not None:
        return _from_codes(text, "synonym", normalise(ours.code), (f"synonym of {ours.code} ({ours.basis})",))
    match = name_index().match(text)
    if match is not None and match.code is not None:
        step = f"{match.kind} of {', '.join(match.candidates)}"
        return _from_codes(text, match.kind, normalise(match.code), (step,))
    who = _who_names().get(key, ())
    if match is None and len(who) == 1:
        return _from_codes(text, "who_title", normalise(who[0]), (f"WHO title of {who[0]}",))
    candidates = match.candidates if match is not None else tuple(who)
    steps = (f"one name of {', '.join(candidates)}",) if candidates else ("no such name",)
    return Resolution(text, (), "none", (text,), candidates, steps=steps)


def _by_reading(text: str, synonyms: Mapping[str, str], keep_extension: bool) -> Resolution:
    """The text as `read_name` takes it apart."""

    def exact(part: str) -> Reading:
        found = _by_name(part, synonyms, keep_extension)
        return Reading(found.codes, found.candidates, found.steps if found.codes else (), None, found.method)

    read = read_name(text, exact)
    if not read.codes:
        return Resolution(text, (), "none", (text,), read.candidates, steps=read.steps or ("no such name",))
    found = normalise(", ".join(read.codes), keep_extension)
    method = cast(Route, read.method)
    return Resolution(text, found.codes, method, (), (), found.manifestation_only, (*read.steps, *found.steps), read.lexical)


@cache
def _who_names() -> dict[str, list[str]]:
    """Codes by folded WHO title, of those codes only that ICD-10-CM has as well."""
    names: defaultdict[str, list[str]] = defaultdict(list)
    for code, title in who_table().titles.items():
        if is_code_shaped(code) and normalise(code).items[0].status == "exact":
            names[fold_name(title)].append(code)
    return dict(names)


def _embedded(text: str, keep_extension: bool) -> tuple[str, NormalisedCodes] | None:
    """(the rest of the text, codes) of a text with codes in brackets, in front or at the end."""
    for match in reversed(list(_BRACKETED.finditer(text))):
        codes = normalise(_PREFIX.sub("", match[1]), keep_extension)
        if codes.codes and not codes.unresolved and all(_trustworthy(item.raw) for item in codes.items):
            return (text[: match.start()] + text[match.end() :]).strip(), codes
    bare = _PREFIX.sub("", text)
    for pattern in (_LEADING, _TRAILING):
        found = pattern.match(bare) if pattern is _LEADING else pattern.search(bare)
        if found and _trustworthy(found[1]):
            rest = bare[: found.start(1)] + bare[found.end(1) :]
            return rest.strip(" :()[]–—-,"), normalise(found[1], keep_extension)
    return None


def _trustworthy(word: str) -> bool:
    """Whether a word amid a name is meant as a code: valid as it is, or dotted (not the O157 of E. coli).

    Chapter numbers are not: "heart failure (IV)" is a grade.
    """
    read = [item for item in normalise(word).items if item.code is not None and not item.code.isdigit()]
    return bool(read) and all(item.status == "exact" or "." in word for item in read)
