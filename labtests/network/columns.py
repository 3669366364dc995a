"""A row of a table, as the compiler sees it: an address whose columns overlap with no others.

To LLVM, memory is bytes: a store to one number may change any other, so whatever was read before it
would be read again. Here each load and store says its table and column (type-based alias analysis),
and different ones are known to be apart. Imported only where the physics is compiled.
"""

from typing import Any

from labtests.network.compiler import numba
from labtests.network.tables import TABLE_TYPES

_CORE = numba().core
_NUMBERS = (_CORE.types.Integer, _CORE.types.Float)


class Row(_CORE.types.Record):  # type: ignore[misc, name-defined]
    """A row of the table of that name."""

    def __init__(self, table: str) -> None:
        columns: Any = TABLE_TYPES[table].fields
        fields = [
            (name, {"type": numba().from_dtype(place[0]), "offset": place[1]})
            for name, place in columns.items()
        ]
        super().__init__(fields, TABLE_TYPES[table].itemsize, aligned=False)
        self.name = f"Row({table})"

    def typeof(self, column: str) -> Any:
        """What a column is for those who reckon with it: integers have 64 bits."""
        stored = super().typeof(column)
        return _CORE.types.int64 if isinstance(stored, _CORE.types.Integer) else stored

    def stored(self, column: str) -> Any:
        """What it is in memory."""
        return super().typeof(column)


def _place(context: Any, builder: Any, row: Row, address: Any, column: str) -> Any:
    """Where that column, a number, of the row at `address` is."""
    number = context.get_data_type(row.stored(column))
    return _CORE.cgutils.get_record_member(builder, address, row.offset(column), number)


def _told_apart(builder: Any, access: Any, row: Row, column: str) -> None:
    """This load or store concerns that column of that table, and no other (LLVM: TBAA)."""
    module, zero = builder.module, _CORE.cgutils.intp_t(0)
    text = _CORE.cgutils.ir.MetaDataString
    everything = module.add_metadata([text(module, "labtests")])
    kind = module.add_metadata([text(module, f"{row.name}.{column}"), everything, zero])
    access.set_metadata("tbaa", module.add_metadata([kind, kind, zero]))


def _load(context: Any, builder: Any, row: Row, address: Any, column: str) -> Any:
    if not isinstance(row.typeof(column), _NUMBERS):
        return numba().np.arrayobj.record_getattr(context, builder, row, address, column)
    number = builder.load(_place(context, builder, row, address, column))
    _told_apart(builder, number, row, column)
    return context.cast(builder, number, row.stored(column), row.typeof(column))


def _store(context: Any, builder: Any, signature: Any, arguments: Any, column: str) -> None:
    row, given = signature.args
    address, value = arguments
    number = context.cast(builder, value, given, row.stored(column))
    stored = builder.store(number, _place(context, builder, row, address, column))
    _told_apart(builder, stored, row, column)


numba().extending.register_model(Row)(numba().extending.models.RecordModel)
_CORE.imputils.lower_getattr_generic(Row)(_load)
_CORE.imputils.lower_setattr_generic(Row)(_store)
