"""Which detail of a finding a question asks for: when it began, where it is, how bad, and so on."""

from __future__ import annotations

import re

from ontology.concepts import Attribute
from ontology.cues import DESCRIPTION, PRESENCE_START, REACH, SAID_OF_CONCEPT

PRESENCE_KEEPS: frozenset[str] = frozenset({"radiation", "location", "duration", "onset", "aggravating", "relieving", "progression"})
"""Attributes that a question for presence may still ask: "Do you have pain that spreads?"; "sharp pain" asks for pain."""

STANDARD: dict[Attribute, Attribute] = {
    "localisation": "location",
    "color": "character",
    "size": "severity",
    "peeling": "character",
    "swelling": "character",
    "itching": "character",
    "painfulness": "character",
}
"""The attribute of the usual scheme (onset, duration, location, …) that a finer one of ours belongs to."""

_IT = r"(?:it|them|they|this|that|these|those|everything|(?:the|your|his|her|their) \w+(?: \w+)?)"
_HAS_IT = r"(?:has|have|is|are|did|does|do|was|were) " + _IT
_TIMES = r"(?:minutes|hours|days|nights|weeks|months|years)"
_NO_DEGREE = (
    r"long|often|many|old|much|are|is|was|were|do|does|did|have|has|had|would|will|can|could|should|about|come|far|soon|quick\w*|fast|"
    r"sudden\w*|"
    r"frequent\w*|regular\w*|recent\w*|else|big|large|wide|it|this|that|they|you|your|the"
)
"""Words after "how" that ask for something else than the degree."""

