"""Statistics that cannot be those of a collection which contains the mentions of the run."""

from __future__ import annotations

from pathlib import Path

from tests.support.command import homonym_command


def test_statistics_of_fewer_mentions_than_the_run_are_a_warning(tmp_path: Path) -> None:
    lines = [f'{{"id": "W{n}", "title": "x", "authors": [{{"name": "Doe, J"}}]}}\n' for n in range(9)]
    (tmp_path / "in.jsonl").write_text("".join(lines))
    (tmp_path / "s.csv").write_text("type,feature,count\nterm,x,5\n")
    command = ("disambiguate", "in.jsonl", "-o", "out.csv", "--kappa", 5, "--statistics", "s.csv")
    ended = homonym_command(*command, "--mentions-in-collection", 8, cwd=tmp_path)
    assert "warning: s.csv was counted over 8 mentions, and this run has 9; check that number" in ended.stderr
    ended = homonym_command(*command, "--mentions-in-collection", 9, cwd=tmp_path)
    assert "was counted over" not in ended.stderr
