"""NVM_DEVICE, nvmemu devices and the user's own file. Arguments: the library, the victims' directory,
the command."""
import json
import os
import pathlib
import re
import sys

from victim import clean, fresh, library, prog, reports, run

nvmemu = pathlib.Path(sys.argv[3]).resolve()
config = fresh()
clean["XDG_CONFIG_HOME"] = str(config)
mine = config / "nvmemu" / "devices"
mine.parent.mkdir()
# counted, not delayed: some devices make a thousand of one
HERE = {"NVM_DRAM_LAT": "100", "NVM_INJECT": "off"}


def devices(*arguments, status=0, settings=HERE):
    done = run(nvmemu, "devices", *arguments, preload=None, settings=settings)
    assert done.returncode == status and bool(done.stderr) == bool(status), done
    return done


def emulated(settings, command=(prog("hello"),), status=0):
    """The report's settings, of a run with the library alone."""
    out = fresh()
    done = run(*command, settings=HERE | settings | {"NVM_OUT": str(out / "%p")})
    assert done.returncode == status, done
    return done, reports(out)


# all of them, each figure with its source and year; in words as in JSON
told = json.loads(devices("--json").stdout)
assert told["schema"] == "nvmemu-devices" and told["version"] == 1 and told["dram_lat_ns"] == 100
text = devices().stdout
for device in told["devices"]:
    assert re.search(rf"^{re.escape(device['name'])} +{re.escape(device['about'])}$", text, re.M), device
    for key in ("read", "write", "rbw", "wbw"):
        if device[key]:
            assert re.search(r"\b(19|20)\d\d\b|arXiv:\d{4}", device[key]["source"]), device
            assert re.search(rf"^  {key} +{re.escape(device[key]['figure'])} +"
                             rf"{re.escape(device[key]['source'])}$", text, re.M), (device, key)
    assert device["write_ns"] >= device["read_ns"] >= 100, device
names = [d["name"] for d in told["devices"]]
assert {"optane", "optane-ucsd", "pcm", "reram", "stt-mram", "numa", "z-nand"} <= set(names), names
assert sum(n.startswith("cxl") for n in names) >= 2, names
optane = json.loads(devices("--json", "optane").stdout)["devices"]
assert len(optane) == 1 and optane[0]["read_ns"] == 500 and optane[0]["write_ns"] == 507, optane
assert optane[0]["rbw"]["figure"] == "37%" and optane[0]["wbw"]["figure"] == "8%", optane
assert "no device 'nonsense'; there are optane," in devices("nonsense", status=1).stderr
assert "here" not in devices(settings={"XDG_CACHE_HOME": str(fresh())}).stdout

# the library takes them; what is set explicitly has precedence
for name in names:
    done, (report,) = emulated({"NVM_DEVICE": name})
    device = next(d for d in told["devices"] if d["name"] == name)
    settings = report["settings"]
    assert settings["NVM_DEVICE"] == name, settings
    machine = report["machine"]["bandwidth"]
    for variable, key, most in (("NVM_RBW", "rbw", "all_read_gb_per_s"), ("NVM_WBW", "wbw", "all_write_gb_per_s")):
        wanted = device[key] and device[key]["figure"]
        if not wanted:
            assert settings[variable] == "no limit", settings
        elif wanted.endswith("%"):
            got = float(settings[variable].removesuffix("GB/s").removesuffix("MB/s"))
            got *= 1 if settings[variable].endswith("GB/s") else 0.001
            assert abs(got / (machine[most] * float(wanted[:-1]) / 100) - 1) < 0.001, (settings, machine)
        else:
            reached = float(wanted.removesuffix("GB/s")) <= machine[most]
            assert settings[variable] == (wanted if reached else "no limit"), (settings, machine)
    for variable, key in (("NVM_RLAT", "read_ns"), ("NVM_WLAT", "write_ns")):
        number, unit = re.fullmatch(r"([\d.]+)(ns|us)", settings[variable]).groups()
        assert abs(float(number) * {"ns": 1, "us": 1000}[unit] - device[key]) < 0.002, (settings, device)
    limited = device["rbw"] or device["wbw"]
    assert done.stderr == "", (name, done)
    assert (report["sources"]["traffic"] != "none") <= bool(limited), (name, report["sources"])
