"""The card of an exported dataset: a README.md with the metadata block that the Hugging Face hub reads."""

from __future__ import annotations

import json
from collections.abc import Mapping

from simulator.store import RunRecord

# https://huggingface.co/docs/hub/datasets-cards: identifiers of common licences; anything else is "other" and named.
LICENCE_IDS = {"apache-2.0": "apache-2.0", "cc-by-4.0": "cc-by-4.0", "cc by 4.0": "cc-by-4.0", "mit": "mit", "cc0-1.0": "cc0-1.0"}
SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"), (10_000_000, "1M<n<10M"))


def dataset_card(
    name: str, record: RunRecord, encounters: int, licenses: Mapping[str, int], sources: Mapping[str, int], left_out: Mapping[str, int]
) -> str:
    """The text of the card.

    Args:
        name: of the dataset.
        record: the run's run.json.
        encounters: how many are in it.
        licenses: licence of the case → encounters.
        sources: source of the case → encounters.
        left_out: reason → encounters of the run that are not in it.
    """
    ids = {LICENCE_IDS.get(text.lower(), "other") for text in licenses}
    size = next((label for limit, label in SIZES if encounters < limit), "n>10M")
    head = ["---", f"pretty_name: {json.dumps(name, ensure_ascii=False)}", "language: [en]"]
    head += [f"license: {ids.pop() if len(ids) == 1 else 'other'}"]
    head += [f"license_name: {json.dumps(', '.join(sorted(licenses)), ensure_ascii=False)}"]
    head += [f"size_categories: [{json.dumps(size)}]", "tags: [medical, dialogue, simulation]", "configs:"]
    for config in ("encounters", "turns"):
        head += [f"- config_name: {config}", "  data_files:", "  - split: test", f"    path: data/{config}.parquet"]
    body = [
        f"# {name}",
        f"{encounters} diagnostic interviews of simulated patients, played with Bedside and begun {record.created}.",
        "No real patient speaks here, and no real consultation was recorded. For research and education only; not medical advice.",
        "## Content",
        "- `encounters`: a row an interview: who played, how it ended, the first diagnosis named, turns, tokens and versions. "
        "`trace_json` is the sealed trace; scores are made from it and the case, never stored in it.",
        "- `turns`: a row a message: who spoke, the text, and as JSON the acts and the concepts found by software (character spans).",
        "The single split is called `test`: these are results of an evaluation, not meant for training the examiners that it evaluates.",
        "## Licences of the cases",
        _rows("licence", licenses),
        "## Sources of the cases",
        _rows("source", sources),
        "## Left out",
        _rows("reason", left_out) if left_out else "Nothing: every finished encounter of the run is here.",
        "## Limits",
        "The patients say only what was written beforehand; they are no sample of any population. Concepts were found by software. "
        "People who played are named by the pseudonym they chose.",
        "## Settings",
        "```json\n" + json.dumps(record.fingerprint, indent=2, ensure_ascii=False, sort_keys=True) + "\n```",
    ]
    return "\n".join([*head, "---"]) + "\n\n" + "\n\n".join(body) + "\n"


def _rows(title: str, counts: Mapping[str, int]) -> str:
    lines = [f"| {title} | encounters |", "|---|---:|", *(f"| {key} | {counts[key]} |" for key in sorted(counts))]
    return "\n".join(lines)
