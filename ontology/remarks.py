"""Sentences of an examiner's that ask and state nothing clinical: offers, arrangements, explanations, small talk, safety-netting (E9).

The patterns know small letters only: what a function here is given is made small first (`lower_in_place`).
"""

from __future__ import annotations

import re

from ontology.text import lower_in_place

_LEAD = r"^\W*(?:(?:and|so|ok|okay|right|well|now|great|good|alright|sorry|um|uh|er|but|then|also|please|just|before (?:we|i) \w+)\b\W*)*"
_YOURS = (
    r"(?:journey|trip|traffic|weather|weekend|holidays?|christmas|easter|vacation|flight|drive|parking|morning|match|game|party|wedding)"
)
_DAYS = r"(?:now|this|that|today|tomorrow|(?:mon|tues|wednes|thurs|fri|satur|sun)day|next \w+|the (?:morning|afternoon)|mornings?)"
_KIN = r"(?:husband|wife|partner|mum|mom|mother|dad|father|son|daughter|friend|sister|brother)"

_OFFERS = (
    r"(?:shall|should) (?:i|we)\b(?! (?:be worried|worry))",
    r"(?:would|do) you (?:like|prefer|want) (?:me|us|a|an|some|someone|something to|anything to|to (?!tell|describe|talk about|"
    r"share|"
    r"have a drink|urinate|pass|eat|vomit|harm|hurt|end|die|kill)|your|the|it|that)\b",
    r"would you (?:rather|mind|prefer|be (?:happy|willing|okay|ok|comfortable|interested|open|free|available|all right))\b",
    r"do you need (?:me|us|someone|directions|any help (?:with the|getting (?:there|here|home|dressed))|help getting|(?:a|an|"
    r"another|"
    r"any|some) (?:\w+ )?(?:chaperone|interpreter|translator|note|letter|certificate|prescription|refill|minute|moment|break|blanket|"
    r"lift|hand|taxi|copy|pen|tissue|water|time|leaflet|appointment))",
    r"(?:can|could|may|let) (?:i|me) (?:get|offer|fetch|bring|pass|find|give) you\b",
    r"(?:do you have|have you(?: got)?|are there|what|got)? ?(?:any |other |more |further )*questions\b",
)
_ARRANGEMENTS = (
    r"\bmind (?:if|me asking|your (?:head|step)|the step)\b",
    r"\b(?:what|which) (?:time|day|date)s? (?:works?|suits?|would (?:suit|work|be)|is (?:best|good)|are you)\b",
    r"\bwhen (?:are you (?:free|available)|can (?:you|we) (?:come|make|get|see|meet)|would (?:suit|work|be)|should i|shall|"
    r"could you come)\b",
    r"\bhow soon can you\b",
    rf"\b(?:is|are) {_DAYS} (?:\w+ )?(?:a )?(?:good|better|bad|convenient|ok|okay)\b|\bgood time to\b",
    r"\bsuits? (?:you|best|me)\b|\b(?:book|pencil|squeeze|slot|fit)(?:ed)? (?:you|that|those|it|them)? ?(?:\w+ )?in\b|\bmake it (?:in|on|"
    r"at|to)\b",
    r"\bhow many (?:appointments|copies|people are)\b|\b(?:pay|paid) for (?:your|the) prescriptions?\b",
    r"\b(?:lift|way|get|getting|drive|taxi) home\b|\bpick you up\b|\bwaiting for you\b|\b(?:someone|anyone|somebody|"
    r"anybody) (?:\w+ )?stay with you\b",
)
_TALK = (
    rf"\bhow (?:was|were|is|'s|are) (?:your|the) (?:\w+ )?{_YOURS}\b|\bhow(?:'s| is| are| was) (?:the|your) (?:kids|family|boys|girls|"
    rf"baby doing|"
    rf"{_KIN})\W*$",
    r"\bhow did you get (?:here|in|on with the (?:parking|bus))\b|\bhow long did (?:you have to wait|it take (?:you )?to get here|"
    r"you wait)\b",
    r"\b(?:did|have) you (?:manage|managed) to (?:park|get here|find)\b|\bdid you (?:find (?:us|the|it all right)|drive (?:here|in|"
    r"yourself)|"
    r"park|have (?:a (?:good|nice|lovely)|far to|to wait)|wait long|watch the|see the (?:match|game|news)|come by (?:car|bus|train))\b",
    r"\bhave you (?:come far|been waiting|far to|parked|eaten lunch|had lunch|seen the news|got (?:a lift|far|someone (?:with|at)))\b",
    r"\b(?:(?<!under the )weather|cold out(?:side)?|hot out(?:side)?|sick of (?:this|the)|(?:this|the) (?:rain|heat|cold snap))\b|"
    r"\b(?:pain in the neck,|frog in "
    r"my throat)|\b(?:accent)\b",
    rf"\bwho(?:'s| is)? (?:this|that|these|with you|brought you|am i (?:speaking|talking)|came with)\b|\bis (?:that|this) (?:your {_KIN}|"
    rf"mrs|mr|"
    rf"miss|ms)\b|\bwhat relation\b|\bare you the patient\b|\bdo you go by\b|\bcalling (?:on behalf|from)\b",
    r"\b(?:how would you like to be|like me to) (?:addressed|called|call)\b|\bwhat should i call\b|\b(?:spell|pronounce) (?:that|your|"
    r"it)\b",
    r"\b(?:postcode|zip code|(?:phone|mobile|contact|best|better) (?:phone )?number|e-?mail address|next of kin|a pen|internet at home|"
    r"same address)\b",
    r"\b(?:(?:hear|see) (?:me|us)|on mute|breaking up|(?:line|picture|sound|screen|video) (?:\w+ )?(?:clear|ok|okay|frozen|froze)|"
    r"turn (?:the|your) "
    r"(?:volume|camera|phone))\b",
    r"\b(?:private place|talk freely|speak freely|somewhere private|possible to speak to|okay to talk|able to talk (?:now|freely))\b",
)
_UNDERSTANDING = (
    r"\b(?:anything|something) (?:else )?(?:you'd|you would|you want to|you) (?:like to |want to )?(?:ask|know|discuss|unsure about)\b|"
    r"\b(?:unsure|"
    r"unclear) about\b",
    r"\bdid (?:i get|you (?:understand|hear|catch|get) (?:that|what|all)|that make sense)\b|\bhave i (?:missed|got|understood|covered)\b|"
    r"\bis "
    r"that (?:right|correct|clear|ok|okay|all right|alright|fine)\W*$",
    r"\b(?:can|could) you repeat\b|\bdo you (?:agree|consent|follow|understand)\b|\bhow does that sound\b|\bhow do you feel about\b|"
    r"\bdoes that "
    r"(?:sound|make|work|help|answer|seem)\b",
    r"\bwhat do you think (?:about|of) (?:that|this|starting|trying|having|going|taking|the (?:plan|idea)|seeing)\b",
    r"\bare you (?:happy|okay|ok|comfortable|all right|alright|fine|willing|ready) (?:with|for|to|if)\b|\bare you comfortable\W*$",
)
_OF_THE_EXAMINATION = (
    r"\b(?:let me know|tell me|say|shout|just say) (?:if|when) (?:this|that|it|anything|i|i'm|you|you're)(?:'s| is| are)? ?(?:gets?|feel|"
    r"feels|"
    r"become)? ?(?:hurt\w*|uncomfortable|painful|sore|tender|too \w+|any (?:pain|discomfort))\b",
    r"\bi(?:'ll| will| am going to|'m (?:just )?going to) (?:\w+ ){1,5}(?:in (?:a|just a) (?:moment|minute|second|bit|sec)|shortly|later|"
    r"in due course)\b",
    r"\b(?:this|that|it|you)(?:'ll)? (?:may|might|will|could|is going to)? ?(?:just )?(?:feel|sting|hurt|pinch|tickle|be) (?:a|some|"
    r"slightly) (?:bit|"
    r"little|sharp|small|cold|uncomfortable|pressure|discomfort|cool)\b",
)
_REMARK_START = re.compile(rf"{_LEAD}(?:{'|'.join(_OFFERS)})")
_REMARK_WITHIN = re.compile(rf"\b(?=\w)(?:{'|'.join((*_ARRANGEMENTS, *_TALK, *_UNDERSTANDING, *_OF_THE_EXAMINATION))})")

