# zsh -f completion.zsh DIRECTORY LINE...: prints what zsh with the completions of DIRECTORY offers for
# each line, one a line, with an empty line after each. zsh completes at a terminal alone: here, one of
# a shell's that tells what it would show.
zmodload zsh/zpty
work=$(mktemp -d)
trap 'zpty -d shell 2>/dev/null; rm -rf $work' EXIT

cat >$work/.zshrc <<END
PROMPT= fpath=($1 \$fpath)
autoload -U compinit
compinit -u -D
compadd() {
	local -a offered
	if [[ \${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then
		builtin compadd "\$@"
		return
	fi
	builtin compadd -A offered "\$@"
	(( \$#offered == 0 )) || print -rl -- \$offered >>$work/offered
	builtin compadd "\$@"
}
ask() {
	BUFFER=\$(<$work/line) CURSOR=1000
	zle list-choices
	BUFFER=
	: >$work/answered
}
zle -N ask
bindkey '^T' ask
: >$work/answered
END
shift

answered() {
	repeat 6000; do
		[[ ! -e $work/answered ]] || { rm $work/answered; return }
		zpty -rt shell drained
		sleep 0.01
	done
	print -u2 "zsh does not answer"
	exit 1
}

zpty shell env ZDOTDIR=$work TERM=vt100 zsh -d -i
answered
for line; do
	: >$work/offered
	print -rn -- $line >$work/line
	zpty -wn shell $'\x14'
	answered
	sort -u $work/offered
	print
done
