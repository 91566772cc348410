"""Inventories in Ansible's format: how they are read, and errors with their lines."""

import copy
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from mqperf.base.errors import HostError
from mqperf.hosts import inventory, lookup
from mqperf.hosts.place import Place

SOUND = """\
all:
  vars:
    ansible_user: measurer
    ansible_ssh_common_args: -o ProxyJump=gate
  children:
    broker:
      hosts:
        zeta: {ansible_host: 192.0.2.3}
        alpha:
          ansible_host: 192.0.2.1
          ansible_port: 2222
        mid:
      vars: {ansible_user: admin}
    load:
      children:
        client:
          hosts: {c1: {ansible_user: own}, c2: null}
        server: {hosts: {s1: {ansible_private_key_file: keys/s1}}}
server: {hosts: {c2: }}
"""


def written(folder: Path, text: str, name: str = "inventory.yaml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_groups_are_roles_in_the_order_of_the_file(tmp_path: Path) -> None:
    """The first broker is the Master, whatever its name; a host may have two roles."""
    groups = inventory.read(written(tmp_path, SOUND))
    assert [place.name for place in groups.broker] == ["zeta", "alpha", "mid"]
    assert [place.name for place in groups.client] == ["c1", "c2"]
    assert [place.name for place in groups.server] == ["s1", "c2"]
    assert [place.name for place in groups.places] == ["zeta", "alpha", "mid", "c1", "c2", "s1"]


def test_a_host_inherits_as_ansible_has_it(tmp_path: Path) -> None:
    """Variables of a host override those of its groups, inner groups override outer ones."""
    by_name = {place.name: place for place in inventory.read(written(tmp_path, SOUND)).places}
    jump = ("-o", "ProxyJump=gate")
    assert by_name["alpha"] == Place(
        "alpha", "192.0.2.1", "admin", 2222, ssh_args=jump, groups=("broker",)
    )
    assert by_name["mid"].address == "mid"
    assert by_name["c1"].user == "own"
    assert by_name["c2"].user == "measurer"
    assert by_name["c2"].groups == ("client", "server")
    assert inventory.read(written(tmp_path, basic(ansible_remote_tmp="~/a b/é_1"))).places[0].folder
    assert by_name["s1"].key == str(tmp_path / "keys" / "s1")


def basic(**variables: str) -> str:
    """A valid inventory, whose only broker has these variables."""
    words = "".join(f"\n      {name}: {value}" for name, value in variables.items())
    head = f"broker:\n  hosts:\n    b1:{words}\n"
    return head + "client: {hosts: {c1: }}\nserver: {hosts: {s1: }}\n"


REFUSED = {
    "not YAML": ("broker: [", r":1: "),
    "a list": ("- b1\n", r":1: expected groups of hosts"),
    "no group": ("broker: {hosts: {b1: }}\nclient: {hosts: {c1: }}\n", "no group 'server': add"),
    "no hosts": (
        basic().replace("{c1: }", "{}"),
        "group 'client' has no hosts: name those for clients of the load",
    ),
    "unknown key": (basic().replace("  hosts:\n", "  host:\n"), ":2: .*unknown key 'host'; known:"),
    "password": (
        basic(ansible_ssh_pass="secret"),  # noqa: S106
        r":4: ansible_ssh_pass of b1 is a password, .* remove it",
    ),
    "become password": (
        basic(ansible_become_password="x"),  # noqa: S106
        ":4: ansible_become_password of b1 is",
    ),
    "unchecked": (
        basic(ansible_ssh_common_args="-o StrictHostKeyChecking=no"),
        ":4: .* switches the check of host keys off: remove that",
    ),
    "no known hosts": (
        basic(ansible_ssh_extra_args="'-o UserKnownHostsFile=/dev/null'"),
        ":4: .* switches the check of host keys off",
    ),
    "switch": (basic(ansible_host_key_checking="false"), ":4: .* off: remove it"),
    "template": (basic(ansible_host="'{{ there }}'"), ":4: ansible_host of b1 is a template"),
    "encrypted": (basic(ansible_user="!vault x"), ":4: ansible_user of b1 is a template, or enc"),
    "no ssh": (basic(ansible_connection="docker"), ":4: b1 is reached by 'docker': .* ssh only"),
    "port": (basic(ansible_port="70000"), ":4: the port of b1 is '70000': expected 1 to 65535"),
    "nobody's key": (
        basic(ansible_ssh_private_key_file="~nosuchuser/key"),
        ":4: the key of b1 is in the home of a user who is not known here",
    ),
    "no number": (basic(mqperf_address="mq1"), ":4: .*'mq1': expected an IPv4 address, such as"),
    "folder for a shell": (
        basic(ansible_remote_tmp=""" "/tmp/a'$(touch x)'" """),
        ":4: the ansible_remote_tmp of b1 is a text .*: expected a path of letters, digits, spaces",
    ),
    "folders": (basic(ansible_remote_tmp="/srv/a:/srv/b"), ":4: the ansible_remote_tmp of b1 is a"),
    "quotation": (basic(ansible_ssh_common_args='-o "x'), ":4: .* quotation mark without its end"),
    "name twice": (
        basic().replace("    b1:\n", "    b1:\n    b1:\n"),
        ":4: 'b1' stands here and in line 3",
    ),
    "two of one name": (
        basic(ansible_host="192.0.2.1").replace("{c1: }", "{b1: {ansible_host: 192.0.2.9}}"),
        r":5: two hosts are called 'b1': ansible_host is another than in .*:4; re",
    ),
    "address twice": (
        basic(ansible_host="192.0.2.1").replace("{c1: }", "{c1: {ansible_host: 192.0.2.1}}"),
        r"b1 and c1 are both 192\.0\.2\.1: name that host once",
    ),
    "controller twice": (
        basic(ansible_host="127.0.0.1").replace("{c1: }", "{localhost: }"),
        "b1 and localhost are both this machine: name that host once",
    ),
    "range": (basic().replace("b1:", "'b[1:3]':"), r":3: write the hosts of the range 'b\[1:3\]'"),
    "name": (basic().replace("b1:", "a/b:"), "'a/b' is no name for tables and folders"),
    "no end": ("a: &a {children: {b: *a}}\n", ":1: groups within groups without end"),
    "too many": (
        "".join(
            f"a{n}: &a{n} {{children: {{x: *a{n - 1}, y: *a{n - 1}}}}}\n" for n in range(1, 15)
        ).replace("*a0", "{}"),
        "groups within groups without end",
    ),
    "merge": (basic().replace("    b1:\n", "    b1:\n      <<: {}\n"), ":4: write merged keys out"),
}


@pytest.mark.parametrize(("text", "words"), REFUSED.values(), ids=REFUSED)
def test_an_invalid_inventory_is_refused(tmp_path: Path, text: str, words: str) -> None:
    """The error has file, line and remedy, and repeats no password."""
    with pytest.raises(HostError, match=words) as caught:
        inventory.read(written(tmp_path, text))
    assert str(tmp_path / "inventory.yaml") in str(caught.value)
    assert "secret" not in str(caught.value)


def test_all_problems_are_reported_at_once(tmp_path: Path) -> None:
    """Each problem has a line."""
    text = "broker: {hosts: {b1: {ansible_password: x, ansible_port: no}}}\nclient: {}\n"
    with pytest.raises(HostError) as caught:
        inventory.read(written(tmp_path, text))
    assert len(str(caught.value).splitlines()) == 4


LISTED = {
    "_meta": {"hostvars": {"b1": {"ansible_host": "192.0.2.1", "ansible_port": 2222}}},
    "all": {"children": ["ungrouped", "broker", "load"]},
    "broker": {"hosts": ["b1", "b0"]},
    "load": {"children": ["client", "server"]},
    "client": {"hosts": ["c1"]},
    "server": {"hosts": ["s1"]},
}


def test_what_ansible_lists_is_read(tmp_path: Path) -> None:
    """A file with the output of ansible-inventory --list."""
    groups = inventory.read(written(tmp_path, json.dumps(LISTED), "listed.json"))
    assert [place.name for place in groups.broker] == ["b1", "b0"]
    assert (groups.broker[0].address, groups.broker[0].port) == ("192.0.2.1", 2222)
    for text in ("{", "[]", '{"broker": {}}'):
        with pytest.raises(HostError, match="expected what ansible-inventory --list prints"):
            inventory.read(written(tmp_path, text, "listed.json"))


def test_groups_in_many_groups_and_in_themselves_are_read_once(tmp_path: Path) -> None:
    """Hosts count once, and cyclic groups end without repeated work."""
    ladder = {f"a{n}": {"children": [f"a{n + 1}", f"b{n}"]} for n in range(200)}
    rungs = {f"b{n}": {"children": [f"a{n + 1}", "a0"]} for n in range(200)}
    broker = {"broker": {"hosts": ["b1"], "children": ["a0"]}, "a200": {"hosts": ["b0", "b1"]}}
    text = json.dumps({**LISTED, **broker, **ladder, **rungs})
    groups = inventory.read(written(tmp_path, text, "listed.json"))
    assert [place.name for place in groups.broker] == ["b1", "b0"]


@pytest.mark.starts_programs
def test_other_formats_need_ansible(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without Ansible a clear error; with it what it lists, or its error message."""
    path = written(tmp_path, "[broker]\nb1\n", "hosts.ini")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for variable in ("UV_OFFLINE", "UV_NO_CACHE"):
        monkeypatch.setenv(variable, "1")
    words = r"hosts\.ini: only inventories in YAML .*hosts\.json\), or .* Ansible could not be"
    with pytest.raises(HostError, match=words):
        inventory.read(path)
    program = tmp_path / "ansible-inventory"
    listing = written(tmp_path, json.dumps(LISTED), "listing")
    program.write_text(
        f'#!/bin/sh\n[ "$3" = --list ] && exec {shutil.which("cat", path=os.defpath)} {listing}\n'
    )
    program.chmod(0o700)
    assert inventory.read(path).server[0].name == "s1"
    program.write_text("#!/bin/sh\necho 'ERROR! no such thing' >&2; exit 5\n")
    with pytest.raises(HostError, match=r"cannot read it as YAML, .*: ERROR! no such thing"):
        inventory.read(path)


PRINTS = f"""\
#!/bin/sh
touch ran
echo '{json.dumps(LISTED)}'
"""


@pytest.mark.starts_programs
def test_only_a_command_may_name_a_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ansible may run inventory programs only if the command line names the inventory."""
    (tmp_path / "ansible-inventory").write_text(
        '#!/bin/sh\n[ "$ANSIBLE_INVENTORY_ENABLED" ] || exec "$2"\n'
        "echo enabled: $ANSIBLE_INVENTORY_ENABLED, $ANSIBLE_CONFIG >&2; exit 1\n"
    )
    program = written(tmp_path, PRINTS, "inventory")
    for path in tmp_path.iterdir():
        path.chmod(0o700)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.setenv("ANSIBLE_CONFIG", str(tmp_path / "other.cfg"))
    monkeypatch.chdir(tmp_path)
    data = r"enabled: ansible\.builtin\.yaml,ansible\.builtin\.ini,ansible\.builtin\.toml, "
    with pytest.raises(HostError, match=data) as refused, lookup(str(program), None).reached():
        pass
    assert "other.cfg" not in str(refused.value)
    assert not Path("ran").exists()
    assert lookup(None, str(program)).clients() == 1
    assert Path("ran").exists()


@pytest.mark.parametrize("name", ["hosts.json", "hosts.yaml", "hosts.ini"])
@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("device", "it is no file, but a folder, a device or a pipe"),
        ("pipe", "it is no file, but a folder, a device or a pipe"),
        ("hole", "more than 5,000,000 bytes"),
        ("bytes", "not text in UTF-8"),
        ("zeros", "not text in UTF-8"),
    ],
)
def test_anything_but_a_text_file_is_refused_at_once(
    tmp_path: Path, name: str, kind: str, words: str
) -> None:
    """Devices, pipes, huge and binary files are refused whatever their names."""
    path = tmp_path / name
    if kind == "device":
        path.symlink_to("/dev/zero")
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.write_bytes({"hole": b"", "bytes": b"\xff\xfe", "zeros": bytes(9)}[kind])
    if kind == "hole":
        os.truncate(path, 1 << 40)
    with pytest.raises(HostError, match=words):
        inventory.read(path)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[" * 100_000, ""),
        (
            '{"_meta": {"hostvars": {"a": 5}}}',
            r": _meta\.hostvars\.a: expected a mapping .*, got 5",
        ),
        ('{"_meta": {"hostvars": []}}', r": _meta\.hostvars: expected a mapping"),
        ('{"_meta": {"hostvars": {}}, "broker": 5}', ": broker: expected a mapping"),
        (
            '{"_meta": {"hostvars": {}}, "broker": {"hosts": [5, null]}}',
            r": broker\.hosts entry 1: expected text, got 5",
        ),
        ('{"_meta": {"hostvars": {}}, "broker": {"children": "all"}}', r": broker\.children: exp"),
    ],
)
def test_an_invalid_list_of_ansible_is_refused(tmp_path: Path, text: str, words: str) -> None:
    """The error has the path of the first invalid value."""
    with pytest.raises(HostError, match=f"with _meta and hostvars{words}"):
        inventory.read(written(tmp_path, text, "listed.json"))


