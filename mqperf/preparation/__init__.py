"""Preparing hosts: Ansible installs there what their roles need, before anything is measured.

Ansible stands in an environment of its own, made on first use: it does not install beside mqperf's
requirements.  It never touches a host during a run.
"""

from mqperf.preparation.installation import prepare

__all__ = ["prepare"]
