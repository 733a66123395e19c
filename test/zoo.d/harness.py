"""What the programs of test/zoo share: how they are run, compared, stopped and looked at when they
hang."""

import atexit
import collections
import contextlib
import ctypes
import glob
import importlib
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

import sums

HERE = pathlib.Path(__file__).parent
PR_SET_CHILD_SUBREAPER = 36
GRACE_S = 20  # for what should be over, and for a server to come up or to end
# What the library is told in each run; None: it is not there.
NATIVE, BOTH = "native", "slow reads and writes"
MODES = {
    NATIVE: None,
    "inert": {},
    "slow writes": {"NVM_WLAT": "1000"},
    BOTH: {"NVM_RLAT": "300", "NVM_WLAT": "1000"},
}
SHORT_MODES = (NATIVE, BOTH)

programs = {}


class Wrong(Exception):
    """The program did not do what it should have."""


class Skip(Exception):
    """The program cannot be had."""


class Program:
    """One entry of the zoo. tools: commands that must be there, packages: where they come from,
    busy: names of processes that must each have a report with samples."""

    def __init__(self, function, name, tools, packages, busy, short):
        self.function, self.name, self.short = function, name, short
        self.tools, self.packages, self.busy = tools.split(), packages.split(), busy.split()
        self.about = " ".join((function.__doc__ or "").split())

    def missing(self):
        return [tool for tool in self.tools if not find(tool)]