_EXPLAINS_FIRST = re.compile(
    rf"{_LEAD}(?:(?:most|many|some|a lot of|lots of|plenty of|few|other) (?:people|patients|\w+(?: \w+)?)|people|patients|side effects|"
    rf"what (?:that|"
    r"this) means|that means|it means|think of|imagine|let me (?:explain|recap|summari[sz]e|show you|tell you|draw|see if|walk you|"
    r"go over|run "
    r"through)|i'(?:ll|m going to) (?:just )?(?:explain|draw|write|print|be (?:back|with)|have a word|wash|warm|step out|put you on the|"
    r"pop the)|"
    r"(?:this|these|that|your|the) (?:new )?(?:medicines?|medication|tablets?|pills?|drugs?|antibiotics?|treatment|creams?|injections?|"
    r"jabs?|results?|"
    r"nurse|hospital|leaflet|procedure)\b)"
)
_EXPLAINS_WITHIN = re.compile(
    r"\b(?:is|are) (?:very |quite |really |a very |extremely )?common\b|\bcan have (?:lots|many|several|different)\b|\bwon't help with\b|"
    r"\b(?:usually|often|typically|generally|normally) (?:causes?|goes? away|clears? up|gets? better|has no|have no)\b|\b(?:is|"
    r"are) when (?:the|there|your)\b|"
    r"\bnothing to be (?:ashamed|worried)|\bresults? (?:will|should|are|take|come|back)\b|\bbe called (?:in )?for\b|\bbefore the (?:test|"
    r"scan|procedure|"
    r"operation)\b|\b(?:what|how) the \w+(?: \w+)? (?:will|works?|shows?)\b|\bis an? (?:\w+ ){0,3}(?:cause|tracing|picture|test|"
    r"infection|type|form|name|"
    r"kind|condition) (?:of|that|where|for|in|which)\b"
)
_TEST_EXPLAINED = re.compile(
    r"^\W*(?:an?|the|this|that|your)? ?x{3,}(?: \w+)? (?:uses?|will|can|takes?|works?|involves?|shows?|lets?|helps?|measures?|looks at|"
    r"doesn't|won't|is an?)\b"
)
"""What a test is or does, its words masked by x."""

