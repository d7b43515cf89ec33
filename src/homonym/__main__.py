"""Lets `python -m homonym` run the command line."""

from homonym.cli import main_of_process

if __name__ == "__main__":
    main_of_process()
