#!/usr/bin/env python3
"""import_thread.py OBJECT: jemalloc's object file that defines its state of a thread, je_tsd_tls, then
takes it from elsewhere. objcopy can rename such a symbol, but not make it undefined."""
import struct
import sys

HEADER, SECTION, SYMBOL = "<16sHHIQQQIHHHHHH", "<IIQQQQIIQQ", "<IBBHQQ"
SYMTAB = 2


def undefine(data, name):
    header = struct.unpack_from(HEADER, data)
    sections = [struct.unpack_from(SECTION, data, header[6] + i * header[11])
                for i in range(header[12])]
    found = 0
    for section in sections:
        if section[1] != SYMTAB:
            continue
        names = sections[section[6]][4]
        for at in range(section[4], section[4] + section[5], section[9]):
            symbol = struct.unpack_from(SYMBOL, data, at)
            start = names + symbol[0]
            if data[start:data.index(b"\0", start)] == name:
                struct.pack_into(SYMBOL, data, at, symbol[0], symbol[1], 0, 0, 0, 0)
                found += 1
    return found


def main():
    with open(sys.argv[1], "rb") as f:
        data = bytearray(f.read())
    if data[:6] != b"\x7fELF\x02\x01" or undefine(data, b"je_tsd_tls") != 1:
        sys.exit(f"{sys.argv[1]}: not the object that was expected")
    with open(sys.argv[1], "wb") as f:
        f.write(data)


main()