def find(tool):
    """A command, or the newest file that a pattern names."""
    if "/" in tool:
        return max(glob.glob(tool), default=None)
    return shutil.which(tool, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")


def program(name, tools, packages, busy="", short=False):
    def add(function):
        programs[name] = Program(function, name, tools, packages, busy, short)
        return function
    return add


def load(folder):
    for path in sorted(pathlib.Path(folder).glob("*.py")):
        if path.stem != "harness":
            importlib.import_module(path.stem)
    return programs


def descendants():
    """Live processes below this one; orphans come to it as well."""
    parent = {}
    for stat in glob.glob("/proc/[0-9]*/stat"):
        with contextlib.suppress(OSError):
            text = pathlib.Path(stat).read_text(errors="replace")
            fields = text.rpartition(")")[2].split()
            if fields[0] != "Z":
                parent[int(text.split()[0])] = int(fields[1])
    found, new = [], [os.getpid()]
    while new:
        new = [pid for pid, above in parent.items() if above in new]
        found += new
    return found


def read(path):
    try:
        return pathlib.Path(path).read_text(errors="replace").strip()
    except OSError as error:
        return f"({error.strerror})"


def dump(pid):
    """Where the threads of a process stand, for the log."""
    command = read(f"/proc/{pid}/cmdline").replace("\0", " ")
    print(f"---- process {pid}: {command}")
    for task in sorted(glob.glob(f"/proc/{pid}/task/*")):
        status = dict(line.split(":\t", 1) for line in read(f"{task}/status").splitlines()
                      if ":\t" in line)
        masks = " ".join(f"{k} {status.get(k)}" for k in ("SigPnd", "ShdPnd", "SigBlk"))
        print(f"thread {os.path.basename(task)} {status.get('Name')}, {status.get('State')}, "
              f"{masks}, system call {read(task + '/syscall')}")
        print(read(f"{task}/stack"))
    if shutil.which("gdb"):
        ask = ["gdb", "-nx", "-batch", "-p", str(pid), "-ex", "set pagination off",
               "-ex", "thread apply all backtrace 30"]
        with contextlib.suppress(subprocess.TimeoutExpired):
            done = subprocess.run(ask, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, timeout=60,
                                  stderr=subprocess.DEVNULL, text=True, errors="replace",
                                  check=False)
            print("\n".join(line for line in done.stdout.splitlines()
                            if not line.startswith(("[New LWP", "warning:"))))
    sys.stdout.flush()


def end_all():
    """Kills what a program has left: processes of ours, by their ids."""
    for _ in range(100):
        alive = descendants()
        for pid in alive:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        if not alive:
            return
        time.sleep(0.02)


def reap():
    """Orphans that have ended."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


class Run:
    """One run of a program in one mode, handed to its function."""

    def __init__(self, zoo, entry, mode, folder):
        self.mode, self.short, self.dir = mode, zoo.short, folder
        self.settings, self.said, self.env, self.user = MODES[mode], [], {}, None
        if zoo.heat and self.settings is not None:
            self.settings = self.settings | {"NVM_HEAT": "on"}
        self.library, self.limit_s = zoo.library, zoo.limit_s
        self.reports, self.cache = folder.with_name("reports"), zoo.cache
        self.tools = {os.path.basename(tool): find(tool) for tool in entry.tools}

    def environment(self, preload):
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("NVM_", "LD_"))}
        kept |= {"LC_ALL": "C.UTF-8", "TZ": "UTC", "HOME": str(self.dir), "TMPDIR": str(self.dir)}
        kept |= {"XDG_CACHE_HOME": str(self.cache)} | self.env
        if preload and self.settings is not None:
            kept["LD_PRELOAD"] = self.library
            kept |= self.settings
            if self.settings:
                kept["NVM_OUT"] = f"{self.reports}/%e.%p.%n.json"
        return kept

    def start(self, command, preload=True, **options):
        words = [str(c) for c in command]
        words[0] = self.tools.get(words[0], words[0])
        if self.user:
            options |= {"user": self.user, "group": self.user, "extra_groups": []}
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        try:
            return subprocess.Popen(words, cwd=self.dir, env=self.environment(preload),
                                    start_new_session=True, **(pipes | options))
        except OSError as error:
            raise Wrong(f"{words[0]}: {error.strerror}") from None

    def wait(self, process, text=None, limit_s=None):
        """Output of a process that should end by itself; one that hangs is dumped."""
        try:
            return process.communicate(text, timeout=limit_s or self.limit_s)
        except subprocess.TimeoutExpired:
            raise Wrong(f"{process.args[0]} hangs") from None

    def run(self, *command, text="", view=None, errors=True, status=0, limit_s=None):
        """Runs a command to its end and notes what it said, as view has it; on stderr, too, unless
        that differs from run to run. Returns its output."""
        process = self.start(command)
        out, err = (b.decode(errors="replace")
                    for b in self.wait(process, text.encode(), limit_s))
        if process.returncode != status:
            raise Wrong(f"{command[0]}: status {process.returncode}, wanted {status}: "
                        f"{shorten(out)} {shorten(err)}")
        self.say(command[0], view(out) if view else out, err if errors else "")
        return out

    def prepare(self, *command, text=""):
        """A step that is no test: natively, and it must succeed."""
        process = self.start(command, preload=False)
        out, err = self.wait(process, text.encode())
        if process.returncode:
            raise Wrong(f"{command[0]}: status {process.returncode}: {err.decode()[-2000:]}")
        return out.decode(errors="replace")

    def works(self, *command):
        """Does a command succeed, natively? It is tried and not noted."""
        process = self.start(command, preload=False)
        self.wait(process)
        return process.returncode == 0

    def say(self, *words):
        self.said.append(words)

    @contextlib.contextmanager
    def serve(self, *command, ready, stop=signal.SIGTERM, view=None):
        """A server that runs meanwhile; ready() tells when it does. Its exit status is noted, and
        what it logs as view has it."""
        log = self.dir / "server.log"
        with open(log, "wb") as out:
            process = self.start(command, stdin=subprocess.DEVNULL, stdout=out, stderr=out)
        wait_until(lambda: process.poll() is not None or ready(), f"{command[0]} does not come up")
        if process.poll() is None:
            yield process
        if process.poll() is not None:
            raise Wrong(f"{command[0]} ended, status {process.returncode}: {read(log)[-2000:]}")
        process.send_signal(stop)
        wait_until(lambda: process.poll() is not None, f"{command[0]} does not end")
        self.say(command[0], process.returncode, view(read(log)) if view else None)

    def give_to(self, user):
        """What runs from here on runs as this user, if we may choose."""
        if os.geteuid() == 0:
            self.user = user
            self.cache = self.dir.with_name("cache")
            self.cache.mkdir(exist_ok=True)
            for path in (self.dir, self.reports, self.cache):
                shutil.chown(path, user, user)


def wait_until(true, otherwise, limit_s=GRACE_S):
    end = time.monotonic() + limit_s
    while not true():
        if time.monotonic() > end:
            raise Wrong(otherwise)
        time.sleep(0.02)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def answers(port):
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
        return True
    return False


def check_reports(folder, busy):
    """They parse and add up, and the busy processes were sampled. Returns samples, seconds owed,
    and how often windows ended where."""
    samples, owed_ns, ends = {}, 0, collections.Counter()
    for path in sorted(folder.glob("*.json")):
        try:
            report = json.loads(path.read_text())
            # thousands of rows alike, in hundreds of reports
            del (report["sites"] or [])[64:]
            sums.check_sums(report)
        except (ValueError, KeyError, AssertionError) as error:
            raise Wrong(f"{path.name}: {type(error).__name__} {str(error)[:2000]}") from None
        if report["emulated"] != "yes":
            raise Wrong(f"{path.name}: not emulated: {report['why_not']}")
        name, totals = report["program"]["name"], report["totals"]
        samples[name] = samples.get(name, 0) + totals["samples"]["taken"]
        owed_ns += totals["delay_owed_ns"]
        ends.update(totals["windows"]["stops"])
        for stop in totals["windows"]["stop_instructions"]:
            ends[stop["name"]] += stop["count"]
    for name in busy:
        if not samples.get(name):
            raise Wrong(f"no samples of {name}; there are reports of {samples}")
    return sum(samples.values()), owed_ns / 1e9, ends


def differences(native, other):
    for was, now in zip(native + [None] * len(other), other + [None] * len(native)):
        if was != now:
            yield f"natively {shorten(was)}\n        now {shorten(now)}"


def shorten(said, most=3000):
    text = repr(said)
    return text if len(text) <= most else text[:most // 2] + " ... " + text[-most // 2:]


class Zoo:
    """The programs, one after the other."""

    def __init__(self, library, options):
        self.short, self.keep, self.heat = options.short, options.keep, options.heat
        self.library = self.open_to_all(library)
        self.windows = options.windows
        self.limit_s = 60 if self.short else 180
        self.cache = pathlib.Path(tempfile.mkdtemp(prefix="nvmemu-zoo-cache-"))
        atexit.register(shutil.rmtree, self.cache, ignore_errors=True)
        signal.signal(signal.SIGTERM, lambda *_: sys.exit("test/zoo: stopped"))
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)

    @staticmethod
    def open_to_all(library):
        """A copy that other users' programs can read, wherever the tree lies."""
        folder = tempfile.mkdtemp(prefix="nvmemu-zoo-library-")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        os.chmod(folder, 0o755)
        # with what it loads from beside itself, for allocation sites
        for path in (library, *glob.glob(f"{os.path.dirname(library)}/libnvmemu-*.so")):
            name = "libnvmemu.so" if path == library else os.path.basename(path)
            os.chmod(shutil.copy(path, os.path.join(folder, name)), 0o755)
        return os.path.join(folder, "libnvmemu.so")

    def run(self, chosen):
        counts = {"passed": 0, "failed": 0, "skipped": 0}
        for entry in chosen:
            folder = pathlib.Path(tempfile.mkdtemp(prefix=f"nvmemu-zoo-{entry.name}-"))
            folder.chmod(0o755)
            try:
                missing = entry.missing()
                if missing:
                    raise Skip("not installed: " + " ".join(missing))
                how, text = "passed", self.visit(entry, folder)
            except Skip as skip:
                how, text = "skipped", str(skip)
            except Wrong as wrong:
                how, text = "failed", str(wrong)
            counts[how] += 1
            print(f"{how:8s}{entry.name:14s}{text}", flush=True)
            if how == "failed" and self.keep:
                print(f"        kept: {folder}")
            else:
                shutil.rmtree(folder, ignore_errors=True)
        return counts

    def visit(self, entry, folder):
        told, native, ends = [], None, collections.Counter()
        for mode in SHORT_MODES if self.short else MODES:
            run = Run(self, entry, mode, folder / "run")
            for path in (run.dir, run.reports):
                shutil.rmtree(path, ignore_errors=True)
                path.mkdir()
            run.reports.chmod(0o1777)
            start = time.monotonic()
            try:
                self.attend(entry, run)
                native = native or run
                wrong = list(differences(native.said, run.said))
                if wrong:
                    raise Wrong("\n        ".join(["it is not the same:", *wrong]))
                samples, owed_s, ended = check_reports(run.reports,
                                                       entry.busy if run.settings else ())
                ends += ended
            except Wrong as wrong:
                raise Wrong(f"{mode}: {wrong}") from None
            took = f"{mode} {time.monotonic() - start:.1f} s"
            told.append(took + (f" ({samples} samples, {owed_s:.2f} s owed)" if samples else ""))
        if self.windows:
            text = " ".join(f"{end}:{count}" for end, count in ends.most_common(12))
            told[-1] += f"\n        windows: {text}"
        return ", ".join(told)

    @staticmethod
    def attend(entry, run):
        """Nothing of the run is left afterwards, and where something hangs it is seen where."""
        try:
            entry.function(run)
            with contextlib.suppress(Wrong):
                wait_until(lambda: not descendants(), "", limit_s=5)
            left = descendants()
            if left:
                raise Wrong(f"{len(left)} processes are left")
        except Wrong:
            for pid in descendants():
                dump(pid)
            raise
        finally:
            end_all()
            reap()
