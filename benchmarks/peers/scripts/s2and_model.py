"""S2AND with the production model that its package brings, on its compiled backend.

The model is supervised: it was trained by its authors on labelled collections, AMiner's names and the PubMed set among
them. Two of its inputs cannot be made from documents and are left missing, which its trees allow for: SPECTER2
embeddings of the papers, and counts of names in Semantic Scholar. What it finds without them is less than what its
authors report; what it takes is less, too. The threshold is the distance at which its average linkage is cut.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.peers.scripts import mentions as shared
from benchmarks.peers.scripts.mentions import Clock, Compared, Mention

# The language model is not in the package either; S2AND does without it when told to.
os.environ["S2AND_SKIP_FASTTEXT"] = "1"


def signature(mention: Mention, place: int, paper: int) -> dict[str, Any]:
    """A mention as S2AND has it; what begins its given names is the first name."""
    first, _, middle = mention.given.partition(" ")
    orcid = [value.partition(":")[2] for value in mention.ids if value.startswith("orcid:")]
    return {
        "signature_id": str(place),
        "paper_id": paper,
        "author_info": {
            "position": int(mention.mention_id.rpartition("#")[2]),
            "block": mention.block,
            "first": first,
            "middle": middle or None,
            "last": mention.family,
            "suffix": None,
            "email": mention.emails[0] if mention.emails else None,
            "affiliations": list(mention.affiliations),
            "source_id_source": "ORCID" if orcid else None,
            "source_ids": orcid,
        },
    }


def paper(document: Mapping[str, Any], number: int) -> dict[str, Any]:
    """A document as S2AND has it."""
    names = [shared.split_name(author["name"]) for author in document["authors"]]
    return {
        "paper_id": number,
        "title": document.get("title", ""),
        "abstract": document.get("abstract", ""),
        "year": document.get("year"),
        "venue": document.get("venue", ""),
        "journal_name": document.get("venue", ""),
        "authors": [
            {"position": position, "author_name": f"{given} {family}".strip()}
            for position, (family, given) in enumerate(names)
        ],
        "references": None,
    }


def as_dataset(mentions: Sequence[Mention]) -> Any:
    """All mentions and their papers."""
    from s2and.data import ANDData  # type: ignore[import-not-found]

    numbers: dict[str, int] = {}
    papers, signatures = {}, {}
    for place, mention in enumerate(mentions):
        number = numbers.setdefault(mention.document["id"], len(numbers))
        if str(number) not in papers:
            papers[str(number)] = paper(mention.document, number)
        signatures[str(place)] = signature(mention, place, number)
    return ANDData(
        signatures,
        papers,
        name="documents",
        mode="inference",
        load_name_counts=False,
        n_jobs=os.cpu_count() or 1,
    )


def compare(documents: Path, clock: Clock) -> Compared:
    """Read, prepare, score all pairs of each block with the model; the average linkage is cut."""
    logging.disable(logging.WARNING)
    with clock.phase("read"):
        mentions = list(shared.read_mentions(documents))
        blocks = {key: [str(place) for place in places] for key, places in shared.by_block(mentions).items()}
        several = {key: places for key, places in blocks.items() if len(places) > 1}
    with clock.phase("load model"):
        from s2and.feature_port import build_rust_featurizer  # type: ignore[import-not-found]
        from s2and.production_model import load_production_model  # type: ignore[import-not-found]

        clusterer = load_production_model()
        clusterer.n_jobs = os.cpu_count() or 1
        clusterer.classifier.n_jobs = clusterer.nameless_classifier.n_jobs = clusterer.n_jobs
    with clock.phase("prepare"):
        featurizer, _ = build_rust_featurizer(as_dataset(mentions))
    with clock.phase("score"):
        distances = clusterer.make_distance_matrices_from_rust_featurizer(several, featurizer)

    def cut(threshold: float) -> Sequence[int]:
        clusters, _ = clusterer.predict_from_rust_featurizer(
            several, featurizer, dists=distances, cluster_model_params={"eps": threshold}
        )
        labels = [0] * len(mentions)
        for number, places in enumerate(clusters.values()):
            for place in places:
                labels[int(place)] = number
        return labels

    return Compared(mentions, sum(len(places) * (len(places) - 1) // 2 for places in several.values()), cut)


if __name__ == "__main__":
    shared.run(compare, shared.parser("S2AND's production model on the pairs of each block.").parse_args())
