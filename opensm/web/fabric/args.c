// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "web/fabric/args.h"

#include <string.h>

#define HOURS_MAX 24

static const char *const states[] = {"?", "down", "initialize", "armed", "active", NULL};
static const char *const problems[] = {"any",	"lost",	  "slow",   "unhealthy",
				       "alarm", "errors", "silent", NULL};
static const char *const sorts[] = {"load", "wait", "errors", NULL};
static const char *const values[] = {"rate", "load", "wait", "errors", NULL};

enum kind {
	KIND_GUID,
	KIND_NUMBER,
	KIND_WORD,
	KIND_TEXT,
	KIND_PLACE, /* GUID, or GUID:PORT */
};

static const struct row {
	const char *name;
	enum arg bit;
	enum kind kind;
	size_t offset;
	unsigned int min, max;	  /* of a number */
	const char *const *words; /* of a word */
} rows[] = {
#define MEMBER(member) offsetof(struct args, member)
	{"node", ARG_NODE, KIND_GUID, MEMBER(node), 0, 0, NULL},
	{"port", ARG_PORT, KIND_NUMBER, MEMBER(port), 1, 254, NULL},
	{"group", ARG_GROUP, KIND_GUID, MEMBER(group), 0, 0, NULL},
	{"groups", ARG_GROUPS, KIND_GUID, MEMBER(groups), 0, 0, NULL},
	{"set", ARG_SET, KIND_GUID, MEMBER(set), 0, 0, NULL},
	{"switch", ARG_SWITCH, KIND_GUID, MEMBER(sw), 0, 0, NULL},
	{"level", ARG_LEVEL, KIND_NUMBER, MEMBER(level), 0, IMAGE_LEVELS_MAX - 1, NULL},
	{"lid", ARG_LID, KIND_NUMBER, MEMBER(lid), 1, 49151, NULL},
	{"limit", ARG_LIMIT, KIND_NUMBER, MEMBER(limit), 1, ARGS_ROWS_MAX, NULL},
	{"hours", ARG_HOURS, KIND_NUMBER, MEMBER(hours), 1, HOURS_MAX, NULL},
	{"state", ARG_STATE, KIND_WORD, MEMBER(state), 0, 0, states},
	{"problem", ARG_PROBLEM, KIND_WORD, MEMBER(problem), 0, 0, problems},
	{"sort", ARG_SORT, KIND_WORD, MEMBER(sort), 0, 0, sorts},
	{"value", ARG_VALUE, KIND_WORD, MEMBER(value), 0, 0, values},
	{"name", ARG_NAME, KIND_TEXT, MEMBER(name), 0, 0, NULL},
	{"after", ARG_AFTER, KIND_PLACE, MEMBER(after), 0, 0, NULL},
#undef MEMBER
};

static bool wrong(const struct row *row, const char *text, const char *expected, GError **error)
{
	g_set_error(error, FABRIC_ERROR, FABRIC_WRONG, "%s=%.100s: expected %s", row->name, text,
		    expected);
	return false;
}

/* "0x" and 1 to 16 digits, up to that character. */
static bool take_guid(const char *text, const char *end, uint64_t *guid)
{
	g_autofree char *digits = g_strndup(text, (size_t)(end - text));

	if (!g_str_has_prefix(digits, "0x"))
		return false;
	return g_ascii_string_to_unsigned(digits + 2, 16, 0, UINT64_MAX, guid, NULL);
}

static bool take_number(const struct row *row, const char *text, unsigned int *number,
			GError **error)
{
	g_autofree char *expected = g_strdup_printf("a number from %u to %u", row->min, row->max);
	guint64 value;

	if (!g_ascii_string_to_unsigned(text, 10, row->min, row->max, &value, NULL))
		return wrong(row, text, expected, error);
	*number = (unsigned int)value;
	return true;
}

static bool take_word(const struct row *row, const char *text, unsigned int *number, GError **error)
{
	g_autofree char *expected = g_strjoinv(", ", (char **)row->words);

	for (unsigned int i = 0; row->words[i]; i++)
		if (!strcmp(row->words[i], text)) {
			*number = i;
			return true;
		}
	return wrong(row, text, expected, error);
}

static bool take_place(const struct row *row, const char *text, struct args *args, GError **error)
{
	const char *colon = strchr(text, ':');
	guint64 port = 0;

	if (take_guid(text, colon ? colon : text + strlen(text), &args->after) &&
	    (!colon || g_ascii_string_to_unsigned(colon + 1, 10, 0, 255, &port, NULL))) {
		args->after_port = colon ? (unsigned int)port : 255;
		return true;
	}
	return wrong(row, text, "what the answer before had as next", error);
}

static bool take(const struct row *row, const char *text, struct args *args, GError **error)
{
	void *member = (char *)args + row->offset;

	args->given |= row->bit;
	switch (row->kind) {
	case KIND_NUMBER:
		return take_number(row, text, member, error);
	case KIND_WORD:
		return take_word(row, text, member, error);
	case KIND_PLACE:
		return take_place(row, text, args, error);
	case KIND_TEXT:
		*(const char **)member = text;
		return g_utf8_validate(text, -1, NULL) || wrong(row, "?", "a text", error);
	case KIND_GUID:
		break;
	}
	return take_guid(text, text + strlen(text), member) ||
	       wrong(row, text, "0x and 16 digits", error);
}

bool args_parse(struct args *args, fabric_argument_fn *get, const void *from, unsigned int takes,
		GError **error)
{
	*args = (struct args){.limit = ARGS_ROWS_MAX};
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		const char *text = get(from, rows[i].name);

		if (!text)
			continue;
		if (!(takes & rows[i].bit)) {
			g_set_error(error, FABRIC_ERROR, FABRIC_WRONG, "%s= is not for this list",
				    rows[i].name);
			return false;
		}
		if (!take(&rows[i], text, args, error))
			return false;
	}
	return true;
}
