"""Encodes and decodes types, frames and performatives of AMQP 1.0.

OASIS Standard, 29 October 2012: types are in part 1, frames, performatives and links in part 2,
sections of a message in part 3, SASL in part 5.  The encoder covers only what senders and receivers
need, the decoder everything that may come.
"""

import struct
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

PROTOCOL, SASL_PROTOCOL = b"AMQP\x00\x01\x00\x00", b"AMQP\x03\x01\x00\x00"
AMQP, SASL = 0, 1
"""Types of frames."""

FRAME = struct.Struct(">IBBH")
WORDS = 2
"""The length of a frame's header, in words of four bytes (the data offset)."""

EMPTY = FRAME.pack(FRAME.size, WORDS, AMQP, 0)
"""An empty frame, the heartbeat of AMQP 1.0."""

OPEN, BEGIN, ATTACH, FLOW, TRANSFER = 0x10, 0x11, 0x12, 0x13, 0x14
DISPOSITION, DETACH, END, CLOSE = 0x15, 0x16, 0x17, 0x18
RECEIVED, ACCEPTED, REJECTED, RELEASED, MODIFIED = 0x23, 0x24, 0x25, 0x26, 0x27
SOURCE, TARGET = 0x28, 0x29
MECHANISMS, INIT, CHALLENGE, OUTCOME = 0x40, 0x41, 0x42, 0x44
HEADER, DELIVERY_ANNOTATIONS, MESSAGE_ANNOTATIONS, PROPERTIES = 0x70, 0x71, 0x72, 0x73
APPLICATION_PROPERTIES, DATA, VALUE, FOOTER = 0x74, 0x75, 0x77, 0x78

NULL, TRUE, FALSE = b"\x40", b"\x41", b"\x42"


HIGHEST = 1 << 32
"""Ids of deliveries and frames, and counts of links, wrap around at this value."""


class Described(NamedTuple):
    """A value of a composite type; ``code`` is the low byte of its descriptor."""

    code: int
    value: Any

    def field(self, index: int) -> Any:  # noqa: ANN401 (each field has its own type)
        """Return a field of the list; None if it is left out."""
        return self.value[index] if index < len(self.value) else None


