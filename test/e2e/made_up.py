"""Reports that no program has written: of any size, with any names. Made from one that is whole."""
import copy
import json
import random
import subprocess

QUANTITIES = ("cpu_ns", "stall_ns", "stall_wb_ns", "ma_ro", "ma_wb", "delay_owed_ns", "delay_paid_ns")
# What a program may call a thread, and more; JSON has it as text, whatever it is.
HOSTILE = ["<script>alert(1)</script>", "\"><img src=x onerror=alert(1)>", "'&amp;</td></tr></table>",
           "\u202egnp.exe", "tab\there\nline", "\x07bell\x7f", "</title><style>*{display:none}</style>",
           "\ufffd\u200b", "日本語", "a" * 300, "--><!--", "{{x}} ${x} `x`"]
D_NS, R_NS, W_NS = 100, 300, 600


def printed(unit_report):
    """The one that unit_report prints."""
    return json.loads(subprocess.run([unit_report, "--print"], check=True, capture_output=True, timeout=60).stdout)


def plain(base):
    report = copy.deepcopy(base)
    report["settings"] |= {"NVM_RLAT": f"{R_NS}ns", "NVM_WLAT": f"{W_NS}ns"}
    report["machine"]["dram_lat_ns"] = D_NS
    report["program"]["wall_ns"] = 10 ** 10
    return report


def amounts(dice, cpu_ns):
    """What the model would say of so much CPU time."""
    stall = int(cpu_ns * dice.uniform(0, 0.6))
    wb = int(stall * dice.random())
    ro, wbs = (stall - wb) // D_NS, wb // D_NS
    owed = ro * (R_NS - D_NS) + wbs * (W_NS - D_NS)
    return dict(zip(QUANTITIES, (cpu_ns, stall, wb, ro, wbs, owed, owed)))


def lane(dice, buckets, width_ns):
    rows = [amounts(dice, int(width_ns * 0.3 * dice.random())) for _ in range(buckets)]
    return {q: [row[q] for row in rows] for q in QUANTITIES}


def add(lanes, buckets):
    return {q: [sum(part[q][i] for part in lanes) for i in range(buckets)] for q in QUANTITIES}


def set_totals(totals, sums):
    totals |= sums
    stall, cpu = sums["stall_ns"], sums["cpu_ns"]
    totals |= {"stall_share": stall / cpu if cpu else 0, "stall_share_se": 0.01,
               "dirty_fraction": sums["stall_wb_ns"] / stall if stall else 0, "dirty_fraction_se": 0.02,
               "latency_ns": D_NS, "latency_se_ns": 1, "dram_lat_ns": D_NS, "epochs": 500,
               "delay_dropped_ns": 0, "clamps": 0}
    totals["cost"] |= {"handler_ns": 0, "saved_ns": 0}


def sums_of(part):
    return {q: sum(part[q]) for q in QUANTITIES}


def put_timeline(report, dice, threads, buckets=128):
    width = report["program"]["wall_ns"] // buckets + 1
    lanes = [lane(dice, buckets, width) for _ in range(threads)]
    listed, rest = lanes[:16], lanes[16:]
    everyone = report["threads"]
    report["timeline"] = {
        "bucket_ns": width, "buckets": buckets, "total": add(lanes, buckets),
        "threads": [{"tid": t["tid"], "name": t["name"], **one} for t, one in zip(everyone, listed)],
        "rest_threads": len(rest), "rest": add(rest, buckets)}
    for thread, one in zip(everyone, lanes):
        set_totals(thread, sums_of(one))
    set_totals(report["totals"], sums_of(report["timeline"]["total"]))


def put_threads(report, count, names):
    first = report["threads"][0]
    report["threads"] = []
    for i in range(count):
        thread = copy.deepcopy(first)
        thread |= {"tid": 1000 + i, "name": names[i % len(names)], "alive": False}
        report["threads"].append(thread)
    report |= {"threads_total": count, "threads_not_listed": 0, "threads_not_emulated": 0}


def put_traffic(report, source="look-ahead"):
    """Thread i has read i + 1 GB and written a quarter of that, in half of the time."""
    report["settings"] |= {"NVM_RBW": "4GB/s", "NVM_WBW": "2GB/s"}
    report["sources"]["traffic"] = source
    sums = {"read_bytes": 0, "written_bytes": 0, "delay_bandwidth_ns": 0}
    for i, thread in enumerate(report["threads"]):
        moved = {"read_bytes": (i + 1) * 10 ** 9, "written_bytes": (i + 1) * 25 * 10 ** 7,
                 "delay_bandwidth_ns": (i + 1) * 10 ** 8}
        thread["traffic"] |= moved
        thread |= {"cpu_ns": (i + 1) * 10 ** 8, "delay_paid_ns": (i + 1) * 10 ** 8}
        sums = {key: sums[key] + moved[key] for key in sums}
    report["totals"]["traffic"] |= sums


def put_regions(report, dice, names):
    def figures():
        some = amounts(dice, dice.randrange(10 ** 9))
        return {"wall_ns": some["cpu_ns"] * 2, "stall_share": 0.1, "stall_share_se": 0.01, "dirty_fraction": 0.5,
                "delay_injected_ns": 0, "samples": 3, **some}
    report["regions"] = {
        "begins": 1, "pauses": 0, "misuse": {}, "rows_not_listed": 0, "outside": figures(), "paused": figures(),
        "list": [{"name": n, "calls": dice.randrange(10 ** 6), "exclusive": figures(), "inclusive": figures()}
                 for n in names]}


def heat_values(dice, stall, buckets):
    over_time = [dice.randrange(stall // buckets * 2) if dice.random() < 0.3 else 0 for _ in range(buckets)]
    return {"stall_ns": stall, "stall_wb_ns": stall // 3, "reads": stall // 200, "writes": stall // 300,
            "lines": 100, "share": stall / 10 ** 11, "share_se": 0.001, "over_time_ns": over_time}


def put_sites(report, dice, count, paths, buckets=64):
    modules = [{"path": p, "build_id": None} for p in paths]
    kinds = [{"kind": k, **heat_values(dice, 10 ** 9, buckets)} for k in ("heap", "mapped", "stack")]
    report["heat"] = {
        "stall_ns": 10 ** 11, "attributed_ns": 9 * 10 ** 10, "unattributed_ns": 10 ** 10, "samples_lost": 0,
        "samples_no_answer": 0, "sites_total": count, "sites_not_listed": 0,
        "resident_every_pages": 1,
        "bucket_ns": report["program"]["wall_ns"] // buckets, "buckets": buckets, "kinds": kinds, "arenas": [],
        "modules": modules}
    report["sites"] = []
    for i in range(count):
        frames = [{"module": dice.randrange(len(modules)), "offset": dice.randrange(2 ** 24)} for _ in range(8)]
        report["sites"].append({
            "id": f"{i + 1:016x}", "kind": "heap", "depth": 8, "frames": frames, "arena": 0,
            **heat_values(dice, 10 ** 9 // (i + 1) + 1000, buckets), "resident_bytes": 4096 * i,
            "blocks": {"allocations": 5, "frees": 2, "bytes": 500, "live_bytes": 300,
                       "peak_bytes": 400 * 10 ** 6, "lifetimes": 2, "lifetime_ns": 100}})


def report(base, threads, sites, names, seed=1):
    dice = random.Random(seed)
    made = plain(base)
    put_threads(made, threads, names)
    put_timeline(made, dice, threads)
    put_regions(made, dice, names)
    if sites:
        put_sites(made, dice, sites, ["/usr/lib/" + n.replace("\n", " ") for n in names])
    return made
