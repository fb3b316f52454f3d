"""Whether a finding in a sentence is so, is certain, is now, and whose it is.

After ConText (Harkema et al. 2009) and NegEx (Chapman et al. 2001): modifiers before or after a finding, each up to the end of its
clause, and phrases that look like modifiers and are none.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Polarity = Literal["present", "absent"]
Certainty = Literal["certain", "uncertain"]
Temporality = Literal["current", "historical", "hypothetical"]
Experiencer = Literal["patient", "family", "other"]
Kind = Literal["negation", "uncertainty", "history", "hypothesis", "family", "other"]


@dataclass(frozen=True, slots=True)
class Assertion:
    """What a sentence says of one finding."""

    polarity: Polarity = "present"
    certainty: Certainty = "certain"
    temporality: Temporality = "current"
    experiencer: Experiencer = "patient"


_BLOOD = (
    r"mother|father|mum|mom|mam|dad|daddy|mummy|parents?|brothers?|sisters?|siblings?|twin|grand(?:mother|father|parents?|ma|pa|dad|mum|"
    r"son|"
    r"daughter)|nan|nana|aunts?|aunties?|uncles?|cousins?|nephews?|nieces?|relatives?|famil(?:y|ies)"
)
_CHILDREN = r"sons?|daughters?|children|kids?"
_OTHERS = (
    r"wife|husband|partner|spouse|boyfriend|girlfriend|friends?|neighbou?rs?|colleagues?|flatmates?|roommates?|co-?workers?|boss|"
    r"classmates?|"
    r"everyone|everybody|someone|somebody|people at work|dog|cat"
)
_IS = r"(?:is|are|was|were|has been|have been|had been|'s|'re)"
_PSEUDO = (
    r"(?:no|not|never|haven't|hasn't|didn't) (?:been )?mention\w*(?: of)?(?: any)?|"
    r"no (?:idea|doubt|wonder|end|problem telling)|not only|without (?:a |any )?doubt|not (?:just|merely|sure|certain|know)|"
    r"no (?:significant |real )?change in|no (?:increase|worsening|improvement) in|gram[- ]negative|can't (?:stop|help)|cannot (?:stop|"
    r"help)|can't get rid of|"
    r"(?:don't|do not) (?:know|remember|sleep|feel (?:well|right|good|like myself))|not (?:feeling|been feeling) (?:well|right|great|good)|"
    r"never (?:stops?|goes away|without)|not (?:improving|going away|gone|better|getting any better|stopped)|no (?:better|relief from)|"
    r"nothing (?:helps?|works?)"
)
_NEGATION = (
    r"no longer|no|not|none|never|neither|nor|without|den(?:y|ies|ied|ying)|nobody|free (?:of|from)|negative for|lack(?:s|ed|ing)?(?: "
    r"of)?|absence of|"
    r"rul(?:e|es|ed|ing) out|unlikely to (?:be|have)|no (?:sign|evidence|history|trace|signs) of|fail(?:s|ed)? to (?:show|reveal)|"
    r"(?:haven't|hasn't|hadn't|doesn't|didn't|isn't|aren't|wasn't|weren't|don't|ain't|can't say|cannot say|wouldn't say|couldn't say)|"
    r"instead of|rather than|other than|apart from|except(?: for)?|stopped having|"
    r"not (?:had|have|having|got|getting|noticed|experienced|any|been|felt)"
)
_AFTER_NEGATION = (
    rf"{_IS} (?:now |all |completely |totally )?(?:absent|negative|ruled out|excluded|denied|not (?:present|there|a problem|an issue)|"
    rf"gone|unlikely|resolved|"
    r"cleared|none)|: ?(?:no|none|nil|absent|negative|denied|denies)|(?:has|have|had) (?:now |completely )?(?:gone|resolved|cleared|"
    r"stopped|disappeared)|"
    r"- ?(?:no|none|nil|absent|negative)|(?:wasn't|weren't|isn't|aren't) (?:there|present|a problem|an issue)"
)
_UNCERTAINTY = (
    r"possib(?:le|ly)|maybe|perhaps|may|might|could|suspect(?:ed|s|ing)?|suspicion of|not (?:really |quite |entirely |completely "
    r")?(?:sure|certain)(?: if| whether| about)?|"
    r"wonder(?:ed|ing)? (?:if|whether|about)|question of|query|\?|probabl[ey]|presumed|i (?:think|guess|suppose|reckon)|(?:seems?|"
    r"looks?|feels?|sounds?) (?:like|as if)|"
    r"unsure|unclear|(?:don't|do not) (?:know|remember) (?:if|whether)|can't (?:tell|remember) (?:if|whether)|apparently|unlikely|"
    r"differential includes|versus|vs|i would say"
)
_AFTER_UNCERTAINTY = (
    rf"{_IS} (?:possible|suspected|likely|probable|uncertain|unclear|questionable)|,? (?:maybe|perhaps|possibly|probably|i think|i "
    rf"guess|i suppose|i'm not sure|"
    r"not sure|or something)|\?"
)
_HISTORY = (
    r"(?<!family )(?<!family medical )(?:history of|hx of)|h/o|past (?:medical )?history (?:of|includes|is|:)|used to (?:have|get|"
    r"suffer|be)|previous(?:ly)?|prior|in the past|as a (?:child|kid|baby|teenager|boy|girl)|"
    r"when i was|years? ago|months? ago|last (?:year|summer|winter|spring|autumn|christmas)|once had|(?:had|have had|i've had) "
    r".{0,20}\bbefore|ever since childhood|like (?:this|it|that) before|before(?=\W*$)|"
    r"in (?:19|20)\d\d|back in|in my (?:teens|twenties|thirties|youth|childhood)|childhood|long ago|decades? ago|recovered from|status "
    r"post|s/p|known (?:past )"
)
_HYPOTHESIS = (
    r"if|in case(?: of)?|should (?:you|i|he|she|it|they|there)|unless|(?:worried|afraid|scared|concerned|anxious|frightened|fear|"
    r"terrified) (?:it|that|of|about|this|i|she|he)(?: (?:is|was|'s|might|may|could|"
    r"will|would))?(?: be| have| get)?|return (?:if|for)|come back (?:if|for)|watch (?:out )?for|look out for|(?:want|like|need|trying|"
    r"try) to (?:rule out|avoid|prevent)|"
    r"as long as|whenever i|risk (?:of|for)|to prevent|prevention of|to avoid|predispos\w+ to|whether or not|in the event of"
)
_FAMILY = rf"family (?:medical )?history(?: of| is| includes|:)?|(?:{_BLOOD}|{_CHILDREN})(?:'s|s')?"
_AFTER_FAMILY = (
    rf"(?:runs?|ran|running|is|are|was|common|strong) (?:strong(?:ly)? )?(?:in|on|among) (?:\w+ ){{0,3}}(?:{_BLOOD}|{_CHILDREN})|"
    rf"(?:in|on|from|of) (?:my|his|her|their|our) (?:\w+ )?(?:{_BLOOD}|{_CHILDREN})"
)


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{pattern})(?!\w)", re.IGNORECASE)


PSEUDO = _compiled(_PSEUDO)
FORWARD: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    ("negation", _compiled(_NEGATION)),
    ("uncertainty", _compiled(_UNCERTAINTY)),
    ("history", _compiled(_HISTORY)),
    ("hypothesis", _compiled(_HYPOTHESIS)),
    ("family", _compiled(_FAMILY)),
    ("other", _compiled(rf"(?:{_OTHERS})(?:'s|s')?")),
)
BACKWARD: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    ("negation", re.compile(rf"\s*(?:{_AFTER_NEGATION})(?!\w)", re.IGNORECASE)),
    ("uncertainty", re.compile(rf"\s*(?:{_AFTER_UNCERTAINTY})", re.IGNORECASE)),
)
AFTER_CLAUSE: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    ("history", _compiled(_HISTORY)),
    ("family", _compiled(_AFTER_FAMILY)),
)
"""Modifiers anywhere behind a finding in its clause: "nausea last year"."""
NOW = re.compile(
    r"(?<!\w)(?:now|currently|today|these days|at the moment|this (?:morning|week|time)|still|again|since (?:last|then))(?!\w)",
    re.IGNORECASE,
)
OBSERVER = re.compile(
    r"(?<!\w)(?:says?|said|tells?|told|thinks?|thought|notice[ds]?|noticed|saw|sees|mentioned|reports?|reported|brought|made|wanted|"
    r"asked|worr(?:y|ies|ied)|"
    r"insisted|drove|took|called)(?!\w)",
    re.IGNORECASE,
)
"""Verbs by which somebody else speaks of the patient: "my wife says I snore"."""
SUBJECT = re.compile(r"(?<!\w)(?:i|i'm|i've|i'd|me|my|we|you|you're|you've|your)(?!\w)", re.IGNORECASE)
CHILD_SUBJECT = re.compile(
    r"(?<!\w)(?:he|she|he's|she's|him|her|his|they|my (?:son|daughter|baby|little one|boy|girl|child|kid))(?!\w)", re.IGNORECASE
)
BREAK = re.compile(
    r"[;:—–]|\.\s|(?<!\w)(?:but|however|although|though|except|apart from|because|since(?! (?:last|then))|which|while|whereas|yet|then|"
    r"only)(?!\w)"
    r"|(?:,|(?<!\w)and|(?<!\w)or)\s+(?:also\s+|now\s+|then\s+|just\s+|he\s+|she\s+)?(?:i|i've|i'm|i'd|my|it|it's|there|there's|you|we|"
    r"they|he|she|he's|she's|has|have|had|is|was|does|"
    r"feels?|reports?|complains?|admits?|endorses?|positive)(?!\w)",
    re.IGNORECASE,
)
"""Where a modifier's reach ends."""
DOUBT = re.compile(
    r"not (?:sure|certain|know)|(?:don't|do not) (?:know|remember)|(?:no|not|never|haven't|hasn't|didn't) (?:been )?mention\w*(?: of)?",
    re.IGNORECASE,
)
INDIRECT = re.compile(r"(?<!\w)(?:sure|certain|know|remember|tell|recall|wonder\w*|ask\w*|see)\s+$", re.IGNORECASE)
"""Verbs after which "if" means whether."""
HYPOTHESIS_BREAK = re.compile(r",|(?<!\w)(?:then|but|and (?:i|it|my))(?!\w)", re.IGNORECASE)


