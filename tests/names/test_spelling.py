"""The normal form of names: which spellings meet, and which must not."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from homonym.features.blocking import SCHEMES, blocked_names, compared_name
from homonym.names.compatibility import compatible
from homonym.names.parse import parse_name
from homonym.names.spelling import standard_name, standard_surname
from tests.support.profiles import examples


def block(text: str) -> str:
    """The block of a name with the default scheme."""
    return SCHEMES["auto"](parse_name(text), None)


MEET = (
    "Müller, Anna | Mueller, Anna | Muller, Anna | Anna Müller | MÜLLER, A.",
    "Kim, Minho | Min-Ho Kim | Min Ho Kim | Kim MH | Kim, M.-H.",
    "O'Brien, Pat | OBrien, Pat | O Brien, Pat | O’Brien, Pat",
    "van der Berg, Jan | Vanderberg, Jan | Berg, Jan van der | VanderBerg, J. | Jan van der Berg",
    "de la Cruz, Ana | Delacruz, Ana | Cruz, Ana de la | Dela Cruz, Ana | Ana Dela Cruz",
    "Le Cun, Yann | LeCun, Yann | Yann Lecun",
    "de Boer, Piet | Deboer, P. | Boer, P. de",
    "Al-Hassan, Omar | Al Hassan, O. | Alhassan, Omar",
    "Wang Xiaoming | Xiaoming Wang | Wang, Xiao-Ming | 王小明 | Wang Xiao-Ming",
    "Li Fei-Fei | Fei-Fei Li | Li, Feifei",
    "Dvurechenskii, Pavel | Dvurechensky, P. | Двуреченский, Павел",
    "Peskoff, Denis | Peskov, Denis | Денис Песков",
    "Παπαδόπουλος, Γιώργος | Papadopoulos, Giorgos",
    "김민수 | Kim, Min-Su | Kim, Minsu",
    "최민수 | Choi, Min-Su",
    "曾国藩 | Zeng, Guofan",
    "Ørsted, Hans | Oersted, Hans | Orsted, H.",
)

APART = (
    "Bauer, Anna | Baur, Anna",
    "Sáenz, José | Sanz, José",
    "Yuen, Li | Yun, Li",
    "Chuen, Li | Chun, Li",
    "Xue, Yan | Xu, Yan",
    "Baek, Min | Bak, Min",
    "Maeda, Ken | Mada, Ken",
    "Kowalski, Jan | Kowalsky, Jan",
    "Satoh, Ken | Sato, Ken",
    "MacDonald, Ian | McDonald, Ian",
    "Garcia Marquez, Gabriel | Garcia, Gabriel",
)


@pytest.mark.parametrize("spellings", MEET)
def test_spellings_of_one_name_meet_and_are_compatible(spellings: str) -> None:
    texts = spellings.split(" | ")
    assert len({block(text) for text in texts}) == 1, [block(text) for text in texts]
    first, *others = (compared_name(parse_name(text), "auto") for text in texts)
    assert all(compatible(first, other) for other in others)


@pytest.mark.parametrize("names", APART)
def test_different_surnames_do_not_meet(names: str) -> None:
    one, other = names.split(" | ")
    assert block(one) != block(other)


@pytest.mark.parametrize(
    "text", ["Yi Ouyang", "Yu Takahashi", "Jun Nakanishi", "Li Wei", "Wang Wei", "Chan Lee", "Li Da Xu"]
)
def test_order_stays_where_no_rule_tells_it(text: str) -> None:
    assert standard_name(parse_name(text)) == parse_name(text)


@pytest.mark.parametrize("blocking", sorted(set(SCHEMES) - {"auto"}))
def test_other_schemes_keep_names_as_written(blocking: str) -> None:
    stored = blocked_names(blocking)["Mueller, Anna van der"]
    assert stored is not None
    assert stored.block.startswith("VAN DER MUELLER, A")
    assert stored.encoded.startswith("VAN DER MUELLER|")


def test_features_of_coauthors_keep_names_as_written() -> None:
    stored = blocked_names("auto")["Mueller, Anna"]
    assert stored is not None
    assert (stored.key, stored.spelled_out) == ("MUELLER, A", "MUELLER|ANNA")
    assert (stored.block, stored.full_name) == ("MULLER, A", "MULLER|ANNA")


LETTERS = st.text("ABDEFHIJKLMNOSTUVXYZ", min_size=1, max_size=12)
SURNAMES = st.lists(
    st.one_of(LETTERS, st.sampled_from(["VAN", "DER", "DE", "LA", "DA", "S", "OEFF", "SKII"])), max_size=4
)


@settings(max_examples=examples(500))
@given(SURNAMES.map(" ".join))
def test_normal_form_is_its_own_normal_form(surname: str) -> None:
    once = standard_surname(surname)
    assert standard_surname(once) == once
    assert "  " not in once
    assert bool(once) == bool(surname)


@settings(max_examples=examples(300))
@given(st.text(max_size=40))
def test_any_text_has_a_normal_form(text: str) -> None:
    once = standard_name(parse_name(text))
    assert standard_name(once) == once
    assert bool(once.surname) == bool(parse_name(text).surname)
    assert len(once.initials) == len(once.given)
