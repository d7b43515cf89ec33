"""Runtime: what a long run needs besides its data.

Stages with time and memory, progress and the run log (`progress.py`), a locked work directory (`work_directory.py`) of
which only own files are removed (`own_files.py`), the manifest of the checkpoints in it (`checkpoints.py`) with the
versions that cache keys depend on (`versions.py`), and pools of processes and threads (`process_pool.py` for Python
code, `thread_pool.py` for compiled code).
"""
