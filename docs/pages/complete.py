#!/usr/bin/env python3
"""docs/pages/complete.py NVMEMU DIRECTORY

Writes completions of bash, zsh and fish into DIRECTORY, from what NVMEMU --help prints."""

import pathlib
import sys

import helptext
import values

DEVICES = "devices 2>/dev/null | sed -n 's/^\\([^ ]\\{1,\\}\\) .*/\\1/p'"
NOTE = "# Made from what nvmemu --help prints.\n"


def quoted(text):
    return "'" + text.replace("'", "'\\''") + "'"


def options_of(command):
    """(option, what may follow it); --help is not in its own text."""
    about = helptext.Option(["--help"], "", False, "--help", "what it does, and its options")
    return [(option, values.of_option(option, command.options))
            for option in [*command.options, about]]


# -- bash ------------------------------------------------------------------------------------------

BASH = r'''
_nvmemu_files()
{
	compopt -o filenames 2>/dev/null
	mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- "$1")
}

_nvmemu_words() # words, what they begin with
{
	mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -W "$1" -- "$2")
}

_nvmemu_devices()
{
	_nvmemu_words "$("${COMP_WORDS[0]}" @DEVICES@)" "$1"
}

# Options of a command; values of an option; what else a command takes.
_nvmemu_options()
{
	case $1 in
@OPTIONS@	esac
}

_nvmemu_value() # "COMMAND OPTION", what it begins with; fails where the option takes no value
{
	case $1 in
@VALUES@	*) return 1 ;;
	esac
}

_nvmemu_argument()
{
	case $1 in
@ARGUMENTS@	esac
}

# Whether an option's value is a word of its own.
_nvmemu_takes() # command, option
{
	case $1 in
@TAKES@	*) return 1 ;;
	esac
}

_nvmemu_program() # where in the line the program stands
{
	local cur=${COMP_WORDS[COMP_CWORD]}

	if declare -F _command_offset >/dev/null; then
		_command_offset "$1"
	elif [ "$1" -eq "$COMP_CWORD" ]; then
		compopt -o filenames 2>/dev/null
		mapfile -t COMPREPLY < <(compgen -c -- "$cur"; compgen -d -- "$cur")
	else
		_nvmemu_files "$cur"
	fi
}

_nvmemu()
{
	local cur=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]-} option= at length

	COMPREPLY=()
	if [ "$COMP_CWORD" -eq 1 ]; then
		_nvmemu_words '@COMMANDS@ --help --version' "$cur"
		return
	fi
	for ((at = 2; at < COMP_CWORD; at++)); do
		case ${COMP_WORDS[at]} in
		--)
			case $command in
			@PROGRAMS@) _nvmemu_program $((at + 1)) ;;
			*) _nvmemu_argument "$command" "$cur" ;;
			esac
			return
			;;
		-*)
			length=0
			# bash takes a '=' for a word of its own.
			if [ "${COMP_WORDS[at + 1]}" = = ]; then
				length=2
			elif _nvmemu_takes "$command" "${COMP_WORDS[at]}"; then
				length=1
			fi
			if ((length > 0 && at + length >= COMP_CWORD)); then
				option=${COMP_WORDS[at]}
				break
			fi
			((at += length))
			;;
		*)
			case $command in
			@FIRST@)
				_nvmemu_program "$at"
				return
				;;
			esac
			;;
		esac
	done
	if [ -n "$option" ]; then
		[ "$cur" != = ] || cur=
		_nvmemu_value "$command $option" "$cur"
	elif [[ $cur == -* ]]; then
		_nvmemu_words "$(_nvmemu_options "$command")" "$cur"
	else
		case $command in
		@FIRST@) _nvmemu_program "$COMP_CWORD" ;;
		*) _nvmemu_argument "$command" "$cur" ;;
		esac
	fi
}

complete -F _nvmemu nvmemu
'''


def bash_actions(found):
    actions = []
    if found.words:
        actions.append(f"_nvmemu_words {quoted(' '.join(found.words))} \"$2\"")
    if found.kind:
        actions.append(f'_nvmemu_{found.kind} "$2"')
    return "; ".join(actions) or ":"


def bash(commands):
    rows = {"OPTIONS": "", "VALUES": "", "ARGUMENTS": "", "TAKES": ""}
    for name, _, command in commands:
        options = options_of(command)
        names = " ".join(spelt for option, _ in options for spelt in option.names)
        taking = "|".join(spelt for option, _ in options for spelt in option.names
                          if option.value and not option.bound)
        rows["OPTIONS"] += f"\t{name}) echo {quoted(names)} ;;\n"
        rows["ARGUMENTS"] += f"\t{name}) {bash_actions(values.of_command(command))} ;;\n"
        if taking:
            rows["TAKES"] += f'\t{name}) [[ $2 =~ ^({taking})$ ]] ;;\n'
        for option, found in options:
            patterns = " | ".join(quoted(f"{name} {spelt}") for spelt in option.names)
            if option.value:
                rows["VALUES"] += f"\t{patterns}) {bash_actions(found)} ;;\n"
    text = BASH.replace("@DEVICES@", DEVICES)
    for mark, row in rows.items():
        text = text.replace(f"@{mark}@", row)
    text = text.replace("@COMMANDS@", " ".join(name for name, _, _ in commands))
    text = text.replace("@PROGRAMS@", " | ".join(n for n, _, c in commands if values.program(c)))
    return NOTE + text.replace("@FIRST@", " | ".join(
        n for n, _, c in commands if values.program(c) == "word"))


# -- zsh -------------------------------------------------------------------------------------------


def zsh_text(text):
    """Within a specification: brackets and colons are syntax."""
    return "".join("\\" + c if c in "[]:\\" else c for c in text)


