"""Tiny releases in the true format."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ontology.vocabulary import default_vocabulary

MRCONSO = (
    "C9000001|ENG|P|L1|PF|S1|Y|A1||101||SNOMEDCT_US|PT|101|Zorbing fever (disorder)|9|N||",
    "C9000001|ENG|S|L2|PF|S2|Y|A2||101||SNOMEDCT_US|SY|101|Zorbing pyrexia, NOS|9|N||",
    "C9000001|SPA|P|L3|PF|S3|Y|A3||102||SCTSPA|PT|102|fiebre de zorbing|9|N||",
    "C9000002|ENG|P|L4|PF|S4|Y|A4||103||MSH|MH|103|Zorbing disease|0|N||",
    "C9000002|ENG|S|L5|PF|S5|Y|A5||103||MSH|ET|103|Old zorbing name|0|O||",
    "C9000002|ENG|S|L6|PF|S6|N|A6||103||MSH|ACR|103|ZF|0|N||",
    "C9000003|ENG|P|L7|PF|S7|Y|A7||104||CHV|PT|104|Today|0|N||",
    "C9000004|ENG|P|L8|PF|S8|Y|A8||105||MSH|MH|105|Zorbocillin|0|N||",
    "C9000005|ENG|P|L9|PF|S9|Y|A9||106||MSH|MH|106|Zorbing racquet|0|N||",
    "C9000006|ENG|P|L10|PF|S10|Y|A10||107||MSH|MH|107|Untyped zorb finding|0|N||",
    "C9000007|ENG|P|L11|PF|S11|Y|A11||108||CHV|PT|108|Dyspnea|0|N||",
    "C9000008|ENG|P|L12|PF|S12|Y|A12||109||MDR|PT|109|Zorb fever|0|N||",
    "C9000008|ENG|S|L16|PF|S16|Y|A16||109||MDR|LLT|109|Zorb burning|0|N||",
    "C0013404|ENG|P|L13|PF|S13|Y|A13||110||MSH|MH|110|Dyspnea|0|N||",
    "C0013404|ENG|S|L14|PF|S14|Y|A14||110||MSH|ET|110|Zorbish breathing|0|N||",
    "C9000009|ENG|P|L15|PF|S15|Y|A15||111||MDR|PT|111|Fever zorbing chronic fever after sport|0|N||",
)
MRSTY = (
    "C9000001|T184|A2.2.2|Sign or Symptom|AT1||",
    "C9000002|T047|B2.2.1.2.1|Disease or Syndrome|AT2||",
    "C9000003|T033|A2.2|Finding|AT3||",
    "C9000004|T121|A1.4.1.1.1|Pharmacologic Substance|AT4|256|",
    "C9000004|T109|A1.4.1.2.1|Organic Chemical|AT5||",
    "C9000005|T073|A1.3|Manufactured Object|AT6||",
    "C9000007|T184|A2.2.2|Sign or Symptom|AT7||",
    "C9000008|T184|A2.2.2|Sign or Symptom|AT8||",
    "C0013404|T184|A2.2.2|Sign or Symptom|AT9||",
    "C9000009|T033|A2.2|Finding|AT10||",
)
MRREL = (
    "C9000001|A1|SCUI|PAR|C9000002|A4|SCUI|inverse_isa|R1||SNOMEDCT_US|SNOMEDCT_US|||N||",
    "C9000002|A4|SCUI|CHD|C9000009|A15|SCUI|isa|R2||SNOMEDCT_US|SNOMEDCT_US|||N||",
    "C9000001|A1|SCUI|RB|C9000004|A8|SCUI|part_of|R3||SNOMEDCT_US|SNOMEDCT_US|||N||",
    "C9000008|A12|SCUI|SY|C9000001|A1|SCUI||R4||MDR|MDR|||N||",
    "C9000002|A4|SCUI|PAR|C0000001|A9|SCUI||R5||MSH|MSH|||N||",
    "C9000004|A8|SCUI|PAR|C9000002|A4|SCUI||R6||MSH|MSH|||O||",
    "C9000001|A1|SCUI|PAR|C9000001|A2|SCUI||R7||MSH|MSH|||N||",
)

ReleaseMaker = Callable[..., Path]


@pytest.fixture
def make_release(tmp_path: Path) -> ReleaseMaker:
    """Writes a release folder; lines can be replaced or added."""

    def make(
        names: tuple[str, ...] = MRCONSO, types: tuple[str, ...] = MRSTY, links: tuple[str, ...] = MRREL, folder: str = "2026AA/META"
    ) -> Path:
        place = tmp_path / folder
        place.mkdir(parents=True, exist_ok=True)
        for file, lines in (("MRCONSO.RRF", names), ("MRSTY.RRF", types), ("MRREL.RRF", links)):
            (place / file).write_bytes("".join(line + "\n" for line in lines).encode())
        return place.parent

    return make


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A cache folder of the test's own, with no vocabulary selected."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("BEDSIDE_CACHE_DIR", str(folder))
    monkeypatch.delenv("BEDSIDE_VOCAB", raising=False)
    default_vocabulary.cache_clear()
    yield folder
    default_vocabulary.cache_clear()
