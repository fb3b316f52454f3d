"""`python tests/bench/annotator_growth.py`: how the time for a line grows when it gets four times as long; 1.0 is linear, 4.0 quadratic.

Counting calls (tests/ontology/test_annotator_fuzz.py) does not see time that is spent inside a pattern; this does.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from ontology.annotator import annotate_examiner
from ontology.dialogue import DialogueTurn, PastTurn, TurnReader
from ontology.vocabulary import bundled_vocabulary

SHAPES = (
    "chest pain, |pain, or |if you have pain |no fever |your mother had diabetes and |Do you have a hedache? |in the |how long how bad |"
    "qzxvkw |x|any |' |(|1.|..|\n|\x00|🙂|e\u0301|\u202eabc |you or your family |when it when |yes, |I don't know | \t|?!|-- |don't "
).split("|")
SIZES = (25_000, 100_000)


def seconds(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def main() -> None:
    vocabulary = bundled_vocabulary()
    past = (PastTurn("examiner", "Any fever or cough?"),)
    for side in ("examiner", "patient"):
        for shape in SHAPES:
            texts = [(shape * (size // len(shape) + 1))[:size] for size in SIZES]
            if side == "examiner":
                annotate_examiner(texts[0], vocabulary)
                short, long = (seconds(lambda text=text: annotate_examiner(text, vocabulary)) for text in texts)  # type: ignore[misc]
            else:
                turns = [DialogueTurn(text, "patient", past) for text in texts]
                TurnReader(vocabulary).read(turns[0])
                short, long = (seconds(lambda turn=turn: TurnReader(vocabulary).read(turn)) for turn in turns)  # type: ignore[misc]
            growth = long / max(short, 0.001) * SIZES[0] / SIZES[1]
            print(f"{side:<8} {shape!r:<34} {long:6.2f} s for 100 kB, growth {growth:.1f}")


if __name__ == "__main__":
    main()
