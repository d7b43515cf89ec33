"""Libraries that others import though a command has no use for them: they take half a second.

pyarrow imports pandas to recognise its objects; a command has none. numba imports scipy to compile products of
matrices, which our kernels do not have. Only `explain` on the command line leaves both out (`convert` and `extract`
leave out pandas): in a Python session, users may need them.
"""

from __future__ import annotations

from homonym.runtime.hidden_modules import hidden_modules, leave_out_pandas


def leave_out_pandas_and_scipy() -> None:
    """Let pyarrow and numba look for pandas and scipy now, and find none. Explicit imports work as before."""
    leave_out_pandas()
    with hidden_modules("scipy"):
        from homonym.clustering.compiling import load_compiler

        load_compiler()
