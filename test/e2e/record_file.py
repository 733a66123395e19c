"""Epoch records as DESIGN.md documents them, read and written with nothing of the library; and the
delay model over them, equations 5 and 6 and the floor of bandwidth, in exact integers."""
import struct
import zlib

MAGIC = bytes.fromhex("93 4e 56 4d 52 45 43 0a")
HEADER = ("pid", "made", "started", "rlat_ps", "wlat_ps", "symmetric", "injects", "source", "epoch_ns",
          "budget_ppm", "dram_lat_ps", "llc_lat_ps", "tsc_khz")
THREAD, EPOCH, THREAD_END, PROCESS_END, REGION = 1, 2, 3, 4, 5
TOTALS = ("epochs", "cpu_ns", "stall_ns", "stall_wb_ns", "ma_ro", "ma_wb", "clamps", "delay_owed_ns",
          "delay_paid_ns", "share_se", "dirty_se", "latency_ps", "latency_se_ps", "dram_lat_ps",
          "handler_ns", "saved_ns", "monitor_ns")
QUANTITIES = ("cpu_ns", "stall_ns", "stall_wb_ns", "latency_ps", "dram_lat_ps", "stall_se_ns",
              "dirty_se_ppm", "latency_se_ps")
PLACED = ("dram_ro_ppm", "dram_wb_ppm", "dram_ro_se_ppm", "dram_wb_se_ppm")
MOVED = ("read_bytes", "written_bytes", "read_se_bytes", "written_se_bytes", "bandwidth_ns")
OPTIONAL = (*PLACED, *MOVED) # zeros at the end may be left out
NUMBERS = {
    THREAD: ("thread", "tid", "when_ns"),
    EPOCH: ("thread", "when_ns", "region", *QUANTITIES, "owed_ns", "paid_ns", *OPTIONAL),
    THREAD_END: ("thread", "tid", "when_ns", "alive", "lost", *TOTALS),
    PROCESS_END: ("thread", "tid", "when_ns", "alive", "lost", *TOTALS),
    REGION: ("region", "parent", "owes"),
}


class Damaged(Exception):
    pass


def text(raw):
    return raw.split(b"\0")[0].decode()


def numbers(payload, names):
    at, values = 0, {}
    for name in names:
        if name in OPTIONAL and at == len(payload):
            values[name] = 0
            continue
        value = shift = 0
        while True:
            byte = payload[at]
            at += 1
            value |= (byte & 0x7f) << shift
            shift += 7
            if byte < 0x80:
                break
        values[name] = value
    return values, payload[at:]


class Record:
    """header: a dictionary; records: (type, dictionary) in order; whole: it does not end within one."""

    def __init__(self, data):
        if data[:8] != MAGIC:
            raise Damaged("magic")
        version, size = struct.unpack_from("<II", data, 8)
        if version != 1 or zlib.crc32(data[:size - 4]) != struct.unpack_from("<I", data, size - 4)[0]:
            raise Damaged("header")
        self.header = dict(zip(HEADER, struct.unpack_from("<13Q", data, 16)))
        for i, name in enumerate(("program", "host", "cpu")):
            self.header[name] = text(data[120 + 64 * i:184 + 64 * i])
        self.records, self.whole, self.sizes = [], True, []
        while size < len(data):
            end = size + 2 + data[size + 1] if size + 1 < len(data) else len(data)
            if end + 4 > len(data) or not any(data[size:]):
                self.whole = False
                break
            if zlib.crc32(data[size:end]) != struct.unpack_from("<I", data, end)[0]:
                raise Damaged(size)
            kind = data[size]
            values, rest = numbers(data[size + 2:end], NUMBERS[kind])
            if kind in (THREAD_END, PROCESS_END, REGION):
                values["name"] = text(rest)
            self.records.append((kind, values))
            self.sizes.append(end + 4 - size)
            size = end + 4

    def of(self, *kinds):
        return [values for kind, values in self.records if kind in kinds]

    def threads(self):
        """Number: its epochs."""
        found = {}
        for epoch in self.of(EPOCH):
            found.setdefault(epoch["thread"], []).append(epoch)
        return found


def load(path):
    return Record(path.read_bytes())


def put_numbers(values):
    out = bytearray()
    for value in values:
        while value >= 0x80:
            out.append(value & 0x7f | 0x80)
            value >>= 7
        out.append(value)
    return bytes(out)


def put(kind, **values):
    names = list(NUMBERS[kind])
    while names[-1] in OPTIONAL and not values.get(names[-1]):
        names.pop()
    payload = put_numbers(values.get(name, 0) for name in names)
    if kind in (THREAD_END, PROCESS_END):
        payload += bytes(16)
    body = bytes((kind, len(payload))) + payload
    return body + struct.pack("<I", zlib.crc32(body))


def put_header(program, **values):
    values = {"dram_lat_ps": 100000, "llc_lat_ps": 20000} | values
    out = MAGIC + struct.pack("<II", values.pop("version", 1), 316)
    out += struct.pack("<13Q", *(values.get(name, 0) for name in HEADER))
    out += b"".join(name.encode().ljust(64, b"\0") for name in (program, "elsewhere", "a CPU"))
    return out + struct.pack("<I", zlib.crc32(out))


def owed(epochs, rlat_ps=0, wlat_ps=0, symmetric=False, exempt=(), own_ps=100000):
    """What one thread owes after each of its epochs, ns; nothing for those of regions that are exempt.
    A latency of own_ps, which is DRAM's in force in the tests' records, is DRAM's own."""
    if symmetric:
        rlat_ps = wlat_ps = rlat_ps or wlat_ps
    rlat_ps, wlat_ps = (0 if lat == own_ps else lat for lat in (rlat_ps, wlat_ps))
    carry_ro = carry_wb = total_ps = more_ns = 0
    nvm = lambda e, kind, ns: ns * (1000000 - e.get(f"dram_{kind}_ppm", 0)) // 1000
    after = []
    for e in epochs:
        before_ns = total_ps // 1000
        latency, wb = e["latency_ps"], min(e["stall_wb_ns"], e["stall_ns"])
        if latency:
            ma_wb, carry_wb = divmod(nvm(e, "wb", wb) + carry_wb, latency)
            ma_ro, carry_ro = divmod(nvm(e, "ro", e["stall_ns"] - wb) + carry_ro, latency)
            if e.get("region") in exempt:
                ma_wb = ma_ro = 0
            total_ps += ma_wb * max(0, wlat_ps - e["dram_lat_ps"]) if wlat_ps else 0
            total_ps += ma_ro * max(0, rlat_ps - e["dram_lat_ps"]) if rlat_ps else 0
        # Or what bandwidth asks for, where that is more.
        floor_ns = 0 if e.get("region") in exempt else e.get("bandwidth_ns", 0)
        more_ns += max(0, floor_ns - (total_ps // 1000 - before_ns))
        after.append(total_ps // 1000 + more_ns)
    return after
