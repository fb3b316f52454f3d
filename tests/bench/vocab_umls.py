"""`python tests/bench/vocab_umls.py [ROWS] [--quickumls]`: a synthetic release; prints time, memory and size of its build."""

from __future__ import annotations

import multiprocessing
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

STEMS = "cardi gastr hepat nephr neur derm oste arthr my rhin ot ophthalm pneum bronch enter col cyst metr splen angi phleb aden".split()
ENDINGS = "itis osis opathy algia omegaly oma ectasia orrhagia oplegia asthenia odynia ismus uria emia oedema ostenosis".split()
PLACES = "left right upper lower both anterior posterior lateral medial chronic acute recurrent severe mild congenital acquired".split()
PARTS = "arm leg chest abdomen head neck back knee hip ankle wrist elbow shoulder hand foot eye ear nose throat skin".split()
CUES = "pain swelling rash bleeding weakness numbness burning stiffness tenderness discomfort itching lump ache cramp".split()
SOURCES = ("SNOMEDCT_US", "MSH", "ICD10CM", "MDR", "HPO", "NCI", "CHV", "OMIM")
TYPES = ("T184", "T033", "T047", "T046", "T191", "T048", "T121", "T037")


def name(chance: random.Random) -> str:
    words = [chance.choice(PLACES), chance.choice(STEMS) + "o" + chance.choice(STEMS) + chance.choice(ENDINGS)]
    if chance.random() < 0.6:
        words += ["of", "the", chance.choice(PLACES), chance.choice(PARTS)]
    if chance.random() < 0.4:
        words += ["with", chance.choice(CUES)]
    if chance.random() < 0.5:
        words += ["type", str(chance.randrange(400))]
    return " ".join(words)


def write_release(folder: Path, rows: int) -> None:
    chance = random.Random(7)
    concepts = rows // 3
    with (folder / "MRCONSO.RRF").open("w") as names:
        for row in range(rows):
            cui = f"C{1_000_000 + row % concepts:07d}"
            first = "P|L1|PF|S1|Y" if row < concepts else "S|L1|PF|S1|N"
            language = "ENG" if row % 20 else "SPA"
            suppress = "N" if row % 33 else "O"
            text = name(chance)
            names.write(f"{cui}|{language}|{first}|A{row:08d}||||{SOURCES[row % 8]}|PT|{row}|{text}|0|{suppress}||\n")
    with (folder / "MRSTY.RRF").open("w") as types:
        for concept in range(concepts):
            types.write(f"C{1_000_000 + concept:07d}|{TYPES[concept % 8]}|A1|Finding|AT{concept:08d}||\n")
    with (folder / "MRREL.RRF").open("w") as links:
        for concept in range(1, concepts):
            above = chance.randrange(concept)
            links.write(f"C{1_000_000 + concept:07d}||CUI|PAR|C{1_000_000 + above:07d}||CUI|inverse_isa|R{concept}||MSH|MSH|||N||\n")


def build(folder: Path, with_quickumls: bool) -> None:
    from ontology.vocab.build import BuildPlan, build_vocabulary

    began = time.perf_counter()
    index = build_vocabulary(BuildPlan("bench", umls=folder, with_quickumls=with_quickumls))
    totals = index.manifest.totals
    print(f"built in {time.perf_counter() - began:.0f} s, peak {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")
    print(totals.model_dump_json())
    sizes: Counter[str] = Counter()
    for file, record in index.manifest.files.items():
        sizes[file.partition("/")[0]] += record.size
    for part, size in sizes.items():
        print(f"  {part}: {size / 1e6:.0f} MB")


LOAD = """
import time, resource
began, cpu = time.perf_counter(), time.process_time()
from ontology.vocabulary import default_vocabulary
words = default_vocabulary()
took, cpu = time.perf_counter() - began, time.process_time() - cpu
used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(f"loaded and checked in {took:.2f} s ({cpu:.2f} s of CPU), {used:.0f} MB at most")
import json, pathlib, sys
lines = [l.strip() for l in pathlib.Path(sys.argv[1]).read_text().splitlines()]
for _ in range(2):
    began = time.process_time()
    found = sum(len(words.find(line)) for line in lines)
    took = time.process_time() - began
    print(f"{len(lines) / took:,.0f} questions a CPU second, {found} matches")
print(f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB at most")
"""


def main(rows: int, with_quickumls: bool) -> None:
    from ontology.vocabulary import bundled_vocabulary

    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "2026AA" / "META"
        folder.mkdir(parents=True)
        write_release(folder, rows)
        print(f"{rows:,} rows, MRCONSO {(folder / 'MRCONSO.RRF').stat().st_size / 1e6:.0f} MB")
        os.environ["BEDSIDE_CACHE_DIR"] = place
        worker = multiprocessing.get_context("spawn").Process(target=build, args=(folder, with_quickumls))
        worker.start()
        worker.join()
        questions = Path(place) / "questions.txt"
        questions.write_text("\n".join(ask for row in bundled_vocabulary().rows.values() for ask in row.ask))
        for spec in ("", "bench"):
            print(spec or "bundled")
            subprocess.run([sys.executable, "-c", LOAD, str(questions)], env={**os.environ, "BEDSIDE_VOCAB": spec}, check=True)


if __name__ == "__main__":
    counts = [word for word in sys.argv[1:] if word.isdigit()]
    main(int(counts[0]) if counts else 2_000_000, "--quickumls" in sys.argv)
