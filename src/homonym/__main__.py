"""Lets `python -m homonym` run the command line."""

from homonym.cli import main

if __name__ == "__main__":
    main()
