"""Word patterns by which an examiner's sentence shows what it does, and a patient's answer its polarity."""

from __future__ import annotations

import re
from typing import cast

from ontology.concepts import Attribute

_ANY_CASE = re.IGNORECASE

QUESTION_START = re.compile(
    r"^\W*(?:(?:and|so|also|but|or|okay|ok|alright|now|well|then|next|first|finally|right|great|thanks|thank you|i see|"
    r"sorry)\b[\s,.:;-]*)*"
    r"(?:do|does|did|don't|didn't|doesn't|have|has|had|haven't|hasn't|are|is|isn't|aren't|was|were|will|would|could|"
    r"can|should|may|any|ever|no|what|what's|when|where|which|who|whose|why|how|how's|"
    r"tell me|describe|explain|show me|let me know|talk me through|point to|"
    r"i(?:'d| would) like to (?:know|ask|hear)|i want to (?:know|ask)|i(?:'m| am) wondering|i wonder|let me ask|may i ask)\b",
    _ANY_CASE,
)
OPEN_QUESTION = re.compile(
    r"\b(?:anything else|any other (?:symptoms?|problems?|complaints?|concerns?|issues?)|(?:other|additional|associated|"
    r"accompanying) symptoms|what(?:'s| is| has been| else is) (?:been )?(?:wrong|bothering|troubling|going on|the matter|happening)|"
    r"what (?:brings|brought) you|how can i help|what can i (?:do|help)|tell me (?:more|a (?:bit|little) more|about (?:your symptoms?|it|"
    r"what|how|yourself|the problem))|what seems to be|why (?:have you come|are you here)|"
    r"(?:describe|explain|go through|walk me through) (?:your |the |what )?(?:symptoms?|problem|happened|is going on)|"
    r"what (?:symptoms|else)|what happened|anything (?:more|further))\b",
    _ANY_CASE,
)
ORDER = re.compile(
    r"\b(?:order|check|measure|perform|obtain|arrange|request|send (?:off|for)|run|do (?:a|an|some)|get (?:a|an|some|your|the)|"
    r"let(?:'s| us|’s)|i(?:'d|’d| would) like (?:to (?:get|order|do|check|see|take|have|run|examine|perform|measure)|an?\b)|"
    r"take (?:your|a|an|some)|examine|examination of|listen to|look at|palpate|auscultate|percuss|what (?:is|are|was|were)|show me|results? of|"
    r"can (?:i|we) (?:get|see|have|do|check|take|examine))\b",
    _ANY_CASE,
)
ORDER_START = re.compile(
    r"^\W*(?:please|let me|let's|let us|i(?:'d|’d| would) like|i want|send|request|order|can (?:we|i)|could (?:we|i))\b", _ANY_CASE
)
ALONGSIDE = re.compile(r"\b(?:with|after|when|while|during|because of|following)(?: (?:the|your|a|an|any|you|this))?\s*$", _ANY_CASE)
"""What stands before a finding that is only the setting of another: "mucus with the cough"."""
ADVICE = re.compile(
    r"\b(?:i(?:'d|’d| would)? (?:recommend|suggest|advise)|you (?:should|need to|must|ought to)|i(?:'ll|’ll| will| am going to|'m going to) "
    r"(?:prescribe|give|start|refer|admit|send)|make sure (?:you|to)|please (?:take|avoid|go|come|see|call|return)|"
    r"avoid|it(?:'s| is) important (?:to|that))\b",
    _ANY_CASE,
)
HYPOTHETICAL = re.compile(
    r"\b(?:if (?:you|it|the|this|that|symptoms?|your) (?:\w+ ){0,3}(?:develop|get|have|notice|worsen|experience|become|feel|start|see)|"
    r"in case (?:of|you)|should you (?:develop|notice|experience)|come back if|call (?:us|911|999|112) if)\b",
    _ANY_CASE,
)
GREETING = re.compile(r"^\W*(?:hello|hi|hey|good (?:morning|afternoon|evening)|welcome|nice to meet you)\b", _ANY_CASE)
THANKS = re.compile(r"^\W*(?:thank you|thanks|much appreciated|many thanks)\b", _ANY_CASE)
GOODBYE = re.compile(r"\b(?:goodbye|bye|take care|see you|have a (?:good|nice) day)\b", _ANY_CASE)
NAME = re.compile(
    r"\b(?:what(?:'s| is) your (?:full )?name|your name|may i have your name|(?:confirm|tell me) your (?:full )?name)\b", _ANY_CASE
)
FEELINGS = re.compile(
    r"\bhow (?:are you(?: (?:doing|feeling))?|do you feel|have you been)(?: (?:today|now|right now|at the moment))?\s*\?", _ANY_CASE
)
AGE = re.compile(r"\b(?:how old|your age|date of birth|when were you born)\b", _ANY_CASE)
SEX = re.compile(r"\b(?:your (?:sex|gender)|are you (?:male|female|a man|a woman))\b", _ANY_CASE)
CONSENT = re.compile(
    r"\b(?:is (?:it|that) (?:ok|okay|alright|all right)|do you mind|can i ask you|may i (?:ask|examine)|are you happy for me|"
    r"can you hear me|do you understand|does that (?:sound|make sense)|do you consent|are you ready|shall we)\b",
    _ANY_CASE,
)
NOT_PATIENT = re.compile(
    r"\b(?:mother|father|mum|mom|dad|parents?|brothers?|sisters?|siblings?|sons?|daughters?|grand(?:mother|father|parents?)|"
    r"famil(?:y|ies)|relatives?|aunts?|uncles?|cousins?)\b",
    _ANY_CASE,
)
HISTORICAL = re.compile(
    r"\b(?:ever|in the past|previously|before|history of|past history|diagnosed with|as a child|used to|years? ago|last year)\b", _ANY_CASE
)

