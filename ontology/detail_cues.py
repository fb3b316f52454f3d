"""Words by which a question asks for a detail of a finding.

The words of findings are masked by x, so that "makes the headache worse" reads "makes the xxxxxxxx worse". Each pattern is bounded, so that
reading stays linear in the length of the text.
"""

from __future__ import annotations

import re

from ontology.concepts import Attribute
from ontology.detail_words import (
    AT_TIME,
    BEGIN,
    FIRST,
    FREELY,
    HAS_IT,
    IT,
    LIFE,
    NO_DEGREE,
    NO_RHYTHM,
    OWN,
    PART,
    PLACE,
    QUALITIES,
    SIDES,
    SOME,
    TOWARDS,
    UNIT,
    WHEN,
    WORSE,
)

DETAIL_CUES: tuple[tuple[Attribute, tuple[str, ...]], ...] = (
    ("destination", (r"(?:which|what) countr(?:y|ies)", r"where (?:did you|have you) (?:travel\w*|go|been)")),
    (
        "severity",  # a scale says so whatever else is named
        (
            r"(?:scale|out of) (?:of )?(?:(?:from )?(?:0|1|zero|nought|one)|10|ten)\b|(?:0|1|zero|nought|one)(?: to |-)(?:10|ten)",
            r"(?:10|ten) (?:is|being|means|was) (?:\w+ ){0,4}worst|(?:0|zero|nought|one|1) (?:is|being) (?:nothing|no)",
            r"what number|give (?:me|it) a (?:number|score)|(?:rate|score|grade|rank) (?:it|this|that|the|your|them|how)|"
            r"(?:the|your) (?:pain )?(?:score|rating)",
        ),
    ),
    (
        "frequency",  # a time of the day is a pattern, also where the complaint is worse then
        (
            rf"(?:{WORSE}|\bmore|better|\bit|\bthem|\bthey|comes?(?: on)?|happens?|occurs?) (?:\w+ )?{AT_TIME}\b",
            r"(?:time|part)s? of (?:the )?(?:day|night|week|month|year)|how long between|how far apart",
        ),
    ),
    ("duration", (r"how long(?! ago| between)", rf"how many (?:\w+ )?{UNIT}(?! (?:ago|a|per|each|in a|out of)\b)")),
    (
        "aggravating",
        (
            rf"(?:make|makes|making|made) {IT} (?:any |feel |even |much |start |come )?(?:better or worse|worse|flare|hurt|stronger|"
            rf"more (?!comf|bear))",
            r"(?:better|worse) or (?:better|worse) (?:when|if|after|with)",
            rf"{WORSE}(?: \w+)? {WHEN}\b(?! (?:time\b|(?:the |this |these )?(?:last|past|recent)|general|between))",
            rf"(?:does|do|is|are) {IT} (?:{FREELY}){{0,2}}(?:happen|come on|occur|start|appear|get worse|come|bother you|kick in|"
            rf"strike|coming on)"
            rf" (?:\w+ )?{WHEN}\b{NO_RHYTHM}",
            rf"(?:get|have|feel|notice) (?:it|them|this|that|these|{OWN} \w+|x+) (?:{FREELY}){{0,2}}(?:when|if|after|while|during|upon|"
            rf"at rest|on "
            rf"(?:exertion|exercise|movement))\b(?! (?:it|they|this|the (?:night|day))\b)",
            rf"(?:when|in (?:what|which) \w+) (?:is|are|does|do|gets?) {IT} (?:get |become |at (?:its|their) )?(?:worse|worst|bad)",
            r"(?:in|which|what) (?:kind of |sort of )?(?:situations?|circumstances)|what are you (?:usually |normally |typically |"
            r"generally )?doing when",
            r"(?:happen|hurt\w*) (?:more )?(?:when|if|while) (?:you|he|she)\b",
        ),
    ),
    (
        "onset",
        (
            r"out of (?:the blue|nowhere)|all at once|all of a sudden|like a thunderclap|bolt from|creep up|crept up|build up|built up|"
            r"buil[dt] gradually",
            rf"(?:come on|came on|start|develop|appear|happen|set in) (?:in|over) (?:a |the )?(?:few |course of )?{UNIT}|"
            rf"over what (?:period|time)",
        ),
    ),
    (
        "relieving",
        (
            rf"(?:make|makes|making|made) {IT} (?:go away|disappear|stop|settle|less|any less|improve|(?:any |feel |a bit |a little )?"
            rf"(?:better|easier|more comfortable|bearable))",
            r"tak(?:e|es|en|ing) (?:the edge off|away)|took (?:the edge off|away)",
            r"(?:any|some|much|no|give\w* (?:you )?|a lot of) relief|reliev\w*|alleviat\w*|sooth(?:e|es|ed|ing)\b|palliat\w*",
            rf"(?:better|less (?:\w+ )?|eas(?:e|es|ed|ing)(?: off| up)?|improv(?:e|es|ed|ing)|settl(?:e|es|ed|ing)(?: down)?|go(?:es|ne)? "
            rf"(?:away|off)|went (?:away|off)|disappears?|stops?|subsides?|lets? up|wears? off|calms? down|comfortable) (?:\w+ )?{WHEN}"
            rf"\b(?! (?:time|the (?:last|past)|general|between|{IT} (?:first )?(?:start|began)))",
            r"(?:go(?:es|ing)? (?:away|off)|settles?|stops?|resolves?|gets? better|clears?(?: up)?|wears? off|passes?) (?:by itself|by "
            r"themselves|on (?:its|their) own|alone|spontaneous\w*|without)",
            rf"(?<!you )(?<!i )(?<!we )help(?:s|ed|ing)? (?:with |ease |relieve )?{IT}|(?:anything|what|something|"
            rf"that) (?:\w+ ){{0,4}}help\w*",
            r"(?:does|did|do|has|have|is|are|was|were) (?:\w+ ){1,5}help(?:s|ed|ing|ful)?\b(?! (?:you|me|us)\b)",
            rf"(?:eas(?:e|es|ed|ing)|lessens?|reduces?|dulls?|numbs?|controls?|stops?|improves?|settles?) {IT}(?= *\W*$| (?:at all|"
            rf"a bit|off|\w+ly|for))",
            r"(?:does|did|do|is|are|has|have) (?:the |your |any )?(?:\w+ ){0,2}(?:x+|medicines?|tablets?|medication|cream|inhalers?|"
            r"spray) (?:\w+ )?(?:work|working|worked|helping)\b",
            r"calm\w* (?:it|them)|settles? (?:it|them)|get rid of|respond(?:s|ed|ing)? (?:to|well)|any (?:good|effect|use)\b|"
            r"made? (?:any|a) "
            r"difference|(?:make|makes|making) (?:any|a) difference|(?:do|done|doing) (?:anything|much|any good) (?:for|to)",
            r"position (?:\w+ )?(?:that(?:'s| is)? |more |most |of )*(?:comfort\w*|better|best|eases)|comfortable position",
        ),
    ),
    (
        "progression",
        (
            r"(?:becom(?:e|es|ing)|became|get(?:s|ting)?|got(?:ten)?|growing|happening|come|coming) (?:\w+ )?(?:more|less|bigger|smaller|"
            r"larger|stronger|weaker|longer|shorter|milder|heavier|lighter|closer) (?:\w+)?",
            rf"(?:get|gets|getting|got|gotten|become|becoming|became|been) {SOME}(?:worse|better)(?! (?:than \w+ when|{WHEN})\b)",
            r"(?:better|worse|same),? or (?:\w+ ){0,3}(?:better|worse|same)|better, worse|worse, better",
            rf"any (?:better|worse|different|improvement|change)s?\b(?! (?:{WHEN})\b(?! (?:the|its|size|how|time))| (?:to|of) your)",
            r"(?:better|worse|different)(?: \w+)? than\b|(?:more|less)(?: \w+)? than (?:it|they|before|yesterday|last|when|usual|normal)|"
            r"worse\W*$|"
            r"(?:is|are) (?:it|they|things) (?:\w+ )?(?:better|worse)\b(?! (?:when|with|if|after|on|at|in|during|by|lying|sitting))",
            r"compared? (?:to|with)|how (?:has|have|is|are|was|were|had|things) (?:\w+ ){0,4}since|since (?:we|i|you) last|over time|"
            r"at first|to begin with|these days",
            r"chang(?:e|es|ed|ing) (?:in|to|of) (?:the |its |their |this |that |x)|changes? at all|(?:been|notice|noticed|see|"
            r"seen) (?:any )?changes?",
            rf"{HAS_IT} (?:\w+ ){{0,2}}(?:chang\w+|evolv\w+|progress\w*|improv\w+|deteriorat\w+|resolv\w+|worsen\w*|subsid\w+|settl\w+|"
            rf"grown?|growing|gone|eas(?:ed|ing)|decreas\w+|increas\w+|reduc\w+|diminish\w+|fluctuat\w+|shr[aiu]nk\w*|heal\w*|stable|"
            rf"stabili[sz]\w+|steady(?! \w)|come down|clear\w+ up|let up|lift\w*|peak\w*|plateau\w*|abat\w+|fad(?:ed|ing)|disappeared|"
            rf"stopped|"
            rf"recover\w*|worsened)\b",
            r"(?:go|goes|going|gone|come|coming|came) down\b(?! (?:to|the|your|into|his|her))|(?:eas|eased|easing) off|on the mend|turn\w* "
            r"the corner|under control",
            r"chang(?:ed|ing) (?:over|since|at all)|progress(?:ed|es|ing|ion|ively)|improvement|improv(?:ed|ing)|worsen(?:ed|ing)|"
            r"deteriorat\w+|increas(?:ed|ing) in size",
            r"gone away|go(?:es|ing)? away|went away|clear(?:ed|ing) up|growing",
            r"stay(?:ed|ing|s)? (?:about |much |pretty |more or less )?the same|(?:about |much |just |exactly )?the same(?: as|"
            r"\b(?= *\W*$))|"
            r"remain\w* (?:the same|stable)",
            r"still (?:there|ongoing|got|have|having|get|getting|going|present|feel\w*|hurt\w*|bother\w*|bad|as|on|x+)|are you still|is "
            r"(?:he|she) still|ongoing",
            rf"how (?:has|have|had) {IT} (?:been )?(?:chang\w+|progress\w+|evolv\w+|develop\w+|gone|getting on|since|(?:over|"
            rf"for) the (?:last|past))",
            rf"how(?:'s| is| are| was) {IT} (?:been )?(?:now|today|at the moment|doing|getting on|coming (?:on|along)|going|currently|"
            rf"this (?:morning|week))",
            rf"how (?:has|have) {IT} been\b|how things (?:are|have)|how (?:it|they)(?:'s| has|'ve| have) (?:been )?(?:chang|progress|go|"
            rf"do)\w*",
            r"always (?:been )?(?:like this|this bad|that bad|the same|this way)|as bad as|back to normal|how are things",
        ),
    ),
    (
        "onset",
        (
            r"how many (?:\w+ )?(?:" + UNIT + r") ago|how long ago|how recently",
            # A finding's words are masked: "when was your last period?" reads "when was your xxxxxxxxxxx?".
            r"when (?:was|were) (?:the|your|his|her|their) (?:first |last )?x{3,}|when did (?:you|he|she|they) last (?:have|get)",
            r"where were you when|what (?:were you|was he|was she|was) (?:\w+ ){0,4}(?:when|at the time|just before)",
            r"(?:at )?what age|how old were you|how old was (?:he|she)",
        ),
    ),
    (
        "radiation",
        (
            r"radiat(?:e|es|ed|ing|ion)\b|spread(?:s|ing)?\b|extend(?:s|ed|ing)?\b|shoot(?:s|ing)? (?:anywhere|" + TOWARDS + r"|\W*$)",
            rf"(?:travel|track|go|mov|shift|run|shoot|wander|migrat|stretch|reach)(?:e|es|s|ing|ling|led|ed|ne)? ?(?:anywhere|"
            rf"{PLACE}|through|round|around|{TOWARDS} (?:the |your |his |her |any |another |other )?(?!on\b|bed\b|work\b|school\b|"
            rf"hospital\b|"
            rf"toilet\b|see\b|us\b|bathroom\b|loo\b|stop\b|start\b)\w+)",
            r"com(?:e|es|ing) (?:through|round|around|down|up|out)(?: (?:to|into|in|on|at|through|across))? (?:the |your )(?!blue)\w+",
            rf"(?:feel|have|get|got|notice|hurts?|is|are|felt) (?:it|this|that|them|{OWN} \w+|x+)?(?: \w+)? ?{PLACE}",
            r"where (?:else )?(?:does|do|did|has) (?:it|this|that|they|the \w+|your \w+|x+) (?:\w+ )?(?:go|spread|radiate|travel|move|"
            r"shoot|end up|gone|moved)",
            r"(?:does|do|did|has|have|is|are|if|whether) (?:it|they|this|that|the \w+|your \w+|x+) (?:ever )?(?:mov(?:e|es|ed|ing)|"
            r"travel(?:s|led|ling)?|reach(?:es|ed)?|involves?|shift(?:s|ed)?|migrat\w+)\b",
            r"(?:stays?|staying|stayed|remains?|confined|restricted|limited)(?: just)? (?:to one|to the|to that|put|there|still|"
            r"in (?:one|the "
            r"same|that|the)|only|local\w*)",
            r"(?:to|it|staying in|stay in|stays in) one place|(?:feel|get|have|notice) (?:it|that|this|the \w+|x+) (?:in|down|up|"
            r"into) (?:your|the) (?:\w+ ){0,4}"
            r"(?:too|as well|also)|(?:feel|get) (?:it|that|this) (?:in|down|up|into) your",
        ),
    ),
    (
        "localisation",
        (
            r"point to|pin ?point|one (?:finger|spot)|exactly where|precise(?:ly)?|well locali[sz]ed|how locali[sz]ed|diffuse|vague(?:ly)?|"
            r"point with|point at|put (?:your|a) finger on",
        ),
    ),
    (
        "location",
        (
            r"where ?(?:abouts)?(?! (?:you|did you|have you|do you) (?:live|work|from|going|travel|go|been))(?: exactly| else| about)? "
            r"(?:is|are|does|do|did|in|on|was|were|has|have|would|could|can|you|it|the|your|she|he|along)",
            r"where exactly|where's|whereabouts|locat(?:ion|ed)|^\W*(?:and |so |ok(?:ay)? )?(?:where|site)(?: exactly)?\W*$|show me where|"
            r"the site of",
            rf"(?:which|what) (?:\w+ )?{PART}\b",
            rf"{SIDES}(?:[- ](?:hand side|hand|sided|side|down|up|part|half|one))?(?: \w+)?,? or (?:\w+ ){{0,4}}{SIDES}",
            rf"(?:one|both|either|left|right|just one|single|each) (?:{PART}|side|sided)(?: only)?(?:,? or |\W*$)|on both sides|"
            rf"one[- ]sided|in one \w+ or "
            r"both|just (?:in |on )?(?:the |in )?one|both sides|bilateral\w*|unilateral\w*|one \w+ or (?:both|two)",
            r"is (?:it|that|this|the \w+|x+) (?:\w+ )?(?:behind|in|on|over|under|around|across|near|above|below|beneath|between|at|"
            r"inside|just "
            r"below|just above) (?:the|your|both|one)",
            r"all over|everywhere|locali[sz]ed|generali[sz]ed|widespread|(?:in|to) (?:the |just )?(?:one|same|a particular|"
            r"a specific) (?:spot|area|place)|"
            r"confined|coming from",
            r"(?:higher|lower|further|high|low) (?:up|down)",
        ),
    ),
    (
        "frequency",
        (
            r"constant(?:ly)?|(?:com(?:e|es|ing)|came),? (?:and|or|then)(?: it)? go(?:es|ing)?|intermittent\w*|continuous(?:ly)?|"
            r"continual\w*",
            r"all the time|the whole time|in (?:episodes|waves|bouts|attacks|bursts|spells|clusters)|on and off|off and on|"
            r"keeps? (?:on )?coming|"
            r"every (?:single )?(?:day|night|morning|week|hour)\b",
            r"how (?:often|frequent\w*|regular\w*|many times|far apart)|between (?:the |your |each |these |them|attacks|episodes|x)",
            rf"how many (?:\w+ ){{0,5}}(?:(?:a|per|each|in a|in one|every|in the last|in the past|over the|this|last) (?:{UNIT}|24)|"
            rf"at night|"
            rf"in total|so far|altogether)",
            r"how many (?:of (?:them|these)|episodes|attacks|bouts|spells|cigarettes|units|stools|motions|did you|have you|has (?:he|"
            r"she)|x{3,})",
        ),
    ),
    (
        "duration",
        (
            r"how long(?! ago)|how many (?:\w+ )?(?:" + UNIT + r")(?! ago)|duration|length of time|(?:over )?what period",
            r"last(?:s|ed|ing)? (?:for|how|long|more|less|all|a|an|several|only|just|seconds|minutes|hours|days|weeks|until|the whole)",
            rf"for (?:some time|a (?:long|short|while)|very long|long|a while|ages|how|(?:the )?(?:past|last)|(?:more|less|longer|over|"
            rf"at least|"
            rf"about|around|a few|a couple|several|many|\d+|one|two|three|four|five|six|seven|eight|nine|ten)(?: \w+){{0,3}} {UNIT}|"
            rf"{UNIT})",
            r"(?:had|have) (?:it|this|that|them|these|x+|the \w+|your \w+) (?:for )?(?:a )?(?:very )?(?:long|while)|how far back|"
            r"period of time",
            rf"(?:more|longer|less|greater|shorter) than (?:about )?(?:a|an|\d+|one|two|three|four|five|six|seven|eight|ten|twelve|a few|"
            rf"a couple of)"
            rf" {UNIT}",
            rf"{UNIT},? or (?:\w+ ){{0,2}}(?:{UNIT}|longer)|{UNIT}, {UNIT}|over in (?:a |an )?(?:few )?{UNIT}|in seconds|or longer\b",
            rf"(?:it|that|they|this)(?:'s| is| has|'ve| have)? (?:been )?(?:now )?(?:about |around |nearly |roughly )?(?:a|an|\d+|one|two|"
            rf"three|four|five|six|seven|eight|nine|ten|several|a couple of|a few) {UNIT}",
            rf"^\W*(?:and |so )?(?:a|an|\d+|one|two|three|four|five|six|seven|ten|a couple of|a few|about a|several) {UNIT}\b",
            r"long[- ]?(?:standing|term|lasting)|chronic|(?:always|all (?:your|his|her) life) had|always had|brief|prolonged|"
            r"short[- ]lived|"
            r"(?:go|goes|keep|keeps|carry|carries|drag|drags) on for|for (?:most of|all of|years)",
        ),
    ),
    (
        "onset",
        (
            rf"when (?:exactly |about |roughly )?(?:did|was|were|do you (?:think|reckon|feel|believe)) .{{0,80}}\b(?:{BEGIN}|{FIRST})\w*",
            r"(?:what|which) (?:time|day|date|year|month)\b",
            r"when (?:was|were) (?:the|your|his|her) (?:very )?(?:first|last) \w+|when (?:was|were) (?:you|he|she) last|since when|"
            r"from when|"
            r"since (?:birth|you were|childhood|a child|the (?:accident|fall|injury))|born with",
            rf"how (?:did|does|fast|quickly|suddenly|rapidly|soon) .{{0,80}}\b(?:{BEGIN}|came)\w*",
            rf"(?:come|came|coming|start\w*|began|begin|appear\w*|develop\w*|happen\w*|occur\w*|set in|hit you) (?:on |up )?(?:very |"
            rf"quite |so "
            rf"|rather |all of a |all |that |more |over |in )*(?:sudden|gradual|slow|quick|abrupt|rapid|at once|(?:a |the )?(?:few |"
            rf"last few |"
            rf"couple of )?{UNIT})\w*",
            r"(?:sudden|gradual|slow|quick|abrupt|rapid|insidious|acute)(?:ly)?,? or|or (?:\w+ ){0,2}(?:sudden|gradual|slow|"
            r"abrupt)(?:ly)?\b|"
            r"(?:sudden|gradual|abrupt|acute|insidious|rapid) onset",
            r"overnight|onset|what (?:were|was) (?:you|he|she) (?:\w+ )?(?:doing|up to)",
            rf"(?:was|is) {IT} (?:very |quite |a |more |rather )?(?:sudden|gradual|abrupt)",
            r"(?:start|begin|come on|began|started|happen|happened|appear|develop)(?:ed)? (?:off|when|after|before|following|today|"
            r"yesterday|"
            r"last|this|on (?:mon|tues|wednes|thurs|fri|satur|sun)day|recently|straight|soon|shortly|as soon|while|during|from|later|"
            r"in the)",
            r"first (?:start|notice|appear|come|came|begin|began|happen|get|got|feel|felt|experience|show|see|saw|spot|become|became|"
            r"fall|fell|"
            r"have|had|develop|occur|realise|realize|seizure|episode|attack|time|x)\w*|in the first place",
            rf"how (?:did|has|have) {IT} (?:all )?(?:start|begin|come|beg[au]n|first)\w*|how (?:it|this|that|{IT}) (?:all )?(?:\w+ )?"
            rf"(?:started|began|came (?:on|about)|come (?:on|about)|begin|developed|happened)",
            rf"when (?:did )?{IT} (?:all )?(?:first |actually |really )?(?:start|began|begin|begun|came|come on|appear|happen)\w*|"
            rf"at the time "
            rf"{IT} (?:start|began)|when (?:you|he|she) (?:first |started |began )",
            r"when did (?:you|he|she|they|it|this) last|last (?:feel|felt|well|normal)|when were you last|(?:wake|woke|"
            r"woken) (?:up )?with|when "
            r"you woke",
            r"(?:this|it|that) (?:all )?(?:start|began|begin|come|came)\w* (?:on|at|last)|(?:happen|happened|occur|change|changed|start|"
            r"new)\w* (?:just )?(?:before|around the time|prior)|did (?:it|this|they|the \w+|your \w+|x+) (?:start|begin)",
        ),
    ),
    (
        "severity",
        (
            r"how (?:bad|severe|intense|strong|painful|much (?:does it|pain|is it|of (?:it|a)))\w*",
            r"how much (?:\w+ ){0,3}(?:have|has|did|do|does|is|was|are|were)|how much x{3,}|how much\W*$",
            rf"how (?!(?:{NO_DEGREE})\b)\w+ (?:of x+ )?(?:is|are|was|were|do|does|did|has|have|would|you|it|this|that|the|your)",
            r"severity|intensity|at (?:its|the|their) (?:very )?worst|the worst|worst (?:pain|headache|x+|ever|of|you|one)",
            r"(?:mild|moderate|severe|bad|unbearable|bearable|tolerable|intolerable|manageable|excruciating|agony|agonising|agonizing|"
            r"debilitating|disabling|crippling|incapacitating|intense|distressing)(?: enough)?\b(?! x)",
            rf"(?:affect|interfer|impact|limit|stop|keep|prevent|restrict|disrupt|disturb|hinder|bother|hold)\w* (?:\w+ )?(?:your|you|"
            rf"with|on|"
            rf"in|him|her|back)\b(?: (?:\w+ ){{0,4}}{LIFE}|\W*$| (?:much|a lot|day|back|up|from|most|at|in))",
            r"(?:to )?what (?:extent|degree)|how (?:has|have|is|are|does|do|did) (?:it|this|that|they|these|the \w+|your \w+|x+) (?:been )?"
            r"(?:affect|impact|interfer|limit|chang\w+ your|bother)\w*",
            r"wak(?:e|es|ing|en|ens) (?:you|him|her)|woken (?:you|up)|keep(?:s|ing)? (?:you|him|her) (?:up|awake)|sleep (?:with|through|"
            r"despite|because)|double[sd]? (?:you )?(?:over|up)",
            r"cop(?:e|ing) with|managing with|live with|put up with|can't (?:you )?do|(?:unable|able|can|"
            r"could) (?:you )?(?:to )?(?:still |do |"
            r"carry on |walk on|work with|bear weight|stand|put weight)|how far can you|how (?:many|much) (?:stairs|flights|pillows|pads|"
            r"tampons|can you)|how far (?:can|do|could) you",
            r"much blood|heavy (?:is|are|was)|a (?:little|bit) or a lot|a lot or (?:just )?a (?:little|bit)|highest|(?:how|as) high|peak",
        ),
    ),
    (
        "aggravating",
        (
            r"hurts? more|(?:feel|x{4,}) (?:it )?(?:more|worse) (?:when|if|after|on)|hurts?(?: \w+)? (?:when|if|while|after) (?!the\b|"
            r"it\b)\w+|"
            r"(?:does|do|is|are|did) (?:the|your|it|his|her) (?:\w+ ){0,2}x{4,}(?: \w+)? (?:when|if|while|after|on|with) (?!the\b|it\b)\w+",
            rf"worsen(?:s|ed|ing)?(?! over)|aggravat\w*|trigger\w*|(?:brings?|brought|bring(?:ing)?) (?:{IT} )?on|"
            rf"set(?:s|ting)? (?:{IT} )?off|set {IT} off",
            r"provok\w*|exacerbat\w*|affects? (?:it|this|that|them|the|your|x)|contribut\w*|flare\w*|precipitat\w*|(?:may|might|"
            r"could) have "
            r"(?:caused|brought|triggered)|caus(?:es?|ed|ing) (?:it|this|that|them|the|your|x)|relationship",
            rf"(?:comes? on|come|happens?|occurs?|start|get (?:it|them|this|that|x+|the \w+)|(?:it|this|that) (?:only|mainly|mostly|"
            rf"just)(?: "
            rf"\w+)?|(?:it|this|that|they)) (?:only |mainly |mostly |more |even |just )?{WHEN} (?:you |your )?(?!less\b|more\b|(?:the |"
            rf"any |a )?x)\w+",
            r"(?:relat|link|connect|tied|relation)\w* (?:to|with|between)(?! (?:the |your |any )?x)|associated with (?:eating|food|meals|"
            r"mov|exercis|activit|exert|"
            r"stress|posi|breath|cough|walk|anything|any particular)\w*|depend\w* (?:on|upon)|to do with|play(?:s|ing)? (?:a|"
            r"any) (?:part|role)|"
            r"at rest|on exertion|with exertion|(?:what|which) (?:situations?|circumstances|activit\w+|foods?|movements?|positions?)|"
            r"in any "
            r"(?:particular )?(?:position|situation)|when (?:is|are) (?:it|they|the \w+|x+) (?:at (?:its|their) )?worst?e?|"
            r"certain (?:foods|movements|positions|activities)",
            r"what (?:are|were) you (?:usually |normally |typically )?doing when",
        ),
    ),
    (
        "frequency",
        (
            r"constant(?:ly)?|(?:com(?:e|es|ing)|came),? (?:and|or|then)(?: it)? go(?:es|ing)?|intermittent\w*|continuous(?:ly)?|"
            r"continual\w*|persistent\w*",
            r"all the time|all day|the whole time|in (?:episodes|waves|bouts|attacks|bursts|spells|clusters)|on and off|off and on|"
            r"(?:a|any|some|the) (?:\w+ )?pattern|pattern to|cluster\w*|every now and|now and (?:then|again)|once in a while|"
            r"from time to time",
            r"frequency|(?:every|each) (?:\w+ )?(?:day|night|morning|week|time|month|hour|year)s?|most (?:days|nights|mornings)|daily|"
            r"weekly|monthly|nightly|"
            r"(?:once|twice|times|one or two|two or three|several|more than once) (?:a|per|every|each|in a) \w+|a one[- ]off|one[- ]off|"
            r"just (?:the )?once|only (?:the )?once",
            r"(?:regular|frequent|occasional|recurrent|recurring|sporadic|periodic)(?:ly)?\b|recurs?|keeps? (?:on )?(?:coming|happening|"
            r"returning|getting)|often|how many|(?:many|lots) of (?:these|them|those)|repeated\w*|same time|at night|during the night|"
            r"through the night",
            r"(?:what(?:'s| is) the|increased|the) frequency",
            r"when (?:do|does|is|are) (?:it|they|this|that|these|you|he|she|the \w+|your \w+|x+)(?: \w+)? (?:happen|come|occur|get|have|"
            r"notice|start|strike|appear|there|feel|usually)\w*",
            r"(?:certain|particular|specific|any) times? of (?:the )?(?:day|year|month)|x+[- ]free|(?:free of|free from)|(?:is|"
            r"are) (?:it|they) there (?:now|right now|at the moment)",
        ),
    ),
    (
        "color",
        (
            r"what (?:(?:sort|kind|shade) of )?colou?r|colou?r of|(?:and|the) colou?r|is it (?:red|pink|dark|pale|yellow|green|brown|"
            r"black|clear|bright)|colou?rs?",
        ),
    ),
    ("size", (r"how (?:big|large|wide)|size|(?:larger|bigger) than|centimet(?:er|re)s?|cm",)),
    ("peeling", (r"peel\w*|flak(?:y|ing|es?)|scal(?:y|ing)",)),
    ("itching", (r"itch(?:y|ing|es)?",)),
    ("painfulness", (r"painful|hurt(?:s|ing)?|sore",)),
    ("swelling", (r"swollen|(?<!it )raised|puffy",)),
    (
        "character",
        (
            r"what (?:kind|type|sort|form) (?:of|is)|(?:what|how) (?:does|did|do|is|was|would) \w+(?: \w+)? (?:feel|look|taste|smell|"
            r"sound)\w*",
            rf"what(?:'s| is| was| are| were) {IT} like|what {IT} (?:is|was|feels?|felt|looks?|looked|smells?)(?: like)?|describe|"
            rf"in (?:your own )?words|"
            rf"into words|character(?:i[sz]e|istic\w*)?|nature of|quality|consistency|texture|appearance|the nature",
            rf"\b(?:{QUALITIES})\b",
            r"like water|looks? like|looked like|feel(?:s|ing)? (?:like|similar|\w+ or )|feels? as (?:if|though)|more like|"
            r"more (?:of )?an?\b|"
            r"like (?:a|an|something|someone)|smells?|odou?r|sensation",
            r"what (?:is|was) it like|what it(?:'s| is) like|(?:it|they|that|this) feels?",
        ),
    ),
    ("associated", (r"along with|accompan\w*|associated|at the same time|together with",)),
)
"""Attribute and its words, the most telling first; an attribute may come more than once."""

ATTRIBUTE_CUES: tuple[tuple[Attribute, re.Pattern[str]], ...] = tuple(
    (name, re.compile(r"\b(?=\w)(?:" + "|".join(alternatives) + r")(?:(?<=\W)|\b)")) for name, alternatives in DETAIL_CUES
)
"""For texts in small letters (`lower_in_place`)."""