def ahead(later: int, earlier: int) -> int:
    """Return the difference of two ids, modulo wrap-around; negative if ``later`` is behind."""
    return (later - earlier + HIGHEST // 2) % HIGHEST - HIGHEST // 2


# encoding


def boolean(value: bool) -> bytes:  # noqa: FBT001 (as the others take their value)
    """Encode a boolean."""
    return TRUE if value else FALSE


def ubyte(value: int) -> bytes:
    """Encode a number of one byte."""
    return b"\x50" + bytes([value])


def uint(value: int) -> bytes:
    """Encode a number of four bytes, never shorter, so that similar frames have equal lengths."""
    return b"\x70" + struct.pack(">I", value)


def string(text: str) -> bytes:
    """Encode a string in UTF-8."""
    return _sized(0xA1, text.encode())


def symbol(text: str) -> bytes:
    """Encode a symbol, a name in ASCII."""
    return _sized(0xA3, text.encode())


def binary(content: bytes) -> bytes:
    """Encode bytes."""
    return _sized(0xA0, content)


def _sized(code: int, content: bytes) -> bytes:
    """Prepend code and length: one byte if possible, else four bytes (with a code 16 higher)."""
    if len(content) < 256:
        return bytes([code, len(content)]) + content
    return bytes([code + 16]) + struct.pack(">I", len(content)) + content


def composite(code: int, *fields: bytes) -> bytes:
    """Encode a list with a descriptor; fields at the end may be left out."""
    return descriptor(code) + listed(fields)


def listed(values: Sequence[bytes]) -> bytes:
    """Encode a list of encoded values."""
    content = b"".join(values)
    return b"\xd0" + struct.pack(">II", len(content) + 4, len(values)) + content


def mapping(values: Mapping[str, bytes]) -> bytes:
    """Encode a map from strings to encoded values."""
    content = b"".join(string(name) + encoded for name, encoded in values.items())
    return b"\xd1" + struct.pack(">II", len(content) + 4, 2 * len(values)) + content


def descriptor(code: int) -> bytes:
    """Encode the descriptor of a composite type or a section."""
    return bytes([0x00, 0x53, code])


def frame(body: bytes, kind: int = AMQP) -> bytes:
    """Encode a frame; all are of channel 0, as each connection has one session."""
    return FRAME.pack(FRAME.size + len(body), WORDS, kind, 0) + body


# decoding

SMALL_LIST = 0xC0
"""The type of a list whose size and count have one byte each instead of four."""

_FIXED = {
    0x56: "?", 0x50: "B", 0x51: "b", 0x52: "B", 0x53: "B", 0x54: "b", 0x55: "b",
    0x60: "H", 0x61: "h", 0x70: "I", 0x71: "i", 0x72: "f", 0x73: "I", 0x74: "4s",
    0x80: "Q", 0x81: "q", 0x82: "d", 0x83: "q", 0x84: "8s", 0x94: "16s", 0x98: "16s",
}  # fmt: skip
_FORMS = {code: struct.Struct(f">{form}") for code, form in _FIXED.items()}
_CONSTANTS = {0x40: None, 0x41: True, 0x42: False, 0x43: 0, 0x44: 0}
_SMALL, _LARGE = struct.Struct(">B"), struct.Struct(">I")


def value(buffer: bytes, at: int = 0) -> tuple[Any, int]:
    """Decode a value of any type; return it and its end.  Raises ``ValueError``."""
    try:
        return _value(buffer, at)
    except (IndexError, struct.error, UnicodeDecodeError) as error:
        raise ValueError(f"no value of AMQP 1.0: {error}") from None


def _value(buffer: bytes, at: int) -> tuple[Any, int]:
    code = buffer[at]
    if code in _CONSTANTS:
        return _CONSTANTS[code], at + 1
    if code == 0x45:
        return [], at + 1
    if (form := _FORMS.get(code)) is not None:
        return form.unpack_from(buffer, at + 1)[0], at + 1 + form.size
    if code == 0:
        described, at = _value(buffer, at + 1)
        content, at = _value(buffer, at)
        # symbolic descriptors are not supported: peers that use them send numeric ones, too
        return Described(described & 0xFF if isinstance(described, int) else 0, content), at
    if (read := _VARIABLE.get(code >> 4)) is None:
        raise ValueError(f"{code:#04x} is no type of AMQP 1.0")
    return read(buffer, at, _SMALL if code >> 4 in {0xA, 0xC, 0xE} else _LARGE)


def _of_bytes(buffer: bytes, at: int, size: struct.Struct) -> tuple[bytes | str, int]:
    start = at + 1 + size.size
    end = start + size.unpack_from(buffer, at + 1)[0]
    content = bytes(buffer[start:end])
    if len(content) < end - start:
        raise ValueError("a value is longer than its frame")
    return content if buffer[at] & 0xF == 0 else content.decode(), end


def _of_values(buffer: bytes, at: int, size: struct.Struct) -> tuple[Any, int]:
    end = at + 1 + size.size + size.unpack_from(buffer, at + 1)[0]
    (count,) = size.unpack_from(buffer, at + 1 + size.size)
    position, elements = at + 1 + 2 * size.size, []
    for _ in range(count):
        if (form := _FORMS.get(buffer[position])) is not None:  # a fast path for most values
            elements.append(form.unpack_from(buffer, position + 1)[0])
            position += 1 + form.size
        else:
            element, position = _value(buffer, position)
            elements.append(element)
    return (_pairs(elements) if buffer[at] & 0xF == 1 else elements), end


def _pairs(elements: Sequence[Any]) -> dict[Any, Any]:
    keys = (key if key.__hash__ else repr(key) for key in elements[::2])
    return dict(zip(keys, elements[1::2], strict=False))


def _of_array(buffer: bytes, at: int, size: struct.Struct) -> tuple[Any, int]:
    """Decode an array of bytes or text; elements of other types are not needed, and dropped."""
    end = at + 1 + size.size + size.unpack_from(buffer, at + 1)[0]
    (count,) = size.unpack_from(buffer, at + 1 + size.size)
    position = at + 1 + 2 * size.size
    code = buffer[position : position + 1]
    elements = []
    if code and code[0] >> 4 in {0xA, 0xB}:
        position += 1
        width = 1 if code[0] >> 4 == 0xA else 4
        for _ in range(count):
            length = int.from_bytes(buffer[position : position + width])
            element, _ = _value(code + bytes(buffer[position : position + width + length]), 0)
            elements.append(element)
            position += width + length
    return elements, end


_Read = Callable[[bytes, int, struct.Struct], tuple[Any, int]]
_VARIABLE: dict[int, _Read] = {
    0xA: _of_bytes, 0xB: _of_bytes, 0xC: _of_values, 0xD: _of_values, 0xE: _of_array, 0xF: _of_array
}  # fmt: skip


def performative(body: bytes) -> tuple[Described, bytes]:
    """Decode the body of a frame: its performative and payload.  Raises ``ValueError``."""
    described, end = value(body)
    if not isinstance(described, Described):
        raise ValueError("a frame without a performative")  # noqa: TRY004 (what came is wrong)
    return described, body[end:]


def fields_at(frame: bytes, body_at: int) -> int:
    """Return the offset of the fields of a frame's performative, a list after a descriptor."""
    return body_at + 3 + (3 if frame[body_at + 3] == SMALL_LIST else 9)


def beginning(buffer: bytes | bytearray, at: int) -> bytes:
    """Return the bytes by which a frame's form is looked up: all before its fields, and 2 more."""
    frame = bytes(buffer[at : at + FRAME.size + 14])
    return frame if len(frame) < FRAME.size + 4 else frame[: fields_at(frame, FRAME.size) + 2]


def said(error: Described | None) -> str:
    """Return the condition and the description of an error, in one line."""
    if error is None:
        return "without a reason"
    condition, description, information = (error.field(index) for index in range(3))
    parts = [str(condition), *([str(description)] if description else [])]
    if "redirect" in str(condition) and isinstance(information, dict):
        parts.append(" ".join(f"{name}={each}" for name, each in information.items()))
    return ": ".join(parts)
