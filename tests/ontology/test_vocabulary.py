"""The vocabulary: which phrase means which concept, which ids are one, and what implies what (metrics.md 2.4, 4.2)."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ontology.concepts import ConceptRow
from ontology.errors import BedsideError
from ontology.hpo import PHENOTYPE_ROOT, HpoTerm
from ontology.text import phrase_key
from ontology.vocabulary import Vocabulary


def row(concept: str, name: str, *lay: str, **more: object) -> ConceptRow:
    return ConceptRow.model_validate({"id": concept, "name": name, "basis": "local", "kind": "symptom", "lay": list(lay), **more})


def term(
    hpo_id: str, name: str, *cuis: str, parents: tuple[str, ...] = (PHENOTYPE_ROOT,), synonyms: tuple[tuple[str, str, bool], ...] = ()
) -> HpoTerm:
    return HpoTerm(hpo_id, name, list(cuis), list(parents), list(synonyms))


def small(*rows: ConceptRow, terms: tuple[HpoTerm, ...] = (), blocked: tuple[str, ...] = (), version: str = "2025-01-16") -> Vocabulary:
    root = HpoTerm(PHENOTYPE_ROOT, "Phenotypic abnormality")
    return Vocabulary(rows, {t.hpo_id: t for t in (root, *terms)}, version, blocked)


def meanings(vocabulary: Vocabulary, text: str) -> list[tuple[str, str]]:
    return [(text[match.start : match.end], match.concept) for match in vocabulary.find(text)]


# -- phrases ----------------------------------------------------------------------------------------------------------


def test_longest_phrase_wins_and_phrases_never_overlap() -> None:
    """ "Chest pain on breathing" is one finding, not three."""
    vocabulary = small(row("X:pain", "Pain"), row("X:chest-pain", "Chest pain"), row("X:pleuritic", "Chest pain on breathing"))
    assert meanings(vocabulary, "chest pain on breathing, chest pain, pain") == [
        ("chest pain on breathing", "X:pleuritic"),
        ("chest pain", "X:chest-pain"),
        ("pain", "X:pain"),
    ]


def test_skipped_words_may_stand_inside_a_phrase() -> None:
    """The span reaches over them."""
    vocabulary = small(row("X:breathe", "Pain", "hurts to breathe"))
    assert meanings(vocabulary, "Does it hurt to your breathing?") == [("hurt to your breathing", "X:breathe")]


def test_our_own_phrases_win_over_hpo() -> None:
    """HPO's meaning of the phrase is kept as the other candidate (2.4 rule 3)."""
    vocabulary = small(row("X:sick", "Nausea", "feeling sick"), terms=(term("HP:0000010", "Feeling sick", "C0000010"),))
    entry = vocabulary.lookup("feeling sick")
    assert entry is not None
    assert (entry.concept, entry.alternatives) == ("X:sick", ("C0000010",))


def test_names_win_over_exact_synonyms_and_those_over_others() -> None:
    """A phrase that several terms share goes to the one that is called so."""
    broad = term("HP:0000011", "Abc", "C0000011", synonyms=(("shared phrase", "BROAD", False),))
    exact = term("HP:0000012", "Def", "C0000012", synonyms=(("shared phrase", "EXACT", False),))
    named = term("HP:0000013", "Shared phrase", "C0000013")
    assert small(terms=(broad, exact)).lookup("shared phrases").concept == "C0000012"  # type: ignore[union-attr]
    entry = small(terms=(broad, exact, named)).lookup("shared phrases")
    assert entry is not None
    assert (entry.concept, entry.alternatives) == ("C0000013", ("C0000012", "C0000011"))


def test_a_single_word_of_hpo_does_not_match_through_its_stem() -> None:
    """ "Ordering" is a finding there; "order" is not. Our own words were chosen for speech and do match."""
    vocabulary = small(row("X:itch", "Itching"), terms=(term("HP:0000014", "Ordering", "C0000014"), term("HP:0000015", "Rash", "C0000015")))
    assert meanings(vocabulary, "I order an X-ray") == []
    assert meanings(vocabulary, "ordering") == [("ordering", "C0000014")]
    assert meanings(vocabulary, "two rashes") == [("rashes", "C0000015")]
    assert meanings(vocabulary, "does it itch") == [("itch", "X:itch")]


def test_blocked_phrases_are_hpos_only() -> None:
    """ "All" is a term of HPO; blocking it must not silence a phrase of our own."""
    terms = (term("HP:0000016", "Mass", "C0000016"),)
    assert small(terms=terms, blocked=("mass",)).lookup("mass") is None
    own = small(row("X:lump", "Lump", "mass"), terms=terms, blocked=("mass",))
    assert own.lookup("mass").concept == "X:lump"  # type: ignore[union-attr]