def zsh_action(found):
    words = " ".join(found.words)
    if found.kind == "files":
        return "{_alternative 'words:word:(%s)' 'files:file:_files'}" % words if words else "_files"
    return "_nvmemu_devices" if found.kind == "devices" else f"({words})" if words else " "


def zsh_options(command):
    for option, found in options_of(command):
        others = "(" + " ".join(option.names) + ")"
        for name in option.names:
            suffix = "" if not option.value else "=-" if option.bound else \
                "=" if name.startswith("--") else "+"
            colons = "::" if option.bound else ":"
            value = f"{colons}value:{zsh_action(found)}" if option.value else ""
            yield quoted(f"{others}{name}{suffix}[{zsh_text(option.text)}]{value}")


def zsh_arguments(command):
    if values.program(command) == "word":
        return [quoted("(-)1:program: _command_names -e"), quoted("*::arguments: _normal")]
    found = values.of_command(command)
    return [quoted(f"*:argument:{zsh_action(found)}")] if found.words or found.kind else []


def zsh(commands):
    text = "#compdef nvmemu\n" + NOTE + "\n_nvmemu_devices()\n{\n\tlocal -a names\n" + \
        f'\tnames=(${{(f)"$(_call_program devices $nvmemu {DEVICES})"}})\n' + \
        "\tcompadd -a names\n}\n\n_nvmemu()\n{\n" + \
        "\tlocal nvmemu=$words[1] context state state_descr line curcontext=$curcontext\n" + \
        "\ttypeset -A opt_args\n\n\t_arguments -C '(- *)--help[what it does, and its commands]' " + \
        "'(- *)--version[the version]' \\\n\t\t'1:command:->command' '*::argument:->argument'\n" + \
        "\tcase $state in\n\tcommand)\n\t\tlocal -a commands=(\n"
    for name, summary, _ in commands:
        text += f"\t\t\t{quoted(name + ':' + zsh_text(summary))}\n"
    text += "\t\t)\n\t\t_describe command commands\n\t\t;;\n\targument)\n\t\tcase $line[1] in\n"
    for name, _, command in commands:
        rows = [*zsh_options(command), *zsh_arguments(command)]
        text += f"\t\t{name})\n\t\t\t_arguments -S " + " \\\n\t\t\t\t".join(rows) + "\n\t\t\t;;\n"
    return text + "\t\tesac\n\t\t;;\n\tesac\n}\n\n_nvmemu \"$@\"\n"


# -- fish ------------------------------------------------------------------------------------------

FISH = r'''
function __nvmemu_devices
    set -l words (commandline -opc)
    $words[1] @DEVICES@
end

function __nvmemu_command
    set -l words (commandline -opc)
    test (count $words) -ge 2; and test $words[2] = $argv[1]
end

# Where the program's name stands, or would. The arguments: options whose value is a word of its own.
function __nvmemu_program_at
    set -l words (commandline -opc)
    set -l at 3
    while test $at -le (count $words)
        switch $words[$at]
            case --
                math $at + 1
                return
            case '-*'
                contains -- $words[$at] $argv; and set at (math $at + 1)
            case '*'
                break
        end
        set at (math $at + 1)
    end
    echo $at
end

function __nvmemu_in_program
    test (__nvmemu_program_at $argv) -le (count (commandline -opc))
end

function __nvmemu_program
    set -l words (commandline -opc)
    set -l at (__nvmemu_program_at $argv)
    set -l before
    if test $at -le (count $words)
        set before (string escape -- $words[$at..-1])
    else if string match -q -- '-*' (commandline -ct)
        return
    end
    complete -C (string join ' ' -- $before (commandline -ct))
end

complete -c nvmemu -f
complete -c nvmemu -n __fish_use_subcommand -l help -d 'what it does, and its commands'
complete -c nvmemu -n __fish_use_subcommand -l version -d 'the version'
'''


def fish_quoted(text):
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def fish_values(found):
    words = [*found.words, *(["(__nvmemu_devices)"] if found.kind == "devices" else [])]
    return f" -a {fish_quoted(' '.join(words))}" if words else ""


def fish(commands):
    lines = []
    for name, summary, command in commands:
        lines.append(f"complete -c nvmemu -n __fish_use_subcommand -a {name} -d {fish_quoted(summary)}")
        takes = " ".join(spelt for option in command.options for spelt in option.names
                         if option.value and not option.bound)
        where = f"__nvmemu_command {name}"
        if values.program(command) == "word":
            where += f"; and not __nvmemu_in_program {takes}"
        of = f"complete -c nvmemu -n {fish_quoted(where)}"
        for option, found in options_of(command):
            spelt = " ".join(f"-l {n[2:]}" if n.startswith("--") else f"-s {n[1:]}"
                             for n in option.names)
            kind = "" if not option.value or option.bound else " -r -F" if found.kind == "files" else " -x"
            lines.append(f"{of} {spelt}{kind}{fish_values(found)} -d {fish_quoted(option.text)}")
        found = values.of_command(command)
        if values.program(command) == "word":
            lines.append(f"complete -c nvmemu -n '__nvmemu_command {name}' "
                         f"-x -a '(__nvmemu_program {takes})'")
        elif found.words or found.kind:
            lines.append(f"{of}{' -F' if found.kind == 'files' else ''}{fish_values(found)}")
    return NOTE + FISH.replace("@DEVICES@", DEVICES) + "\n".join(lines) + "\n"


def main(nvmemu, directory):
    _, commands = helptext.read_all(nvmemu)
    directory = pathlib.Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "nvmemu").write_text(bash(commands))
    (directory / "_nvmemu").write_text(zsh(commands))
    (directory / "nvmemu.fish").write_text(fish(commands))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
