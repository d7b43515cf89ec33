"""Terms as the method describes them, one document at a time: what the counting of many at once is compared with."""

from __future__ import annotations

import re
from collections import Counter

from homonym.features.text import Lemmas, lemmas_of
from homonym.records.model import Document
from homonym.settings import Settings

WORD = re.compile(r"\w{2,}")


def word_counts(title: str, abstract: str, title_weight: int, abstract_weight: int, lemmas: Lemmas) -> dict[str, float]:
    bag: Counter[str] = Counter()
    for text, weight in ((title, title_weight), (abstract, abstract_weight)):
        for word in WORD.findall(text.lower()):
            bag[lemmas[word]] += weight
    return {lemma: float(count) for lemma, count in bag.items() if lemma and count}


def terms_of(document: Document, settings: Settings) -> dict[str, float]:
    lemmas = lemmas_of(settings.language)
    return word_counts(document.title, document.abstract, settings.title_weight, settings.abstract_weight, lemmas)
