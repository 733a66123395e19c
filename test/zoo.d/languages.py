"""Language runtimes: their own threads, signal handlers, collectors and child processes."""

from harness import HERE, program


@program("python3", "python3", "python3", busy="python3", short=True)
def python3(z):
    """threads, multiprocessing by fork, spawn and forkserver, subprocess, asyncio, timers"""
    z.run("/usr/bin/python3", HERE / "many.py", status=5)


@program("node", "node", "nodejs", busy="node", short=True)
def node(z):
    """worker threads, child processes, cluster, thread pool, timers, wasm, death by a signal"""
    z.run("node", HERE / "many.js", status=5)
    z.run("node", "-e", "process.kill(process.pid, 'SIGTERM'); setTimeout(() => 0, 9000)",
          status=-15)


@program("java", "java javac", "default-jdk-headless", busy="java", short=True)
def java(z):
    """null checks, stack overflows, collectors, compiled and interpreted, threads, processes"""
    z.run("javac", "-d", ".", HERE / "Many.java")
    z.run("java", "-XX:+UseSerialGC", "-Xmx256m", "-cp", ".", "Many", status=5)
    z.run("java", "-XX:+UseG1GC", "-Xmx256m", "-cp", ".", "Many", status=5)
    if not z.short:
        z.run("java", "-XX:+UseZGC", "-Xmx256m", "-cp", ".", "Many", status=5)
        z.run("java", "-XX:+UseParallelGC", "-Xcomp", "-Xmx256m", "-cp", ".", "Many", status=5)
        z.run("java", "-Xint", "-Xmx256m", "-cp", ".", "Many", "1", status=5)


@program("go", "go", "golang-go")
def go(z):
    """goroutines, channels, timers and signals; static, and linked with the C library"""
    z.env = {"GOPATH": str(z.dir), "GOCACHE": str(z.cache / "go"), "GOFLAGS": "-mod=mod",
             "GO111MODULE": "off", "CGO_ENABLED": "0"}
    z.prepare("go", "build", "-o", "static", HERE / "many.go")
    z.env["CGO_ENABLED"] = "1"
    z.prepare("go", "build", "-tags", "cgo_wanted", "-o", "linked", HERE / "many.go",
              HERE / "many_c.go")
    z.run("./static", status=5)
    z.run("./linked", status=5)
