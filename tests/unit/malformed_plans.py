"""Malformed plans by family and name, as bytes: a sound plan with one thing wrong, or no plan."""

from collections.abc import Iterator, Mapping
from functools import cache
from itertools import pairwise

SOUND = """\
name: sound
title: A sound plan
systems:
  rabbitmq:
    topologies: [cmsm, cs1ss2]
    queues: [classic]
    settings: {start_timeout_s: 60}
test_cases: [rpc-call, notify]
load:
  green_threads: [1, 10]
  processes: [2]
  duration_s: 8
  warmup_s: 1
  cooldown_s: 1
  timeout_s: 10
  targets: own
repeats: 2
order: random
seed: 7
control_runs: true
"""

RICH = """\
systems:
  rabbitmq: {topologies: [cmsm], settings: {tls: false}}
test_cases: [publish]
load:
  generator: amqp-0-9-1
  green_threads: [1, 2]
  duration_s: 20
  rate_msg_s: [5, 10]
  ramp_to_msg_s: 50
  ramp_steps: 5
link: {between: [client, broker], delay_s: [0.1, 0.2], jitter_s: 0.01}
actions:
- {do: stop, node: Master, at_s: 1, for_s: 2}
- {do: impair, link: true, at_s: 4, for_s: 2, delay_s: 1}
background:
- {test_case: publish, green_threads: 1, generator: amqp-0-9-1, rate_msg_s: 5}
conditions:
  near: {}
  far away: {link: {delay_s: 1}, actions: [{do: kill, node: Slave 1, at_s: 1, for_s: 1}]}
probes: [atop]
"""
"""Another sound plan, with the keys besides the load."""

LINES = {line.split(":")[0].strip(): line for line in SOUND.splitlines()}
KINDS: Mapping[str, tuple[str, ...]] = {
    "text": ("title", "name"),
    "choice": ("targets", "order"),
    "names": ("topologies", "queues", "test_cases"),
    "counts": ("green_threads", "processes"),
    "number": ("duration_s", "warmup_s", "cooldown_s", "timeout_s", "repeats", "seed"),
    "flag": ("control_runs",),
    "mapping": ("systems", "load", "rabbitmq", "settings"),
}
NEVER: Mapping[str, str] = {
    "tag": "!!python/object/apply:os.getcwd []",
    "tagged-text": "!!binary aGVsbG8=",
    "not-a-number": ".nan",
    "infinite": "-.inf",
    "5000-digits": "9" * 5000,
    "hexadecimal": "0x" + "f" * 5000,
    "lone-surrogate": '"\\ud800"',
    "nul": '"\\0"',
    "bell": '"\\a"',
    "undefined-alias": "*nobody",
    "cycle": "&a [*a]",
    "deep": "[" * 50 + "]" * 50,
}
"""Invalid for every value of a plan."""

