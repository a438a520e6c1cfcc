// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "web/rest/syntax.h"

#include <glib.h>
#include <stdbool.h>
#include <string.h>

/* Where the scanner is; NUL ends the text. */
struct scan {
	const char *at;
	unsigned int levels; /* that are left */
};

static void skip_blanks(struct scan *scan)
{
	scan->at += strspn(scan->at, " \t\r\n");
}

static bool take(struct scan *scan, const char *word)
{
	size_t n = strlen(word);

	if (strncmp(scan->at, word, n) != 0)
		return false;
	scan->at += n;
	return true;
}

static bool take_digits(struct scan *scan)
{
	size_t n = strspn(scan->at, "0123456789");

	scan->at += n;
	return n > 0;
}

static bool take_number(struct scan *scan)
{
	take(scan, "-");
	if (!take(scan, "0") && !take_digits(scan))
		return false;
	if (take(scan, ".") && !take_digits(scan))
		return false;
	if (*scan->at != 'e' && *scan->at != 'E')
		return true;
	scan->at++;
	scan->at += *scan->at == '+' || *scan->at == '-';
	return take_digits(scan);
}

/* Four digits; 0 is not among what may stand there. */
static unsigned int take_unit(struct scan *scan)
{
	unsigned int unit = 0;

	for (unsigned int i = 0; i < 4; i++, scan->at++) {
		if (!g_ascii_isxdigit(*scan->at))
			return 0;
		unit = unit << 4 | (unsigned int)g_ascii_xdigit_value(*scan->at);
	}
	return unit;
}

static bool take_escape(struct scan *scan)
{
	unsigned int unit;

	if (*scan->at != 'u')
		return *scan->at && strchr("\"\\/bfnrt", *scan->at++);
	scan->at++;
	unit = take_unit(scan);
	if (unit < 0xD800 || unit > 0xDFFF)
		return unit != 0;
	if (unit > 0xDBFF || !take(scan, "\\u"))
		return false;
	unit = take_unit(scan);
	return unit >= 0xDC00 && unit <= 0xDFFF;
}

static bool take_string(struct scan *scan)
{
	if (!take(scan, "\""))
		return false;
	while (*scan->at != '"') {
		if ((unsigned char)*scan->at < ' ')
			return false;
		if (*scan->at++ == '\\' && !take_escape(scan))
			return false;
	}
	scan->at++;
	return true;
}

static bool take_value(struct scan *scan);

/* The rest of an array or object, whose first octet has been taken. */
static bool take_items(struct scan *scan, const char *end, bool named)
{
	skip_blanks(scan);
	if (take(scan, end))
		return true;
	for (;;) {
		skip_blanks(scan);
		if (named && !take_string(scan))
			return false;
		if (named)
			skip_blanks(scan);
		if ((named && !take(scan, ":")) || !take_value(scan))
			return false;
		if (take(scan, end))
			return true;
		if (!take(scan, ","))
			return false;
	}
}

/* With blanks around it. */
static bool take_value(struct scan *scan)
{
	bool good;

	skip_blanks(scan);
	if (*scan->at == '[' || *scan->at == '{') {
		bool named = *scan->at == '{';

		if (!scan->levels)
			return false;
		scan->levels--;
		scan->at++;
		good = take_items(scan, named ? "}" : "]", named);
		scan->levels++;
	} else if (*scan->at == '"') {
		good = take_string(scan);
	} else {
		good = take(scan, "true") || take(scan, "false") || take(scan, "null") ||
		       take_number(scan);
	}
	skip_blanks(scan);
	return good;
}

const char *syntax_mistake(const char *text, unsigned int levels)
{
	struct scan scan = {text, levels};

	return take_value(&scan) && !*scan.at ? NULL : scan.at;
}
