"""Writes commands.md from the commands' own --help, so that the reference cannot differ from the program."""

from __future__ import annotations

from pathlib import Path

import click

from homonym.cli.app import cli

WIDTH = 100


def render() -> str:
    """The whole page."""
    parts = ["# Commands", "", "Made by `make docs` from the program's own help; do not edit.", ""]
    for name, command in cli.commands.items():
        context = click.Context(
            command, info_name=f"homonym {name}", terminal_width=WIDTH, max_content_width=WIDTH,
            help_option_names=cli.context_settings["help_option_names"],
        )  # fmt: skip
        parts += [f"## homonym {name}", "", "```text", command.get_help(context), "```", ""]
    return "\n".join(parts)


if __name__ == "__main__":
    Path(__file__).with_name("commands.md").write_text(render())
