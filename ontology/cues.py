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
    r"what (?:brings|brought) you|how can i help|what can i (?:do|help)|tell me (?:more|a (?:bit|little) more|"
    r"about (?:your symptoms?|it|"
    r"what|how|yourself|the problem))|what seems to be|why (?:have you come|are you here)|"
    r"(?:describe|explain|go through|walk me through) (?:your |the |what )?(?:symptoms?|problem|happened|is going on)|"
    r"what (?:symptoms|else)|what happened|anything (?:more|further))\b",
    _ANY_CASE,
)
ORDER = re.compile(
    r"\b(?:order|check|measure|perform|obtain|arrange|request|send (?:off|for)|run|do (?:a|an|some)|get (?:a|an|some|your|the)|"
    r"let(?:'s| us)|i(?:'d| would) like (?:to (?:get|order|do|check|see|take|have|run|examine|perform|measure)|an?\b)|"
    r"take (?:your|a|an|some)|examine|examination of|listen to|look at|palpate|auscultate|percuss|what (?:is|are|was|"
    r"were)|show me|results? of|"
    r"can (?:i|we) (?:get|see|have|do|check|take|examine))\b",
    _ANY_CASE,
)
ORDER_START = re.compile(
    r"^\W*(?:please|let me|let's|let us|i(?:'d| would) like|i want|send|request|order|can (?:we|i)|could (?:we|i))\b", _ANY_CASE
)
FINITE = re.compile(r"\b(?:is|was|are|were|looks?|seems?|shows?|showed|came|has|have|had|i think|suggests?)\b", _ANY_CASE)
"""A verb that makes a sentence a statement: "your ESR is high"; "ESR, CRP please" is an order."""
ALONGSIDE = re.compile(
    r"\b(?:with|after|while|during|because of|following|besides|alongside|(?:apart|aside) from|other than|in addition to|"
    r"accompan(?:y|ying|ies)|when(?: you(?:'ve| have| get| had| got)?(?: got)?)?)(?: (?:the|your|a|an|any|you|this|"
    r"these|that|those))?\s*$",
    _ANY_CASE,
)
"""What stands before a finding that is only the setting of another: "mucus with the cough"."""
REACH = 40
"""Characters before a finding in which ALONGSIDE and SAID_OF_CONCEPT are looked for."""
ADVICE = re.compile(
    r"\b(?:i(?:'d| would)? (?:recommend|suggest|advise)|you (?:should|need to|must|ought to)|i(?:'ll| will| am going to|'m going to) "
    r"(?:prescribe|give|start|refer|admit|send)|make sure (?:you|to)|please (?:take|avoid|go|come|see|call|return)|"
    r"avoid|it(?:'s| is) important (?:to|that))\b",
    _ANY_CASE,
)
HYPOTHETICAL = re.compile(
    r"\b(?:(?<!know )(?<!me )(?<!us )(?<!ask )(?<!wonder )(?<!wondering )(?<!see )if (?:you|it|the|this|that|symptoms?|your) "
    r"(?:\w+ ){0,3}(?:develop|get|have|notice|worsen|experience|become|feel|start|see)|"
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
_RELATIVES = (
    r"mother|father|mum|mom|dad|parents?|brothers?|sisters?|siblings?|grand(?:mother|father|parents?)|famil(?:y|ies)|relatives?|"
    r"aunts?|uncles?|cousins?|husband|wife|spouse|boyfriend|girlfriend|flatmates?|colleagues?"
)
NOT_PATIENT = re.compile(rf"\b(?:{_RELATIVES}|sons?|daughters?|children)\b", _ANY_CASE)
NOT_THE_CHILD = re.compile(rf"\b(?:{_RELATIVES})\b", _ANY_CASE)
"""Whoever is not the patient when a parent speaks for the child."""
HISTORICAL = re.compile(
    r"\b(?:ever|in the past|previously|before|history of|past history|diagnosed with|as a child|used to|years? ago|"
    r"last year)\b",
    _ANY_CASE,
)

SAID_OF_CONCEPT = re.compile(
    r"\b(?:is|are|was|were|does|do|did) (?:the|your|this|that|these|those) x+ (?:(?:at all|very|also) )?$", _ANY_CASE
)
"""What stands before a word that describes a concept (x: its words): "is the … painful"."""
DESCRIPTION = re.compile(
    r"painful|sore|tender|hurt(?:s|ing)?|itch(?:y|es|ing)?|swollen|raised|puffy|peeling|flaky|scaly|burning", _ANY_CASE
)

ATTRIBUTE_CUES: tuple[tuple[Attribute, re.Pattern[str]], ...] = tuple(
    (cast(Attribute, name), re.compile(pattern, _ANY_CASE))
    for name, pattern in (
        ("destination", r"\b(?:which countr(?:y|ies)|what countr(?:y|ies)|where (?:did you|have you) (?:travel\w*|go|been))\b"),
        (
            "radiation",
            r"\b(?:radiat\w*|spread\w*|travel (?:anywhere|to)|go(?:es)? (?:anywhere|elsewhere|into)|"
            r"move(?:s)? (?:anywhere|to|around)|shoot\w*)\b",
        ),
        (
            "localisation",
            r"\b(?:point to|pin ?point|one (?:finger|spot)|exactly where|precise(?:ly)?|well locali[sz]ed|"
            r"how locali[sz]ed|diffuse|vague(?:ly)?)\b",
        ),
        (
            "location",
            r"\b(?:where(?:abouts)?(?! you)(?: exactly)? (?:is|are|does|do|did|in|on|was|were|has|have|would)\b|"
            r"where (?:the|your|it)\b|where exactly|whereabouts|location|which (?:part|side|area)|what (?:part|side|"
            r"area)|left or right)\b",
        ),
        (
            "onset",
            r"\b(?:when (?:did|was|were)\b.{0,80}\b(?:start|begin|beg[au]n|come on|appear|notice|first)\w*|how (?:did|"
            r"does|fast|quickly|suddenly)\b.{0,80}\b(?:start|begin|come on|appear|develop)\w*|(?:come|came|coming|"
            r"start\w*|began|begin|appear\w*) (?:on )?(?:very |quite |so )?(?:sudden|gradual)\w*|sudden(?:ly)? or|"
            r"gradual(?:ly)? or|was (?:it|this|the \w+|your \w+) (?:very |quite )?(?:sudden|gradual)|onset|since when|"
            r"what were you doing when|start(?:ed)? (?:off|when|after|before)|first (?:start|notice|appear)\w*)\b",
        ),
        (
            "duration",
            r"\b(?:how long|for how many (?:hours|days|weeks|months|years)|how many (?:hours|days|weeks|months|years)|"
            r"duration|last(?:s|ed)? (?:for|how))\b",
        ),
        (
            "severity",
            r"\b(?:how (?:bad|severe|strong|intense|serious|high|much (?:does it|pain))|(?:scale|out) of (?:1|0|one|"
            r"zero|10|ten)|from (?:1|0|one|zero) to (?:10|ten)|out of (?:10|ten)|rate|severity|intensity|worst)\b",
        ),
        (
            "aggravating",
            r"\b(?:mak(?:e|es|ing) (?:it|them|the \w+|your \w+|this|that) (?:any |feel )?(?:better or )?worse|"
            r"worsen(?:s|ed|ing)?\b(?! over)|aggravat\w*|trigger\w*|brings? (?:it|them|this|that) on|set(?:s)? (?:it|them) off|"
            r"provok\w*|exacerbat\w*)\b",
        ),
        (
            "relieving",
            r"\b(?:mak(?:e|es|ing) (?:it|them|the \w+|your \w+|this|that) (?:any |feel )?better|reliev\w*|alleviat\w*|"
            r"eas(?:e|es|ed|ing)\b|helps? (?:with )?(?:it|the|your|them)|anything (?:that )?help\w*)",
        ),
        (
            "progression",
            r"\b(?:getting (?:any )?(?:worse|better)|got(?:ten)? (?:worse|better)|worsen(?:ed|ing) over|(?:better|"
            r"worse) or (?:better|worse)|chang(?:ed|ing) over|progress\w*|resolved?|gone away|go away|"
            r"stay(?:ed)? the same|still (?:there|ongoing|have))\b",
        ),
        (
            "frequency",
            r"\b(?:how (?:often|frequent\w*|many times)|constant(?:ly)?|come(?:s)? and go(?:es)?|intermittent\w*|"
            r"all the time|continuous(?:ly)?|frequency|every day|in episodes)\b",
        ),
        ("color", r"\b(?:what (?:(?:sort|kind|shade) of )?colou?r|colou?r of|is it (?:red|pink|dark|pale|yellow))\b"),
        ("size", r"\b(?:how (?:big|large|wide)|size|(?:larger|bigger) than|centimet(?:er|re)s?|\bcm\b)\b"),
        ("peeling", r"\b(?:peel\w*|flak(?:y|ing|es?)|scal(?:y|ing))\b"),
        ("itching", r"\b(?:itch(?:y|ing|es)?)\b"),
        ("painfulness", r"\b(?:painful|hurt(?:s|ing)?|sore)\b"),
        ("swelling", r"\b(?:swollen|raised|puffy)\b"),
        (
            "character",
            r"\b(?:what (?:kind|type|sort) of|(?:what|how) (?:does|did|do) \w+(?: \w+)? feel|describe|"
            r"character(?:i[sz]e|istic\w*)?|nature of|quality|sharp|dull|burning|cramp\w*|throbbing|stabbing|pressure|"
            r"crushing|tearing)\b",
        ),
        ("associated", r"\b(?:along with|accompan\w*|associated|at the same time|together with)\b"),
    )
)

DENY = re.compile(
    r"^\W*(?:no|nope|nah|not|never|none|neither|nothing|without|hardly ever)\b|\b(?:haven't|hasn't|hadn't|don't|doesn't|"
    r"didn't|isn't|aren't|wasn't|weren't|wouldn't say|"
    r"can't say (?:i|that)|cannot say (?:i|that)|never|not|neither|nothing|none|nobody|no one|no)\b",
    _ANY_CASE,
)
UNSURE = re.compile(
    r"\b(?:not (?:really |completely |entirely |quite )?(?:sure|certain)|i (?:really |honestly )?(?:do not|don't|"
    r"couldn't|could not) (?:really )?(?:know|remember|tell)|"
    r"can(?:'t|not) (?:really |honestly )?(?:say(?! (?:i|that))|tell|remember)|couldn't (?:really |honestly )?(?:say|"
    r"tell)|hard to (?:say|tell)|no idea|unsure|difficult to say|"
    r"wouldn't know|might have|maybe|perhaps|possibly|dunno|haven't really (?:noticed|paid)|wouldn't be able to)\b",
    _ANY_CASE,
)
NO_IDEA = re.compile(
    r"^\W*(?:no idea|no clue|not (?:really |entirely |quite |at all )?(?:sure|certain)|not that i(?: know| am aware|"
    r"'m aware))\b",
    _ANY_CASE,
)
YES = re.compile(
    r"^\W*(?:yes|yeah|yep|yup|aye|oh yes|(?:definitely|certainly|absolutely)(?! not)|i do(?! not)|i have(?! (?:not|no|"
    r"never|nothing|none)\b))\b",
    _ANY_CASE,
)
NO = re.compile(r"^\W*(?:no|nope|nah|never|not|none|nothing|neither)\b", _ANY_CASE)
NEGATION = re.compile(
    r"\b(?:no(?! idea| doubt| wonder| end)|not(?! sure| certain| only| just| well)|never|none|neither|nor|without|"
    r"den(?:y|ies|ied)|nobody|"
    r"(?:haven't|hasn't|hadn't|doesn't|didn't|isn't|aren't|wasn't|weren't|don't)(?! (?:know|remember|feel (?:well|right|"
    r"good)|sleep|slept)))\b",
    _ANY_CASE,
)
"""Says that the findings after it, up to the end of the clause, are not so."""
CLAUSE = re.compile(
    r"[;:—–]|\b(?:but|however|although|though|except|because|since|due to|so|yet)\b|"
    r"(?:,|\band)\s+(?:also\s+|now\s+|then\s+)?(?:i|i've|i'm|my|it|it's|he|he's|she|she's|they|they've|his|her|their|"
    r"there|there's|the|you|you've|we)\b",
    _ANY_CASE,
)
"""Where a new clause begins: "no fever, but I cough"."""
CLAUSE_REACH = 200
"""Characters before a finding in which its clause may begin."""
PLAIN_NO = re.compile(r"^\W*(?:no|nope|nah|never|not really|not at all)\s*,", _ANY_CASE)
"""A "no" that answers, and so denies the whole sentence: "No, my appetite is as it was"."""
PRESENCE_START = re.compile(
    r"^\W*(?:(?:and|so|also|but|or|okay|ok|now|well)\b[\s,]*)*(?:do you (?:ever )?(?:have|get|feel|suffer|experience|"
    r"notice)|have you|had you|are you having|any\b|did you have|"
    r"is there any|are there any|has (?:he|she|there)|does (?:he|she) have|do you|are you|would you (?:say|call|"
    r"describe)|does it feel|is (?:there|he|she))\b",
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
