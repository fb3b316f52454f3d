"""Commands about cases and profiles."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from ontology.errors import BedsideError
from simulator.case import PatientVector
from ui.console import note, say, say_json, table
from ui.wiring import load_cases

BROKEN_SHOWN = 20
EXIT_BROKEN_ROWS = 3


def import_cases(source: str, folder: Path, out: Path, splits: tuple[str, ...], limit: int | None, quiet: bool) -> int:
    """Import a release; see `bedside cases import --help`. Returns the exit code."""
    if source != "ddxplus":
        raise BedsideError(f"no source is called {source!r}", "cases import", "known: ddxplus")
    from simulator.build import default_ward
    from simulator.cases_io import write_cases
    from simulator.sources.ddxplus import DdxplusImporter, ImportReport
    from simulator.sources.ddxplus_files import patient_files, read_release, split_of
    from simulator.sources.ddxplus_tables import ddxplus_tables

    ward = default_ward()
    importer = DdxplusImporter(read_release(folder), ddxplus_tables(), ward.pool, ward.vocabulary)
    files = [path for path in patient_files(folder) if not splits or split_of(path) in splits]
    if not files:
        raise BedsideError(f"no patient file of {', '.join(splits)}", str(folder))
    report = ImportReport()

    def every() -> Iterator[PatientVector]:
        for path in files:
            before = report.imported
            yield from importer.cases(path, report, limit)
            if not quiet:
                note(f"{path.name}: {report.imported - before} cases")

    write_cases(out, counted(every(), quiet))
    for line in report.broken[:BROKEN_SHOWN]:
        note(f"left out: {line}")
    if len(report.broken) > BROKEN_SHOWN:
        note(f"and {len(report.broken) - BROKEN_SHOWN} more rows left out")
    for token, times in sorted(report.unmapped.items()):
        note(f"not in our table, kept as a local concept: {token} ({times} times)")
    say(f"{report.imported} cases written to {out}; {report.read} rows read, {len(report.broken)} left out")
    return EXIT_BROKEN_ROWS if report.broken else 0


def counted(cases: Iterator[PatientVector], quiet: bool, every: int = 10_000) -> Iterator[PatientVector]:
    """Pass cases through, saying now and then how many there were."""
    for number, case in enumerate(cases, start=1):
        if not quiet and number % every == 0:
            note(f"{number} cases …")
        yield case


def pick_case(cases: list[PatientVector], wanted: str) -> PatientVector:
    """A case by its number in the list (from 1) or by its id.

    Raises:
        BedsideError: there is none.
    """
    if wanted.isdigit() and 1 <= int(wanted) <= len(cases):
        return cases[int(wanted) - 1]
    found = [case for case in cases if case.case_id == wanted]
    if not found:
        raise BedsideError(f"no case {wanted!r}", "--case", f"give a number from 1 to {len(cases)} or a case id (bedside cases list)")
    return found[0]


def neutral_title(case: PatientVector) -> str:
    """What may be said of a case in a list."""
    if case.title:
        return case.title
    sex = {"F": "female", "M": "male"}.get(case.patient_facts.sex, "patient")
    return f"{case.patient_facts.age}-year-old {sex}"


def list_cases(spec: str, limit: int | None, as_json: bool) -> None:
    """List cases without giving anything away."""
    cases = load_cases(spec)[:limit]
    if as_json:
        for case in cases:
            say_json({"case_id": case.case_id, "title": neutral_title(case), "opening": case.presentation.opening_text})
        return
    rows = [[str(number), case.case_id, neutral_title(case), case.presentation.opening_text] for number, case in enumerate(cases, start=1)]
    table(f"{len(rows)} cases", ["", "id", "patient", "opening"], rows, numeric_from=9)


def show_case(spec: str, wanted: str, truth: bool, as_json: bool) -> None:
    """Show a case."""
    case = pick_case(load_cases(spec), wanted)
    if as_json:
        say(case.to_json() if truth else case.patient_side().model_dump_json())
        return
    say(f"{case.case_id}: {neutral_title(case)}")
    say(f"source {case.provenance.source}, {case.provenance.license}, {case.provenance.world_assumption} world")
    say(f"reviewed by a clinician: {case.provenance.reviewed_by or 'no'}")
    say(f"opening: {case.presentation.opening_text}")
    rows = [
        [f.fact_id, f.kind, f.concept.name, f.attribute or "", f.status, f.value or "", f.source_ref or ""]
        for f in case.patient_facts.facts
    ]
    table("facts", ["", "kind", "concept", "detail", "status", "value", "source"], rows, numeric_from=9)
    if truth:
        diagnosis = case.ground_truth.primary
        say(f"diagnosis: {diagnosis.name} ({', '.join(diagnosis.icd10)}), acuity {case.ground_truth.acuity}")
        for item in case.ground_truth.differential:
            say(f"  {item.prob:.3f} {item.dx.name} ({', '.join(item.dx.icd10)})")
        if case.ground_truth.code_note:
            say(f"note: {case.ground_truth.code_note}")
    else:
        say("(the diagnosis is shown with --truth)")


def count_cases(spec: str, as_json: bool) -> None:
    """Count cases."""
    cases = load_cases(spec)
    ages = sorted(case.patient_facts.age for case in cases)
    facts = [len(case.patient_facts.facts) for case in cases]
    counts = {
        "cases": len(cases),
        "sources": dict(Counter(case.provenance.source for case in cases)),
        "splits": dict(Counter(case.provenance.split or "-" for case in cases)),
        "sex": dict(Counter(case.patient_facts.sex for case in cases)),
        "age": {"min": ages[0], "median": ages[len(ages) // 2], "max": ages[-1]},
        "facts": {"min": min(facts), "mean": round(sum(facts) / len(facts), 1), "max": max(facts)},
        "caregiver_speaks": sum(case.patient_side().caregiver_speaks for case in cases),
        "codes_replaced": sum(case.ground_truth.code_note is not None for case in cases),
        "truth_first_in_differential": sum(_truth_first(case) for case in cases),
        "not_redistributable": sum(not case.provenance.redistributable for case in cases),
        "diagnoses": dict(Counter(case.ground_truth.primary.name for case in cases).most_common()),
    }
    if as_json:
        say_json(counts)
        return
    for key, value in counts.items():
        if key != "diagnoses":
            say(f"{key}: {value}")
    table("diagnoses", ["diagnosis", "cases"], [[name, str(n)] for name, n in counts["diagnoses"].items()])  # type: ignore[attr-defined]


def _truth_first(case: PatientVector) -> bool:
    items = case.ground_truth.differential
    return bool(items) and max(items, key=lambda item: item.prob).dx.name == case.ground_truth.primary.name


def build_profile_file(spec: str, out: Path, name: str, splits: tuple[str, ...]) -> None:
    """Count profiles and write them."""
    from ontology.vocabulary import default_vocabulary
    from simulator.cases_io import atomic_file
    from simulator.profile_builder import build_profiles

    cases = [case for case in load_cases(spec) if not splits or case.provenance.split in splits]
    if not cases:
        raise BedsideError(f"no case of split {', '.join(splits)}", spec)
    profiles = build_profiles(cases, default_vocabulary(), name)
    with atomic_file(out) as handle:
        handle.write(("\n".join(profiles.lines()) + "\n").encode("utf-8"))
    say(f"{len(profiles)} diseases counted over {len(cases)} cases, written to {out} (version {profiles.version})")


def show_profiles(name: str, disease: str | None) -> None:
    """Show profiles."""
    from ontology.profiles import load_profiles

    profiles = load_profiles(name)
    if disease is None:
        rows = [[p.disease_id, p.name, ", ".join(p.icd10), str(len(p.features)), str(p.n or "")] for p in profiles.profiles.values()]
        table(f"{profiles.header.profile_set}: {profiles.header.source}", ["id", "disease", "ICD-10", "features", "patients"], rows, 3)
        return
    profile = profiles.get(disease)
    if profile is None:
        raise BedsideError(f"no disease {disease!r} in {name}", "profiles show", "bedside profiles show lists them")
    rows = [
        [f.concept, f.name, f.kind, f"{f.weight:.2f}", f"{f.probability:.3f}", f"{f.k}/{f.n}" if f.k is not None else "", f.source or ""]
        for f in profile.features
    ]
    table(f"{profile.name} ({', '.join(profile.icd10)})", ["concept", "name", "kind", "weight", "p", "k/n", "source"], rows, 3)
