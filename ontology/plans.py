"""What an examiner's statement concludes or plans: a diagnosis, a treatment, how urgent it is, advice."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from pydantic import JsonValue

from ontology.mentions import ActType

Plan = tuple[ActType, dict[str, JsonValue]]
TreatmentPolarity = Literal["recommend", "avoid", "conditional"]

_ANY_CASE = re.IGNORECASE
_STATED = (
    r"final diagnosis(?: is| would be)?|(?:the |my |your )?(?:most likely |likely |leading |working |provisional |probable |primary |"
    r"preliminary )?"
    r"diagnosis(?: here)?(?: is| would be| of|:)|diagnos(?:e|ing|ed) (?:you|him|her|this|it) (?:with|as)|you have been diagnosed with"
)
_THOUGHT = (
    r"i (?:strongly )?(?:think|believe|suspect)(?: that)?|(?:it|this) (?:looks|sounds|seems)(?: very)?(?: much)? like|"
    r"(?:it|this) (?:could|may|might)(?: very)?(?: well| also| just| possibly)? be(?: that)?|"
    r"(?:consistent|compatible|in keeping) with|suggest(?:s|ive of)|point(?:s|ing)? (?:to|towards)|(?:is|it's|are) (?:most |very |quite "
    r")?(?:likely|probably)"
    r"(?: to be| that)?|you (?:most )?(?:probably|likely|may|might|could)(?: well)? (?:have|be)|possibility of"
)
DIAGNOSIS = re.compile(rf"\b(?:(?P<stated>{_STATED})|(?P<thought>{_THOUGHT}))", _ANY_CASE)
_LEAD = re.compile(
    r"^[\s*:_\"'(–-]*(?:(?:that|you|your child|your baby|he|she|the patient|it|this|there|these|the|your|"
    r"symptoms?)\s+)*(?:(?:most\s+)?(?:likely|probably|may|might|"
    r"could|can|well|is|are|be|have|has|had|being|been|due to|caused by|experiencing|suffering from|dealing with|developed|represent\w*|"
    r"indicat\w+|because of)\s+)*"
    r"(?:(?:an?|the|some|possible|probable|likely|acute case of|case of|form of|kind of|type of)\s+)*[*_\"'“]*",
    _ANY_CASE,
)
_TAIL = re.compile(
    r"[*_\"”]|[.;\n!?]|, (?:which|so|and|but|because|given|based|as)\b|\s(?:which|because|given|based on|so that|and (?:i|we|you|it))\b",
    _ANY_CASE,
)
_NO_NAME = re.compile(
    r"^(?:i|we|you|not|unclear|unknown|to|a good|enough|as follows|important|best|time|something|what|how|good|better|worse|okay)\b",
    _ANY_CASE,
)

TREATMENT = re.compile(
    r"\b(?:prescri\w+|start(?:ing)? (?:you|him|her|them)? ?(?:on|with)|put(?:ting)? (?:you|him|her) on|giv(?:e|ing) (?:you|him|her) "
    r"(?:some|an?)|"
    r"treat(?:ed|ing|ment)? (?:this |it |you )?(?:with|will be|is|would be)|(?:should|could|can|need to|must|try|recommend\w*|"
    r"suggest\w*|advise\w*|continue|keep|"
    r"stop|avoid|don't|do not|refrain from) (?:to )?(?:tak(?:e|ing)|us(?:e|ing)|apply(?:ing)?)|course of|dose of)\b",
    _ANY_CASE,
)
IMPERATIVE = re.compile(
    r"^\W*(?:please |just |also |and |then )*(?:take|use|apply|try|continue|stop|avoid|start|do not take|don't take)\b", _ANY_CASE
)
AVOID = re.compile(
    r"\b(?:avoid\w*|stop(?:ping)?|discontinu\w+|refrain\w*|(?:do|should|must|would|can)(?: not|n't) (?:\w+ )?(?:take|use|apply|start|"
    r"recommend|prescribe)|"
    r"(?:won't|will not|not going to) (?:\w+ )?(?:prescribe|give|recommend|start)|never take|instead of|hold off)\b",
    _ANY_CASE,
)
CONDITION = re.compile(r"\b(?:if|unless|in case|as needed|when (?:needed|required)|provided)\b", _ANY_CASE)
TRIAGE: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "emergency",
        re.compile(
            r"\b(?:(?:emergency (?:department|room|care|services|medical|treatment|surgery)|a ?& ?e|ambulance|911|999|112)|(?:to|at|in) "
            r"(?:the )?hospital "
            r"(?:now|immediately|right away|straight ?away|today|as soon)|immediate(?:ly)? (?:medical|hospital|care|attention|admit\w*)|"
            r"admit you|need(?:s)? to be admitted|life[- ]threatening|immediate (?:medical )?(?:care|attention|evaluation|treatment))\b",
            _ANY_CASE,
        ),
    ),
    (
        "urgent",
        re.compile(
            r"\b(?:urgent(?:ly)?|same[- ]day|as soon as possible|within (?:24|twenty[- ]four|48) hours|promptly|today)\b", _ANY_CASE
        ),
    ),
    (
        "specialist",
        re.compile(
            r"\b(?:refer(?:ral|red|ring)?|specialist|cardiologist|neurologist|dermatologist|gastroenterologist|surgeon|\w+ologist)\b",
            _ANY_CASE,
        ),
    ),
    (
        "primary_care",
        re.compile(
            r"\b(?:see|visit|consult|follow up with|contact|make an appointment with) (?:with )?(?:your|a|the) (?:gp|doctor|family "
            r"doctor|primary care|"
            r"general practitioner|physician|healthcare (?:provider|professional))\b",
            _ANY_CASE,
        ),
    ),
    (
        "self_care",
        re.compile(
            r"\b(?:rest at home|go home|stay (?:at )?home|home remed\w+|looks? after (?:this|it) at home|self[- ]care)\b", _ANY_CASE
        ),
    ),
)
SENDS = re.compile(
    r"\b(?:recommend|advise|suggest|should|need|must|go|going|call|send|refer\w*|admit\w*|see|visit|seek|consult|important|arrange|book|"
    r"get you|"
    r"follow up|require\w*|head|contact|stay|rest)\b",
    _ANY_CASE,
)
ADVICE = re.compile(
    r"\b(?:i(?:'d| would)? (?:strongly )?(?:recommend|suggest|advise)|you (?:should|need to|must|ought to)|i(?:'ll| will| am going to|"
    r"'m going to) "
    r"(?:prescribe|give|start|refer|admit|send)|make sure (?:you|to)|please (?:take|avoid|go|come|see|call|return)|"
    r"avoid|it(?:'s| is) important (?:to|that|for you))\b",
    _ANY_CASE,
)


def plans_of(sentence: str, medicines: Sequence[str] = ()) -> list[Plan]:
    """What a sentence that asks nothing concludes or plans.

    Args:
        sentence: the words.
        medicines: names of the medicines that it mentions.

    Returns:
        (act, payload), in the order diagnose, treat, triage, advise. diagnose: `name` (as said), `certainty` stated or suspected, `start`
        and `end` in the sentence; treat: `text`, `polarity` recommend, avoid or conditional, `names`; triage: `urgency`; advise: `text`,
        only where neither treatment nor triage says more.
    """
    found: list[Plan] = []
    diagnosis = _diagnosis(sentence)
    if diagnosis is not None:
        found.append(("diagnose", diagnosis))
    planned = (
        TREATMENT.search(sentence) is not None or bool(medicines) and (IMPERATIVE.search(sentence) or ADVICE.search(sentence)) is not None
    )
    text = sentence.strip()
    if planned:
        polarity: TreatmentPolarity = "avoid" if AVOID.search(sentence) else "conditional" if CONDITION.search(sentence) else "recommend"
        found.append(("treat", {"text": text, "polarity": polarity, "names": list(medicines)}))
    urgency = next((level for level, pattern in TRIAGE if pattern.search(sentence)), None)
    if urgency is not None and SENDS.search(sentence) and not (planned and urgency == "urgent"):
        found.append(("triage", {"urgency": urgency, "text": text}))
    if ADVICE.search(sentence) and not any(kind in ("treat", "triage") for kind, _ in found):
        found.append(("advise", {"text": text}))
    return found


def _diagnosis(sentence: str) -> dict[str, JsonValue] | None:
    for cue in DIAGNOSIS.finditer(sentence):
        lead = _LEAD.match(sentence[cue.end() :])
        start = cue.end() + (lead.end() if lead else 0)
        tail = _TAIL.search(sentence, start)
        end = tail.start() if tail else len(sentence)
        name = sentence[start:end].rstrip(" ,:-")
        if name and not _NO_NAME.match(name) and len(name.split()) <= 14:
            certainty = "stated" if cue.group("stated") else "suspected"
            return {"name": name, "certainty": certainty, "start": start, "end": start + len(name)}
    return None
