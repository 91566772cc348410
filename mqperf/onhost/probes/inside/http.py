"""A client for repeated HTTP requests to one server, over one connection as long as it lasts."""

import base64

TIMEOUT_S = 10.0
OK = 200


class Unanswered(Exception):
    """A node did not answer a request."""


class Server:
    """The server at ``HOST:PORT``, with credentials if it needs them."""

    def __init__(self, address: str, user: str = "", password: str = "") -> None:
        from http.client import HTTPConnection  # slow to import, because of TLS

        host, _, port = address.rpartition(":")
        self.connection = HTTPConnection(host, int(port), timeout=TIMEOUT_S)
        self.headers: dict[str, str] = {}
        if user:
            credentials = base64.b64encode(f"{user}:{password}".encode()).decode()
            self.headers["Authorization"] = f"Basic {credentials}"

    def answer(self, path: str, question: bytes | None = None) -> bytes:
        """GET a path, or POST a ``question`` in JSON to it, and return the reply's content.

        Raises ``Unanswered``; the next request then opens a new connection.
        """
        from http.client import HTTPException

        method, headers = "GET", self.headers
        if question is not None:
            method, headers = "POST", {**headers, "Content-Type": "application/json"}
        try:
            self.connection.request(method, path, question, headers)
            reply = self.connection.getresponse()
            content = reply.read()
        except (OSError, HTTPException) as error:
            self.connection.close()
            raise Unanswered(str(error) or type(error).__name__) from None
        if reply.status != OK:
            raise Unanswered(f"{reply.status} {reply.reason}")
        return content
