"""How oslo.messaging is told where and how to connect: the transport URL and the driver's options.

By the release that speaks the protocol of an endpoint.
"""

from mqperf.lab.load.launcher import Access, Endpoint
from mqperf.lab.load.oslo.releases import RELEASES, Release, Sections
from mqperf.plan import Case
from mqperf.plan.driver import OPTIONS


def transport_url(endpoint: Endpoint) -> str:
    """The transport URL of one role."""
    return endpoint.url(_release(endpoint).scheme)


def options(case: Case, access: Access, address: str) -> Sections:
    """The options of the driver, on a host of that address: the case's own hold."""
    sections = _release(access.client).options(case, access.client, address)
    more = {"ssl": "true"} if access.client.authority else {}
    for name in OPTIONS:
        if (value := case.parameters.get(name)) is not None:
            more[name] = str(value).lower() if isinstance(value, bool) else str(value)
    return {name: {**values, **more} for name, values in sections.items()}


def _release(endpoint: Endpoint) -> Release:
    """The first that speaks the protocol: others of it take the same URLs and options."""
    return next(each for each in RELEASES.values() if each.protocol == endpoint.protocol)