WRONG: Mapping[str, Mapping[str, str]] = {
    "text": {"nothing": "", "number": "5", "list": "[a]", "long": "x" * 1000},
    "choice": {
        "nothing": "",
        "number": "5",
        "unknown": "rnadom",
        "list": "[own, own]",
        "url": "a://b",
    },
    "names": {
        "nothing": "",
        "empty": "[]",
        "text": "cmsm",
        "unknown": "[nobody]",
        "numbers": "[1, 2]",
        "nested": "[[cmsm]]",
        "mapping": "{a: b}",
        "twice": "[classic, classic]",
        "empty-name": '[""]',
    },
    "counts": {
        "nothing": "",
        "empty": "[]",
        "mapping": "{a: 5}",
        "zero": "[0]",
        "negative": "[1, -1]",
        "fraction": "[1.5]",
        "words": "[ten]",
        "truth": "[true]",
        "huge": "[100000000]",
        "twice": "[1, 2, 1]",
        "nested": "[[1]]",
        "nested-mapping": "[{a: 1}]",
        "date": "[2026-11-21]",
    },
    "number": {
        "nothing": "",
        "text": "ten",
        "list": "[5, 5]",
        "mapping": "{a: 5}",
        "fraction": "1.5",
        "float": "1e21",
        "larger-float": "1.0e+21",
        "64-bits": "9223372036854775808",
    },
    "flag": {"nothing": "", "text": "maybe", "number": "5", "list": "[true]"},
    "mapping": {"nothing": "", "text": "a", "list": "[a]", "number": "5", "unknown": "{key: 1}"},
}
SETTINGS: Mapping[str, str] = {
    "misspelt": "{start_timeout: 60}",
    "of-another-system": "{heap_mb: 512}",
    "too-little": "{memory_watermark_mb: 1}",
    "too-much": "{start_timeout_s: 1000000}",
    "words": "{start_timeout_s: soon}",
    "no-flag": "{management: perhaps}",
    "no-url": "{nodes: [a]}",
    "no-node": "{urls: ['amqp://u:p@h']}",
    "one-url": "{nodes: [a], urls: 'amqp://u:p@h'}",
    "no-scheme": "{nodes: [a], urls: ['u:p@h']}",
    "other-scheme": "{nodes: [a], urls: ['http://u:p@h']}",
    "no-host": "{nodes: [a], urls: ['amqp://u:p@']}",
    "half-address": "{nodes: [a], urls: ['amqp://u:p@[::1']}",
    "no-port": "{nodes: [a], urls: ['amqp://u:p@h:port']}",
    "large-port": "{nodes: [a], urls: ['amqp://u:p@h:99999']}",
    "slash": "{nodes: [a], urls: ['amqp://u:p/w@h']}",
    "fragment": "{nodes: [a], urls: ['amqp://u:p#w@h']}",
    "hidden": "{nodes: [a], urls: ['amqp://u:***@h']}",
    "unset": "{nodes: [a], urls: ['amqp://u:${MQPERF_NO_SUCH_VARIABLE}@h']}",
    "numbers": "{nodes: [1], urls: [2]}",
    "line-break": '{nodes: [a], urls: ["amqp://u:p\\n@h"]}',
    "nested": "{nodes: [[a]], urls: [{amqp: h}]}",
}


FAMILIES = (*KINDS, "settings", "limits", "keys", "yaml", "nested", "large", "bytes")
"""The kinds of faults; a family per test keeps each test short."""


@cache
def malformed(family: str) -> dict[str, bytes]:
    """The malformed plans of a family, by names that describe the fault."""
    by_family = {
        "settings": _settings,
        "limits": _limits,
        "keys": _keys,
        "yaml": _yaml,
        "nested": _nested,
        "large": _large,
    }
    if family == "bytes":
        return dict(_bytes())
    texts = _values(family) if family in KINDS else by_family[family]()
    return {name: text.encode() for name, text in texts}


def _values(kind: str) -> Iterator[tuple[str, str]]:
    for key in KINDS[kind]:
        for name, value in (*NEVER.items(), *WRONG[kind].items()):
            yield f"{key}-{name}", _with(key, value)


def _settings() -> Iterator[tuple[str, str]]:
    for name, value in SETTINGS.items():
        yield f"settings-{name}", _with("settings", value)


def _limits() -> Iterator[tuple[str, str]]:
    for key in ("duration_s", "timeout_s", "repeats"):
        yield f"{key}-zero", _with(key, "0")
    for key in ("duration_s", "warmup_s", "cooldown_s", "timeout_s", "repeats"):
        yield f"{key}-negative", _with(key, "-5")
        yield f"{key}-long", _with(key, "100000000")
    for name in ("../up", "a b", "-a", ".a", "ä", "a/b", '""'):
        yield f"name-{name}", _with("name", name)
    yield "title-password", _with("title", '"Test of amqp://u:p@h"')