ATTRIBUTE_CUES: tuple[tuple[Attribute, re.Pattern[str]], ...] = tuple(
    (cast(Attribute, name), re.compile(pattern, _ANY_CASE))
    for name, pattern in (
        (
            "radiation",
            r"\b(?:radiat\w*|spread\w*|travel (?:anywhere|to)|go(?:es)? (?:anywhere|elsewhere|into)|move(?:s)? (?:anywhere|to|around)|shoot\w*)\b",
        ),
        (
            "localisation",
            r"\b(?:point to|pin ?point|one (?:finger|spot)|exactly where|precise(?:ly)?|well locali[sz]ed|how locali[sz]ed|diffuse|vague(?:ly)?)\b",
        ),
        (
            "onset",
            r"\b(?:when (?:did|was|were)\b.*\b(?:start|begin|beg[au]n|come on|appear|notice|first)\w*|how (?:did|does|fast|quickly|suddenly)\b.*\b(?:start|begin|come on|appear|develop)\w*|(?:come|came|coming|start\w*|began|begin|appear\w*) (?:on )?(?:very |quite |so )?(?:sudden|gradual)\w*|sudden(?:ly)? or|gradual(?:ly)? or|was (?:it|this|the \w+|your \w+) (?:very |quite )?(?:sudden|gradual)|onset|since when|what were you doing when|first (?:start|notice|appear)\w*)\b",
        ),
        (
            "duration",
            r"\b(?:how long|for how many (?:hours|days|weeks|months|years)|how many (?:hours|days|weeks|months|years)|duration|last(?:s|ed)? (?:for|how))\b",
        ),
        (
            "severity",
            r"\b(?:how (?:bad|severe|strong|intense|serious|much (?:does it|pain))|(?:scale|out) of (?:1|0|one|zero|10|ten)|from (?:1|0|one|zero) to (?:10|ten)|out of (?:10|ten)|rate|severity|intensity|worst)\b",
        ),
        (
            "progression",
            r"\b(?:getting (?:any )?(?:worse|better)|got(?:ten)? (?:worse|better)|worsen(?:ed|ing) over|(?:better|worse) or (?:better|worse)|chang(?:ed|ing) over|progress\w*|stay(?:ed)? the same|still (?:there|ongoing|have))\b",
        ),
        (
            "aggravating",
            r"\b(?:mak(?:e|es|ing) (?:it|them|the \w+|your \w+|this|that) (?:any |feel )?worse|worsen\w*|aggravat\w*|trigger\w*|brings? (?:it|them|this|that) on|set(?:s)? (?:it|them) off|provok\w*|exacerbat\w*)\b",
        ),
        (
            "relieving",
            r"\b(?:mak(?:e|es|ing) (?:it|them|the \w+|your \w+|this|that) (?:any |feel )?better|reliev\w*|alleviat\w*|eas(?:e|es|ed|ing)\b|helps? (?:with )?(?:it|the|your|them)|anything (?:that )?help\w*)",
        ),
        (
            "frequency",
            r"\b(?:how (?:often|frequent\w*|many times)|constant(?:ly)?|come(?:s)? and go(?:es)?|intermittent\w*|all the time|continuous(?:ly)?|frequency|every day|in episodes)\b",
        ),
        ("color", r"\b(?:what colou?r|colou?r of|is it (?:red|pink|dark|pale|yellow))\b"),
        ("size", r"\b(?:how (?:big|large|wide)|size|(?:larger|bigger) than|centimet(?:er|re)s?|\bcm\b)\b"),
        ("peeling", r"\b(?:peel\w*|flak(?:y|ing|es?)|scal(?:y|ing))\b"),
        ("itching", r"\b(?:itch(?:y|ing|es)?)\b"),
        ("painfulness", r"\b(?:painful|hurt(?:s|ing)?|sore)\b"),
        ("swelling", r"\b(?:swollen|raised|puffy)\b"),
        (
            "character",
            r"\b(?:what (?:kind|type|sort) of|(?:what|how) (?:does|did|do) \w+(?: \w+)? feel|describe|character(?:i[sz]e|istic\w*)?|nature of|quality|sharp|dull|burning|cramp\w*|throbbing|stabbing|pressure|crushing|tearing)\b",
        ),
        (
            "location",
            r"\b(?:where(?:abouts)?(?! you)(?: exactly)? (?:is|are|does|do|did|in|on|was|were|has|have|would)\b|where exactly|location|which (?:part|side|area)|what (?:part|side|area)|left or right)\b",
        ),
        ("destination", r"\b(?:which countr(?:y|ies)|what countr(?:y|ies)|where (?:did you|have you) (?:travel\w*|go|been))\b"),
        ("associated", r"\b(?:along with|accompan\w*|associated|at the same time|together with)\b"),
    )
)

