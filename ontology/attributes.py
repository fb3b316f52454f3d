"""Which detail of a finding a question asks for: when it began, where it is, how bad, and so on."""

from __future__ import annotations

import re
from typing import cast

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

_IT = r"(?:it|them|they|this|that|these|those|(?:the|your|his|her|their) \w+(?: \w+)?)"

ATTRIBUTE_CUES: tuple[tuple[Attribute, re.Pattern[str]], ...] = tuple(
    (cast(Attribute, name), re.compile(pattern, re.IGNORECASE))
    for name, pattern in (
        ("destination", r"\b(?:which countr(?:y|ies)|what countr(?:y|ies)|where (?:did you|have you) (?:travel\w*|go|been))\b"),
        ("aggravating", rf"\bmak(?:e|es|ing) {_IT} (?:any |feel )?(?:better or worse|worse or better)\b"),
        (
            "progression",
            r"\b(?:(?:getting|got(?:ten)?|become|becoming|been) (?:any |much |a bit |gradually |progressively |steadily )?(?:worse|better)|"
            r"(?:better|worse|same),? or (?:\w+ ){0,3}(?:better|worse|same)|better, worse|worse, better|worsen(?:ed|ing) over|"
            r"(?:any |noticed )?changes? (?:in|to|of) (?:the |its |their )?(?:appearance|size|shape|intensity|severity|pattern|nature)|"
            r"(?:has|have|is|are|did) (?:it|this|that|they|these|(?:the|your) \w+(?: \w+)?) (?:\w+ )?(?:chang\w+|evolv\w+|progress\w*|"
            r"improv\w+|"
            r"deteriorat\w+|resolv\w+|worsen\w*|subsid\w+|settl\w+|spread(?:ing)? over)|"
            r"chang(?:ed|ing) (?:over|since|at all)|progress(?:ed|ing|ion|ively)|improv(?:ed|ing|ement)|gone away|go(?:es)? away|went away|"
            r"going away|clear(?:ed|ing) up|stay(?:ed)? the same|how (?:has|have) (?:it|this|that|they|things|(?:the|your) \w+) (?:been )?"
            r"(?:chang\w+|progress\w+|evolv\w+|develop\w+ over)|still (?:there|ongoing|got|have|having|going)|ongoing)\b",
        ),
        (
            "radiation",
            r"\b(?:radiat\w*|spread\w*|travel(?:s|led|ing)? (?:anywhere|elsewhere|to|down|up|into|along)|go(?:es|ing)? (?:anywhere|"
            r"elsewhere|into|through|down|up|round|around)|move(?:s|d)? (?:anywhere|to|around|into|elsewhere)|shoot\w*|extend\w*)\b",
        ),
        (
            "localisation",
            r"\b(?:point to|pin ?point|one (?:finger|spot)|exactly where|precise(?:ly)?|well locali[sz]ed|"
            r"how locali[sz]ed|diffuse|vague(?:ly)?)\b",
        ),
        (
            "location",
            r"\b(?:where(?:abouts)?(?! you)(?: exactly)? (?:is|are|does|do|did|in|on|was|were|has|have|would)\b|"
            r"where (?:the|your|it)\b|where exactly|where'?s\b|whereabouts|location|located|(?:which|what) (?:part|side|area|region|bit|"
            r"eye|ear|"
            r"arm|leg|hand|foot|knee|shoulder|joints?)|(?:left|right)(?:[- ](?:hand|hand side|side|sided))?,? or (?:\w+ ){0,2}(?:left|"
            r"right)|"
            r"one side|both sides|(?:front|back|upper|lower|inside|outside|top|bottom) or (?:\w+ ){0,2}(?:front|back|upper|lower|inside|"
            r"outside|top|"
            r"bottom)|just (?:the |in )?one|is it (?:behind|in|on|over|under|around|across) (?:the|your)\b)\b",
        ),
        (
            "duration",
            r"\b(?:how long|how many (?:minutes|hours|days|nights|weeks|months|years)(?! ago)|duration|last(?:s|ed|ing)? (?:for|how|long)|"
            r"for (?:some|a long|very long) time|how (?:recently|far back)|for how)\b",
        ),
        (
            "onset",
            r"\b(?:when (?:did|was|were)\b.{0,80}\b(?:start|begin|beg[au]n|come on|appear|notice|first|happen|occur)\w*|how (?:did|does|"
            r"fast|"
            r"quickly|suddenly)\b.{0,80}\b(?:start|begin|come on|appear|develop|happen|came)\w*|(?:come|came|coming|start\w*|began|begin|"
            r"appear\w*|develop\w*|happen\w*) (?:on )?(?:very |quite |so |rather |all of a )?(?:sudden|gradual|slow|quick|abrupt)\w*|"
            r"sudden(?:ly)?,? or|gradual(?:ly)?,? or|slowly,? or|was (?:it|this|that|the \w+|your \w+) (?:very |quite |a )?(?:sudden|"
            r"gradual)|onset|since when|"
            r"what were you doing|start(?:ed)? (?:off|when|after|before)|first (?:start|notice|appear|come|begin|happen|get|feel|"
            r"experience|show)\w*|"
            r"how (?:did|has) (?:it|this|that|they|these|everything|all this|(?:the|your) \w+) (?:all )?(?:start|begin|come)|"
            r"when (?:it|this|that|they|these|(?:the|your) \w+(?: \w+)?) (?:all )?(?:first )?(?:start|began|begin|came|appear)\w*|"
            r"how many (?:hours|days|weeks|months|years) ago|how long ago|when was the (?:first|last) time|what (?:time|day|date)\b)\b",
        ),
        (
            "severity",
            r"\b(?:how (?:bad(?:ly)?|severe(?:ly)?|strong|intense|serious|high|heavy|painful|sore|itchy|much (?:does it|pain|is it|of "
            r"(?:it|a))|much (?:have you|did you|has|do "
            r"you) (?:los|gain|bleed|cough|pass|bring)\w*)|(?:scale|out) of (?:1|0|one|zero|10|ten)|from (?:1|0|one|zero) to (?:10|ten)|"
            r"(?:1|0|one|zero) to (?:10|ten)|out of (?:10|ten)|rate|severity|intensity|at (?:its|the|their) worst|the worst|mild(?:,| or)|"
            r"(?:affect|interfer|impact|limit|stop|keep|prevent)\w* (?:\w+ )?(?:your|you|with|on) (?:\w+ ){0,3}(?:daily|day|life|work|"
            r"job|sleep|activit\w+|awake|"
            r"from|doing|normal)|wak(?:e|es|ing) you|much blood|heavy (?:is|are|was))\b",
        ),
        (
            "relieving",
            rf"\b(?:mak(?:e|es|ing|ed|ade) {_IT} (?:any |feel |go )?(?:better|easier|away|improve|less)|reliev\w*|relief|alleviat\w*|"
            rf"eas(?:e|es|ed|ing)\b|sooth\w*|helps? (?:with )?{_IT}|anything (?:that )?(?:\w+ )?help\w*|what (?:seems to |do you do to "
            rf")?help\w*|better (?:with|when|"
            r"if|after|by|on)|(?:does|did|do|has|have) (?:\w+ ){1,4}help(?:s|ed)?\b|calm\w* (?:it|them)|settle (?:it|them))",
        ),
        (
            "aggravating",
            rf"\b(?:mak(?:e|es|ing) {_IT} (?:any |feel )?(?:better or )?(?:worse|flare)|worse (?:when|with|if|after|on|at|in|during|by)|"
            rf"worsen(?:s|ed|ing)?\b(?! over)|aggravat\w*|trigger\w*|brings? {_IT} on|brought {_IT} on|bring(?:s|ing)? on|set(?:s|"
            rf"ting)? {_IT} off|"
            r"provok\w*|exacerbat\w*|(?:may|might|could) have (?:contributed|caused|brought|triggered)|contribut\w*|flare)\b",
        ),
        (
            "frequency",
            r"\b(?:how (?:often|frequent\w*|regular\w*|many times|many (?:\w+ ){1,3}(?:a|per|each|in a|every) (?:day|night|week|month|"
            r"year|hour))|constant(?:ly)?|"
            r"com(?:e|es|ing) and go(?:es|ing)?|comes? or goes?|intermittent\w*|all the time|all day|the whole time|continuous(?:ly)?|"
            r"continual\w*|"
            r"(?:what(?:'s| is) the|increased|the) frequency|every (?:day|night|morning|week|time)|each (?:day|night|week|time)|in "
            r"episodes|on and off|off and on|daily|"
            r"how many (?:episodes|attacks|bouts|cigarettes|units|did you)|(?:certain|particular|specific|any) times? of (?:the "
            r")?(?:day|year|month)|"
            r"time of (?:the )?(?:day|year)|any pattern|worse at (?:night|certain)|there all)\b",
        ),
        ("color", r"\b(?:what (?:(?:sort|kind|shade) of )?colou?r|colou?r of|(?:and|the) colou?r|is it (?:red|pink|dark|pale|yellow))\b"),
        ("size", r"\b(?:how (?:big|large|wide)|size|(?:larger|bigger) than|centimet(?:er|re)s?|\bcm\b)\b"),
        ("peeling", r"\b(?:peel\w*|flak(?:y|ing|es?)|scal(?:y|ing))\b"),
        ("itching", r"\b(?:itch(?:y|ing|es)?)\b"),
        ("painfulness", r"\b(?:painful|hurt(?:s|ing)?|sore)\b"),
        ("swelling", r"\b(?:swollen|(?<!it )raised|puffy)\b"),
        (
            "character",
            r"\b(?:what (?:kind|type|sort) of|(?:what|how) (?:does|did|do|is|was) \w+(?: \w+)? (?:feel|look|taste|smell|sound)|"
            r"what(?:'s| is| was) (?:it|that|this|"
            r"(?:the|your) \w+(?: \w+)?) like|describe|in your own words|character(?:i[sz]e|istic\w*)?|nature of|quality|consistency|"
            r"texture|sharp|dull|"
            r"burning|cramp\w*|throbbing|stabbing|pressure|crushing|tearing|aching|squeezing|productive|wet or dry|dry or|like water|"
            r"watery|solid|loose|"
            r"look(?:s|ed)? like|feel(?:s|ing)? (?:like|similar)|more like|more of an?|what (?:is|was) it like)\b",
        ),
        ("associated", r"\b(?:along with|accompan\w*|associated|at the same time|together with)\b"),
    )
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
