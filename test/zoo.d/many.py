"""What Python programs do with threads, processes, timers and signals. Prints nothing that depends
on the order or on the time."""

import asyncio
import concurrent.futures
import ctypes
import multiprocessing
import os
import queue
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time


def work(n):
    rng = random.Random(n)
    table = {rng.randrange(1 << 30): i for i in range(20000)}
    return sum(key % 97 for key in sorted(table)) + sum(table.values())


def threads():
    items, done = queue.Queue(8), []

    def consume():
        while (item := items.get()) is not None:
            done.append(item * item)

    consumers = [threading.Thread(target=consume) for _ in range(4)]
    for thread in consumers:
        thread.start()
    for n in range(5000):
        items.put(n)
    for _ in consumers:
        items.put(None)
    for thread in consumers:
        thread.join()
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        print("threads", sum(done), sum(pool.map(work, range(6))))
    short = [threading.Thread(target=os.getpid) for _ in range(300)]
    for thread in short:
        thread.start()
        thread.join()


def processes():
    for method in ("fork", "spawn", "forkserver"):
        context = multiprocessing.get_context(method)
        with context.Pool(2) as pool:
            print(method, sum(pool.map(work, range(8))))
        inner, outer = context.Pipe()
        child = context.Process(target=inner.send, args=(b"x" * 200000,))
        child.start()
        print(len(outer.recv()), child.join(20), child.exitcode)
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        print("pool", sum(pool.map(work, range(4))))


def children():
    for n in range(40):
        assert subprocess.run(["sh", "-c", f"exit {n}"], check=False).returncode == n
    done = subprocess.run(["cat"], input=b"y" * 1000000, stdout=subprocess.PIPE, check=True)
    print("cat", len(done.stdout))
    child = subprocess.Popen(["sleep", "60"], preexec_fn=os.setsid)
    try:
        child.wait(0.1)
    except subprocess.TimeoutExpired:
        child.terminate()
    print("terminated", child.wait())
    calls = [threading.Thread(target=subprocess.check_call, args=(["true"],)) for _ in range(20)]
    for thread in calls:
        thread.start()
    for thread in calls:
        thread.join()
    print("os", os.system("exit 3") >> 8, os.popen("echo popen").read().strip(),
          os.waitstatus_to_exitcode(os.waitpid(os.posix_spawn("/bin/false", ["false"], {}), 0)[1]))


def signals():
    rang = []
    signal.signal(signal.SIGALRM, lambda *_: rang.append(1))
    signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
    start = time.monotonic()
    time.sleep(0.3)
    work(1)
    signal.setitimer(signal.ITIMER_REAL, 0)
    print("timer", len(rang) >= 5, time.monotonic() - start >= 0.3)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
    os.kill(os.getpid(), signal.SIGUSR1)
    print("waited", signal.sigtimedwait({signal.SIGUSR1}, 5).si_signo == signal.SIGUSR1)
    urgent = []
    signal.signal(signal.SIGURG, lambda *_: urgent.append(1))
    signal.raise_signal(signal.SIGURG)
    work(2)
    print("urgent", len(urgent))
    assert subprocess.run([sys.executable, "-c", "import ctypes; ctypes.string_at(0)"],
                          check=False).returncode == -signal.SIGSEGV


def libc_calls():
    """Blocking calls straight to the C library, which nobody makes again for us."""
    libc = ctypes.CDLL(None, use_errno=True)
    busy = threading.Thread(target=work, args=(3,))
    busy.start()
    for _ in range(30):
        assert libc.poll(None, 0, 10) == 0, ctypes.get_errno()
        assert libc.usleep(3000) == 0, ctypes.get_errno()
        work(0)
    busy.join()


async def loop():
    async def echo(reader, writer):
        while line := await reader.readline():
            writer.write(line.upper())
        writer.close()

    async def talk(path):
        reader, writer = await asyncio.open_unix_connection(path)
        for n in range(200):
            writer.write(b"line %d\n" % n)
            assert await reader.readline() == b"LINE %d\n" % n
        writer.close()

    with tempfile.TemporaryDirectory() as folder:
        server = await asyncio.start_unix_server(echo, folder + "/socket")
        await asyncio.gather(*(talk(folder + "/socket") for _ in range(8)))
        server.close()
        process = await asyncio.create_subprocess_exec("sh", "-c", "echo sub; exit 4",
                                                       stdout=subprocess.PIPE)
        out, _ = await process.communicate()
        print("asyncio", out, process.returncode)
        print(sum(await asyncio.gather(*(asyncio.to_thread(work, n) for n in range(4)))))


if __name__ == "__main__":
    threads()
    processes()
    children()
    signals()
    libc_calls()
    asyncio.run(loop())
    print("total", sum(work(n) for n in range(10)), flush=True)
    sys.exit(5)
