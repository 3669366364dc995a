"""Messages of texts, as H3C's public proto files (proto2) have them: built into descriptors when
that is imported which has them, so that nobody needs a compiler."""

from collections.abc import Mapping, Sequence
from typing import Any

from labtests.protocols.needed import needed

Fields = Sequence[tuple[str, str]]


def message_classes(package: str, messages: Mapping[str, Fields]) -> dict[str, Any]:
    """The classes of these messages. By message, its fields in the order of their numbers, from 1,
    each `required`: of a message, or ("") a string."""
    pb2 = needed("google.protobuf.descriptor_pb2")
    file = pb2.FileDescriptorProto(name=f"{package}.proto", package=package, syntax="proto2")
    kinds = pb2.FieldDescriptorProto
    for name, fields in messages.items():
        message = file.message_type.add(name=name)
        for number, (field, of) in enumerate(fields, 1):
            message.field.add(
                name=field,
                number=number,
                label=kinds.LABEL_REQUIRED,
                type=kinds.TYPE_MESSAGE if of else kinds.TYPE_STRING,
                type_name=f".{package}.{of}" if of else None,
            )
    pool = needed("google.protobuf.descriptor_pool").DescriptorPool()  # our own: others may
    pool.Add(file)  # have compiled the same file, and one pool takes a name only once
    made = needed("google.protobuf.message_factory").GetMessageClass
    return {name: made(pool.FindMessageTypeByName(f"{package}.{name}")) for name in messages}