def _with(key: str, value: str) -> str:
    """The sound plan with another value for a key, without the lines nested below the key."""
    lines, indent, skipping = [], 0, False
    for line in SOUND.splitlines():
        depth = len(line) - len(line.lstrip())
        skipping = skipping and depth > indent
        if line == LINES[key]:
            indent, skipping = depth, True
            lines.append(f"{line.partition(':')[0]}: {value}")
        elif not skipping:
            lines.append(line)
    return "\n".join(lines) + "\n"


def _keys() -> Iterator[tuple[str, str]]:
    for key, line in LINES.items():
        yield f"twice-{key}", SOUND.replace(line, f"{line}\n{line}")
        yield f"misspelt-{key}", SOUND.replace(f"{key}:", f"{key[1:]}_:")
    for key in ("systems", "load"):
        text = _with(key, "x")
        yield f"missing-{key}", text.replace(f"{key}: x\n", "")
    for key in ("topologies", "green_threads", "duration_s"):
        yield f"missing-{key}", SOUND.replace(f"{LINES[key]}\n", "")
    for name, key in {
        "number": "5",
        "truth": "yes",
        "null": "~",
        "fraction": "1.5",
        "date": "2026-11-21",
        "list": "? [a, b]\n",
        "mapping": "? {a: b}\n",
        "surrogate": '"\\udfff"',
        "nul": '"\\0"',
        "url": '"amqp://u:p@h"',
        "empty": '""',
        "long": "x" * 500,
    }.items():
        yield f"key-{name}", f"{SOUND}{key}: 1\n"


def _yaml() -> Iterator[tuple[str, str]]:
    yield "empty", ""
    yield "spaces", "  \n\n"
    yield "comment", "# a plan\n"
    yield "scalar", "plan"
    yield "number", "5"
    yield "list", "- a\n- b\n"
    yield "null", "~"
    yield "document-end", "...\n"
    yield "two-documents", f"{SOUND}---\n{SOUND}"
    yield "tab", SOUND.replace("  rabbitmq", "\trabbitmq")
    yield "indent", SOUND.replace("  rabbitmq", "   rabbitmq").replace("    queues", "  queues")
    yield "colon", SOUND.replace("title: A", "title: A: B: ")
    yield "quote", SOUND.replace("title: A", 'title: "A')
    yield "single-quote", SOUND.replace("title: A", "title: 'A")
    yield "bracket", SOUND.replace("[1, 10]", "[1, 10")
    yield "brace", SOUND.replace("{start_timeout_s: 60}", "{start_timeout_s: 60")
    yield "closing", SOUND.replace("[1, 10]", "1, 10]")
    yield "comma", SOUND.replace("[1, 10]", "[1 10,, 2]")
    yield "percent", f"%{SOUND}"
    yield "at", SOUND.replace("A sound", "@ sound")
    yield "backquote", SOUND.replace("A sound", "` sound")
    yield "escape", SOUND.replace("A sound plan", '"\\q"')
    yield "large-escape", SOUND.replace("A sound plan", '"\\UFFFFFFFF"')
    yield "short-escape", SOUND.replace("A sound plan", '"\\x1"')
    yield "version", f"%YAML 1.{'9' * 5000}\n---\n{SOUND}"
    yield "other-version", f"%YAML 9.0\n---\n{SOUND}"
    yield "unknown-tag-handle", SOUND.replace("A sound", "!x!y sound")
    yield "root-tag", f"!!set\n{SOUND}"
    yield "python-name", f"{SOUND}extra: !!python/name:os.system\n"
    yield "anchor-twice", f"{SOUND}a: &x 1\nb: &x 2\n"
    yield "alias-as-key", f"{SOUND}*x : 1\n"
    yield "merge-of-text", SOUND.replace("  rabbitmq:", "  rabbitmq:\n    <<: text")
    yield "merge-of-list", SOUND.replace("  rabbitmq:", "  rabbitmq:\n    <<: [1, 2]")
    yield "merge-of-itself", "a: &a\n  <<: *a\n"
    yield "block-scalar", SOUND.replace("A sound plan", "|99\n  x")
    yield "nul", f"{SOUND}\0"
    yield "control", f"{SOUND}\x07"
    yield "json", '{"systems": {"rabbitmq": {"topologies": ["cmsm"]}}, "load": }'
    yield "json-lines", '{"a": 1}\n{"b": 2}\n'
    yield "toml", "[systems]\nname = 'rabbitmq'\n"
    yield "ini", "systems = rabbitmq\n"
    yield "html", "<!DOCTYPE html>\n<html><body>404: not found</body></html>\n"
    yield "unknown-system", SOUND.replace("rabbitmq:", "rabitmq:")
    yield "system-path", SOUND.replace("rabbitmq:", '"../../rabbitmq":')
    yield "topology-of-another", SOUND.replace("[cmsm, cs1ss2]", "[direct]")
    yield "queue-of-a-cluster", SOUND.replace("cs1ss2", "single").replace("[classic]", "[mirrored]")
    yield "queue-of-another", SOUND.replace("[classic]", "[none]")
    yield (
        "default-queue",
        _with("rabbitmq", "").replace("rabbitmq:", "zeromq: {topologies: [direct]}"),
    )