_CONDITION = re.compile(
    r"(?:\bif\b|\bshould (?:you|the|it|this|your|any|things|symptoms)\b|\bin case\b|\bunless\b|\bany (?:\w+ ){1,12}and you\b|"
    r"\bany (?:more |other |further )?(?:problems?|worries|concerns?|trouble|questions?|changes?|doubts?|issues?)\b)"
)
_RESORT = re.compile(
    r"(?:(?<!you )(?<!to )(?:call|ring|phone|dial|contact|visit|return|seek|attend)\b|come (?:back|in|straight|and see)|go (?:straight |"
    r"right |back )?(?:to|back)\b|"
    r"see (?:a|your|us|me|someone|each other|the)\b|give (?:us|me) a (?:call|ring|shout)|let (?:us|me) know|get (?:help|back to|in touch|"
    r"medical|yourself|seen)|"
    r"make (?:an|another) appointment|head (?:to|for)|pop (?:back|in)|999|911|112|\b111\b|a ?& ?e\b|emergency|stop taking|book (?:an|"
    r"another|in)|want you to|"
    r"need to (?:be seen|know)|ring us|rebook|don't wait|ambulance)"
)
_WATCH = re.compile(
    r"^\W*(?:please |and |so |but |just |do )*(?:return|come (?:straight )?back|"
    r"go back|seek (?:help|medical|"
    r"urgent|immediate)|call (?:us|me|911|999|112|111|an ambulance|back)|ring (?:us|999)|watch (?:out )?for|look out for|keep an eye|"
    r"be alert|monitor for|"
    r"don't hesitate|do not hesitate)\b"
)
_NET_REACH = 1000
"""Characters between a condition and what to do then."""
_ASKED_WHETHER = re.compile(r"\b(?:tell|ask|know|wonder\w*|see|let me know|remember|sure) (?:me |us )?if\b")
"""An "if" that asks whether."""
_WHATEVER = re.compile(r"\bif (?:anything|things|it gets|it doesn't|you're worried|there's any change)")
_NET_TAG = re.compile(r"(?:,?\s*(?:ok|okay|alright|all right|yes|yeah|won't you|will you|got (?:it|that)))\s*\?\W*$")


def is_safety_net(text: str) -> bool:
    """Whether a sentence only says what to do if something comes: "if the fever comes back, call us"."""
    text = lower_in_place(text)
    if text.rstrip().endswith("?") and not _NET_TAG.search(text):
        return False
    if _ASKED_WHETHER.search(text) and not _WHATEVER.search(text):
        return False
    if _WATCH.match(text):
        return True
    conditions = [found.start() for found in _CONDITION.finditer(text)]
    return bool(conditions) and any(abs(found.start() - at) <= _NET_REACH for found in _RESORT.finditer(text) for at in conditions)


def is_remark(text: str) -> bool:
    """Whether a clause only arranges, offers, greets or checks that one is understood."""
    text = lower_in_place(text)
    return _REMARK_START.match(text) is not None or _REMARK_WITHIN.search(text) is not None


def is_explanation(text: str, masked: str) -> bool:
    """Whether a statement says how things are in general, or what happens next; `masked`: with the words of tests masked by x."""
    text = lower_in_place(text)
    found = _EXPLAINS_FIRST.match(text) or _EXPLAINS_WITHIN.search(text) or _TEST_EXPLAINED.match(lower_in_place(masked))
    return found is not None
