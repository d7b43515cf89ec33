"""homonym beside what people use for the same task: the same blocks of the same documents, quality beside time.

Each peer has an environment of its own with pinned versions (`requirements/`), made on demand, and a script
(`scripts/`) that reads the same documents as homonym does and writes a table of authors. All are run as processes,
watched from outside in the same way, and judged by `homonym.evaluate`.
"""