_CUES: tuple[tuple[Attribute, tuple[str, ...]], ...] = (
    ("destination", (r"(?:which|what) countr(?:y|ies)", r"where (?:did you|have you) (?:travel\w*|go|been)")),
    ("relieving", (rf"mak(?:e|es|ing) {_IT} (?:go away|disappear|stop|settle)", r"takes? the edge off")),
    ("aggravating", (rf"mak(?:e|es|ing) {_IT} (?:any |feel )?(?:better or worse|worse or better)",)),
    (
        "progression",
        (
            r"(?:get|gets|getting|got|gotten|become|becoming|been) (?:any |much |a bit |a little |gradually |progressively |steadily )?"
            r"(?:worse|better|bigger|smaller|larger)(?! (?:when|with|if|after|on|at|in|during|by))",
            r"(?:better|worse|same),? or (?:\w+ ){0,3}(?:better|worse|same)",
            r"better, worse|worse, better",
            r"any (?:better|worse)(?! (?:when|with|if|after|on|at|in|during|by))",
            r"(?:any |noticed )?changes? (?:in|to|of) (?:the |its |their )?(?:appearance|size|shape|intensity|severity|pattern|nature)",
            rf"{_HAS_IT} (?:\w+ )?(?:chang\w+|evolv\w+|progress\w*|improv\w+|deteriorat\w+|resolv\w+|worsen\w*|subsid\w+|settl\w+|"
            rf"grown?|gone down)",
            r"chang(?:ed|ing) (?:over|since|at all)|progress(?:ed|ing|ion|ively)|improv(?:ed|ing|ement)",
            r"gone (?:away|down)|go(?:es|ing)? away|went away|clear(?:ed|ing) up|growing",
            r"stay(?:ed|ing|s)? the same|(?:the )?same as|still (?:there|ongoing|got|have|having|going)|ongoing",
            rf"how (?:has|have) {_IT} (?:been )?(?:chang\w+|progress\w+|evolv\w+|develop\w+)",
        ),
    ),
    (
        "radiation",
        (
            r"radiat\w*|spread\w*|shoot\w*|extend\w*",
            r"travel(?:s|led|ling|ing)? (?:anywhere|elsewhere|to|down|up|into|along)",
            r"go(?:es|ing)? (?:anywhere|somewhere|elsewhere|into|through|down|up|round|around)",
            r"move(?:s|d)? (?:anywhere|to|around|into|elsewhere|up|down)",
            r"(?:in|to) one place|(?:feel|have|get|got) (?:it|this|that|the pain) (?:anywhere|somewhere) else",
        ),
    ),
    (
        "localisation",
        (r"point to|pin ?point|one (?:finger|spot)|exactly where|precise(?:ly)?|well locali[sz]ed|how locali[sz]ed|diffuse|vague(?:ly)?",),
    ),
    (
        "location",
        (
            r"where(?:abouts)?(?! you)(?: exactly)? (?:is|are|does|do|did|in|on|was|were|has|have|would)",
            r"where (?:the|your|it)|where exactly|where's|whereabouts|location|located",
            r"(?:which|what) (?:part|side|area|region|bit|eye|ear|arm|leg|hand|foot|knee|shoulder|joints?)",
            r"(?:left|right)(?:[- ](?:hand|hand side|side|sided))?,? or (?:\w+ ){0,2}(?:left|right)",
            r"(?:front|back|upper|lower|inside|outside|top|bottom)(?: \w+)? or (?:\w+ ){0,2}(?:front|back|upper|lower|inside|outside|"
            r"top|bottom)",
            r"one side or|on both sides|one[- ]sided|in one \w+ or both|just (?:the |in )?one",
            r"is it (?:behind|in|on|over|under|around|across) (?:the|your)",
        ),
    ),
    (
        "duration",
        (
            rf"how long(?! ago)|how many {_TIMES}(?! ago)|duration|last(?:s|ed|ing)? (?:for|how|long)",
            r"for (?:some|a long|very long) time|for (?:long|a while|ages|how)|period of time|how far back|for the (?:past|last)",
        ),
    ),
    (
        "onset",
        (
            r"when (?:did|was|were) .{0,80}\b(?:start|begin|beg[au]n|come on|appear|notice|first|happen|occur)\w*",
            r"how (?:did|does|fast|quickly|suddenly) .{0,80}\b(?:start|begin|come on|appear|develop|happen|came)\w*",
            r"(?:come|came|coming|start\w*|began|begin|appear\w*|develop\w*|happen\w*) (?:on )?(?:very |quite |so |rather |all of a )?"
            r"(?:sudden|gradual|slow|quick|abrupt)\w*",
            r"sudden(?:ly)?,? or|gradual(?:ly)?,? or|slowly,? or|overnight|onset|since when|what were you doing",
            rf"was {_IT} (?:very |quite |a )?(?:sudden|gradual)",
            r"start(?:ed)? (?:off|when|after|before)|first (?:start|notice|appear|come|came|begin|began|happen|get|feel|experience|"
            r"show)\w*",
            rf"how (?:did|has|have) {_IT} (?:all )?(?:start|begin|come|beg[au]n)\w*|how {_IT} (?:all )?(?:started|began|came on)",
            rf"when {_IT} (?:all )?(?:first )?(?:start|began|begin|came|appear)\w*",
            rf"how many {_TIMES} ago|how long ago|how recently|when was the (?:first|last) time|what (?:time|day|date)",
            # A finding's words are masked: "when was your last period?" reads "when was your xxxxxxxxxxx?".
            r"when (?:was|were) (?:the|your|his|her|their) (?:first |last )?x{3,}|when did (?:you|he|she|they) last",
        ),
    ),
    (
        "severity",
        (
            r"how (?:bad|severe|much (?:does it|pain|is it|of (?:it|a)))\w*",
            r"how much (?:\w+ ){0,3}(?:have|has|did|do|does|is|was|are|were)|how much x{3,}",
            rf"how (?!(?:{_NO_DEGREE})\b)\w+ (?:is|are|was|were|do|does|did|has|have|would|you|it|this|that|the|your)",
            r"(?:scale|out) of (?:1|0|one|zero|10|ten)|(?:from )?(?:1|0|one|zero) to (?:10|ten)|out of (?:10|ten)|what number",
            r"rate (?:it|this|that|the|your|them)|severity|intensity|at (?:its|the|their) worst|the worst|mild|severe enough|bad enough",
            r"(?:affect|interfer|impact|limit|stop|keep|prevent)\w* (?:\w+ )?(?:your|you|with|on) (?:\w+ ){0,3}"
            r"(?:daily|day|life|work|job|sleep|activit\w+|awake|from|doing|normal)",
            r"wak(?:e|es|ing) you|much blood|heavy (?:is|are|was)",
        ),
    ),
    (
        "relieving",
        (
            rf"mak(?:e|es|ing) {_IT} (?:any |feel )?(?:better|easier|improve|less)|made {_IT} (?:any |feel )?(?:better|easier)",
            rf"reliev\w*|relief|alleviat\w*|eas(?:e|es|ed|ing)|sooth\w*|helps? (?:with )?{_IT}|anything (?:that )?(?:\w+ )?help\w*",
            r"what (?:seems to |do you do to )?help\w*|better (?:with|when|if|after|by|on)|(?:does|did|do|has|have) (?:\w+ "
            r"){1,4}help(?:s|ed)?",
            r"calm\w* (?:it|them)|settles? (?:it|them)",
        ),
    ),
    (
        "aggravating",
        (
            rf"mak(?:e|es|ing) {_IT} (?:any |feel )?(?:worse|flare)|worse (?:when|with|if|after|on|at|in|during|by)|hurts? more",
            rf"worsen(?:s|ed|ing)?(?! over)|aggravat\w*|trigger\w*|(?:brings?|brought) {_IT} on|bring(?:s|ing)? on|set(?:s|ting)? {_IT} "
            rf"off",
            rf"provok\w*|exacerbat\w*|affects? {_IT}|contribut\w*|flare|(?:may|might|could) have (?:caused|brought|triggered)",
        ),
    ),
    (
        "frequency",
        (
            r"how (?:often|frequent\w*|regular\w*|many times)",
            r"how many (?:\w+ ){1,3}(?:a|per|each|in a|every) (?:day|night|week|month|year|hour)",
            r"how many (?:episodes|attacks|bouts|cigarettes|units|did you|x{3,})",
            r"constant(?:ly)?|com(?:e|es|ing) and go(?:es|ing)?|comes? or goes?|intermittent\w*|continuous(?:ly)?|continual\w*",
            r"all the time|all day|the whole time|in episodes|on and off|off and on|any pattern",
            r"(?:what(?:'s| is) the|increased|the) frequency|(?:every|each) (?:day|night|morning|week|time)",
            r"(?:certain|particular|specific|any) times? of (?:the )?(?:day|year|month)|time of (?:the )?(?:day|year)|worse at (?:night|"
            r"certain)",
        ),
    ),
    ("color", (r"what (?:(?:sort|kind|shade) of )?colou?r|colou?r of|(?:and|the) colou?r|is it (?:red|pink|dark|pale|yellow)",)),
    ("size", (r"how (?:big|large|wide)|size|(?:larger|bigger) than|centimet(?:er|re)s?|cm",)),
    ("peeling", (r"peel\w*|flak(?:y|ing|es?)|scal(?:y|ing)",)),
    ("itching", (r"itch(?:y|ing|es)?",)),
    ("painfulness", (r"painful|hurt(?:s|ing)?|sore",)),
    ("swelling", (r"swollen|(?<!it )raised|puffy",)),
    (
        "character",
        (
            r"what (?:kind|type|sort) of|(?:what|how) (?:does|did|do|is|was) \w+(?: \w+)? (?:feel|look|taste|smell|sound)",
            rf"what(?:'s| is| was) {_IT} like|describe|in your own words|character(?:i[sz]e|istic\w*)?|nature of|quality|consistency|"
            rf"texture",
            r"sharp|dull|burning|cramp\w*|throbbing|stabbing|pressure|crushing|tearing|aching|squeezing|productive|wet or dry|dry or",
            r"like water|watery|solid|loose|looks? like|looked like|feel(?:s|ing)? (?:like|similar|tight|heavy|\w+ or )|more like|more "
            r"of an?",
            r"what (?:is|was) it like",
        ),
    ),
    ("associated", (r"along with|accompan\w*|associated|at the same time|together with",)),
)
"""Words that ask for a detail, the most telling first."""

