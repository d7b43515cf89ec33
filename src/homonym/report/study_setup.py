"""The chapters of a study's page that say what was done: task, data, measures, method and weights."""

from __future__ import annotations

from homonym.report.html import Chapter, bullets, paragraphs, percent, table, terms
from homonym.report.study import Study, feature_types
from homonym.report.study_tables import names_by_true_size
from homonym.report.study_words import decimal, weights_sentence
from homonym.wording import counted


def task(study: Study) -> Chapter:
    """Say what the problem is, for somebody who has not met it."""
    texts = (
        "Several people publish under the same name. A mention is one name on one publication. The task is to sort "
        "the mentions of a name into groups, called clusters, so that each cluster holds the publications of one "
        "person. Only what the publications say about themselves may be used, such as co-authors, words or "
        "affiliations.",
        "The method merges: at first every mention is a cluster of its own, and step by step the clusters that share "
        "the most specific features become one. The question is when to stop. T. Backes (“Effective Unsupervised "
        "Author Disambiguation with Relative Frequencies”, JCDL 2018) proposed it and tested it on the Web of Science. "
        "This page repeats the experiments of that paper on the data named above.",
        "A name that two people share is another problem than one that ten share. Most names have a single bearer, so "
        "that a plain average would hide all the others. Therefore results are shown by true size: the number of "
        "people who really bear the name.",
    )
    return Chapter("task", "The task", [paragraphs(*texts)])


def data(study: Study) -> Chapter:
    """Say what the data are and how names were divided; the paper's table 1."""
    about, split = study["collection"], study["split"]
    facts = [
        f"From {', '.join(about['files'])}: {counted(about['mentions_in_collection'], 'mention')} in the whole "
        "collection, over which features are counted.",
        f"Known authors, from the label “{about['label']}”: {counted(about['authors'], 'author')} with "
        f"{counted(about['labelled_mentions'], 'mention')} under {counted(about['names'], 'name')}.",
        f"Left out: {counted(about['unlabelled_mentions'], 'mention')} of these names without a label, and "
        f"{counted(about['labels_without_mention'], 'label')} without a mention.",
        f"Feature types: {', '.join(map(_explained, about['feature_types']))}.",
    ]
    text = (
        f"Of each true size at most {counted(split['most_names_per_size'], 'name')} were drawn at random, and "
        f"{100 * split['training_share']:g} % of these are for training: weights and limits are chosen on them. All "
        "results are those of the other names, the test names."
    )
    rows = [
        (size, *(f"{count:,}" for count in counts), "–" if share is None else percent(share))
        for size, *counts, share in _counts(study)
    ]
    header = ("true size", "training", "test", "both", "in the data", "used")
    caption = "Names by the number of people who bear them, as in table 1 of the paper."
    return Chapter("data", "The data", [bullets(facts), paragraphs(text), table(header, rows, caption=caption)])


def _counts(study: Study) -> list[tuple[str, int, int, int, int, float | None]]:
    return [tuple(row) for row in names_by_true_size(study).rows]  # type: ignore[misc]


TYPES = {
    "term": "words of title and abstract",
    "aff": "affiliations",
    "cat": "categories",
    "key": "keywords",
    "co": "co-authors",
    "ref": "cited authors",
    "email": "e-mail addresses",
    "year": "year of publication",
}


def _explained(kind: str) -> str:
    return f"{kind} ({TYPES[kind]})" if kind in TYPES else kind


