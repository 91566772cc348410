"""A client: several threads, each a link, that send on schedule or as fast as they can."""

import time
from collections.abc import Sequence
from functools import partial

from mqperf.onhost.load.control import Control
from mqperf_amqp_1_0.onhost import codec, links
from mqperf_amqp_1_0.onhost.codec import Described
from mqperf_amqp_1_0.onhost.connection import Connection, performative
from mqperf_amqp_1_0.onhost.dispositions import Form, Settled, form_of, single
from mqperf_amqp_1_0.onhost.orders import Orders
from mqperf_amqp_1_0.onhost.sender_thread import SenderThread
from mqperf_amqp_1_0.onhost.unsettled import Unsettled
from mqperf_numbered.onhost.broker import Refused
from mqperf_numbered.onhost.diary import Diary
from mqperf_numbered.onhost.managed_connections import ManagedConnection, ManagedConnections
from mqperf_numbered.onhost.record import Record
from mqperf_numbered.onhost.roles import Client
from mqperf_numbered.onhost.waiting import Waiting, shares


class Outlet(ManagedConnection[Connection]):
    """A connection with the links of some senders."""

    def __init__(
        self, orders: Orders, senders: Sequence[SenderThread], waiting: Waiting, diary: Diary
    ) -> None:
        self.orders, self.senders = orders, senders
        self.unsettled = Unsettled(senders[0].record, diary)
        self.forms: dict[bytes, Form] = {}
        self.turn = 0
        super().__init__(waiting, diary, partial(Connection, orders.broker))

    def prepare(self, connection: Connection) -> None:
        """Attach a link for each sender."""
        self.unsettled.forget()
        self.unsettled.next = self.unsettled.lowest = 0
        self.of_handle: dict[int, SenderThread] = {}
        for handle, sender in enumerate(self.senders):
            sender.attach(connection, handle, self.unsettled)
            link = links.Wanted(
                handle, sender.thread.address, sends=True, settled=self.orders.settled
            )
            answer = links.attached(connection, link, self._flow)
            self.of_handle[answer.field(1)] = sender
            sender.check_size(answer.field(10))

    def settle(self) -> None:
        """Count the messages that were handed over."""
        for sender in self.senders:
            sender.settle()

    def transfer(self, now_ns: int) -> None:
        """Send what is due, a block for each sender in turn, until the socket is full."""
        connection = self.connection
        if connection is None:
            return
        if connection.drained:
            self.settle()  # another write may have sent the rest of the last block
        for _ in self.senders:
            if not connection.drained:
                break
            sender = self.senders[self.turn]
            self.turn = (self.turn + 1) % len(self.senders)
            if (count := sender.sendable(now_ns)) > 0:
                sender.send(count)

    def next_due_ns(self) -> int | None:
        """Return when the next message is due; None if the other end must send something first."""
        if self.connection is None or not self.connection.drained:
            return None
        able = [sender for sender in self.senders if sender.sendable(1 << 62) > 0]
        return min((sender.next_due_ns() for sender in able), default=None)

    def read(self, connection: Connection) -> None:
        """Handle all frames that have come whole."""
        at = 0
        while True:
            at = self._known_forms(connection, at)
            if (frame := connection.frame(at)) is None:
                break
            _, body, end = frame
            if body:
                described = performative(body)[0]
                if described.code == codec.DISPOSITION:
                    self._new_form(connection, described, at, end)
                else:
                    connection.attend(described)
                    if described.code == codec.FLOW:
                        self._flow(described)
            at = end
        connection.consumed(at)

    def _flow(self, flow: Described) -> None:
        if (sender := self.of_handle.get(flow.field(4))) is not None:
            sender.flow(flow)

    def _new_form(self, connection: Connection, disposition: Described, at: int, end: int) -> None:
        """Handle a disposition, and learn its form for the next ones."""
        frame = bytes(connection.buffer[at:end])
        if (form := form_of(frame, disposition)) is not None:
            self.forms[codec.beginning(frame, 0)] = form
        self._dispose(connection, disposition, single(disposition))

    def _known_forms(self, connection: Connection, at: int) -> int:
        """Handle dispositions of known forms; return their end."""
        while (form := self.forms.get(codec.beginning(connection.buffer, at))) is not None:
            settled = form.settled(connection, at)
            if not len(settled.first):
                break
            self._dispose(connection, form.one, settled)
            at += len(form.frame) * len(settled.first)
        return at

    def _dispose(self, connection: Connection, disposition: Described, settled: Settled) -> None:
        state = disposition.field(4)
        if not disposition.field(3):
            if state is None or state.code == codec.RECEIVED:
                return  # the state is not final
            for first, last in zip(settled.first.tolist(), settled.last.tolist(), strict=True):
                connection.send(links.settled(first, last))
        code = None if state is None else state.code
        self.unsettled.dispose(settled, code, time.time_ns())


class Sender(Client[Outlet]):
    """All connections of a client process, from connecting to the last settlement."""

    def __init__(self, orders: Orders, control: Control, record: Record, diary: Diary) -> None:
        waiting = Waiting(exact=True)
        self.senders = [SenderThread(orders, thread, record) for thread in orders.threads]
        outlets = [
            Outlet(orders, share, waiting, diary) for share in shares(self.senders, orders.links)
        ]
        super().__init__(orders, control, ManagedConnections(waiting, outlets), self.senders)

    def run(self, start: float) -> None:
        """Send from the agreed start on until the load has ended, or a signal came.

        Raises ``Refused`` if a link never got credit.
        """
        super().run(start)
        for managed in self.connections.all:
            managed.unsettled.forget()
        starved = [sender.thread.address for sender in self.senders if not sender.had_credit]
        if starved and not self.control.stopping:
            raise Refused(
                f"no credit was ever given for {', '.join(starved)}: nobody receives from there, or"
                " the other end takes no messages"
            )

    def send(self, now_ns: int) -> None:
        """Let every connection send what is due."""
        for managed in self.connections.all:
            self.connections.try_on(managed, partial(managed.transfer, now_ns))

    def next_ns(self) -> int | None:
        """Return when the next message is due of senders that can send; None if none can."""
        due = [at for managed in self.connections.all if (at := managed.next_due_ns()) is not None]
        return min(due, default=None)

    @property
    def busy(self) -> bool:
        """Whether anything is still to be sent or settled."""
        return super().busy or any(managed.unsettled.waiting for managed in self.connections.all)
