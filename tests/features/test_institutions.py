"""The institution of an affiliation, in the forms that databases and people write."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from homonym.features.institutions import PREFIX, institutions
from homonym.features.text import plain_words

SAME = {
    "bonn univ": [
        "Univ Bonn, Dept Phys, D-53115 Bonn, Germany",
        "Department of Physics, University of Bonn, Bonn",
        "Dept. of Physics, Bonn Univ., Germany. jane@uni-bonn.de",
        "Universität Bonn, Physikalisches Institut, Nußallee 12, 53115 Bonn",
        "Department of Physics University of Bonn",
        "Centre for Optics at the University of Bonn",
        "University Hospital, University of Bonn",
        "UNIVERSITY OF BONN",
    ],
    "geneve univ": ["Université de Genève", "Faculté des Sciences, Université de Genève, 1211 Genève 4, Suisse"],
    "inst massachusetts tech": [
        "Massachusetts Inst Technol, Cambridge, MA 02139 USA",
        "Massachusetts Institute of Technology",
    ],
    "harvard med sch": ["Harvard Med Sch, Boston, MA", "Department of Genetics, Harvard Medical School, Boston"],
    "acad chinese sci": ["Chinese Acad Sci, Inst Phys, Beijing", "Institute of Physics, Chinese Academy of Sciences"],
    "google": ["Google Inc., Mountain View, CA", "Google"],
    "kaist": ["School of Computing, KAIST, Daejeon", "KAIST"],
    "milano polytech": [
        "Politecnico di Milano, Dipartimento di Elettronica",
        "Dept. of Electronics, Politecnico di Milano",
    ],
    "paulo sao univ": [
        "Universidade de São Paulo, Faculdade de Medicina, Brasil",
        "Univ Sao Paulo, Fac Med, BR-01246903 Sao Paulo",
    ],
    "childrens hosp": ["Children's Hospital, 300 Longwood Avenue, Boston", "Childrens Hosp, Boston"],
}


@pytest.mark.parametrize(
    ("institution", "affiliation"), [(name, text) for name, texts in SAME.items() for text in texts]
)
def test_forms_of_one_institution_meet(institution: str, affiliation: str) -> None:
    assert institutions(affiliation) == (PREFIX + institution,)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Medical University of Vienna", "University of Vienna"),
        ("University of Georgia", "Georgetown University"),
        ("Texas A&M University", "University of Texas"),
        ("University of Texas at Austin", "University of Texas at Dallas"),
        ("Université Paris 6", "Université Paris 7"),
    ],
)
def test_different_institutions_stay_apart(one: str, other: str) -> None:
    assert institutions(one) != institutions(other)


def test_one_text_may_have_several_affiliations() -> None:
    assert institutions("Univ Bonn + MIT Lab | Univ Bonn") == (PREFIX + "bonn univ", PREFIX + "lab mit")
    assert institutions("Dept Phys; Univ Bonn; Germany") == (PREFIX + "bonn univ",)


@pytest.mark.parametrize(
    "text", ["", "  ", "?!", "Department of Physics", "University", "12 Main Street", "53115", "a@b.org"]
)
def test_texts_without_an_institution(text: str) -> None:
    assert institutions(text) == ()


@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=60))
def test_any_text_is_read_and_no_institution_is_a_whole_affiliation(text: str) -> None:
    for found in institutions(text):
        assert found.startswith(PREFIX)
        assert len(found) > len(PREFIX)
        assert found != plain_words(found)


def test_word_of_a_million_letters_is_read() -> None:
    """As where an image stands in a field: a beginning of any length was looked for, which took hours."""
    word = "x" * 1_000_000
    assert institutions(f"Univ {word}") == (f"{PREFIX}univ {word}",)
    assert institutions("Univ Universitätsklinikum" + word) != ()