AFFIRM_START = re.compile(
    r"^\W*(?:yes|yeah|yep|yup|aye|sure|definitely|certainly|absolutely|of course|correct|right|exactly|i do|i have|i did|i am|i'm|i've|he|she|they|"
    r"it|my|a bit|a little|sometimes|quite|very|oh yes|now you)\b",
    _ANY_CASE,
)
DENY = re.compile(
    r"^\W*(?:no|nope|nah|not|never|none|neither|nothing)\b|\b(?:haven't|hasn't|hadn't|don't|doesn't|didn't|isn't|aren't|wasn't|weren't|"
    r"can't say (?:i|that)|cannot say (?:i|that)|never|not|neither|nothing|none|nobody|no one|no)\b",
    _ANY_CASE,
)
UNSURE = re.compile(
    r"\b(?:not (?:really |completely |entirely |quite )?(?:sure|certain)|i (?:really |honestly )?(?:do not|don't|couldn't|could not) (?:really )?(?:know|remember|tell)|"
    r"can(?:'t|not) (?:really |honestly )?(?:say(?! (?:i|that))|tell|remember)|couldn't (?:really |honestly )?(?:say|tell)|hard to (?:say|tell)|no idea|unsure|difficult to say|"
    r"wouldn't know|might have|maybe|possibly|haven't really (?:noticed|paid)|wouldn't be able to)\b",
    _ANY_CASE,
)
NO_IDEA = re.compile(
    r"^\W*(?:no idea|no clue|not (?:really |entirely |quite |at all )?(?:sure|certain)|not that i (?:know|am aware))\b", _ANY_CASE
)
YES = re.compile(r"^\W*(?:yes|yeah|yep|yup|aye|oh yes|definitely|certainly|absolutely|i do(?! not)|i have(?! not))\b", _ANY_CASE)
NO = re.compile(r"^\W*(?:no|nope|nah|never|not|none|nothing|neither)\b", _ANY_CASE)
PRESENCE_START = re.compile(
    r"^\W*(?:(?:and|so|also|but|or|okay|ok|now|well)\b[\s,]*)*(?:do you (?:ever )?(?:have|get|feel|suffer|experience|notice)|have you|had you|are you having|any\b|did you have|"
    r"is there any|are there any|has (?:he|she|there)|does (?:he|she) have|do you|are you|would you (?:say|call|describe)|does it feel|is (?:there|he|she))\b",
    _ANY_CASE,
)
PLEASANTRIES: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("name", NAME),
    ("age", AGE),
    ("sex", SEX),
    ("feelings", FEELINGS),
    ("consent", CONSENT),
    ("greet", GREETING),
    ("thanks", THANKS),
    ("goodbye", GOODBYE),
)
