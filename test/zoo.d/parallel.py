"""Programs that compute in parallel, and stress-ng."""

from harness import HERE, program


@program("openmp", "gcc", "gcc libc6-dev", busy="omp", short=True)
def openmp(z):
    """loops, reductions, barriers, locks and tasks, with waits that spin and that sleep"""
    z.prepare("gcc", "-O2", "-fopenmp", HERE / "omp.c", "-o", "omp")
    for policy in ("active", "passive"):
        for threads in ("2", "5"):
            z.env = {"OMP_WAIT_POLICY": policy, "OMP_NUM_THREADS": threads}
            z.run("./omp", "60" if z.short else "300")


@program("openmpi", "mpicc mpirun", "openmpi-bin libopenmpi-dev gcc libc6-dev", busy="mpi",
         short=True)
def openmpi(z):
    """two and three processes: a ring, reductions, barriers, one-sided writes, large messages"""
    z.env = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
             "OMPI_MCA_btl_base_warn_component_unused": "0"}
    z.prepare("mpicc", "-O2", HERE / "mpi.c", "-o", "mpi")
    for ranks in ("2", "3"):
        z.run("mpirun", "--oversubscribe", "-np", ranks, "./mpi", "20" if z.short else "100")
    z.run("mpirun", "--oversubscribe", "-np", "2", "./mpi", "-1", status=9, errors=False)


# How often each does what it does: some tenths of a second.
STRESSORS = {
    "signal": 300000, "sigsegv": 200000, "clone": 150, "fork": 1500, "futex": 50000, "vm": 50000,
}
MORE_STRESSORS = {
    "sigfd": 100000, "sigpending": 200000, "sigsuspend": 50000, "sigrt": 50000, "sigq": 100000,
    "sigabrt": 500, "sigchld": 1500, "sigfpe": 100000, "sigtrap": 100000, "signest": 30000,
    "sigpipe": 10000, "vfork": 2000, "exec": 300, "pthread": 3000, "poll": 20000,
    "timerfd": 6000, "itimer": 200, "switch": 100000, "context": 2000, "msg": 200000,
    "pipe": 200000, "nanosleep": 500, "epoll": 1000, "eventfd": 30000, "zombie": 1000, "wait": 300,
    "procfs": 20, "daemon": 1000, "kill": 5000, "unshare": 20, "seccomp": 200, "userfaultfd": 5000,
    "exit-group": 200, "session": 300, "mremap": 10, "madvise": 15, "malloc": 100000,
}


def stress(z, stressors):
    for name, count in stressors.items():
        z.run("stress-ng", "--quiet", "--verify", "--seed", "1", "--temp-path", z.dir, "--vm-bytes",
              "32M", "--timeout", "20", f"--{name}", "2", f"--{name}-ops",
              count // (4 if z.short else 1))


@program("stress-ng", "stress-ng", "stress-ng", busy="stress-ng", short=True)
def stress_ng(z):
    """signals, faults, clones, forks, futexes, memory"""
    stress(z, STRESSORS)


@program("stress-more", "stress-ng", "stress-ng", busy="stress-ng")
def stress_more(z):
    """37 more of stress-ng's: kinds of signals, timers, waits, ends, queues, and what not"""
    stress(z, MORE_STRESSORS)