def test_only_phenotypes_of_hpo_are_phrases() -> None:
    """Modes of inheritance and modifiers are known by id, and found in no text."""
    vocabulary = small(terms=(term("HP:0040283", "Occasional", "C0000017", parents=("HP:0040279",)),))
    assert meanings(vocabulary, "occasional") == []
    assert vocabulary.name("C0000017") == "Occasional"


# -- ids --------------------------------------------------------------------------------------------------------------


def test_all_cuis_of_a_term_are_one_concept() -> None:
    """1,023 HPO terms carry several CUIs (2.2)."""
    vocabulary = small(terms=(term("HP:0000018", "Abc", "C0000018", "C0000019"),))
    assert vocabulary.canonical("C0000019") == "C0000018"
    assert vocabulary.name("C0000019") == "Abc"
    assert vocabulary.ref("C0000019").model_dump() == {"cui": "C0000018", "name": "Abc", "hpo_id": "HP:0000018"}


def test_a_cui_of_several_terms_means_the_first() -> None:
    """127 CUIs serve several terms (2.2): the others get a local id, so that no two terms are confused."""
    vocabulary = small(terms=(term("HP:0000020", "Abc", "C0000020"), term("HP:0000021", "Def", "C0000020")))
    assert vocabulary.lookup("abc").concept == "C0000020"  # type: ignore[union-attr]
    assert vocabulary.lookup("def").concept == "X:hp-0000021"  # type: ignore[union-attr]


def test_our_row_takes_over_the_term_it_names() -> None:
    """One concept, whether it is met by our id or by a CUI of the term."""
    vocabulary = small(row("C0000022", "Sore head", hpo="HP:0000022"), terms=(term("HP:0000022", "Headache", "C0000023"),))
    assert vocabulary.canonical("C0000023") == "C0000022"
    assert vocabulary.lookup("headache").concept == "C0000022"  # type: ignore[union-attr]
    assert vocabulary.name("C0000023") == "Sore head"


def test_an_unknown_id_is_its_own() -> None:
    """Cases from elsewhere may bring concepts we have no row for."""
    vocabulary = small()
    assert vocabulary.canonical("X:strange") == "X:strange"
    assert vocabulary.name("X:strange") == "X:strange"
    assert vocabulary.kind("X:strange") == "symptom"
    assert not vocabulary.generic("X:strange")
    assert vocabulary.ancestors("X:strange") == {}
    assert vocabulary.lookup("strange") is None


def test_two_rows_of_one_id_are_refused() -> None:
    """Neither would be right."""
    with pytest.raises(BedsideError, match="X:pain is defined twice"):
        small(row("X:pain", "Pain"), row("X:pain", "Ache"))


# -- is-a links -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def ladder() -> Vocabulary:
    """D under C under B under A; F under the generic P, which is under B."""
    return small(
        row("X:a", "A rung"),
        row("X:b", "B rung", parents=["X:a"]),
        row("X:c", "C rung", parents=["X:b"]),
        row("X:d", "D rung", parents=["X:c"]),
        row("X:p", "General", parents=["X:b"], generic=True),
        row("X:f", "F rung", parents=["X:p"]),
    )


def test_ancestors_within_two_links(ladder: Vocabulary) -> None:
    """hmax = 2 (4.2)."""
    assert ladder.ancestors("X:d") == {"X:c": 1, "X:b": 2}
    assert ladder.ancestors("X:d", hmax=3) == {"X:c": 1, "X:b": 2, "X:a": 3}
    assert ladder.ancestors("X:a") == {}


def test_nothing_passes_a_generic_concept(ladder: Vocabulary) -> None:
    """ "Any pain?" earns nothing for a sore muscle (4.2)."""
    assert ladder.ancestors("X:f") == {}
    assert ladder.ancestors("X:f", through_generic=True) == {"X:p": 1, "X:b": 2}


def test_loops_end() -> None:
    """Parents that are wrong must not hang a score."""
    vocabulary = small(row("X:a", "A", parents=["X:b"]), row("X:b", "B", parents=["X:a"]))
    assert vocabulary.ancestors("X:a", hmax=9)["X:b"] == 1


def test_hpo_links_join_our_rows() -> None:
    """A row that stands for a term has the term's parents too."""
    vocabulary = small(
        row("X:own", "Own", hpo="HP:0000024", parents=["C0000025"]),
        terms=(
            term("HP:0000023", "Above", "C0000023"),
            term("HP:0000024", "Here", parents=("HP:0000023",)),
            term("HP:0000025", "Beside", "C0000025"),
        ),
    )
    assert {"C0000023", "C0000025"} <= set(vocabulary.ancestors("X:own", hmax=1))


