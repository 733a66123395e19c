"""Compilers and make."""

from harness import HERE, program

PART = """
#include "parts.h"

static int table[64];

int part_%(n)d(const char *text, int length)
{
	int sum = %(n)d;

	for (int i = 0; i < length; i++) {
		switch (text[i] & 7) {
		case 0: sum += table[sum & 63]; break;
		case 1: sum ^= i * %(n)d; break;
		case 2: table[i & 63] = sum; break;
		default: sum = (int)((unsigned)sum * 33u + (unsigned)text[i]);
		}
	}
	return sum;
}
"""

MAKEFILE = r"""
CFLAGS = -O2 -g -Wall
parts = $(patsubst %.c,%.o,$(wildcard part_*.c))
all: program sub/done
parts.h: part_0.c
	for f in $$(ls part_*.c | sort); do echo "int $${f%.c}(const char *, int);"; done >$@
$(parts) main.o: %.o: %.c parts.h
	@$(CC) $(CFLAGS) -c -o $@ $<
main.c: parts.h
	(echo '#include <stdio.h>'; echo '#include "parts.h"'; echo 'int main(void) {'; \
	sed 's/^int \(.*\)(.*/printf("%d ", \1("some text", 9));/' parts.h; echo 'return 0; }') >$@
libparts.a: $(parts)
	$(AR) rcs $@ $^
program: main.o libparts.a
	$(CC) -o $@ $^
sub/done:
	$(MAKE) -C sub -f ../sub.mk done
.PHONY: all
"""

SUB = """
done: a b c d
	cat $^ >$@
a b c d:
	sleep 0.1; echo $@ >$@
"""


def write_project(folder, parts):
    (folder / "sub").mkdir(parents=True)
    (folder / "Makefile").write_text(MAKEFILE)
    (folder / "sub.mk").write_text(SUB)
    for n in range(parts):
        (folder / f"part_{n}.c").write_text(PART % {"n": n})


def any_order(text):
    """What parallel jobs print."""
    return sorted(text.splitlines())


@program("make", "make gcc", "make gcc libc6-dev", busy="cc1", short=True)
def make(z):
    """make -j2 of a C project with a generated header, a library, a make below; then a failure"""
    write_project(z.dir / "project", 12 if z.short else 40)
    z.run("make", "-j2", "-C", "project", view=any_order)
    z.run("./project/program")
    z.run("make", "-j2", "-C", "project")
    z.run("rm", "project/part_3.o", "project/libparts.a")
    (z.dir / "project" / "part_3.c").write_text("int part_3(void) { return no_such_name; }\n")
    z.run("make", "-j2", "-k", "-C", "project", view=any_order, status=2)


@program("gcc", "gcc", "gcc libc6-dev", busy="cc1", short=True)
def gcc(z):
    """gcc -O2 of one large file: the same assembler text; errors; link-time optimization"""
    count = 60 if z.short else 300
    parts = (PART.replace("table", "table_%(n)d") % {"n": n} for n in range(count))
    (z.dir / "parts.h").write_text("")
    (z.dir / "large.c").write_text("".join(parts))
    (z.dir / "main.c").write_text('int part_7(const char *, int);\n'
                                  'int main(void) { return part_7("abc", 3) & 127; }\n')
    z.run("gcc", "-O2", "-S", "large.c", "-o", "large.s")
    z.run("cksum", "large.s")
    z.run("gcc", "-O1", "-flto=2", "large.c", "main.c", "-o", "program")
    z.run("./program", status=74)
    (z.dir / "bad.c").write_text("int main(void) { return x; }\n")
    z.run("gcc", "-Wall", "bad.c", status=1)


@program("g++", "g++", "g++ libc6-dev", busy="cc1plus threads", short=True)
def gplusplus(z):
    """g++ of a program with threads, futures and exceptions, which then runs"""
    z.run("g++", "-O2", "-std=c++17", "-pthread", HERE / "threads.cc", "-o", "threads")
    z.run("./threads", "40000" if z.short else "400000", status=5)