ATTRIBUTE_CUES: tuple[tuple[Attribute, re.Pattern[str]], ...] = tuple(
    (name, re.compile(r"\b(?:" + "|".join(alternatives) + r")(?:(?<=\W)|\b)", re.IGNORECASE)) for name, alternatives in _CUES
)


def without_descriptions(words: str, spans: list[tuple[int, int]]) -> tuple[list[int], str]:
    """Findings that only describe the one before them ("is the rash painful?"), and the text with the words of the others masked.

    Args:
        words: the clause.
        spans: (start, end) of its findings, in order.

    Returns:
        indexes of the describing findings; the clause in which each other finding is one word of x, so that "makes the headache worse"
        still reads as "makes the … worse".
    """
    describing: list[int] = []
    masked = list(words)
    for index, (begin, end) in enumerate(spans):
        before = "".join(masked[max(0, begin - REACH) : begin])
        if SAID_OF_CONCEPT.search(before) and DESCRIPTION.fullmatch(words[begin:end]):
            describing.append(index)
        else:
            masked[begin:end] = "x" * (end - begin)
    return describing, "".join(masked)


def attribute_asked(text: str, masked: str, has_concept: bool) -> tuple[Attribute | None, tuple[int, int] | None]:
    """The detail a question asks for, and where it says so.

    Args:
        text: the clause.
        masked: the same with the words of its findings masked: they ask for no detail.
        has_concept: whether it names a finding.
    """
    for_presence = has_concept and PRESENCE_START.search(text) is not None
    for attribute, pattern in ATTRIBUTE_CUES:
        # "Where did you travel?" names the concept and the detail in the same words.
        found = pattern.search(text if attribute == "destination" else masked)
        if found and found.group().strip() and not (for_presence and attribute not in PRESENCE_KEEPS):
            begin, finish = found.span()
            while begin < finish and text[begin].isspace():
                begin += 1
            return attribute, (begin, finish)
    return None, None
