"""Output of Ansible for hosts that it prepares, as printed by ansible-core 2.19.14."""

import pytest

from mqperf.base.errors import InstallError
from mqperf.front.findings import Finding
from mqperf.hosts.local import LocalHost
from mqperf.hosts.place import Place
from mqperf.hosts.software import installers
from mqperf_hosts.front import installation
from mqperf_hosts.front.installation import HostResult

PRINTED = """\
PLAY [Prepare hosts] ***********************************************************

TASK [Look who we are] *********************************************************
ok: [h1]
ok: [h2]
fatal: [h3]: UNREACHABLE! => {"changed": false, "msg": "Failed to connect to the host via ssh: \
ssh: Could not resolve hostname h3: Name or service not known", "unreachable": true}

TASK [Keep services from starting] *********************************************
changed: [h1]

TASK [Install] *****************************************************************
changed: [h1] => (item=redis-server)
changed: [h1] => (item=atop)
failed: [h2] (item=atop) => {"ansible_loop_var": "item", "changed": false, "item": "atop", \
"msg": "No package matching 'atop' is available"}

PLAY RECAP *********************************************************************
h1                         : ok=7    changed=2    unreachable=0    failed=0    skipped=3
"""


def test_what_was_installed_is_read_by_host() -> None:
    """From the task that installs; a failure is the message of its result, on one line."""
    results = installation.read_printed(PRINTED)
    assert results["h1"].installed == ["redis-server", "atop"]
    assert results["h1"].problem is None
    assert results["h2"].problem == "No package matching 'atop' is available"
    assert results["h3"].problem == (
        "Failed to connect to the host via ssh:"
        " ssh: Could not resolve hostname h3: Name or service not known"
    )


REFUSED = """\
TASK [Look whether we may become root] *****************************************
fatal: [trixie]: FAILED! => {"changed": false, "cmd": "sudo -n true", "msg": "non-zero return \
code", "rc": 1, "stderr": "sudo: unable to resolve host vm: Name or service not known\\nsudo: a \
password is required", "stdout": ""}
fatal: [noble]: FAILED! => {"changed": false, "cmd": "sudo -n true", "msg": "non-zero return \
code", "rc": 127, "stderr": "/bin/sh: 1: sudo: not found", "stdout": ""}

TASK [Install] *****************************************************************
[ERROR]: Task failed: Module failed: non-zero return code
failed: [h1] (item=no-such-package) => {"changed": true, "cmd": "set -eu\\n", "msg": "non-zero \
return code", "rc": 100, "stderr": "E: Unable to locate package no-such-package", "stdout": ""}
failed: [h2] (item=atop) => {"changed": true, "msg": "non-zero return code", "rc": 137, \
"stderr": "", "stdout": ""}
"""


def test_a_failed_command_is_reported_by_its_last_line() -> None:
    """With a hint if they do not help; without output, Ansible's message."""
    results = {host: result.problem for host, result in installation.read_printed(REFUSED).items()}
    assert results == {
        "trixie": "sudo asks for a password there: disable that (NOPASSWD in /etc/sudoers.d), or"
        " name root as ansible_user",
        "noble": "there is no sudo: install it, or name root as ansible_user",
        "h1": "E: Unable to locate package no-such-package",
        "h2": "non-zero return code",
    }


def test_a_password_in_a_message_is_not_repeated() -> None:
    """For example in the URL of a proxy or mirror."""
    line = 'fatal: [h1]: FAILED! => {"msg": "cannot reach http://me:secret@mirror.invalid/"}\n'
    assert "secret" not in str(installation.read_printed(line)["h1"].problem)


def test_a_host_that_could_not_be_prepared_has_failed() -> None:
    """The finding has the problem, and the packages installed before."""
    place = Place("h2", "192.0.2.2", groups=("broker",))
    finding = installation._finding(place, HostResult(["atop"], "no room"), dry=False)
    assert finding == Finding("FAILED", "h2 (broker): no room; installed atop")
    assert not finding.sound


@pytest.mark.starts_programs
def test_a_silent_installer_is_reported() -> None:
    """The error has command and exit code; empty output has a text, too."""
    with pytest.raises(InstallError, match=r"Ansible could not be installed: `false` ended with "):
        installers.output("Ansible", ["false"])
    assert installation.last_line(LocalHost().run(["false"], timeout_s=60)) == "no output"
