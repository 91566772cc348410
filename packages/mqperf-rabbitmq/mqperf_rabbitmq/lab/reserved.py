"""Keys that a plan may not set: mqperf sets them, or they would lead a node out of its folder."""

import re
from collections.abc import Mapping

ADDRESS = "mqperf chooses where nodes listen"
NAMES = "mqperf names the nodes, and brings them together"
USER = "mqperf makes the user of each run"
FILES = "every file of a node is in a folder that goes with it"
LOG = "mqperf reads what nodes log"
TLS = "certificates are made for each cluster: say tls: true"
MEMORY = "say memory_watermark_mb, which may be a list"
PLUGINS = "say management: true, metrics: true or streams: true"
STORE = "say metadata_store"
SECRET = "a secret is not allowed in a plan"  # noqa: S105 (the reason)
BOUND = "nodes of one machine would all have their first scheduler on the same core"

RESERVED: Mapping[str, Mapping[str, str]] = {
    "config": {
        r"((\w+\.)*listeners|distribution|proxy_protocol|erlang\.k8s)\b.*": ADDRESS,
        r"(management|prometheus)\.(tcp|ssl|listener)\..*": ADDRESS,
        r"(cluster_formation|autocluster|cluster_name|node_name)\b.*": NAMES,
        r"(default_(user|vhost|permissions|users)|loopback_users|anonymous_login)\b.*": USER,
        r"(.*\.)?(load_definitions|definitions|include_conf|.*data_dir|.*file)\b.*": FILES,
        r"log\..*": LOG,
        r"ssl_options\..*": TLS,
        r"vm_memory_high_watermark(\..*)?": MEMORY,
    },
    "advanced": {
        r"kernel\.(inet_dist_.*|logger.*)": ADDRESS,
        r"rabbit(mq_\w+)?\.(tcp_listeners|ssl_listeners|num_.*)": ADDRESS,
        r"rabbitmq_(management|prometheus)\.(listener|tcp_config|ssl_config)": ADDRESS,
        r"rabbit\.(cluster_nodes|cluster_formation)": NAMES,
        r"rabbit\.(default_(user|vhost|permissions)|loopback_users|anonymous_login.*)": USER,
        r"(mnesia|ra|osiris|khepri)\.(dir|data_dir)|rabbit\..*(_file|_dir)": FILES,
        r"(rabbit\.(log|lager.*)|lager\..*|syslog\..*)": LOG,
        r"rabbit\.ssl_options": TLS,
        r"rabbit\.vm_memory_high_watermark": MEMORY,
        r"rabbit\.(forced_feature_flags.*|khepri_.*_enabled)": STORE,
    },
    "environment": {
        r"RABBITMQ_(NODENAME|NODENAME_TYPE|USE_LONGNAME|CONF_ENV_FILE)": NAMES,
        r"RABBITMQ_(NODE_IP_ADDRESS|NODE_PORT|DIST_PORT|CTL_.*)": ADDRESS,
        r"RABBITMQ_(.*_FILE|.*_DIR|.*_BASE|HOME|.*_PATH|SYS_PREFIX)": FILES,
        r"RABBITMQ_(LOG.*|SASL_LOGS|UPGRADE_LOG)": LOG,
        r"RABBITMQ_(ENABLED_PLUGINS.*|PLUGINS.*)": PLUGINS,
        r"RABBITMQ_FEATURE_FLAGS": STORE,
        r"RABBITMQ_DEFAULT_(USER|VHOST)": USER,
        r"RABBITMQ_SCHEDULER_BIND_TYPE": BOUND,
        r"(?!RABBITMQ_).*": "variables of RabbitMQ begin with RABBITMQ_",
    },
    "policy": {r"ha-.*": "say queues: [mirrored]"},
}
"""Setting -> pattern of whole keys -> why a plan may not set them."""

_SECRET = re.compile(r"pass(word|wd|phrase)?\b|_pass\b|secret|cookie|token", re.IGNORECASE)


def reserved(setting: str, key: str) -> str | None:
    """Return why a plan cannot set a key; None if it can."""
    reasons = (why for pattern, why in RESERVED[setting].items() if re.fullmatch(pattern, key))
    return SECRET if _SECRET.search(key) else next(reasons, None)
