"""Runtime: what a long run needs besides its data.

Stages with time and memory, progress and the run log (`progress.py`), a locked work directory with a manifest of the
checkpoints in it (`work_directory.py`), and pools of processes and threads (`process_pool.py` for Python
code, `thread_pool.py` for compiled code).
"""
