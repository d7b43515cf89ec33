"""Names of people: text as written in records -> a parsed name, and whether two parsed names can be one person.

Open parse.py first: `parse_name` gives surname, initials, given names and suffix, and `Name.key` is the normal form
`SURNAME, INITIALS`. spelling.py gives the spellings of one name one form; compatibility.py compares two names. Word
lists are text files in `data/`.
"""
