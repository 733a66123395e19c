"""Servers under load, and a library that is a database."""

import contextlib
import http.client
import re
import signal
import socket
import threading

from harness import answers, free_port, program, wait_until

SQL = """
CREATE TABLE t(id INTEGER PRIMARY KEY, k INTEGER, name TEXT);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)
  INSERT INTO t SELECT i, (i * 7919) %% 100003, 'name' || (i * 31 %% 5003) FROM n;
CREATE INDEX tk ON t(k);
SELECT count(*), sum(a.id) FROM t a JOIN t b ON a.k = b.id WHERE b.name LIKE 'name1%%';
SELECT name, count(*), avg(k) FROM t GROUP BY name ORDER BY 3 DESC LIMIT 3;
UPDATE t SET k = k + 1 WHERE name > 'name3';
DELETE FROM t WHERE id %% 11 = 3;
SELECT count(DISTINCT k) FROM t;
PRAGMA integrity_check;
"""

REDIS = """
debug populate %d key 100
eval "for i = 1, 20000 do redis.call('zadd', 'z', i * 7919 %% 10007, i) end" 0
eval "for i = 1, 5000 do redis.call('rpush', 'l', i); redis.call('hset', 'h', i, i * i) end" 0
sort l desc limit 0 3
zrange z 100 105
set gone 1 px 50
blpop nothing 0.2
bgsave
debug digest
debug reload
debug digest
bgrewriteaof
dbsize
get gone
"""

NGINX = """
daemon off; worker_processes 2; pid %(dir)s/pid; error_log %(dir)s/error.log notice;
events { worker_connections 64; }
http {
	access_log %(dir)s/access.log; client_body_temp_path %(dir)s/body; proxy_temp_path %(dir)s/proxy;
	fastcgi_temp_path %(dir)s/f; uwsgi_temp_path %(dir)s/u; scgi_temp_path %(dir)s/s;
	gzip on; gzip_types text/plain; gzip_min_length 1;
	server { listen 127.0.0.1:%(port)d; root %(dir)s/files; }
}
"""

POSTGRES = """
SELECT (SELECT sum(abalance) FROM pgbench_accounts) = (SELECT sum(delta) FROM pgbench_history),
  (SELECT sum(bbalance) FROM pgbench_branches) = (SELECT sum(tbalance) FROM pgbench_tellers),
  (SELECT count(*) FROM pgbench_history);
SET max_parallel_workers_per_gather = 2; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
EXPLAIN (COSTS OFF) SELECT count(*) FROM pgbench_accounts WHERE aid % 3 = 1;
SELECT sum(aid % 7), count(DISTINCT aid % 1009) FROM pgbench_accounts;
SELECT sum(a.aid) FROM pgbench_accounts a JOIN pgbench_accounts b ON a.aid = b.aid * 3;
LISTEN n; NOTIFY n, 'text';
SET statement_timeout = 300; SELECT pg_sleep(20);
SET statement_timeout = 0; SELECT pg_sleep(0.2);
SET lock_timeout = 100; BEGIN; LOCK pgbench_branches; COMMIT;
SELECT pg_cancel_backend(pg_backend_pid());
VACUUM ANALYZE pgbench_accounts; CHECKPOINT;
SELECT 1/0;
"""


@program("sqlite3", "sqlite3", "sqlite3", busy="sqlite3", short=True)
def sqlite3(z):
    """a join, an update and an integrity check, in memory and in a file with a write-ahead log"""
    text = SQL % (60000 if z.short else 400000)
    z.run("sqlite3", ":memory:", text=text)
    z.run("sqlite3", "file.db", text="PRAGMA journal_mode=WAL;" + text)


@program("redis", "redis-server redis-cli redis-benchmark", "redis-server redis-tools",
         busy="redis-server redis-benchmark", short=True)
def redis(z):
    """redis-server with threads under redis-benchmark; snapshots and log rewrites by fork"""
    path = z.dir / "socket"
    client = ("redis-cli", "-s", path)
    count = 20000 if z.short else 200000
    load = ("redis-benchmark", "-s", path, "-q", "-r", "10000", "-P", "8", "-n", count, "-t",
            "set,get,lpush,lpop,sadd,zadd,mset,lrange_100")
    with z.serve("redis-server", "--port", "0", "--unixsocket", path, "--io-threads", "2", "--dir",
                 z.dir, "--appendonly", "yes", "--enable-debug-command", "yes", "--save", "1 100",
                 ready=path.exists):
        z.run(*client, text=REDIS % count)
        z.run(*load, view=benchmarked)
        z.run(*load, "--threads", "2", view=benchmarked)
        z.run(*client, "ping")


