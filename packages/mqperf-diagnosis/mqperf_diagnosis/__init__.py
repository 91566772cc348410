"""Why a run was not faster: what its processes waited for, and the causes that this indicates.

The folders ("rooms") are those of mqperf, and follow the same rules about what each may hold.
"""
