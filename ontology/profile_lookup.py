"""Which source speaks for a disease (metrics.md 2.2): our own table, then DDXPlus' counts for DDXPlus' cases, then HPO."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache

from ontology.errors import BedsideError
from ontology.profiles import HPO_DISEASES, DiseaseProfile, bundled_ddxplus_profiles, curated_profiles, load_profiles
from ontology.resources import bundled_rows
from ontology.text import folded

SAME_DISEASE = "profiles/same_disease.csv"
NEAR_SHOWN = 5
NEAR_NAME, NEAR_WORD = 0.6, 0.75
"""How alike a name, and a word of it, must be spelt to be offered; by trial on misspelt names."""


@dataclass(frozen=True)
class SameDisease:
    """One disease under its ids in three sources; empty where a source has none."""

    disease_id: str
    ddxplus: str
    hpo: str
    basis: str


@dataclass(frozen=True)
class Found:
    """A profile and where it is from: curated, ddxplus or hpo."""

    profile: DiseaseProfile
    origin: str


@lru_cache(maxsize=1)
def same_diseases() -> tuple[SameDisease, ...]:
    """The bundled table of diseases that more than one source knows."""
    return tuple(SameDisease(row["disease_id"], row["ddxplus"], row["hpo"], row["basis"]) for row in bundled_rows(SAME_DISEASE))


def ids_of(disease_id: str) -> SameDisease:
    """A disease's ids in all sources, by any of them; the id alone where no other source has it."""
    for same in same_diseases():
        if disease_id and disease_id in (same.disease_id, same.ddxplus, same.hpo):
            return same
    if disease_id in bundled_ddxplus_profiles().profiles:
        return SameDisease("", disease_id, "", "")
    if HPO_DISEASES.fullmatch(disease_id):
        return SameDisease("", "", disease_id, "")
    return SameDisease(disease_id, "", "", "")


def preferred_profile(disease_id: str, case_source: str | None = None) -> Found:
    """The profile that stands for a disease: curated > DDXPlus > HPO (metrics.md 2.2).

    DDXPlus' counts describe DDXPlus' synthetic patients: they stand only for cases of that source, and there before ours, because those
    patients are drawn from that release's own rules (0b D2). Elsewhere they are never used.

    Args:
        disease_id: the disease's id in any source.
        case_source: the source of the case that is scored, e.g. `ddxplus`; None outside scoring.

    Raises:
        BedsideError: no source that may be used has it.
    """
    ids = ids_of(disease_id)
    if case_source == "ddxplus" and ids.ddxplus:
        return Found(bundled_ddxplus_profiles()[ids.ddxplus], "ddxplus")
    if ids.disease_id in curated_profiles().profiles:
        return Found(curated_profiles()[ids.disease_id], "curated")
    if ids.hpo:
        return Found(load_profiles(ids.hpo)[ids.hpo], "hpo")
    raise BedsideError(f"no profile of {disease_id!r}", None, "bedside kb show lists close names")


def find_disease(text: str) -> Found:
    """A disease by id of any source, or by name; here a profile of DDXPlus may be looked at, too.

    Raises:
        BedsideError: there is none; close names are given.
    """
    sets = {"curated": curated_profiles(), "ddxplus": bundled_ddxplus_profiles()}
    for origin, profiles in sets.items():
        if text in profiles.profiles:
            return Found(profiles[text], origin)
    if HPO_DISEASES.fullmatch(text):
        return Found(load_profiles(text)[text], "hpo")
    names = {folded(p.name): Found(p, origin) for origin, profiles in reversed(sets.items()) for p in profiles.profiles.values()}
    wanted = folded(text)
    if wanted in names:
        return names[wanted]
    inside = [name for name in names if wanted and wanted in name]
    if len({id(names[name].profile) for name in inside}) == 1:
        return names[inside[0]]
    known = [found.profile for found in names.values()]
    close = [names[name].profile for name in inside] or _of_code(text, known) or _near(wanted, known)
    shown = ", ".join(f"{profile.disease_id} ({profile.name})" for profile in close[:NEAR_SHOWN])
    raise BedsideError(
        f"no disease {text!r}", None, f"did you mean {shown}?" if close else "ids such as ORPHA:397 and names in English are known"
    )


def _of_code(text: str, profiles: Iterable[DiseaseProfile]) -> list[DiseaseProfile]:
    """Diseases of the ICD-10 category that a lay or other name stands for: "heart attack" is I21."""
    # The tables of codes are read only for a name that is not ours.
    from ontology.icd10.resolve import resolve

    categories = {code[:3] for code in resolve(text)}
    return [profile for profile in profiles if categories & {code[:3] for code in profile.icd10}]


def _near(wanted: str, profiles: Iterable[DiseaseProfile]) -> list[DiseaseProfile]:
    """Diseases most of whose words, or whose whole id or name, are spelt much like what was asked for; the likest first."""
    likeness: list[tuple[float, str, DiseaseProfile]] = []
    for profile in profiles:
        for name in (folded(profile.name), folded(profile.disease_id.replace("-", " "))):
            whole = SequenceMatcher(None, wanted, name).ratio()
            words = [max((SequenceMatcher(None, word, other).ratio() for other in name.split()), default=0.0) for word in wanted.split()]
            by_word = sum(score for score in words if score >= NEAR_WORD) / max(len(words), len(name.split()), 1)
            likeness.append((max(whole, by_word), profile.disease_id, profile))
    ranked = sorted((item for item in likeness if item[0] >= NEAR_NAME), key=lambda item: (-item[0], item[1]))
    return list({disease_id: profile for _, disease_id, profile in ranked}.values())
