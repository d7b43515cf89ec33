"""Answers about one block of a result that was clustered again: about its name, one of its authors, two mentions.

All answers are about the authors that the result shows. Where the clustering alone gives others, an answer says so, and
what made the difference: decisions of users, updates, or mentions under other names.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from math import isnan

import numpy as np

from homonym.clustering.arrays import Integers
from homonym.clustering.reference import exceeds
from homonym.engines.reclustering import ReclusteredBlock
from homonym.errors import counted
from homonym.explanation.author_causes import AuthorCauses
from homonym.explanation.constraint_reasons import ConstraintReasons
from homonym.explanation.explained import (
    ComparedClusters,
    EvidencePart,
    ExplainedAuthor,
    ExplainedMention,
    Explanation,
    OtherAuthor,
    TreeMerge,
)
from homonym.explanation.merge_tree import Merge, MergeTree
from homonym.explanation.score_parts import BlockScores, Cluster, ScoreParts
from homonym.explanation.wording import feature_text, multiple, quoted_mention, rarity_text, type_text

# Maximum number of other authors that are searched for one that a constraint does not exclude.
SEARCHED_AUTHORS = 200
# The same for sentences about many authors, where only the nearest ones matter.
SEARCHED_NEAR = 5


@dataclass(frozen=True, eq=False)
class BlockExplainer:
    """Answers about one block."""

    block: ReclusteredBlock
    causes: AuthorCauses = field(default_factory=AuthorCauses)

    @cached_property
    def scores(self) -> BlockScores:
        """The scores of the block."""
        block = self.block
        return BlockScores.of(block.bags, block.frequencies, block.settings, block.names)

    @cached_property
    def tree(self) -> MergeTree:
        """The merges of the block, as far as they are inside of its authors, and what joins the rest of these."""
        found = MergeTree.of(self.block.clustering)
        return found if self.is_clustered else found.of_authors(self.label.tolist())

    @cached_property
    def mentions(self) -> list[ExplainedMention]:
        """All mentions of the block, in the order of the result."""
        documents = self.block.documents
        rows = self.block.rows.select(["mention_id", "document_id", "name"]).to_pylist()
        return [
            ExplainedMention(row["mention_id"], row["name"], *(document[field] for field in ("title", "year", "venue")))
            for row in rows
            for document in (documents[row["document_id"]],)
        ]

    @cached_property
    def place(self) -> dict[str, int]:
        """The place of each mention in the block."""
        return {mention.mention_id: x for x, mention in enumerate(self.mentions)}

    @cached_property
    def author_id(self) -> list[str]:
        """The author of each mention."""
        ids: list[str] = self.block.rows["author_id"].to_pylist()
        return ids

    @cached_property
    def label(self) -> Integers:
        """The number of each mention's author in the block."""
        number: dict[str, int] = {}
        return np.array([number.setdefault(one, len(number)) for one in self.author_id], np.int64)

    @cached_property
    def is_clustered(self) -> bool:
        """Whether the authors of the result are what the clustering alone gives."""
        return bool((self.label == self.block.clustering.label).all())

    @cached_property
    def reasons(self) -> ConstraintReasons:
        """The constraints of the block."""
        block = self.block
        return ConstraintReasons(block.found, self.mentions, block.identifiers, block.number, block.begin)

    @property
    def name(self) -> str:
        """The key of the block."""
        key: str = self.block.rows["block"][0].as_py()
        return key

    # Answers

    def about_name(self, chosen: Sequence[int] | None = None, first: Container[str] = ()) -> Explanation:
        """The authors of the name with their papers and their tree; only those with one of the `chosen` mentions.

        Authors whose ids are in `first` come before the others, which follow by size.
        """
        labels = self.label if chosen is None else self.label[list(chosen)]

        def order(label: int) -> tuple[bool, int, int]:
            return self.author_id[self._members(label)[0]] not in first, -self._size(label), label

        clusters = sorted({int(label) for label in labels}, key=order)
        authors = [self._author(label) for label in clusters]
        counts = f"{counted(sum(len(author.mentions) for author in authors), 'mention')} of "
        counts += counted(len(authors), "author")
        answer = f"{self.name} has {counts}."
        if len(authors) < self._number:
            answer = (
                f"{counts} can have this name. {self.name} has {counted(self._number, 'author')}; the given names of "
                "the others exclude it."
            )
        return self._explanation("name", answer, clusters)

    def about_author(self, label: int, mention: int | None = None) -> Explanation:
        """The weakest link of an author, and the best partners that it was not merged with.

        With a `mention`, the merge that added this mention to the author.
        """
        members, others = self._members(label), self._runners_up(label)
        author, notes = self._author(label), [self._shortfall(other) for other in others]
        notes += [one for one in self.decisions_about(label) if one not in " ".join(notes)]
        if author.elsewhere:
            notes.append(self.causes.why_elsewhere(author.author_id, self.name, self._mention_ids(members)))
        node = self.tree.root[members[0]] if mention is None else self.tree.parent.get(mention)
        merge = self.tree.merge_at(node) if node is not None else None
        if merge is None:
            only = "only one mention under this name" if author.elsewhere else "this mention only"
            answer = f"{author.name} has {only}: it was not merged with any other."
            return self._explanation("author", answer, [label], others=others, notes=notes)
        compared = self._merged(merge)
        what = "The last merge" if mention is None else "The merge that brought this mention here"
        notes = [*self._weakest(label), *notes] if mention is None else notes
        under = " under this name" if author.elsewhere else ""
        answer = f"{author.name} has {counted(len(members), 'mention')}{under}. {what} {self._verdict(compared)}"
        return self._explanation("author", answer, [label], merge=compared, others=others, notes=notes)

    def about_pair(self, xs: Sequence[int], ys: Sequence[int]) -> Explanation:
        """Why two mentions, or two authors, are one author or two; each is given by its mentions."""
        label, other = int(self.label[xs[0]]), int(self.label[ys[0]])
        direct = self._compare(xs, ys) if len(xs) == len(ys) == 1 and xs[0] != ys[0] else None
        if label == other:
            return self._together(label, xs, ys, direct)
        compared = self._compare(self._members(label), self._members(other))
        answer = f"They are two authors. {self._why_apart(compared)}"
        notes = self._better_partners(xs[0], ys[0], direct) if direct and not compared.barriers else []
        notes += self._decisions_between(compared, answer)
        return self._explanation("pair", answer, [label, other], merge=compared, direct=direct, notes=notes)

    def _together(
        self, label: int, xs: Sequence[int], ys: Sequence[int], direct: ComparedClusters | None
    ) -> Explanation:
        lone = xs[0] if len(xs) == 1 else ys[0]
        node = self.tree.joined_at(xs[0], ys[0]) if direct else self.tree.parent.get(lone, lone)
        merge = self.tree.merge_at(node) if node is not None else None
        if merge is None:
            return self._explanation("pair", "This is one and the same mention.", [label])
        compared = self._merged(merge)
        if direct and {*direct.left, *direct.right} == {*compared.left, *compared.right}:
            direct = None
        answer = f"They are one author. The merge that joined them {self._verdict(compared)}"
        notes = self._decisions_between(compared, answer)
        return self._explanation("pair", answer, [label], merge=compared, direct=direct, notes=notes)

    def _decisions_between(self, compared: ComparedClusters, answer: str) -> list[str]:
        """The decisions on both sides of a comparison that the answer does not cite: those that agree with it."""
        return [one for one in self.causes.about_pair(compared.left, compared.right) if one not in answer]

    def decisions_about(self, label: int) -> tuple[str, ...]:
        """The decisions of users about mentions of an author, one sentence for each."""
        elsewhere = self.causes.mentions_elsewhere(self.author_id[self._members(label)[0]], self.name)
        return self.causes.about([*self._mention_ids(self._members(label)), *(one.mention_id for one in elsewhere)])

    def weakest_link(self, label: int) -> ComparedClusters | None:
        """The merge of an author with the lowest score; if there are only must-links, the last one.

        It lacks what is `needed`, which takes as long to find as all the rest.
        """
        merges = self._merges(label)
        lowest = min(merges, key=self._score, default=None)
        if lowest is None:
            return None
        return self._merged(merges[-1] if lowest.is_must_link else lowest, find_needed=False)

    def near_author(self, label: int, share: float) -> OtherAuthor | None:
        """The best partner of an author that no constraint excludes, if the score is at least a share of the limit.

        The comparison lacks the parts of the score.
        """
        members, least = self._members(label), share * self.scores.limit
        for other in islice(self.scores.best_partners(members, self.label, least).tolist(), SEARCHED_NEAR):
            compared = self._compare(members, self._members(other), with_parts=False)
            if not compared.barriers:
                return OtherAuthor(self._author(other), compared) if compared.share >= share else None
        return None

    def _explanation(
        self,
        kind: str,
        answer: str,
        clusters: Sequence[int],
        *,
        merge: ComparedClusters | None = None,
        direct: ComparedClusters | None = None,
        others: Sequence[OtherAuthor] = (),
        notes: Sequence[str] = (),
    ) -> Explanation:
        return Explanation(
            kind=kind,  # type: ignore[arg-type]
            block=self.name,
            answer=answer,
            mentions=len(self.mentions),
            authors_of_name=self._number,
            mentions_in_collection=self.block.frequencies.mentions,
            limit=self.scores.limit,
            together=None if kind != "pair" else len(clusters) == 1,
            authors=tuple(self._author(label) for label in clusters),
            merges=self._tree_merges(clusters),
            merge=merge,
            direct=direct,
            others=tuple(others),
            notes=tuple(notes),
        )

    # Authors and merges

    @property
    def _number(self) -> int:
        return int(self.label.max()) + 1

    def _members(self, label: int) -> list[int]:
        found: list[int] = np.flatnonzero(self.label == label).tolist()
        return found

    def _size(self, label: int) -> int:
        return int((self.label == label).sum())

    def _author(self, label: int) -> ExplainedAuthor:
        members = [self.mentions[x] for x in self._members(label)]
        forms = sorted({mention.name for mention in members}, key=lambda name: (-len(name), name))
        ordered = sorted(members, key=lambda mention: (mention.year is None, mention.year or 0, mention.mention_id))
        author_id = self.author_id[self._members(label)[0]]
        elsewhere = self.causes.mentions_elsewhere(author_id, self.name)
        given = self.causes.given_name(one.mention_id for one in (*members, *elsewhere))
        name = given or self.causes.names.get(author_id) or forms[0]
        return ExplainedAuthor(author_id, name, tuple(ordered), elsewhere=elsewhere)

    def _tree_merges(self, clusters: Sequence[int]) -> tuple[TreeMerge, ...]:
        author_of = {label: self.author_id[self._members(label)[0]] for label in clusters}
        numbers = {id(merge): k for k, merge in enumerate(self.tree.merges)}
        return tuple(
            self._tree_merge(numbers[id(merge)], merge, author_of[label])
            for label in clusters
            for merge in self._merges(label)
        )

    def _tree_merge(self, number: int, merge: Merge, author_id: str) -> TreeMerge:
        mentions = self.tree.mentions
        left, right = (
            self.mentions[node].mention_id if node < mentions else node - mentions for node in (merge.left, merge.right)
        )
        if merge.is_must_link:
            return TreeMerge(number, left, right, None, None, None, author_id, merge.is_clustered)
        score = self._score(merge)
        return TreeMerge(number, left, right, merge.round, score, _ratio(score, self.scores.limit), author_id)

    def _score(self, merge: Merge) -> float:
        """The score of a merge; of one that lacks mentions which are of another author now, that without them."""
        return self.tree.compared(merge, self.scores)[2].score if isnan(merge.score) else merge.score

    def _runners_up(self, label: int) -> list[OtherAuthor]:
        """The best partner of an author, and if a constraint excludes it, the best one that none excludes."""
        members, found = self._members(label), list[OtherAuthor]()
        for other in islice(self.scores.best_partners(members, self.label).tolist(), SEARCHED_AUTHORS):
            theirs = self._members(other)
            is_excluded = bool(self._barriers(members, theirs))
            if not found or not is_excluded:
                found.append(OtherAuthor(self._author(other), self._compare(members, theirs)))
            if not is_excluded:
                break
        return found

    # Comparisons

    def _compare(self, C: Cluster, D: Cluster, *, with_parts: bool = True) -> ComparedClusters:
        """Compare two clusters that were not merged, in the direction with the higher score."""
        found = self._compared(*self.scores.better(C, D), barriers=self._barriers(C, D), with_parts=with_parts)
        return replace(found, unused=self.reasons.unused(C, D))

    def _barriers(self, C: Cluster, D: Cluster) -> tuple[str, ...]:
        """Why no mention of C and D can be one author: decisions first, with what the clustering alone does."""
        decisions = self.causes.barriers(self._mention_ids(C), self._mention_ids(D))
        if decisions:
            does = "makes them one author" if self._are_clustered(C, D) else "keeps them apart, too"
            decisions = (*decisions, f"The clustering alone {does}.")
        return (*decisions, *self.reasons.barriers(C, D))

    def _are_clustered(self, C: Cluster, D: Cluster) -> bool:
        """Whether the clustering alone has a mention of C and one of D in one cluster."""
        label = self.block.clustering.label
        return bool(np.isin(label[list(C)], label[list(D)]).any())

    def _mention_ids(self, members: Cluster) -> list[str]:
        return [self.mentions[x].mention_id for x in members]

    def _merged(self, merge: Merge, *, find_needed: bool = True) -> ComparedClusters:
        C, D, parts = self.tree.compared(merge, self.scores)
        if not merge.is_clustered:
            return self._compared(C, D, parts, links=self._added_links(C, D, parts), round=0)
        if merge.is_must_link:
            return self._compared(C, D, parts, links=self.reasons.links(C, D), round=0)
        return self._compared(C, D, parts, round=merge.round, needed=self._needed(parts) if find_needed else ())

    def _added_links(self, C: Cluster, D: Cluster, parts: ScoreParts) -> tuple[str, ...]:
        """Why C and D are one author, though the clustering keeps them apart, and why it does."""
        against = self.reasons.barriers(C, D)
        share = multiple(_ratio(parts.score, parts.threshold))
        alone = " ".join(against) if against else f"Their score is {share}."
        links = self.causes.links(self._mention_ids(C), self._mention_ids(D))
        return (*links, f"The clustering alone keeps them apart. {alone}")

    def _compared(
        self,
        C: Cluster,
        D: Cluster,
        parts: ScoreParts,
        *,
        round: int | None = None,
        links: tuple[str, ...] = (),
        barriers: tuple[str, ...] = (),
        needed: tuple[str, ...] = (),
        with_parts: bool = True,
    ) -> ComparedClusters:
        return ComparedClusters(
            left=tuple(self.mentions[x].mention_id for x in C),
            right=tuple(self.mentions[x].mention_id for x in D),
            score=parts.score,
            limit=parts.limit,
            chance_limit=parts.chance_limit,
            share=_ratio(parts.score, parts.threshold),
            factor=parts.factor,
            round=round,
            parts=tuple(self._evidence(parts)) if with_parts else (),
            links=links,
            barriers=barriers,
            needed=needed,
        )

    def _evidence(self, parts: ScoreParts) -> list[EvidencePart]:
        """All parts of a score that are not 0: features, then smoothing, chance and the full name."""
        features, types, threshold = self.block.features, self.block.frequencies.types, parts.threshold
        found = [
            EvidencePart(
                "feature",
                *features[f],
                value,
                _ratio(value, threshold),
                float(self.scores.total[f]),
                rarity_text(*features[f], float(self.scores.total[f]), self.scores.N),
            )
            for f, _, _, value in parts.evidence
        ]
        for kind, values in (("smoothing", parts.smoothing), ("chance", -parts.chance)):
            found += [
                EvidencePart(kind, name, "", value, _ratio(value, threshold))  # type: ignore[arg-type]
                for name, value in zip(types, values.tolist(), strict=True)
                if value
            ]
        if parts.factor != 1:
            found.append(EvidencePart("full name", "", "", parts.name_part, _ratio(parts.name_part, threshold)))
        return found

    # Sentences

    def _needed(self, parts: ScoreParts) -> tuple[str, ...]:
        """Without which evidence a merge would not have happened, everything else unchanged."""
        features, found = self.block.features, []
        if parts.factor > 1 and not parts.suffices(parts.without_name):
            share = multiple(_ratio(parts.without_name, parts.threshold))
            found.append(f"the same full name (without it {share})")
        by_type: dict[str, float] = {}
        for f, _, _, value in parts.evidence:
            kind, effect = features[f][0], parts.factor * value
            by_type[kind] = by_type.get(kind, 0.0) + effect
            if not parts.suffices(parts.score - effect):
                rest = multiple(_ratio(parts.score - effect, parts.threshold))
                found.append(f"{feature_text(*features[f])} (without it {rest})")
        for kind, effect in sorted(by_type.items(), key=lambda item: -item[1]):
            if not parts.suffices(parts.score - effect):
                rest = multiple(_ratio(parts.score - effect, parts.threshold))
                found.append(f"all {type_text(kind, 2)} together (without them {rest})")
        return tuple(found) or (self._strongest_together(parts),)

    def _strongest_together(self, parts: ScoreParts) -> str:
        """How many of the strongest features would have to be missing."""
        rest = parts.score
        for number, (_, _, _, value) in enumerate(parts.evidence, 1):
            rest -= parts.factor * value
            if not parts.suffices(rest):
                return f"the {number} strongest features together; no single one was necessary"
        return "no evidence: the smoothing alone exceeds the limit"

    def _verdict(self, compared: ComparedClusters) -> str:
        if compared.links and self._is_added(compared):
            return f"was not made by the clustering. {' '.join(compared.links)}"
        if compared.links:
            return f"was demanded by a must-link. {' '.join(compared.links)}"
        return f"had a score of {multiple(compared.share, compared.limit_name)}."

    def excluded_author(self, label: int) -> OtherAuthor | None:
        """The best partner of an author, if only a constraint keeps them apart."""
        members = self._members(label)
        for other in self.scores.best_partners(members, self.label, self.scores.limit)[:1].tolist():
            compared = self._compare(members, self._members(other))
            if compared.barriers and compared.share > 1:
                return OtherAuthor(self._author(other), compared)
        return None

    def why_not_merged(self, compared: ComparedClusters) -> str:
        """Why two authors are apart, though their score exceeds the limits; empty if it does not."""
        if compared.share <= 1:
            return ""
        return " ".join(compared.barriers) if compared.barriers else self._why_not_merged(compared)

    def _why_apart(self, compared: ComparedClusters) -> str:
        """Why two authors are apart, and which identifiers might have joined them."""
        return " ".join([self._verdict_apart(compared), *compared.unused])

    def _verdict_apart(self, compared: ComparedClusters) -> str:
        reached = f"Their score is {multiple(compared.share, compared.limit_name)}"
        if compared.barriers:
            return f"{' '.join(compared.barriers)} {reached}, but a constraint takes precedence."
        if compared.share > 1 and not self.is_clustered:
            return f"{reached}. {self._why_not_merged(compared)}"
        if exceeds(compared.score, compared.limit):
            return f"{reached}. It exceeds the limit of the name, but clusters of this size must share more."
        return f"{reached}, so {multiple(1 - compared.share, compared.limit_name)} is missing."

    def _is_added(self, compared: ComparedClusters) -> bool:
        """Whether two clusters are one author, but not by the clustering."""
        C, D = ([self.place[one] for one in side] for side in (compared.left, compared.right))
        return not self._are_clustered(C, D)

    def _why_not_merged(self, compared: ComparedClusters) -> str:
        """Why two authors of a result that grew are apart, though their score exceeds the limits."""
        if self._is_added(compared):
            return "It exceeds the limit, but the clustering never compared them with the mentions that they have now."
        return (
            "The clustering alone makes them one author, but updates keep the authors that were found with fewer "
            "papers; homonym update --mode rebuild clusters them from scratch."
        )

    def _shortfall(self, other: OtherAuthor) -> str:
        author = f"{other.author.name} ({other.author.author_id}, {counted(len(other.author.mentions), 'mention')})"
        return f"Next author: {author}. {self._why_apart(other.comparison)}"

    def _weakest(self, label: int) -> list[str]:
        """The merge of an author with the lowest score, if that is not the last one."""
        chosen = [merge for merge in self._merges(label) if not merge.is_must_link]
        lowest = min(chosen, key=self._score, default=None)
        if lowest is None or lowest is chosen[-1]:
            return []
        sides = (quoted_mention(self.mentions[self.tree.members(node)[0]]) for node in (lowest.left, lowest.right))
        share = multiple(_ratio(self._score(lowest), self.scores.limit))
        return [f"The merge with the lowest score ({share}) joined {' and '.join(sides)}."]

    def _merges(self, label: int) -> list[Merge]:
        """The merges of an author, in order."""
        tree, root = self.tree, self.tree.root[self._members(label)[0]]
        waiting, found = [root], list[int]()
        while waiting:
            node = waiting.pop()
            if merge := tree.merge_at(node):
                found.append(node)
                waiting += [merge.left, merge.right]
        return [tree.merges[node - tree.mentions] for node in sorted(found)]

    def _better_partners(self, x: int, y: int, direct: ComparedClusters) -> list[str]:
        """What each of two mentions was merged with instead, if the score of the two alone exceeds the limits."""
        if direct.barriers or direct.share <= 1:
            return []
        share = multiple(direct.share, direct.limit_name)
        notes = [f"These two mentions alone have a score of {share}, but there were better partners."]
        for mention in (x, y):
            if (node := self.tree.parent.get(mention)) is None:
                continue
            merge = self.tree.merges[node - self.tree.mentions]
            partner = self.tree.members(merge.right if mention in self.tree.members(merge.left) else merge.left)
            if not merge.is_must_link:
                share = multiple(_ratio(self._score(merge), self.scores.limit))
                first = quoted_mention(self.mentions[partner[0]])
                notes.append(f"{quoted_mention(self.mentions[mention])} was first merged with {first} ({share}).")
        return notes


def _ratio(value: float, limit: float) -> float:
    """A value in multiples of the limit; infinite if that is 0."""
    if limit == 0:
        return float("inf") if value > 0 else 0.0
    return value / limit