done, (report,) = emulated({"NVM_DEVICE": "pcm", "NVM_WLAT": "2us"})
assert report["settings"]["NVM_WLAT"] == "2us" and report["settings"]["NVM_RLAT"] == "206.25ns", report
done, (report,) = emulated({"NVM_DEVICE": "optane", "NVM_WBW": "100MB/s"})
assert report["settings"]["NVM_WBW"] == "100MB/s" and report["settings"]["NVM_RBW"] != "no limit", report
mine.write_text("fast read=1us rbw=9000GB/s\n")
done, (report,) = emulated({"NVM_DEVICE": "fast", "NVM_LOG": "info"})
assert "NVM_DEVICE: fast: rbw=9000GB/s is no limit here" in done.stderr, done
assert report["settings"]["NVM_RBW"] == "no limit" and report["sources"]["traffic"] == "none", report
mine.unlink()

# a program is not started with a device that there is not, or that is faster than this DRAM
for settings, message in (({"NVM_DEVICE": "nonsense"}, "NVM_DEVICE: no device 'nonsense'"),
                          ({"NVM_DEVICE": ""}, "NVM_DEVICE: bad value ''"),
                          ({"NVM_DEVICE": "optane-ucsd", "NVM_DRAM_LAT": "400"},
                           "optane-ucsd: its read latency of 305.000ns is below the DRAM latency of "
                           "400.000ns")):
    done, left = emulated(settings, status=125)
    assert message in done.stderr and done.stdout == "" and not left, (settings, done)
    assert len(done.stderr.splitlines()) == 1, done
done = run(nvmemu, "doctor", "--json", preload=None, settings={"NVM_DEVICE": "nonsense"})
assert done.returncode == 125 and "no device 'nonsense'" in done.stdout, done

# nvmemu run: the same by --device
done = run(nvmemu, "run", "--lib", library, "--dram-lat", "100", "--device", "pcm", "--", prog("hello"),
           preload=None, settings={})
assert done.returncode == 0 and "read 206.25 ns, write 236.25 ns" in done.stderr, done
done = run(nvmemu, "run", "--lib", library, "--device", "nonsense", "--", prog("hello"), preload=None,
           settings={})
assert done.returncode == 125 and "no device 'nonsense'" in done.stderr and not done.stdout, done

# the user's own, which come before those that are built in
mine.write_text("# mine\nlab read=x2.5 write=+180ns rbw=20GB/s  # prototype\npcm read=1us\n")
told = {d["name"]: d for d in json.loads(devices("--json").stdout)["devices"]}
assert set(told) == {*names, "lab"}, told
assert told["lab"]["about"] == "prototype" and told["lab"]["file"] == str(mine), told
assert told["lab"]["read_ns"] == 250 and told["lab"]["write_ns"] == 280, told
assert told["pcm"]["read_ns"] == told["pcm"]["write_ns"] == 1000, told
assert f"{mine}:2" in devices("lab").stdout
done, (report,) = emulated({"NVM_DEVICE": "lab"})
assert report["settings"]["NVM_RLAT"] == "250ns" and report["settings"]["NVM_WLAT"] == "280ns", report
# a child whose environment has lost the way to it runs natively, and says so
done, left = emulated({"NVM_DEVICE": "lab"},
                      ("sh", "-c", f"env -u XDG_CONFIG_HOME HOME=/ {prog('hello')}"))
assert done.stdout == "hello\n" and "a child runs without it" in done.stderr, done
# but with NVM_FOLLOW=always it is carried along
done, left = emulated({"NVM_DEVICE": "lab", "NVM_FOLLOW": "always"},
                      ("sh", "-c", f"env -i {prog('hello')}"))
assert done.stdout == "hello\n" and [r["settings"]["NVM_RLAT"] for r in left
                                     if r["program"]["name"] == "prog_hello"] == ["250ns"], (done, left)

# a mistake in it is told with its place, by everybody who reads it, whichever device is asked for
for content, message in (("lab read=x2.5\nlab2 read=fast\n", f"{mine}:2: bad value 'fast' of read"),
                         ("lab\n", f"{mine}:1: no figure of 'lab'"),
                         ("lab read=1us color=red\n", f"{mine}:1: neither read=, write=, rbw= nor wbw=")):
    mine.write_text(content)
    for done in (devices(status=125), devices("--json", "lab", status=125), devices("optane", status=125),
                 emulated({"NVM_DEVICE": "lab"}, status=125)[0],
                 emulated({"NVM_DEVICE": "optane"}, status=125)[0]):
        assert message in done.stderr and done.stdout == "", (content, done)
    # it does not concern those who name no device
    emulated({"NVM_WLAT": "300"})
mine.write_bytes(b"lab read=1us\0")
assert "no text" in devices(status=125).stderr
mine.unlink()
mine.mkdir()
assert "Is a directory" in devices(status=125).stderr
mine.rmdir()