# -- families, sexes, versions ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("phrase", ["asthma", "history of asthma"])
def test_a_relative_has_the_same_disease(phrase: str) -> None:
    """ "Does your mother have asthma?" asks for the family history, and so does "has he been diagnosed with asthma"."""
    vocabulary = small(
        row("X:asthma", "Asthma"),
        row("X:past-asthma", "Past asthma", "history of asthma", kind="history"),
        row("X:family-asthma", "Asthma in the family", "family history of asthma", kind="family_history"),
    )
    concept = vocabulary.lookup(phrase).concept  # type: ignore[union-attr]
    assert vocabulary.family_concept(concept) == "X:family-asthma"
    assert vocabulary.family_concept("X:family-asthma") == "X:family-asthma"
    assert vocabulary.family_concept("X:strange") is None


def test_what_cannot_be_so_in_a_sex() -> None:
    """Only F and M decide; of anyone else nothing is known."""
    vocabulary = small(row("X:pregnant", "Pregnancy", only_sex="F"), row("X:cough", "Cough"))
    assert vocabulary.impossible("X:pregnant", "M")
    assert not any(vocabulary.impossible("X:pregnant", sex) for sex in ("F", "other", "unknown"))
    assert not vocabulary.impossible("X:cough", "M")


def test_the_version_changes_with_whatever_changes_a_meaning() -> None:
    """And with nothing else: the order of the files says nothing."""
    one, two = row("X:a", "A", "first"), row("X:b", "B", "second")
    base = small(one, two)
    assert small(two, one).version == base.version
    others = [
        small(one),
        small(one, row("X:b", "B", "other")),
        small(one, two, blocked=("mass",)),
        small(one, two, version="2026-01-01"),
    ]
    assert len({base.version, *(other.version for other in others)}) == 5


# -- the bundled one --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Do you have hives?", "Urticaria"),
        ("any hives", "Urticaria"),
        ("Are you HIV positive?", "HIV infection"),
        ("vaginal discharge", "Vaginal discharge"),
        ("oedema", "Edema"),
        ("swollen ankles", "Edema"),
        ("is one leg bigger than the other", "Swelling of one leg"),
        ("short of breath", "Dyspnea"),
        ("stools that were black", "Melena"),
        ("double vision", "Double vision"),
        ("stiff neck", "Stiff neck"),
    ],
)
def test_speech_is_found(vocabulary: Vocabulary, text: str, expected: str) -> None:
    """Spot checks that once went wrong, or are the commonest words of all."""
    assert [vocabulary.name(match.concept) for match in vocabulary.find(text)] == [expected]


@pytest.mark.parametrize("text", ["vaginal", "order", "all", "mass", "news", "hello", "regular", "Is that all?", "What did you order?"])
def test_plain_words_are_no_findings(vocabulary: Vocabulary, text: str) -> None:
    """HPO has terms and synonyms that sound like ordinary words."""
    assert vocabulary.find(text) == []


def test_every_phrase_of_ours_leads_to_its_concept(vocabulary: Vocabulary) -> None:
    """As the meaning, or where two concepts share it, as the other candidate."""
    lost = []
    for concept, found in vocabulary.rows.items():
        for phrase in (found.name, *found.lay):
            entry = vocabulary.lookup(phrase)
            if entry is None or concept not in (entry.concept, *entry.alternatives):
                lost.append((concept, phrase))
    assert not lost


def test_no_concept_is_above_itself(vocabulary: Vocabulary) -> None:
    """Is-a links have a direction."""
    assert not [c for c in vocabulary.rows if c in vocabulary.ancestors(c, hmax=12, through_generic=True)]


def test_canonical_ids_are_stable(vocabulary: Vocabulary) -> None:
    """The canonical id of a canonical id is itself, and carries the same name."""
    for concept in vocabulary.rows:
        assert vocabulary.canonical(concept) == concept
        assert vocabulary.ref(concept).name == vocabulary.rows[concept].name


@settings(max_examples=200, deadline=None, derandomize=True)
@given(
    st.lists(
        st.sampled_from(["chest", "pain", "the", "headache", "fever", "?", "é", "🤒", "\u0301", "not", "weight", "loss", ",", "\x00"]),
        max_size=40,
    )
)
def test_matches_slice_to_phrases_in_order(vocabulary: Vocabulary, words: list[str]) -> None:
    """Whatever stands around them."""
    text = " ".join(words)
    end = 0
    for match in vocabulary.find(text):
        assert end <= match.start < match.end
        end = match.end
        entry = vocabulary.lookup(text[match.start : match.end])
        assert entry is not None and entry.concept == match.concept
        assert phrase_key(text[match.start : match.end])
