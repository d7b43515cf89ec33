"""The command line: main.py (commands), options.py (their options), terminal.py and progress_bars.py (what they print).

Goes in: arguments. Comes out: calls of the public functions, text on the terminal, an exit status. Open main.py first.
"""
