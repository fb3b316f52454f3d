"""Reading a model's raw message as an examiner's: what it says, what must be cut away, and what calls for asking again.

Models think aloud, put role headers before their words, play the patient too, stop in mid-sentence, decline, or write half an answer.
All of that is read here, in a pure function, so that the examiner itself only has to ask again or to give up.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Literal

from simulator.final_answer import RANKED_KEYS, parse_message, render, strip_thinking
from simulator.trace import FinalAnswer, ProtocolNote

Trouble = Literal["empty", "cut_off", "self_answer", "refusal", "unparseable", "no_commit"]

OTHERS = "patient|record|user|human|caregiver|mother|father|parent|system|answer"
OWN = r"doctor|dr\.?(?:[ \t]+[A-Z][\w-]*)?|physician|clinician|examiner|assistant|gp|me"
HEADER_START = r"^[ \t>*_#\[(-]*(?:the[ \t]+)?"
HEADER_END = r"(?:['’]s[ \t]+(?:reply|answer|response))?(?:[ \t]*\([^)\n]{0,30}\))?[\])*_]*[ \t]*[:：][*_]*"
OWN_HEADER = re.compile(rf"\A[ \t>*_#\[(-]*(?:{OWN})[\])*_]*[ \t]*[:：][*_]*\s*", re.IGNORECASE)
ROLE_HEADER = re.compile(
    rf"{HEADER_START}(?:{OTHERS}|{OWN}){HEADER_END}|^#+[ \t]*(?:{OTHERS})[ \t]*$|\[(?:record|patient|user)\]", re.IGNORECASE | re.MULTILINE
)
TOKEN = re.compile(
    r"<\|?(?:im_start|im_end|eot_id|eom_id|start_header_id|end_header_id|begin_of_text|end_of_text|endoftext|start_of_turn|end_of_turn|start|end|return"
    r"|user|assistant|system|end_of_sentence)\|?>|</?s>|\[/?INST\]"
)
"""Chat template marks that a server failed to turn into the end of a message."""
LEADING_TOKENS = re.compile(rf"\A(?:\s|{TOKEN.pattern}|(?<=>)(?:assistant|model)\b)+")
HARMONY_FINAL = re.compile(r"\A.*<\|channel\|>final<\|message\|>", re.DOTALL)
TURN_LINE = re.compile(r"\[(?:\d+ turns? left|no turns left|your last turn[^\]]*)\]")
EMPTY_LINES = re.compile(r"\n{3,}")

UNABLE = r"\b(?:can['’]?t|cannot|can not|won['’]?t|unable|not able|do not|don['’]t)\b"
REFUSAL = re.compile(
    rf"\b(?:i['’]?m|i am) (?:very |so |really )?sorry,? (?:but )?(?:i|as an)\b.{{0,40}}{UNABLE}"
    rf"|\bas an? (?:ai|artificial|language model)\b.{{0,60}}{UNABLE}"
    r"|\bi(?: (?:cannot|can ?not|will not|must decline to)| (?:can|won)['’]?t|(?: am|['’]m) (?:unable|not able) to)"
    r" (?:\w+ ){0,2}?(?:assist|help|provide|offer|give|continue|comply|engage|fulfil+|answer|diagnose|participate|do (?:that|this))\b",
    re.IGNORECASE | re.DOTALL,
)
REFUSAL_CHARACTERS = 250
REQUEST = re.compile(
    r"[?？]|\bplease\b(?! (?:consult|see|seek|contact|speak|talk|visit|call|reach|go)\b)"
    r"|\b(?:tell me|describe|let me know|let['’]s|show me)\b"
    r"|\bi(?:['’]d| would) like\b|(?<!\bin )\border (?!to\b)|\bcheck (?!with\b)|\b(?:measure|examine)\b|\btake (?!care\b)",
    re.IGNORECASE,
)
OFFER = re.compile(
    r"[^.?!\n]*\b(?:anything else|how (?:else )?(?:can|may) i (?:help|assist)|would you like me to)\b[^?\n]*\?", re.IGNORECASE
)
"""A polite close, which asks nothing about the patient."""
SENTENCE_END = re.compile(r"[.?!…。？！]['\"”’)*_]*(?=\s|\Z)")
ANSWER_ATTEMPT = re.compile(rf"\{{\s*(?:[\"'][^\"']*[\"']\s*:[^{{}}]*)?[\"'“]?(?:{'|'.join(RANKED_KEYS)})[\"'”]?\s*:")
PLACEHOLDER = re.compile(r"[\s.…]*")


@dataclass(frozen=True)
class Judged:
    """A message, understood. `text` can be sent when `trouble` is None; `detail` says what was wrong, in words for the model."""

    text: str
    answer: FinalAnswer | None = None
    trouble: Trouble | None = None
    detail: str = ""
    notes: tuple[ProtocolNote, ...] = ()


def judge(raw: str, *, cut_off: bool, refused: bool, must_commit: bool) -> Judged:
    """Understand a model's message.

    Args:
        raw: the words as they came.
        cut_off: whether the token limit ended them.
        refused: whether the endpoint marked them as a refusal.
        must_commit: whether a final answer was demanded.
    """
    notes: list[ProtocolNote] = []
    visible, thought = strip_thinking(HARMONY_FINAL.sub("", raw))
    if thought:
        notes.append(ProtocolNote(code="thinking_removed"))
    own, tail_cut = own_words(visible, keep_answer=must_commit)
    parsed = parse_message(own)
    said = parsed.said
    if parsed.answer is not None:
        said, after_answer = own_words(said, keep_answer=False)
        tail_cut = tail_cut or after_answer
    if tail_cut:
        notes.append(ProtocolNote(code="self_answer", detail="the examiner spoke for the other side; cut there"))
    found = Judged(_tidy(said), parsed.answer, notes=tuple(notes))
    if parsed.answer is not None:
        return _with_answer(found, parsed.answer)
    trouble, detail = _trouble(found.text, cut_off, tail_cut, refused)
    if trouble is None and (parsed.problem or ANSWER_ATTEMPT.search(own)):
        trouble, detail = "unparseable", parsed.problem or ("it is cut off" if cut_off else "it is not valid JSON")
    if trouble is None and must_commit:
        trouble = "no_commit"
    if trouble is not None or not cut_off or tail_cut:
        return replace(found, trouble=trouble, detail=detail.rstrip("."))
    return _up_to_last_sentence(found)


def own_words(text: str, *, keep_answer: bool) -> tuple[str, bool]:
    """The examiner's own part of a message, and whether something said for the other side was cut away.

    Args:
        text: without thinking.
        keep_answer: cut nothing as long as a final answer can be read, as it is all that matters once it was demanded.

    A header before any question, with a final answer behind it ("Patient: woman of 74 with …"), is a summary and no self-answer.
    """
    text = LEADING_TOKENS.sub("", TURN_LINE.sub("", text))
    text = OWN_HEADER.sub("", text, count=1)
    cuts = [match.start() for match in (ROLE_HEADER.search(text), TOKEN.search(text)) if match is not None]
    if not cuts:
        return text, False
    before, after = text[: min(cuts)], text[min(cuts) :]
    if parse_message(text).answer is not None and (keep_answer or not REQUEST.search(before)) and parse_message(before).answer is None:
        return TOKEN.sub("", text), False
    return before, bool(TOKEN.sub("", after).strip())


def _with_answer(found: Judged, answer: FinalAnswer) -> Judged:
    if all(PLACEHOLDER.fullmatch(item.name) for item in answer.ranked):
        return replace(found, answer=None, trouble="unparseable", detail="it repeats the form instead of naming a diagnosis")
    notes = found.notes
    if "?" in found.text:
        notes = (*notes, ProtocolNote(code="question_with_answer", detail="the answer counts; the words before it get no reply"))
    text = render(answer, found.text)
    if parse_message(text).answer != answer:
        # The words hold something that would be read as another answer.
        text = render(answer)
    return replace(found, text=text, notes=notes)


def _trouble(said: str, cut_off: bool, tail_cut: bool, refused: bool) -> tuple[Trouble | None, str]:
    if refused or is_refusal(said):
        return "refusal", ""
    if said:
        return None, ""
    if tail_cut:
        return "self_answer", ""
    return ("cut_off" if cut_off else "empty"), ""


def is_refusal(said: str) -> bool:
    """Whether a message declines to take part and asks for nothing: no question, no request."""
    return bool(REFUSAL.search(said[:REFUSAL_CHARACTERS])) and not REQUEST.search(OFFER.sub("", said))


def _up_to_last_sentence(found: Judged) -> Judged:
    ends = [match.end() for match in SENTENCE_END.finditer(found.text)]
    if not ends:
        return replace(found, trouble="cut_off")
    note = ProtocolNote(code="cut_off", detail="the token limit ended the message; used up to its last whole sentence")
    return replace(found, text=found.text[: ends[-1]], notes=(*found.notes, note))


def _tidy(text: str) -> str:
    lines = [line.rstrip() for line in text.strip().splitlines()]
    return EMPTY_LINES.sub("\n\n", "\n".join(lines)).strip()
