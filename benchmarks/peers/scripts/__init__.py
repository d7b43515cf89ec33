"""What runs in a process of its own per method and set: homonym in this environment, each peer in its own.

A peer's script may import its libraries, orjson and numpy, not homonym.
"""
