"""homonym compared with other tools for the same task, on the same blocks of the same documents: quality and time.

Each peer has an environment of its own with pinned versions (`requirements/`), made on demand, and a script
(`scripts/`) that reads the same documents as homonym does and writes a table of authors. All are run as processes,
measured from outside in the same way, and evaluated by `homonym.evaluate`.
"""
