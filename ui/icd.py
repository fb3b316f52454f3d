"""`bedside icd`: look codes up, search by name, read a diagnosis as scoring reads it, and measure how far two are apart."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from ontology.errors import BedsideError
from ui.console import say, say_json, table

if TYPE_CHECKING:
    from ontology.icd10 import Node, Resolution

CHILDREN_SHOWN = 25
EXIT_UNRESOLVED = 1


def show_code(code: str, as_json: bool) -> int:
    """A code with its ancestors, children and terms; see `bedside icd show --help`. Returns the exit code."""
    from ontology.icd10 import icd_tree, is_manifestation, normalise

    found = normalise(code)
    if len(found.codes) != 1 or found.unresolved:
        raise BedsideError("not one ICD-10 code", repr(code), 'names are found by "bedside icd search"')
    tree = icd_tree()
    node = tree.node(found.codes[0])
    position = tree.path(node.code)[-1]
    children = [tree.node(child) for child in tree.children(node.code, node.level)]
    terms = [*tree.table.inclusions.get(position, ()), *tree.table.includes.get(position, ())]
    lineage = tree.lineage(node.code)[:-1]
    if as_json:
        say_json(
            {
                **_node(node),
                "release": tree.table.version,
                "steps": list(found.steps),
                "manifestation": is_manifestation(node.code),
                "ancestors": [_node(one) for one in lineage],
                "terms": terms,
                "children": [_node(one) for one in children],
            }
        )
        return 0
    for depth, one in enumerate((*lineage, node)):
        say(f"{'  ' * depth}{one.code}  {one.title}")
    for step in found.steps:
        say(f"read: {step}")
    if terms:
        say("also: " + "; ".join(terms))
    rows = [(one.code, one.title) for one in children[:CHILDREN_SHOWN]]
    if rows:
        more = f" (the first {CHILDREN_SHOWN} of {len(children)})" if len(children) > CHILDREN_SHOWN else ""
        table(f"Below {node.code}{more}", ("code", "title"), rows, numeric_from=2)
    return 0


def search_names(name: str, limit: int, as_json: bool) -> int:
    """Codes by name, the best first; see `bedside icd search --help`. Returns the exit code."""
    from ontology.icd10 import search

    hits = search(name, limit)
    if as_json:
        say_json([asdict(hit) for hit in hits])
        return 0
    if not hits:
        say(f"no name is like {name!r}")
        return 0
    rows = [(hit.code, hit.title, hit.matched, hit.path, f"{hit.score:.2f}") for hit in hits]
    table(f"Names like {name!r}", ("code", "title", "matched", "by", "score"), rows, numeric_from=4)
    return 0


def normalise_text(text: str, as_json: bool) -> int:
    """A diagnosis as scoring reads it, and the way there; see `bedside icd normalise --help`. Returns the exit code."""
    from ontology.icd10 import icd_tree, resolve

    found = resolve(text)
    tree = icd_tree()
    if as_json:
        say_json(_resolution(found))
    else:
        for code in found.codes:
            say(f"{code}  {tree.title(code)}")
        if not found.codes:
            say("unresolved" + (f"; it may mean {', '.join(found.candidates)}" if found.candidates else ""))
        elif found.unresolved:
            say(f"not read: {', '.join(found.unresolved)}")
        say(f"by: {found.path}")
        for step in found.steps:
            say(f"    {step}")
        if found.manifestation_only:
            say("a manifestation only: the underlying disease is missing")
    return 0 if found.codes else EXIT_UNRESOLVED


def measure_distance(prediction: str, truth: str, as_json: bool) -> int:
    """How far a prediction is from a truth; see `bedside icd distance --help`. Returns the exit code."""
    from ontology.icd10 import compare, resolve

    read = (resolve(prediction), resolve(truth))
    found = compare(read[0], read[1])
    if as_json:
        raw = asdict(found) | {"overlap": found.overlap._asdict() if found.overlap else None}
        say_json({"prediction": _resolution(read[0]), "truth": _resolution(read[1]), **raw})
        return 0
    for role, one in zip(("prediction", "truth"), read, strict=True):
        say(f"{role}: {one.text} -> {', '.join(one.codes) or 'unresolved'} (by {one.path})")
    say(f"relation: {found.relation.replace('_', ' ')}")
    if found.overlap is not None:
        shared, extra, missed = found.overlap
        say(f"levels: {shared} shared, {extra} beyond, {missed} missed; {found.path} edges")
    rows = [
        (name, f"{value:.4f}")
        for name, value in (
            ("sdd", found.sdd),
            ("sdd_sym", found.sdd_sym),
            ("sdd_jaccard", found.sdd_jaccard),
            ("sdd_ic", found.sdd_ic),
            ("sdd_directional", found.sdd_directional),
        )
    ]
    table("Distances", ("measure", "value"), rows)
    return 0


def _node(node: Node) -> dict[str, Any]:
    return {"code": node.code, "level": node.level, "title": node.title, "leaf": node.leaf}


def _resolution(found: Resolution) -> dict[str, Any]:
    from ontology.icd10 import icd_tree

    tree = icd_tree()
    return {
        "text": found.text,
        "codes": [{"code": code, "title": tree.title(code)} for code in found.codes],
        "path": found.path,
        "steps": list(found.steps),
        "candidates": [{"code": code, "title": tree.title(code)} for code in found.candidates],
        "unresolved": list(found.unresolved),
        "manifestation_only": found.manifestation_only,
        "release": tree.table.version,
    }
