"""Word patterns by which an examiner's sentence shows what it does, and a patient's answer its polarity."""

from __future__ import annotations

import re

_ANY_CASE = re.IGNORECASE

QUESTION_START = re.compile(
    r"^\W*(?:(?:and|so|also|but|or|okay|ok|alright|now|well|then|next|first|finally|right|great|thanks|thank you|i see|"
    r"sorry)\b[\s,.:;-]*)*"
    r"(?:do|does|did|don't|didn't|doesn't|have|has|had|haven't|hasn't|are|is|isn't|aren't|was|were|will|would|could|"
    r"can|should|may|any|ever|no|what|what's|when|where|which|who|whose|why|how|how's|"
    r"tell me|describe|explain|show me|let me know|talk me through|point to|"
    r"i(?:'d| would) like (?:to (?:know|ask(?! (?:you )?(?:a few|some|several|a couple))|hear)|you to (?:tell|show|describe|explain))|"
    r"i want to (?:know|ask)|i(?:'m| am| was) wondering|i wonder|"
    r"let me ask|may i ask|walk me through|take me (?:back|through)|run me through|give me (?:a|an|some) (?:\w+ )?(?:idea|sense|number|"
    r"score|"
    r"description)|rate|score|grade|put (?:it|that|your finger)|remind me|say when|show (?:us|me)|try to describe|point)\b",
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
    r"accompan(?:y|ying|ies)|when(?: you(?:'ve| have| get| had| got| were| are)?(?: got| on)?)?)(?: (?:the|your|a|an|any|you|this|"
    r"these|that|those))?\s*$",
    _ANY_CASE,
)
"""What stands before a finding that is only the setting of another: "mucus with the cough"."""
COURTESY = re.compile(r"\b(?:apologi[sz]e|apologies|sorry|excuse me|pardon) for (?:any |the |my |this |that |all )*\w+", _ANY_CASE)
"""Words of courtesy that are also findings': "I apologize for the confusion"."""
SUBJECT_OF = re.compile(
    r"^\s*(?:(?:\w+ ){0,2}(?:is|are|was|were|been|being|come|comes)? ?(?:also |usually |ever )?(?:accompan|associat|related|linked|"
    r"connected|followed|preceded)\w*)\b"
    r"|^\s*(?:come|comes|came) with\b",
    _ANY_CASE,
)
"""What follows a finding that is known: "is this rash accompanied by"."""
DEFINITE = re.compile(r"\b(?:the|your|this|that|these|those|his|her)(?: \w+)?\s*$", _ANY_CASE)
"""What stands before a finding that both sides know of."""
KNOWN_SUBJECT = re.compile(r"\b(?:the|your|this|that|these|those|his|her)\s+(?:worst |whole )?$", _ANY_CASE)
"""What stands right before a finding that both sides know of."""
HINDERS = re.compile(
    r"\b(?:does|do|did|is|are|has|have|will) (?:it|this|that|they|these|(?:the|your|his|her) \w+(?: \w+)?) (?:\w+ )?"
    r"(?P<verb>(?:affect|interfer|impact|disrupt|disturb|hinder|restrict)\w*|"
    r"(?:limit|stop|keep|kept|prevent|wak|woke)\w* (?:up )?(?:you|him|her)\b)",
    _ANY_CASE,
)
IMPEDED = re.compile(r"wak|woke|awake|sleep|activit|daily|life|work", _ANY_CASE)
"""What a complaint does, and what it does it to."""
SCALE = re.compile(r"\b(?:scale|(?:0|zero|nought|one|1|10|ten) (?:is|being|means|to (?:10|ten)))\b", _ANY_CASE)
SCALE_FIRST = re.compile(r"^\W*(?:(?:and|so|ok|okay)\W+)?(?:if|on a|on the|from|with|out of|where|zero|10|ten)\b", _ANY_CASE)
"""A sentence that begins with the scale on which it then asks."""
GIVEN_TO_PATIENT = re.compile(
    r"\b(?:you(?:'ve| have| had|'re (?:having|getting))|you (?:mentioned|told|said)|you(?:r)? \w+ (?:shows?|showed))\b", _ANY_CASE
)
"""What makes a statement one about this patient."""
BEVERAGE = re.compile(r"\b(?:cups?|coffee|tea|cola|water|milk|juice|soda)\b", _ANY_CASE)
THIRD_PERSON = re.compile(r"\b(?:he|she|they)\b", _ANY_CASE)
DRINKS = re.compile(
    r"\b(?:how much (?:do|does|did|are|is|have|has|would) (?:you|he|she|they)|(?:do|does|did|are|is|have|has) (?:you|he|she|"
    r"they))(?: been| still| "
    r"normally| usually| ever| actually| tend to)*\s+drink(?:ing)?\b(?! \w+ (?:alcohol|water|tea|coffee|wine|beer|"
    r"fluids?))(?=\s*(?:[?.,;]|$|(?:and|or|at|in|every|per|on|these|"
    r"normally|now|okay|ok|well|much|regularly|a (?:day|week|lot|night))\b))|(?:(?<=smoke, )|(?<=smoke or )|"
    r"(?<=smoke and ))drink\b(?=,? (?:or|and|use|take)\b|\W*$)",
    _ANY_CASE,
)
"""Drinking with no word of what is drunk."""
KNOWN_BESIDE = re.compile(
    r"\b(?:along(?:side)? with|alongside|apart from|aside from|other than|in addition to|besides|accompan\w+)(?: (?:the|your|a|an|any|"
    r"this|these|that|those))?\s*$",
    _ANY_CASE,
)
"""What stands before a finding that is known for certain, so that nothing else of the sentence can make it the one asked for."""
INDICATION = re.compile(r"\b(?:for|to (?:treat|manage|control)|because of) (?:the|your|this|that|his|her|their)(?: \w+)?\s*$", _ANY_CASE)
"""What stands before the reason for something that is asked: "any medications for your diabetes"."""
HEDGED = re.compile(
    r"\b(?:suspect\w*|possib\w+|may (?:have|be)|might (?:have|be)|could (?:be|have)|rule out|ruling out|risk (?:of|for)|concern(?:ed|"
    r"s)? (?:about|for|that)|"
    r"worried about|consider\w*|explore|investigat\w+|looking for|to check for|evaluat\w+|such as)\b",
    _ANY_CASE,
)
"""What makes a finding in a statement a thought of the examiner's, which is neither asserted nor asked."""
GIVEN = re.compile(
    r"(?<!\w)(?:given|based on|because of|, as you|as you (?:have|are|had)|since you|because you|due to|considering|with|symptoms of|"
    r"in view of|regarding|mentioned)\b",
    _ANY_CASE,
)
"""What makes the findings after it known again, up to the next hedge."""
CLAUSE_START = re.compile(
    r"(?:[,;]\s*(?:(?:and|or|but|so|then|also)\s+)?|\s+(?:and|or|but)\s+)(?:also\s+|um,?\s+|uh,?\s+|if so,?\s+)*"
    r"(?!\w+(?:n't)? \w+\W*$)(?=(?:do|does|did|have|has|had|are|is|was|were|can|could|would|will|don't|haven't|isn't|aren't) "
    r"(?:you|he|she|it|they|there|your|the|this|that|these|those|anyone|anybody|anything|any)\b"
    r"|(?:how|when|where|which|what|why)(?:'s)? (?:is|are|was|were|do|does|did|has|have|had|long|often|bad|many|much|high|severe|would|"
    r"could|makes?|brings?|"
    r"helps?|sort|kind|type|about|colou?r|part|side)\b)",
    _ANY_CASE,
)
"""Where another question begins in the same sentence: "…, and how long have you had it?"."""
AGREED_TAG = re.compile(r",?\s*(?:ok|okay|alright|all right)\s*\?\W*$", _ANY_CASE)
"""A question mark that only seeks consent: "we'll catch up soon, OK?"."""
COMPLAINT = re.compile(
    r"\b(?:symptoms?|complaints?|problems?|issues?|condition|discomfort|sensation|episodes?|attacks?)\b(?! (?:of|with|in|like)\b)",
    _ANY_CASE,
)
PRONOUN = re.compile(
    r"\b(?:(?:has|have|is|are|does|do|did|was|were|can|could|would|how|whereabouts|where) )?(?:it|this|that|they|these|those|them|"
    r"everything)"
    r"(?:'s)?\b(?: (?!when|if|on a|for|to|with|or|and|that|scale|from|out)[\w']+){0,4}",
    _ANY_CASE,
)
"""What a question without a named finding calls it."""
NOT_ABOUT_ILLNESS = re.compile(
    r"\b(?:name|address|postcode|zip|e-?mail|phone|telephone|number|appointment|gp|surgery|camera|hear (?:me|ok|okay)|see me|screen|"
    r"video|audio|sound|"
    r"internet|connection|private|confidential\w*|privacy|consultation|located|calling|repeat|spell|insurance|pharmacy|speak|talk|"
    r"live(?! with)|living(?! with)|book|call you|contact|next of kin|identity|identification|happy (?:to|with|for)|make sense|"
    r"understand|questions|agree|"
    r"okay with)\b",
    _ANY_CASE,
)
"""Words of organisation: a detail asked beside them is none of the complaint's."""
BODY_SENSE = re.compile(
    r"\b(?:feel\w*|felt|(?:un)?well|normal|wak\w+|woke\w*|awake|sleep\w*|walk\w*|climb\w*|cop(?:e|ing)|manag\w+|suffer\w*|ill|sick|poorly|"
    r"triggers?|relief|help\w*|eas(?:e|es|ed|ing)|reliev\w+|better|worse|pain\w*|number|score|rate|soaking|out for|unconscious|live with|"
    r"bother\w*|"
    r"severe|words|pillows|stairs|able to|toilet|symptoms?|aware|notic\w+|hurt\w*|ach\w+|sore|start\w*|began|begin|experienc\w+|get|"
    r"getting|going|having|passing|lost|losing)\b",
    _ANY_CASE,
)
"""Verbs by which a question to "you" is about the complaint."""
SUBJECT_WORD = re.compile(r"\b(?:it|this|that|they|these|those|them|everything|things)(?='s?\b|\b)", _ANY_CASE)
YES_NO = re.compile(r"\W*(?:(?:and|so|but|or|um|uh|ok|okay|well|now)\b\W*)*(?:does|did|do|is|are|was|were|has|have|had)\b", _ANY_CASE)
VERB_AFTER = re.compile(
    r"(?:'s)?(?: (?:all|first|usually|really))? (?:start\w*|beg[aiu]n|happen\w*|come on|came on|go|been|feel|get|sit|hurt|come|last|take|"
    r"appear\w*)\b",
    _ANY_CASE,
)
STILL_ASKED = re.compile(r"\b(?:that|which|who|anything|something|how|when|relief)\b", _ANY_CASE)
"""Words before a detail that ask for it in a question for presence too: "pain that spreads", "do you still get it"."""
ASKS_OUTRIGHT = re.compile(r"\b(?:how|when|where|whereabouts|what|which|since|duration|onset|frequency|severity)\b", _ANY_CASE)
"""Words without which a habit, a medicine or a disease that may be new is asked for, not a detail of it."""
OF_A_PART = re.compile(r"\W*(?:(?:and|so|also|but)\W+)?(?:is|are|does|do|did|has|have|was|were) (?:the|your|his|her) (?:\w+ )?$", _ANY_CASE)
ADJUNCT = re.compile(r"\W*$|\s+(?:when|if|after|while|in|on|all|to|for|at|with)\b", _ANY_CASE)
"""What stands before and after a finding that is all a question says of a part of the body."""
AUXILIARY = re.compile(
    r"(?:(?:and|so|but|or)\s+)?(?:when (?=(?:did|do|does|was|were)\b))?(?:(?:does|did|do|is|are|was|were|has|have|had|would|will|can|"
    r"could)(?:n't)?\s+)+",
    _ANY_CASE,
)
"""Words at the front of a question that a mention of what it asks goes without."""
PREDICATE_END = re.compile(
    r"\s*(?:[,;.?!]|\b(?:since|when|at all|now|right now|today|usually|normally|for me|would you|do you think|please|exactly|though|then|"
    r"did it|does it|is it|"
    r"lately|recently)\b)",
    _ANY_CASE,
)
"""Where the words that ask for a detail end."""
FRAME = re.compile(
    r"(?:(?:(?:personal |family |past |previous |prior )?history of|(?:been |ever )?diagnosed with|suffer(?:s|ed|ing)? (?:from|with)|"
    r"(?:started )?(?:currently |regularly )?(?:tak(?:e|es|en|ing)|using)|when was(?: the)?|troubled by|bothered by|complain(?:ed|ing|"
    r"s)? of|"
    r"drink(?:s|ing)?(?= (?:any |some |much )?alcohol))\s+)?(?:(?:any|an?|the|your|his|her|some|much|other|regular|recent|prior|"
    r"previous)\s+)*(?=\w)",
    _ANY_CASE,
)
"""Words of a phrase that only introduce its concept: the mention is "diabetes", not "history of diabetes"."""
CONSEQUENCE = re.compile(
    r"\b(?:that|which)(?: you think)? (?:could|might|may|would|can)(?: \w+){0,3} (?:explain|caus\w+|trigger\w*|affect\w*|contribut\w*|"
    r"be|have|lead|result)\b",
    _ANY_CASE,
)
"""Where a question says why it is asked: "any injuries that could explain the back pain"."""
OFFER = re.compile(
    r"\b(?=\w)(?:would you like (?:a|an|me|us|some|to (?:see|have|come|bring))|shall (?:i|we)|do you need (?:help|a hand|an "
    r"interpreter|a chaperone|"
    r"a (?:sick )?note|a certificate|a letter|a prescription)|(?:right|ok|okay|comfortable|warm) (?:in here|there)|in here all right|"
    r"would \w+ (?:\w+ ){0,4}(?:work|suit)|(?:work|suit) for you|drive you home|can i get you|i(?:'m| am) going to|have you got someone)\b"
)
"""Offers and arrangements, in small letters: what they name is not asked."""
REACH = 40
"""Characters before a finding in which ALONGSIDE and SAID_OF_CONCEPT are looked for."""
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
AGE = re.compile(r"\b(?:how old(?! (?:were|was))|your age|date of birth|when were you born)\b", _ANY_CASE)
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
NOT_PATIENT = re.compile(rf"\b(?:{_RELATIVES}|sons?|daughters?|children)\b(?! doctor)", _ANY_CASE)
NOT_THE_CHILD = re.compile(rf"\b(?:{_RELATIVES})\b", _ANY_CASE)
"""Whoever is not the patient when a parent speaks for the child."""
FAMILY_WORDS = re.compile(
    rf"\b(?:(?:personal or |immediate |close )?family (?:medical )?history (?:of|for)|(?:(?:does|has|have|is|are|do|did) )?(?:(?:anyone|"
    rf"anybody|"
    rf"someone|any|members?|either) )?(?:of |else )?(?:(?:that )?runs? |history )?(?:in |among |within |on )?(?:the |your |his |her |"
    rf"their |any |either )?"
    rf"(?:\w+ )?(?:{_RELATIVES})(?: members?)?)\b",
    _ANY_CASE,
)
"""Words around a disease that say whose it is, not what it is."""
JOINT = re.compile(
    r"\s*(?P<joint>,?\s*(?:\b(?:and|or)\b)?(?:\s*other\b)?)\s*(?:(?:the|your|any|a|an|previous|recent|other|associated|possible)\s+)*",
    _ANY_CASE,
)
"""What only joins two findings."""
EXAMPLES = re.compile(r"[\s,]*(?:like|such as|including|for example|e\.g\.|for instance|\()", _ANY_CASE)
SUBORDINATE = re.compile(
    r"^\W*(?:(?:and|so|also|but)\s+)*(?:when|whenever|if|while|after|before|once)\s+(?:you|the|your|it|he|she|this|that|they|there)\b(?!r)",
    _ANY_CASE,
)
"""The start of a clause that only says when: "when you have the headache, do you feel sick?"."""
BOTH = re.compile(
    rf"\b(?:you|yourself|personal|personally)(?:,| ever)?(?: yourself)? (?:or|and)(?: (?:has|have|does|do))? (?:\w+ "
    rf"){{0,5}}(?:{_RELATIVES})\b",
    _ANY_CASE,
)
"""The patient and the family in one breath: "have you or anyone in your family"."""
TRAILING_FAMILY = re.compile(rf"\b(?:in|among|within|on|with|by|of|from) (?:\w+ ){{0,4}}(?:{_RELATIVES})\b", _ANY_CASE)
OBSERVES = re.compile(
    r"\b(?:notic\w+|seen|sees?|observ\w+|told|tells?|said|says?|mention\w+|comment\w+|complain\w+ (?:about|of))\b", _ANY_CASE
)
"""Verbs by which a relative speaks of the patient: "has your wife noticed that you snore?"."""
SECOND_PERSON = re.compile(r"\b(?:you|you're|you've|he|she|your child)\b", _ANY_CASE)
HISTORICAL = re.compile(
    r"\b(?:ever|in the past|previously|before|history of|past history|diagnosed with|as a child|used to|years? ago|"
    r"last year)\b",
    _ANY_CASE,
)

