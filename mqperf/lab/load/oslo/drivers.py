"""Connection parameters of oslo.messaging: the transport URL and the options of the driver.

Both depend on the release that supports the protocol of an endpoint.
"""

from mqperf.lab.load.launcher import Access, Endpoint
from mqperf.lab.load.oslo.releases import RELEASES, Release, Sections
from mqperf.plan import Case
from mqperf.plan.driver import OPTIONS


def transport_url(endpoint: Endpoint) -> str:
    """Return the transport URL of one role."""
    return endpoint.url(_release(endpoint).scheme)


def options(case: Case, access: Access, address: str) -> Sections:
    """Return the driver's options on a host of that address; options of the case take priority."""
    sections = _release(access.client).options(case, access.client, address)
    overrides = {"ssl": "true"} if access.client.authority else {}
    for name in OPTIONS:
        if (value := case.parameters.get(name)) is not None:
            overrides[name] = str(value).lower() if isinstance(value, bool) else str(value)
    return {name: {**values, **overrides} for name, values in sections.items()}


def _release(endpoint: Endpoint) -> Release:
    """Return the first release for the protocol: all of them take the same URLs and options."""
    return next(r for r in RELEASES.values() if r.protocol == endpoint.protocol)