class SentenceContext:
    """The modifiers of one sentence, found once."""

    def __init__(self, sentence: str, for_child: bool = False) -> None:
        """Find the modifiers.

        Args:
            sentence: the words, with straight apostrophes.
            for_child: a parent speaks for the patient, who is then the son or daughter.
        """
        self._text = sentence
        self._for_child = for_child
        masked = PSEUDO.sub(lambda found: "~" * len(found.group()), sentence)
        self._masked = masked
        self._breaks = [(m.start(), m.end()) for m in BREAK.finditer(masked)]
        self._forward = [
            (kind, m.start(), m.end())
            for kind, pattern in FORWARD
            for m in pattern.finditer(masked)
            if kind != "hypothesis" or not INDIRECT.search(sentence, 0, m.start())
        ]
        self._doubts = [m.span() for m in DOUBT.finditer(sentence)]
        self._plain_yes = re.match(r"\W*(?:yes|yeah|yep)(?!\w)", sentence, re.IGNORECASE) is not None
        self._plain_no = re.match(r"\W*(?:no|nope|nah|not really|not at all|never|none)\s*(?:,|\.|\W*$)", sentence, re.IGNORECASE)

    def of(self, start: int, end: int) -> Assertion:
        """What the sentence says of the finding at `start`..`end`."""
        kinds = {kind for kind, first, last in self._forward if last <= start and self._reaches(kind, last, start, first)}
        if any(last <= start and self._open(last, start) for _, last in self._doubts):
            kinds.add("uncertainty")
        tail = self._masked[end:]
        if not self._plain_yes:
            kinds |= {kind for kind, pattern in BACKWARD if pattern.match(tail)}
        stop = next((first for first, _ in self._breaks if first >= end), len(self._text))
        kinds |= {kind for kind, pattern in AFTER_CLAUSE if pattern.search(self._masked, end, stop)}
        if "history" in kinds and NOW.search(self._clause(start, end)):
            kinds.discard("history")
        negative = "negation" in kinds or self._answered_no(start)
        return Assertion(
            "absent" if negative else "present",
            "uncertain" if "uncertainty" in kinds else "certain",
            "hypothetical" if "hypothesis" in kinds else "historical" if "history" in kinds else "current",
            "family" if "family" in kinds else "other" if "other" in kinds else "patient",
        )

    def _reaches(self, kind: Kind, last: int, start: int, first: int) -> bool:
        between = self._masked[last:start]
        if kind == "hypothesis":
            return HYPOTHESIS_BREAK.search(between) is None
        if kind in ("family", "other"):
            return self._whose(kind, first, last, start)
        return self._open(last, start)

    def _open(self, last: int, start: int) -> bool:
        return not any(last <= first and stop <= start for first, stop in self._breaks)

    def _whose(self, kind: Kind, first: int, last: int, start: int) -> bool:
        between = self._masked[last:start]
        if self._for_child:
            own = CHILD_SUBJECT.search(self._masked, max(0, first - 4), last)
            if own and own.end() >= last:
                return False
            return CHILD_SUBJECT.search(between) is None and not OBSERVER.search(between)
        if SUBJECT.search(between) or OBSERVER.search(between):
            return False
        if (
            kind == "other"
            and re.search(r"(?<!\w)(?:with|by|to|at|for|of)\s+(?:my |the |a |an )?$", self._masked[:first])
            and not re.search(r"\bwho\b|\bwith\b", between)
        ):
            return False
        return re.search(r"[;.]|(?<!\w)but(?!\w)", between) is None

    def _clause(self, start: int, end: int) -> str:
        begin = max((stop for _, stop in self._breaks if stop <= start), default=0)
        stop = next((first for first, _ in self._breaks if first >= end), len(self._text))
        return self._masked[begin:stop]

    def _answered_no(self, start: int) -> bool:
        return self._plain_no is not None and start >= self._plain_no.end() and self._open_no(start)

    def _open_no(self, start: int) -> bool:
        between = self._masked[self._plain_no.end() : start] if self._plain_no else ""
        return (
            re.search(
                r"(?<!\w)(?:but|just|only|i have|i've|it's|i do|i get|i did|i had|it is|though|although)(?!\w)", between, re.IGNORECASE
            )
            is None
        )


def assertion(sentence: str, start: int, end: int, for_child: bool = False) -> Assertion:
    """What a sentence says of one finding; for several, make one `SentenceContext`."""
    return SentenceContext(sentence, for_child).of(start, end)
