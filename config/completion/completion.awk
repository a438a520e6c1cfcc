# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Fills in a template of bash completion. The first file is what rows.h becomes, the second the
# template, where these lines and words are replaced:
#
#	@values@	a branch of "case" for each flag with an argument: what may follow
#	@flags@		all flags
#	@commands@	names of the commands of a commands.def
#	@engines@ @specs@	variables of awk, blanks between words
FNR == NR {
	text = text $0 " "
	next
}

FNR == 1 {
	read_rows()
}

/^@values@$/ {
	printf "%s", branches
	next
}

{
	gsub(/@flags@/, flags)
	gsub(/@commands@/, commands)
	gsub(/@engines@/, engines)
	gsub(/@specs@/, specs)
	print
}

# "text" or 'c', without the quotes.
function unquoted(word) {
	gsub(/["']/, "", word)
	return word
}

function read_rows(    n, i, rows, word) {
	n = split(text, rows, "@")
	for (i = 1; i <= n; i++) {
		split(rows[i], word, " ")
		if (word[1] == "OPTION") {
			option(rows[i], word)
		} else if (word[1] == "ACTION") {
			known(word[3], word[4])
			if (word[5] != "NULL")
				branch(patterns(word[3], word[4]), "return")
		} else if (word[1] == "ALIAS" && pattern_of[word[3]]) {
			branch("-" word[2] " | --" word[2], action_of[word[3]])
		} else if (word[1] == "COMMAND") {
			commands = commands (commands ? " " : "") word[2]
		}
	}
}

# Adds a flag to those that are offered.
function known(flag, letter) {
	if (flag == "NULL")
		return
	flags = flags (flags ? " " : "") "--" unquoted(flag)
	if (letter != "0")
		flags = flags " -" unquoted(letter)
}

# The flag as it may stand before its argument.
function patterns(flag, letter) {
	flag = unquoted(flag)
	return "-" flag " | --" flag (letter == "0" ? "" : " | -" unquoted(letter))
}

function option(row, word,    action) {
	known(word[4], word[5])
	if (word[4] == "NULL" || word[6] != "NULL")
		return
	action = "return"
	if (word[3] == "PATH")
		action = "_filedir; return"
	else if (word[3] == "NAMES")
		action = "_opensm_engines; return"
	else if (word[3] == "BOOL")
		action = "_opensm_words 'TRUE FALSE'; return"
	else if (word[3] == "CHOICE" || word[3] == "SET8")
		action = "_opensm_words '" unit_of(row) "'; return"
	pattern_of[word[2]] = patterns(word[4], word[5])
	action_of[word[2]] = action
	branch(pattern_of[word[2]], action)
}

# The last string of a row: the words that the option takes.
function unit_of(row,    parts, n) {
	n = split(row, parts, "\"")
	return parts[n - 1]
}

function branch(pattern, action) {
	gsub(/; /, "\n\t\t", action)
	branches = branches "\t" pattern ")\n\t\t" action "\n\t\t;;\n"
}
