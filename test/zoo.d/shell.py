"""Shells and scripting languages, and what they start."""

from harness import program

BASH = r"""
trap 'echo usr1' USR1
trap 'echo end' EXIT
n=0
for ((i = 0; i < 150000; i++)); do ((n += i * 7 % 13)); done
echo $n $(seq 1 2000 | sort -r | head -1) "$(printf '%s\n' {a..e} | tr a-e A-E | paste -sd,)"
for i in {1..50}; do /bin/true || echo broken; done
for i in {1..20}; do (exit $i); s=$?; [ $s = $i ] || echo "status $s"; done
declare -A seen
while read -r word; do seen[${word:0:2}]=1; done < <(seq 1 3000)
echo ${#seen[@]}
sleep 0.2 & sleeper=$!
kill -USR1 $$
wait $sleeper; echo waited $?
sleep 30 & sleep 0.1; kill -TERM $!; wait $! 2>/dev/null; echo killed $?
coproc upper { tr -u a-z A-Z 2>/dev/null || tr a-z A-Z; }
echo hello >&${upper[1]}; eval "exec ${upper[1]}>&-"; cat <&${upper[0]}
read -t 0.2 answer < <(sleep 1); echo read $?
timeout 0.2 sleep 9; echo timeout $?
yes | head -100000 | cksum
echo 'echo inner $((6 * 7)); exit 4' | bash; echo $?
env -i bash -c 'echo ${LD_PRELOAD-none}'
(exec bash -c 'exit 7')
"""

PERL = r"""
$| = 1;
my ($seed, %count) = (1);
for (1 .. 500000) { $seed = ($seed * 1103515245 + 12345) & 0x7fffffff; $count{$seed % 5003}++ }
print join(' ', (sort { $count{$b} <=> $count{$a} || $a <=> $b } keys %count)[0 .. 4]), "\n";
my $text = join ' ', map { sprintf 'w%05d', $_ * 7919 % 30011 } 1 .. 20000;
my $found = () = $text =~ /w1(\d+)5\b/g;
print "$found\n";
my $rang = 0;
local $SIG{ALRM} = sub { $rang++ };
alarm 1; my $slept = sleep 10; print "rang $rang\n";
eval { local $SIG{ALRM} = sub { die "late\n" }; alarm 1; select undef, undef, undef, 9; }; print $@;
for my $n (1 .. 30) { my $pid = fork; exit $n if !$pid; waitpid $pid, 0; print $? >> 8, ' ' }
print "\n";
open my $pipe, '-|', 'seq 1 5' or die; print map { tr/\n/,/r } <$pipe>; close $pipe;
print system('exit 9') >> 8, ' ', `echo back`;
pipe my $in, my $out;
if (!fork) { close $in; print $out 'x' x 300000; exit } close $out;
my $all = join '', <$in>; wait; print length $all, "\n";
exit 6;
"""

GIT = r"""
export GIT_AUTHOR_DATE='2020-01-01T00:00:00Z' GIT_COMMITTER_DATE='2020-01-01T00:00:00Z'
git config --global user.name Nobody; git config --global user.email nobody@example.org
git config --global init.defaultBranch main; git config --global gc.autoDetach false
git init -q one && cd one
for i in $(seq 1 400); do seq $i $((i + 400)) >file$i; done
git add . && git commit -qm first
for i in $(seq 1 25); do
	seq $((i * 3)) $((i * 3 + 500)) >file$i; git commit -qam "change $i"
done
git rev-parse HEAD
git checkout -qb side HEAD~10 && echo side >side && git add side && git commit -qm side
git rebase -q main && git log --oneline | cksum
git checkout -q main && git merge -q --no-edit side && git tag -a -m v1 v1
git -c pack.threads=2 repack -adfq --depth=20 && git fsck --full
git count-objects -v | grep in-pack
git clone -q --no-local . ../two 2>&1; cd ../two
git rev-parse HEAD; git describe
git bisect start -q HEAD HEAD~20 >/dev/null
git bisect run sh -c '[ $(head -1 file20) = 20 ]' | tail -1
git blame -s file3 | cksum; git grep -c '^123$' HEAD~3 | wc -l; git archive HEAD | cksum
git gc -q --aggressive; git status --short | wc -l; git diff --stat HEAD~25 | tail -1
git no-such-command 2>/dev/null; exit $?
"""

TOOLS = r"""
seq 1 300000 >numbers
xz -T2 -1 -k numbers && xz -dc numbers.xz | cksum
gzip -k numbers && gunzip -c numbers.gz | cksum
tar cf - numbers numbers.gz numbers.xz | tar tf -
sort --parallel=2 -S 1M -r numbers | head -3
awk '{ s += $1 * $1 % 97 } END { print s, NR }' numbers
sed -n 's/^\(.\)99\(.*\)$/\2\1/p' numbers | md5sum
find /usr/share/doc -maxdepth 1 -name 'lib*' -print0 |
	xargs -0 -P2 -n40 printf '%s\n' | sort | cksum
diff <(seq 1 20000) <(seq 5 3 20000) | wc -l
split -n 4 numbers part. && cat part.* | cmp - numbers && dd if=numbers bs=64k 2>/dev/null | wc -c
timeout -s INT 0.3 cat /dev/zero | head -c 100000000 | wc -c
"""


@program("bash", "bash", "bash", busy="bash", short=True)
def bash(z):
    """arithmetic, pipes, traps, background jobs, coprocesses, time-outs, death by a signal"""
    z.run("bash", "-c", BASH, status=7)
    z.run("bash", "-c", "trap 'kill -TERM $$' EXIT; exit 0", status=-15)


@program("perl", "perl", "perl", busy="perl", short=True)
def perl(z):
    """hashes, regular expressions, alarm, fork, pipes, death by a signal"""
    z.run("perl", "-e", PERL, status=6)
    z.run("perl", "-e", "kill 'KILL', $$", status=-9)


@program("git", "git", "git", busy="git", short=True)
def git(z):
    """commits, rebase, repack with threads, fsck, clone, bisect, gc"""
    z.run("bash", "-c", GIT, status=1)


@program("tools", "xz gzip tar awk", "xz-utils gzip tar mawk")
def tools(z):
    """xz with threads, gzip, tar, sort, awk, sed, find, xargs, dd, timeout"""
    z.run("bash", "-c", TOOLS)
