"""The library among others: debuggers, tracers, copies of itself, programs it cannot enter."""
import pathlib
import re
import shutil
import subprocess

from victim import (EMULATE, INERT, SKIPPED, clean, fresh, library, prog, reports, run, same,
                    succeeds)


def have(tool):
    if shutil.which(tool):
        return True
    print("skipped: no", tool)
    return False


# a debugger sees the program stop for nothing
if have("gdb"):
    for command in ((prog("ends"), "return"), (prog("threads"), "cancel")):
        env = [f"set environment {k} {v}" for k, v in EMULATE.items()]
        env.append(f"set environment LD_PRELOAD {library}")
        steps = [x for line in ["set startup-with-shell off", *env, "run"] for x in ("-ex", line)]
        done = run("gdb", "-batch", "-nx", *steps, "--args", *command, preload=None, settings=INERT)
        assert "received signal" not in done.stdout, done
        ending = "exited with code 07" if "return" in command else "exited normally"
        assert ending in done.stdout, done
if have("strace"):
    for command in ((prog("ends"), "return"), (prog("ends"), "main-by-pthread_exit")):
        wanted = run(*command, preload=None, settings=INERT)
        log = fresh() / "log"
        env = [x for k, v in (EMULATE | {"LD_PRELOAD": library}).items() for x in ("-E", f"{k}={v}")]
        done = run("strace", "-f", "-o", log, *env, *command, preload=None, settings=INERT)
        assert done.returncode == wanted.returncode and done.stdout == wanted.stdout, done
        assert "--- SIGURG" in log.read_text()

# twice by two paths, loaded late, linked
out = fresh()
copy = fresh() / "libother.so"
shutil.copy(library, copy)
for first, second in ((library, copy), (copy, library)):
    both = f"{first}:{second}"
    succeeds(prog("threads"), "cancel", preload=both, output="done\n")
    succeeds(prog("signals"), "own", preload=both)
    succeeds(prog("process"), "alone", preload=both)
both = f"{library}:{copy}"
succeeds(prog("hello"), preload=both, output="hello\n", settings=EMULATE | {"NVM_OUT": f"{out}/r.json"})
assert len(reports(out)) == 1
for settings in (INERT, EMULATE):
    succeeds(prog("opener"), library, preload=None, output="hello\n", settings=settings)
    succeeds(prog("opener"), library, preload=copy, output="hello\n", settings=settings)
    succeeds(prog("hello_linked"), preload=None, output="hello\n", settings=settings)
    succeeds(prog("hello_linked"), output="hello\n", settings=settings)
quiet = fresh()
succeeds(prog("hello_linked"), preload=None, output="hello\n", settings={"NVM_OUT": f"{quiet}/r.json"})
assert not list(quiet.iterdir())
traced = run("sh", "-c", f"cat /proc/$$/task/*/comm; exec {prog('hello_linked')}", settings=INERT)
assert traced.stdout == "sh\nhello\n", traced

# programs that the library cannot enter run as ever below one that it is in
succeeds("sh", "-c", prog("hello_static"), output="hello\n")
same("env", "-i", prog("hello"))
source = fresh() / "word.c"
source.write_text("int main(void) { return sizeof(void *) - 4; }\n")
word = source.with_suffix("")
built = subprocess.run(["gcc", "-m32", "-static", "-o", word, source], env=clean, capture_output=True)
if built.returncode == 0:
    assert run("sh", "-c", f"{word}").returncode == 0
else:
    print("skipped: no 32-bit compiler")

# programs with a sanitizer's runtime: that of gcc wants to be the first library, and clang's lies
# in the program; none of them is harmed
sanitized = fresh() / "sanitized.c"
sanitized.write_text("""#include <pthread.h>
#include "work.h"
static void *work(void *a) { work_ms(60); return a; }
int main(void) { pthread_t t; void *r; CHECK(!pthread_create(&t, 0, work, 0)); work_ms(60);
CHECK(!pthread_join(t, &r)); puts("hello"); return 3; }
""")
work_h = pathlib.Path(__file__).parent.parent / "prog"
for compiler in ("gcc", "clang-14"):
    for kind in ("address", "thread", "undefined"):
        if not shutil.which(compiler):
            print("skipped: no", compiler)
            continue
        binary = sanitized.with_suffix("")
        if subprocess.run([compiler, "-g", "-O1", "-D_GNU_SOURCE", f"-I{work_h}", f"-fsanitize={kind}",
                           "-pthread", "-o", binary, sanitized], env=clean,
                          capture_output=True).returncode:
            print("skipped: no", compiler, kind)
            continue
        linked = subprocess.run(["ldd", binary], capture_output=True, text=True).stdout
        first = re.findall(r"=> (\S*lib[atu]\w*san\S*)", linked)
        # gcc's may not be able to lay out its own memory here
        if run(binary, preload=None, settings=INERT).returncode != 3:
            print("skipped: not without the library either:", compiler, kind)
            continue
        done = run(binary, preload=":".join([*first, str(library)]))
        assert (done.returncode, done.stdout) == (3, "hello\n"), (compiler, kind, done)
        lines = done.stderr.splitlines()
        assert len(lines) == (kind == "thread"), (compiler, kind, done)
        assert all("runs natively" in x and "ThreadSanitizer" in x for x in lines), done

# ordinary programs say and do the same
TOOLS = {
    "sh": "for i in 1 2 3; do echo $i | cat; done; (exit 3); echo $?; kill -TERM $$",
    "python3": "import subprocess, threading, time\n"
               "t = [threading.Thread(target=sum, args=(range(200000),)) for _ in range(3)]\n"
               "[x.start() for x in t]; [x.join() for x in t]\n"
               "print(subprocess.run(['echo', 'child'], capture_output=True).stdout)\n"
               "time.sleep(0.01); raise SystemExit(5)",
    "perl": "my %h = map { $_ => 1 } 1 .. 50000; print scalar(keys %h), qq(\\n); exit 6",
}
for tool, script in TOOLS.items():
    if have(tool):
        same(tool, "-e" if tool == "perl" else "-c", script)
