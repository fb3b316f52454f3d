"""Pieces of patterns for questions about a detail: what is spoken of, times, verbs, places, qualities."""

from __future__ import annotations

OWN = r"(?:the|your|his|her|their|my)"
IT = rf"(?:it|them|they|this|that|these|those|things?|everything|all (?:of )?(?:this|that)|x{{3,}}|{OWN} \w+(?: \w+)?)"
BE = r"(?:is|are|was|were|has|have|had|'s|'ve)"
DO = r"(?:does|do|did|will|would|can|could|might)"
HAS_IT = rf"(?:has|have|is|are|did|does|do|was|were|had) {IT}"
SOME = r"(?:(?:any|much|a bit|a little|a lot|quite|very|so|rather|even|more|less|really|actually|at all|all|just|\w+ly) ){0,3}"
UNIT = r"(?:seconds?|minutes?|hours?|days?|nights?|weeks?|months?|years?|fortnights?)"
WHEN = r"(?:when(?:ever)?|with|if|after|on|in|during|by|while|upon|following|as soon as|once|before|lying|sitting|standing|leaning)"
CLOCK = (
    r"(?:night(?:s|time)?|(?:the )?(?:early )?(?:mornings?|evenings?|afternoons?|nights?|day ?time|daytime|winter|summer|spring)|"
    r"(?:a |the |any |certain |particular |specific )+(?:times?|part|point|hours?)|weekends?|first thing)"
)
AT_TIME = rf"(?:at|in|during|on|towards|by) {CLOCK}"
WORSE = r"(?:worse|worst|worsen(?:s|ed|ing)?|hurts? (?:more|most)|more (?:painful|intense|noticeable|sore)|flares? up|act(?:s|ing)? up)"
BEGIN = (
    r"(?:start|begin|began|begun|come on|came on|coming on|appear|develop|happen|occur|commence|set in|kick(?:ed)? (?:off|in)|creep|crept|"
    r"hit|strike|struck|come about|came about|arise|arose|arisen|emerge|show up|turn up|crop up|flare up|break out|broke out|set off)"
)
FIRST = (
    r"(?:first|start|begin|began|begun|came on|appear|notice|become aware|spot|develop|happen|occur|experience|come on|fall ill|fell ill)"
)
PLACE = r"(?:elsewhere|anywhere|somewhere|everywhere|other (?:parts?|places?|areas?))"
TOWARDS = r"(?:to|into|down|up|through|along|across|round|around|towards?|over|out|beyond|as far as|from)"
SIDES = r"(?:left|right|front|back|upper|lower|inside|outside|top|bottom|middle|cent(?:er|re)|high(?:er)?|low(?:er)?|sides?|deep|surface)"
PART = (
    r"(?:parts?|sides?|areas?|regions?|bits?|spots?|places?|eyes?|ears?|arms?|legs?|hands?|foot|feet|knees?|shoulders?|joints?|fingers?|"
    r"toes?|tooth|teeth|ankles?|wrists?|hips?|elbows?|breasts?|nostrils?|limbs?|quadrants?|cheeks?|quarter)"
)
FREELY = r"(?:only|mainly|mostly|ever|usually|always|tend to|just|particularly|especially|more|even|normally|typically) "
NO_RHYTHM = (
    r"(?! (?:a |an )?(?:daily|regular|weekly|most|and|waves|bouts|attacks|episodes|spells|cramps|bursts|clusters|its|their|seconds|minutes|"
    r"hours|days)|(?: less)*(?: and less)?(?: (?:the|your|any|an?))? x{3,})"
)
NO_DEGREE = (
    r"long|often|many|old|much|are|is|was|were|do|does|did|have|has|had|would|will|can|could|should|about|come|far|soon|quick\w*|fast|"
    r"sudden\w*|frequent\w*|regular\w*|recent\w*|else|big|large|wide|it|this|that|they|you|your|the|to|i|we|exactly|precisely"
)
"""Words after "how" that ask for something else than the degree."""
LIFE = (
    r"(?:daily|day[- ]to[- ]day|every ?day|day|life|work(?:ing)?|jobs?|school|sleep(?:ing)?|activit\w+|awake|normal|routine|concentrat\w+|"
    r"functioning|walk(?:ing)?|doing|get(?:ting)? (?:about|around|on|through)|usual|things you)"
)
QUALITIES = (
    r"sharp|dull|burn(?:s|ing)?|crampy?|cramping|cramps|throb(?:s|bing)?|stab(?:s|bing)?|pressure|pressing|crushing|tearing|ripping|"
    r"ach(?:e|es|y|ing)|squeez\w+|gripping|gnawing|colicky|colic|griping|sting(?:s|ing)?|prick(?:ly|ing)|shooting|electric\w*|"
    r"tight(?:ness)?|heav(?:y|iness)|"
    r"pulsat\w+|pounding|twisting|boring|spasm\w*|productive|wet|dry|chesty|barking|hacking|watery|solid|loose|formed|runny|thick|"
    r"sticky|smelly|foul|bloody|frothy|flat|hard|soft|firm|squashy|lumpy|smooth|rough|bumpy|blister\w*|spinning|light ?headed(?:ness)?|"
    r"woozy|off balance|bright red|clots?|hot|cold|tingl\w+|tender"
)
