"""A result directory as a living corpus: decisions of users, which stay when papers are added.

In: a result directory. Out: must-link and cannot-link pairs, names and wrong records that users decided. Open
decision_state.py first; decision_store.py is the file that keeps them.
"""