def _nested() -> Iterator[tuple[str, str]]:
    yield "parameter-mapping", SOUND.replace("targets: own", "targets: {a: 5}")
    yield "parameter-nested", SOUND.replace("targets: own", "targets: [own, [5]]")
    yield "actions-nested", f"{SOUND}actions: [{{do: stop, node: [R2], at_s: 1, for_s: 1}}]\n"
    yield (
        "actions-parameter",
        f"{SOUND}actions: [{{do: stop, node: Master, at_s: 1, for_s: 1, x: {{a: 1}}}}]\n",
    )


def _large() -> Iterator[tuple[str, str]]:
    laughs = [f"{b}: &{b} [{', '.join([f'*{a}'] * 9)}]" for a, b in _pairs("abcdefghij")]
    yield "billion-laughs", "\n".join(["a: &a [x, x]", *laughs])
    merges = [f"{b}: &{b}\n  <<: [{', '.join([f'*{a}'] * 9)}]" for a, b in _pairs("abcdefghij")]
    yield "billion-merges", "\n".join(["a: &a {x: 1}", *merges])
    yield "700000-counts", _with("green_threads", f"[{', '.join(map(str, range(1, 700_001)))}]")
    yield "30000-counts", _with("green_threads", f"[{','.join(map(str, range(1, 30_001)))}]")
    counts = f"[{', '.join(map(str, range(1, 300)))}]"
    yield (
        "90000-cases",
        _with("green_threads", f"{counts}\n  processes: {counts}").replace(
            "  processes: [2]\n", ""
        ),
    )
    yield "threads", SOUND.replace("[1, 10]", "[10000]").replace("[2]", "[1000]")
    yield "long-line", f"{SOUND}# {'x' * 300_000}"
    yield "long-key", f"{SOUND}{'x' * 5000}: 1"
    yield "deep-flow", "a: " + "[" * 5000
    yield "deep-block", "- " * 5000 + "x"
    yield "deep-keys", "? " * 5000 + "x"
    yield "deep-mappings", "\n".join(f"{' ' * depth}a:" for depth in range(300))


def _pairs(names: str) -> Iterator[tuple[str, str]]:
    return pairwise(names)


def _bytes() -> Iterator[tuple[str, bytes]]:
    yield "latin-1", SOUND.replace("A sound", "Ein schöner").encode("latin-1")
    yield "utf-16", SOUND.encode("utf-16")
    yield "utf-32", SOUND.encode("utf-32")
    yield "surrogate", SOUND.replace("A sound", "\ud800").encode("utf-8", "surrogatepass")
    yield "binary", bytes(range(256)) * 8
    yield "zeros", bytes(4096)
    yield "gzip", b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03"
    yield "cut-character", SOUND.encode() + "ö".encode()[:1]
