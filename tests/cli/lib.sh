# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# For shell tests of the command: a folder of their own, and cases as TAP.
#
# run ARGS...                   runs cgwb; its exit status, output and messages are $status, $work/out, $work/err
# expect NAME STATUS [TEXT...]  a case: that status, and each TEXT somewhere in the messages
# holds NAME FILTER FILE       a case: jq says true of the file
# ok NAME / not_ok NAME         a case of another kind

# shellcheck disable=SC2154 # cgwb is the test's
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
trap 'exit 99' HUP INT TERM
cases=0

ok() {
	cases=$((cases + 1))
	echo "ok $cases - $*"
}

not_ok() {
	cases=$((cases + 1))
	echo "not ok $cases - $*"
	echo "# status $status"
	sed 's/^/# out: /' "$work/out"
	sed 's/^/# err: /' "$work/err"
}

skip() {
	name=$1
	shift
	cases=$((cases + 1))
	echo "ok $cases - $name # SKIP $*"
}

# The condition is the last command's status.
is() {
	if [ $? -eq 0 ]; then ok "$@"; else not_ok "$@"; fi
}

run() {
	(cd "$work" && exec "$cgwb" "$@") >"$work/out" 2>"$work/err"
	status=$?
}

expect() {
	name=$1
	wanted=$2
	shift 2
	if [ "$status" -ne "$wanted" ]; then
		not_ok "$name"
		return
	fi
	for text in "$@"; do
		if ! grep -qF -- "$text" "$work/err"; then
			not_ok "$name (no '$text')"
			return
		fi
	done
	ok "$name"
}

# A failure is one line, which says whose it is.
expect_line() {
	if [ "$(grep -vc '^cgwb: .* \.\.\.$' "$work/err")" -ne 1 ] || ! grep -q '^cgwb: ' "$work/err"; then
		not_ok "$1 (not one line)"
	else
		expect "$@"
	fi
}

holds() {
	jq "$2" "$3" >"$work/out" 2>"$work/err"
	[ "$(cat "$work/out")" = true ]
	is "$1"
}

done_testing() {
	echo "1..$cases"
}