def measures(study: Study) -> Chapter:
    """Explain precision, recall and the rest in plain words."""
    explained = [
        ("precision", "How much of what was put together belongs together. Low where different people are mixed."),
        ("recall", "How much of what belongs together was put together. Low where one person is split."),
        ("F1", "Both in one number, the harmonic mean: high only if both are. 1 is perfect, 0 the worst."),
        (
            "B-cubed",
            "Precision and recall as the average mention sees them: what share of my cluster is me, and what share of "
            "me is in my cluster? Called bCube in the paper. Averaged over the names of a true size.",
        ),
        (
            "pair F1",
            "The same over pairs of mentions in one cluster. “With self”, as in the paper, each mention also pairs "
            "with itself, so that a cluster of one counts.",
        ),
        ("mean F1", "The mean of the F1 of the true sizes 1 to 10, each counting the same. Runs are compared by it."),
        ("max. recall", "The recall reached before the first mistake: the most that is possible at full precision."),
        ("max. precision", "The precision when everybody is whole: the most that is possible at full recall."),
        (
            "best stop",
            "The F1 if somebody who knows the answer had chosen when to stop: what better stopping can gain.",
        ),
        (
            "95 % interval",
            "In brackets or as thin lines. With other test names of the same kind, results would mostly lie in it.",
        ),
    ]
    return Chapter("measures", "How results are measured", [terms(explained)])


def method(study: Study) -> Chapter:
    """Explain variants and limits in plain words."""
    runs = study["runs"]
    explained = [
        ("prob", "Two clusters are compared by all that their mentions share, added up (sum of products)."),
        ("max", "They are compared by the two mentions, one of each, that share most (maximum of products)."),
    ]
    if any(run["scope"] == "within" for run in runs):
        text = "How rare a feature is, is counted among the mentions of the name only, not over the whole collection."
        explained.append(("within", text))
    if any(run["joint"] for run in runs):
        explained.append(("joint", "The score is p(C,D) instead of p(C|D): large clusters attract more."))
    if any(run["gamma"] for run in runs):
        text = (
            "From the score is subtracted what the same cluster would share with anybody, its part of all features of "
            "the collection, times γ: γ·n(C)/n(·). Large clusters attract less. This is not in the paper, where γ is 0."
        )
        explained.append(("chance subtracted", text))
    explained += [
        (
            "limit",
            "Merging goes on while some pair of clusters scores above the limit α + β · (number of mentions of the "
            "name). A higher limit stops earlier: more precision, less recall. Either part may be 0.",
        ),
        ("tuned", "α and β are chosen for the best mean F1 on the training names, for each run by itself."),
    ]
    text = "A feature that few mentions have says more than one that many have; no training is needed for that."
    return Chapter("method", "Variants and limits", [paragraphs(text), terms(explained)])


WEIGHTINGS = {
    "uniform": "All feature types count the same.",
    "trained": "Learned from pairs of mentions by a classifier that decides whether both are the same person.",
    "opposed": "The trained weights turned round: the most useful type gets the smallest weight. Should be bad.",
    "paper": "The weights printed in the paper, learned on the Web of Science.",
    "authors": "Only names of co-authors and of cited authors.",
    "document": "Only what describes the document, nothing about the author and no cited authors.",
}
SINGLE = {"only-…": "A single feature type alone.", "without-…": "All feature types but one, counting the same."}


def weights(study: Study) -> Chapter:
    """Show the weightings that were compared; the paper's table 2, without the obvious columns."""
    names = [name for name in study["weights"] if not name.startswith(("only-", "without-"))]
    explained = [(name, WEIGHTINGS.get(name, "Given for this study.")) for name in names]
    kinds = tuple(f"{name.split('-')[0]}-…" for name in study["weights"] if name not in names)
    explained += [(name, SINGLE[name]) for name in dict.fromkeys(kinds)]
    caption = "The weight of each feature type, as in table 2 of the paper."
    deviations = (study.get("training") or {}).get("sd", {})
    rows = [
        (kind, *(decimal(study["weights"][name].get(kind, 0.0)) for name in names), *_deviation(deviations, kind))
        for kind in feature_types(study)
    ]
    header = ("feature type", *names, *(["sd of trained"] if deviations else []))
    parts = [
        paragraphs("A weighting says how much each feature type counts; the weights sum to 1."),
        terms(explained),
        paragraphs(weights_sentence(study)),
        table(header, rows, "figures scores", caption),
    ]
    return Chapter("weights", "Weights of feature types", parts)


def _deviation(deviations: dict[str, float], kind: str) -> list[str]:
    return [decimal(deviations.get(kind))] if deviations else []
