"""The Spark engine: the same steps as the local one on many machines, with the same kernel and the same bytes.

What Python must do, it does in tasks on batches of Arrow (`tasks_*.py`); what a database does better, Spark does. Bags
pass through Spark as opaque bytes, a whole part at a time: only what is joined or counted becomes rows.
"""