SIMPLE = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
VALUES = st.recursive(
    SIMPLE | st.sampled_from(["b1", "broker", "all", "{{ x }}", "-o 'x", "[1:3]"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=6,
)


@pytest.mark.takes_long
@given(data=st.data())
def test_a_damaged_inventory_is_read_or_refused(data: st.DataObject, tmp_path: Path) -> None:
    """Any value in any place of JSON or YAML is read, or is a HostError."""
    for name, sound in (("listed.json", LISTED), ("hosts.yaml", yaml.safe_load(SOUND))):
        damaged = copy.deepcopy(sound)
        for _ in range(data.draw(st.integers(1, 3))):
            holder, key = data.draw(st.sampled_from([*places(damaged)] or [({}, "")]))
            holder[key] = copy.deepcopy(data.draw(VALUES))
        with suppress(HostError):
            inventory.read(written(tmp_path, json.dumps(damaged), name))


def places(node: Any) -> Iterator[tuple[Any, Any]]:  # noqa: ANN401 (data of JSON)
    """Every container in the data, with every key or index of it."""
    keys = node if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else ()
    for key in list(keys):
        yield node, key
        yield from places(node[key])


def test_a_missing_inventory_is_named(tmp_path: Path) -> None:
    """The error has its name."""
    with pytest.raises(HostError, match=r"absent\.yaml: there is no such inventory"):
        inventory.read(tmp_path / "absent.yaml")