def benchmarked(text):
    """Which tests redis-benchmark has done."""
    return re.findall(r"^(?:.*\r)?(\S[^:\r\n]*): [\d.]+ requests per second", text, re.M)


def talk(port, numbers, wrong):
    """A client of memcached that wants back what it has set."""
    with socket.create_connection(("127.0.0.1", port), 20) as s, s.makefile("rwb") as f:
        def ask(*lines):
            f.write(b"".join(line + b"\r\n" for line in lines))
            f.flush()
            return f.readline().strip()

        for n in numbers:
            value = b"%d," % n * (n % 300 + 1)
            if ask(b"set k%d 0 0 %d" % (n, len(value)), value) != b"STORED":
                wrong.append(("set", n))
        for n in numbers:
            value = b"%d," % n * (n % 300 + 1)
            if (ask(b"get k%d" % n) != b"VALUE k%d 0 %d" % (n, len(value))
                    or f.readline().strip() != value or f.readline() != b"END\r\n"):
                wrong.append(("get", n))


def in_threads(function, argument_lists):
    threads = [threading.Thread(target=function, args=a) for a in argument_lists]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@program("memcached", "memcached", "memcached", busy="memcached", short=True)
def memcached(z):
    """two threads, four clients at once"""
    port, wrong = free_port(), []
    with z.serve("memcached", "-l", "127.0.0.1", "-p", port, "-U", "0", "-t", "2", "-m", "512",
                 "-u", "nobody", ready=lambda: answers(port)):
        each = 4000 if z.short else 20000
        in_threads(talk, [(port, range(c * each, (c + 1) * each), wrong) for c in range(4)])
    z.say("wrong answers", wrong[:5])


def fetch(port, count, got):
    """A client of nginx: half of its answers come compressed."""
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", port, timeout=20)) as web:
        for n in range(count):
            web.request("GET", f"/{n % 20}", headers={"Accept-Encoding": "gzip"} if n % 2 else {})
            answer = web.getresponse()
            got.append((n, answer.status, len(answer.read())))


@program("nginx", "nginx", "nginx-light", busy="nginx", short=True)
def nginx(z):
    """two worker processes, four clients; the workers are replaced under way"""
    port, got, count = free_port(), [], 500 if z.short else 4000
    (z.dir / "files").mkdir()
    for n in range(20):
        (z.dir / "files" / str(n)).write_text("".join(str(i * n) for i in range(n * 2000)))
    (z.dir / "conf").write_text(NGINX % {"dir": z.dir, "port": port})
    with z.serve("nginx", "-c", z.dir / "conf", "-p", z.dir, "-e", z.dir / "error.log",
                 stop=signal.SIGQUIT, ready=lambda: answers(port)) as server:
        in_threads(fetch, [(port, count, got)] * 4)
        server.send_signal(signal.SIGHUP)
        wait_until(lambda: (z.dir / "error.log").read_text().count("exited with code 0") == 2,
                   "the workers stay")
        in_threads(fetch, [(port, count, got)] * 4)
    z.say("answers", sorted(got))


@program("postgresql", "/usr/lib/postgresql/*/bin/postgres /usr/lib/postgresql/*/bin/initdb "
         "/usr/lib/postgresql/*/bin/pgbench /usr/lib/postgresql/*/bin/psql "
         "/usr/lib/postgresql/*/bin/pg_isready", "postgresql", busy="postgres pgbench", short=True)
def postgresql(z):
    """initdb, pgbench with four clients, parallel queries, notifications, time-outs, shutdown"""
    z.give_to("postgres")
    z.run("initdb", "-D", "data", "--no-sync", "-A", "trust", "-U", "postgres")
    at = ("-h", z.dir, "-U", "postgres")
    with z.serve("postgres", "-D", "data", "-k", z.dir, "-c", "listen_addresses=", "-c",
                 "fsync=off", ready=lambda: z.works("pg_isready", *at), stop=signal.SIGINT):
        z.run("pgbench", *at, "-i", "-q", "-s", "3", errors=False)
        z.run("pgbench", *at, "-n", "-c", "4", "-j", "2", "-t", "200" if z.short else "1500",
              view=transactions)
        z.run("psql", *at, "-X", text=POSTGRES, view=without_processes)
        z.run("pgbench", *at, "-n", "-S", "-c", "3", "-M", "prepared", "-t",
              "300" if z.short else "3000", view=transactions)


def transactions(text):
    return re.findall(r"^number of (?:transactions|failed).*$", text, re.M)


def without_processes(text):
    return re.sub(r"server process with PID \d+", "server process", text)