SAID_OF_CONCEPT = re.compile(
    r"\b(?:is|are|was|were|does|do|did) (?:the|your|this|that|these|those) x+ (?:(?:at all|very|also|\w+,? (?:or|and)) )?$", _ANY_CASE
)
"""What stands before a word that describes a concept (x: its words): "is the … painful"."""
DESCRIPTION_ATTRIBUTE = (
    ("pain", "painfulness"),
    ("sore", "painfulness"),
    ("hurt", "painfulness"),
    ("tender", "painfulness"),
    ("itch", "itching"),
    ("peel", "peeling"),
    ("flak", "peeling"),
    ("scal", "peeling"),
    ("swollen", "swelling"),
    ("raised", "swelling"),
    ("puffy", "swelling"),
)
DESCRIPTION = re.compile(
    r"painful|sore|tender|hurt(?:s|ing)?|itch(?:y|es|ing)?|swollen|raised|puffy|peeling|flaky|scaly|burning", _ANY_CASE
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
PRESENCE_START = re.compile(
    r"^\W*(?:(?:and|so|also|but|or|okay|ok|now|well)\b[\s,]*)*(?:do you (?:ever )?(?:have|get|feel|suffer|experience|"
    r"notice)|have you|had you|are you having|any\b|did you have|"
    r"(?:is|are) there|has (?:he|she|there)|does (?:he|she) have|do you|are you|would you (?:say|call|"
    r"describe)|does it feel|is (?:there|he|she)|tell me (?:about any|whether|if)|did you|were you|was there|"
    r"(?:has|have|did) your)\b",
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
    ("remark", re.compile(r"^\W*no (?:problems?|worries|need|rush|trouble)\W*$", _ANY_CASE)),
)
