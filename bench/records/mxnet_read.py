"""MXNet's reader in C++, called without the bytes that mxnet.recordio makes of each record."""
import ctypes

import mxnet
from mxnet.base import _LIB, check_call

import common


def records(name, use):
    reader, data, size = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_size_t()
    check_call(_LIB.MXRecordIOReaderCreate(name.encode(), ctypes.byref(reader)))
    read, data_ref, size_ref = _LIB.MXRecordIOReaderReadRecord, ctypes.byref(data), ctypes.byref(size)
    n = 0
    while True:
        check_call(read(reader, data_ref, size_ref))
        if not data:
            break
        n += 1
        if use:
            use(memoryview((ctypes.c_char * size.value).from_address(data.value)).cast("B"))
    check_call(_LIB.MXRecordIOReaderFree(reader))
    return n


common.main(mxnet.__version__, records)
