"""The protocols by their names in orders."""

from collections.abc import Mapping

from mqperf_activemq.onhost.core import Core
from mqperf_activemq.onhost.openwire import OpenWire
from mqperf_activemq.onhost.stomp import Stomp
from mqperf_activemq.onhost.wire import Wire

PROTOCOLS: Mapping[str, type[Wire]] = {
    "stomp": Stomp,
    "openwire": OpenWire,
    "artemis-core": Core,
}
