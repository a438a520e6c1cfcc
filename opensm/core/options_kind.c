// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The types of options: how a value is read from text and written as text, and which values are
 * accepted. Pure functions. Each parses the whole text or refuses it: what the classic daemon would
 * truncate or silently replace is an error that the user wants to know about.
 */
#include "core/options_private.h"

#include "core/mlid_rules.h"

#include <complib/scalar.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#define VLARB_ENTRIES 64 /* IBA 14.2.5.9: two blocks of 32 per priority */
#define CCT_ENTRIES 128	 /* two MADs of 64 entries (IBA A10.4.3.9) */
#define CCT_SHIFT_MAX 3
#define CCT_MULTIPLIER_MAX 0x3FFF
#define SHOWN_LENGTH 60

struct kind {
	const char *argument; /* its name in --help */
	bool (*parse)(const struct option *option, void *field, const char *text, bool command);
	char *(*format)(const struct option *option, const void *field);
	char *(*expected)(const struct option *option, bool command);
};

char *option_printable(const char *text)
{
	g_autofree char *escaped = g_strescape(text, "\"\\");

	if (strlen(escaped) <= SHOWN_LENGTH)
		return g_steal_pointer(&escaped);
	escaped[SHOWN_LENGTH] = '\0';
	return g_strconcat(escaped, "...", NULL);
}

/* ---- numbers ---- */

/* The digits at *text in this base, moving past them; false if there are none or too many. */
static bool scan_digits(const char **text, unsigned int base, uint64_t *value)
{
	const char *p = *text;
	uint64_t v = 0;

	for (; g_ascii_isxdigit(*p); p++) {
		unsigned int digit = (unsigned int)g_ascii_xdigit_value(*p);

		if (digit >= base)
			break;
		if (v > (UINT64_MAX - digit) / base)
			return false;
		v = v * base + digit;
	}
	if (p == *text)
		return false;
	*text = p;
	*value = v;
	return true;
}

static bool has_hex_prefix(const char *text)
{
	return text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
}

/* It looks decimal but is octal in C: the classic daemon would read 010 as 8. */
static bool has_leading_zero(const char *text)
{
	return text[0] == '0' && g_ascii_isdigit(text[1]);
}

static bool scan_number(const char **text, uint64_t *value)
{
	if (has_hex_prefix(*text)) {
		*text += 2;
		return scan_digits(text, 16, value);
	}
	return !has_leading_zero(*text) && scan_digits(text, 10, value);
}

static bool scan_bounded(const char **text, uint64_t max, uint64_t *value)
{
	return scan_number(text, value) && *value <= max;
}

static bool number_parse(const struct option *option, void *field, const char *text, bool command)
{
	bool bare_hex = command && option->kind == OPTION_KIND_HEX64;
	uint64_t value;

	if (bare_hex) {
		if (has_hex_prefix(text))
			text += 2;
		if (!scan_digits(&text, 16, &value))
			return false;
	} else if (!scan_number(&text, &value)) {
		return false;
	}
	if (*text || value < (uint64_t)option->min || value > option->max)
		return false;
	scalar_store(field, option->size, value);
	return true;
}

static char *decimal_format(const struct option *option, const void *field)
{
	return g_strdup_printf("%" PRIu64, scalar_load(field, option->size));
}

static char *hex_format(const struct option *option, const void *field)
{
	size_t size = option->size;
	int digits = size == 4 ? 1 : (int)size * 2;

	return g_strdup_printf("0x%0*" PRIx64, digits, scalar_load(field, size));
}

static char *number_expected(const struct option *option, bool command)
{
	if (option->kind == OPTION_KIND_HEX64 || option->kind == OPTION_KIND_X64)
		return g_strdup(
			command && option->kind == OPTION_KIND_HEX64
				? "a hexadecimal number of at most 64 bits"
				: "a number of at most 64 bits (0x before hexadecimal ones)");
	if (option->kind == OPTION_KIND_X8 || option->kind == OPTION_KIND_X16 ||
	    option->kind == OPTION_KIND_X32)
		return g_strdup_printf("a number from %" PRId64 " to %" PRIu64 " (0x%" PRIx64 ")",
				       option->min, option->max, option->max);
	return g_strdup_printf("a number from %" PRId64 " to %" PRIu64, option->min, option->max);
}

static bool signed_parse(const struct option *option, void *field, const char *text, bool command)
{
	bool negative = *text == '-';
	uint64_t value;
	int64_t number;

	(void)command;
	text += negative;
	if (!scan_bounded(&text, INT32_MAX, &value) || *text)
		return false;
	number = negative ? -(int64_t)value : (int64_t)value;
	if (number < option->min || number > (int64_t)option->max)
		return false;
	*(int32_t *)field = (int32_t)number;
	return true;
}

static char *signed_format(const struct option *option, const void *field)
{
	(void)option;
	return g_strdup_printf("%" PRId32, *(const int32_t *)field);
}

static bool real_parse(const struct option *option, void *field, const char *text, bool command)
{
	char *end;
	double value;

	(void)command;
	if (!g_ascii_isdigit(*text) && *text != '.')
		return false;
	value = g_ascii_strtod(text, &end);
	if (*end || !isfinite(value) || value < (double)option->min || value > (double)option->max)
		return false;
	*(double *)field = value;
	return true;
}

static char *real_format(const struct option *option, const void *field)
{
	char text[G_ASCII_DTOSTR_BUF_SIZE];

	(void)option;
	return g_strdup(g_ascii_dtostr(text, sizeof(text), *(const double *)field));
}

/* ---- words and sets ---- */

static bool bool_parse(const struct option *option, void *field, const char *text, bool command)
{
	bool yes = g_ascii_strcasecmp(text, "TRUE") == 0;

	(void)option;
	(void)command;
	if (!yes && g_ascii_strcasecmp(text, "FALSE") != 0)
		return false;
	*(bool *)field = yes;
	return true;
}

static char *bool_format(const struct option *option, const void *field)
{
	(void)option;
	return g_strdup(*(const bool *)field ? "TRUE" : "FALSE");
}

static char *bool_expected(const struct option *option, bool command)
{
	(void)option;
	(void)command;
	return g_strdup("TRUE or FALSE");
}

static bool choice_parse(const struct option *option, void *field, const char *text, bool command)
{
	g_auto(GStrv) words = g_strsplit(option->unit, " ", -1);

	(void)command;
	for (unsigned int i = 0; words[i]; i++)
		if (strcmp(words[i], text) == 0) {
			*(uint8_t *)field = (uint8_t)i;
			return true;
		}
	return false;
}

static char *choice_format(const struct option *option, const void *field)
{
	g_auto(GStrv) words = g_strsplit(option->unit, " ", -1);

	return g_strdup(words[*(const uint8_t *)field]);
}

static char *choice_expected(const struct option *option, bool command)
{
	g_auto(GStrv) words = g_strsplit(option->unit, " ", -1);
	g_autofree char *list = g_strjoinv(", ", words);

	(void)command;
	return g_strdup_printf("one of %s", list);
}

/* Members are numbers and ranges: "0-31 255". */
static bool set_contains(const char *set, uint64_t value)
{
	while (*set) {
		uint64_t first = 0, last;

		scan_digits(&set, 10, &first);
		last = first;
		if (*set == '-') {
			set++;
			scan_digits(&set, 10, &last);
		}
		if (value >= first && value <= last)
			return true;
		while (*set == ' ')
			set++;
	}
	return false;
}

static bool set_parse(const struct option *option, void *field, const char *text, bool command)
{
	uint64_t value;

	(void)command;
	if (!scan_bounded(&text, option->max, &value) || *text ||
	    !set_contains(option->unit, value))
		return false;
	*(uint8_t *)field = (uint8_t)value;
	return true;
}

/* ---- text ---- */

static void text_replace(void *field, char *text)
{
	g_free(*(char **)field);
	*(char **)field = text;
}

static bool text_parse(const struct option *option, void *field, const char *text, bool command)
{
	(void)command;
	for (const char *p = text; *p; p++)
		if (g_ascii_iscntrl(*p))
			return false;
	if (option->kind == OPTION_KIND_PATH && strlen(text) >= PATH_MAX)
		return false;
	text_replace(field, g_strdup(text));
	return true;
}

static char *text_format(const struct option *option, const void *field)
{
	const char *text = *(char *const *)field;

	(void)option;
	return g_strdup(text ? text : "(null)");
}

static char *text_expected(const struct option *option, bool command)
{
	(void)command;
	if (option->kind == OPTION_KIND_PATH)
		return g_strdup_printf(
			"a file name shorter than %d bytes without control characters", PATH_MAX);
	return g_strdup("text without control characters");
}

static bool is_name(const char *word)
{
	for (const char *p = word; *p; p++)
		if (!g_ascii_isalnum(*p) && !strchr("_-+.", *p))
			return false;
	return true;
}

static bool names_parse(const struct option *option, void *field, const char *text, bool command)
{
	g_auto(GStrv) words = g_strsplit_set(text, ", \t", -1);
	g_autoptr(GString) list = g_string_new(NULL);

	(void)option;
	(void)command;
	for (unsigned int i = 0; words[i]; i++) {
		if (!is_name(words[i]))
			return false;
		if (*words[i])
			g_string_append_printf(list, "%s%s", list->len ? "," : "", words[i]);
	}
	if (!list->len)
		return false;
	text_replace(field, g_strdup(list->str));
	return true;
}

static char *names_expected(const struct option *option, bool command)
{
	(void)option;
	(void)command;
	return g_strdup("a list of names, comma separated");
}

/* The next GUID of a list, setting *text after it; false: not a GUID. */
static bool next_guid(const char **text, uint64_t *guid)
{
	*text += strspn(*text, ", \t");
	return scan_number(text, guid) && *guid && (!**text || strchr(", \t", **text));
}

static bool guids_parse(const struct option *option, void *field, const char *text, bool command)
{
	const char *at = text;
	uint64_t guid;

	(void)option;
	(void)command;
	do {
		if (!next_guid(&at, &guid))
			return false;
	} while (at[strspn(at, ", \t")]);
	text_replace(field, g_strdup(text));
	return true;
}

static char *guids_expected(const struct option *option, bool command)
{
	(void)option;
	(void)command;
	return g_strdup("a list of GUIDs, comma separated");
}

bool option_guids_have(const char *list, uint64_t guid)
{
	uint64_t one;

	while (next_guid(&list, &one))
		if (one == guid)
			return true;
	return false;
}

static bool mlids_parse(const struct option *option, void *field, const char *text, bool command)
{
	struct mlid_rule rules[MLID_RULES_MAX];

	(void)option;
	(void)command;
	if (mlid_rules_parse(text, rules) <= 0)
		return false;
	text_replace(field, g_strdup(text));
	return true;
}

static char *mlids_expected(const struct option *option, bool command)
{
	(void)option;
	(void)command;
	return g_strdup_printf("a list of at most %d MGID/MASK=MLIDS, comma separated: a "
			       "multicast GID without bits outside its mask, and 1 to %d MLIDs",
			       MLID_RULES_MAX, MLID_RULE_MLIDS_MAX);
}

/* ---- lists of numbers ---- */

static void skip_blanks(const char **text)
{
	while (**text == ' ' || **text == '\t')
		(*text)++;
}

/* "number" or, with second_max, "number:number". */
static bool scan_item(const char **text, uint64_t first_max, uint64_t second_max)
{
	uint64_t value;

	if (!scan_bounded(text, first_max, &value))
		return false;
	if (!second_max)
		return true;
	if (**text != ':')
		return false;
	(*text)++;
	return scan_bounded(text, second_max, &value);
}

static bool list_is_good(const char *text, unsigned int least, unsigned int most,
			 uint64_t first_max, uint64_t second_max)
{
	for (unsigned int n = 1; n <= most; n++) {
		skip_blanks(&text);
		if (!scan_item(&text, first_max, second_max))
			return false;
		skip_blanks(&text);
		if (!*text)
			return n >= least;
		if (*text++ != ',')
			return false;
	}
	return false;
}

static bool vlarb_parse(const struct option *option, void *field, const char *text, bool command)
{
	(void)option;
	(void)command;
	if (!list_is_good(text, 1, VLARB_ENTRIES, 14, 255))
		return false;
	text_replace(field, g_strdup(text));
	return true;
}

static char *vlarb_expected(const struct option *option, bool command)
{
	(void)option;
	(void)command;
	return g_strdup_printf("a list VL:weight,... of at most %d, VLs 0 to 14, weights 0 to 255",
			       VLARB_ENTRIES);
}

#define SLS 16

/* SLs after the last one listed are on VL 0, as in the classic daemon. */
static bool sl2vl_parse(const struct option *option, void *field, const char *text, bool command)
{
	g_autofree char *list = g_strchomp(g_strdup(text));
	g_autoptr(GString) all = NULL;
	unsigned int n = 1;

	(void)option;
	(void)command;
	if (g_str_has_suffix(list, ","))
		list[strlen(list) - 1] = '\0';
	if (!list_is_good(list, 1, SLS, 15, 0))
		return false;
	for (const char *at = list; (at = strchr(at, ',')); at++)
		n++;
	for (all = g_string_new(list); n < SLS; n++)
		g_string_append(all, ",0");
	text_replace(field, g_strdup(all->str));
	return true;
}

static char *sl2vl_expected(const struct option *option, bool command)
{
	(void)option;
	(void)command;
	return g_strdup("a list of at most 16 VLs from 0 to 15, comma separated");
}

static bool cct_parse(const struct option *option, void *field, const char *text, bool command)
{
	(void)option;
	(void)command;
	if (!list_is_good(text, 1, CCT_ENTRIES, CCT_SHIFT_MAX, CCT_MULTIPLIER_MAX))
		return false;
	text_replace(field, g_strdup(text));
	return true;
}

static char *cct_expected(const struct option *option, bool command)
{
	(void)option;
	(void)command;
	return g_strdup_printf("a list shift:multiplier,... of at most %d, shifts 0 to %d, "
			       "multipliers 0 to %d",
			       CCT_ENTRIES, CCT_SHIFT_MAX, CCT_MULTIPLIER_MAX);
}

static bool cct_entry_parse(const struct option *option, void *field, const char *text,
			    bool command)
{
	struct option_cct_entry *entry = field;
	uint64_t shift, multiplier;

	(void)option;
	(void)command;
	if (!scan_bounded(&text, CCT_SHIFT_MAX, &shift) || *text++ != ':' ||
	    !scan_bounded(&text, CCT_MULTIPLIER_MAX, &multiplier) || *text)
		return false;
	entry->shift = (uint8_t)shift;
	entry->multiplier = (uint16_t)multiplier;
	return true;
}

static char *cct_entry_format(const struct option *option, const void *field)
{
	const struct option_cct_entry *entry = field;

	(void)option;
	return g_strdup_printf("%u:%u", entry->shift, entry->multiplier);
}

static char *cct_entry_expected(const struct option *option, bool command)
{
	(void)option;
	(void)command;
	return g_strdup_printf("shift:multiplier, shift 0 to %d, multiplier 0 to %d", CCT_SHIFT_MAX,
			       CCT_MULTIPLIER_MAX);
}

static bool mask256_parse(const struct option *option, void *field, const char *text, bool command)
{
	uint8_t mask[32] = {0};
	size_t length;

	(void)option;
	(void)command;
	if (has_hex_prefix(text))
		text += 2;
	length = strlen(text);
	if (!length || length > 64)
		return false;
	for (size_t i = 0; i < length; i++) {
		size_t nibble = length - 1 - i;
		int digit = g_ascii_xdigit_value(text[i]);

		if (digit < 0)
			return false;
		mask[nibble / 2] |= (uint8_t)(digit << (nibble % 2 * 4));
	}
	memcpy(field, mask, sizeof(mask));
	return true;
}

static char *mask256_format(const struct option *option, const void *field)
{
	const uint8_t *mask = field;
	GString *text = g_string_new("0x");

	(void)option;
	for (int i = 31; i >= 0; i--)
		g_string_append_printf(text, "%02x", mask[i]);
	return g_string_free(text, FALSE);
}

static char *mask256_expected(const struct option *option, bool command)
{
	(void)option;
	(void)command;
	return g_strdup("a mask of 256 bits: at most 64 hexadecimal digits, with or without 0x");
}

/* One "SL value" per line of the file; internally several, separated by commas. */
static bool per_sl_parse(const struct option *option, void *field, const char *text, bool command)
{
	uint16_t values[16];

	(void)command;
	memcpy(values, field, sizeof(values));
	for (;;) {
		uint64_t sl, value;

		if (!scan_bounded(&text, 15, &sl) || (*text != ' ' && *text != '\t'))
			return false;
		skip_blanks(&text);
		if (!scan_bounded(&text, option->max, &value))
			return false;
		values[sl] = (uint16_t)value;
		if (!*text)
			break;
		if (*text++ != ',')
			return false;
	}
	memcpy(field, values, sizeof(values));
	return true;
}

static char *per_sl_format(const struct option *option, const void *field)
{
	const uint16_t *values = field;
	GString *text = g_string_new(NULL);

	(void)option;
	for (unsigned int sl = 0; sl < 16; sl++)
		if (values[sl])
			g_string_append_printf(text, "%s%u %u", text->len ? "," : "", sl,
					       values[sl]);
	if (!text->len)
		g_string_append(text, "0 0");
	return g_string_free(text, FALSE);
}

static char *per_sl_expected(const struct option *option, bool command)
{
	(void)command;
	return g_strdup_printf("an SL from 0 to 15 and a number from 0 to %" PRIu64, option->max);
}

/* ---- the types ---- */

#define NUMBER(format)                                                                             \
	{                                                                                          \
		"N", number_parse, format, number_expected                                         \
	}
#define WORDS(check)                                                                               \
	{                                                                                          \
		"LIST", check##_parse, text_format, check##_expected                               \
	}

static const struct kind kinds[OPTION_KIND_COUNT] = {
	[OPTION_KIND_BOOL] = {"BOOL", bool_parse, bool_format, bool_expected},
	[OPTION_KIND_U8] = NUMBER(decimal_format),
	[OPTION_KIND_X8] = NUMBER(hex_format),
	[OPTION_KIND_SET8] = {"N", set_parse, decimal_format, choice_expected},
	[OPTION_KIND_CHOICE] = {"WORD", choice_parse, choice_format, choice_expected},
	[OPTION_KIND_U16] = NUMBER(decimal_format),
	[OPTION_KIND_X16] = NUMBER(hex_format),
	[OPTION_KIND_U32] = NUMBER(decimal_format),
	[OPTION_KIND_X32] = NUMBER(hex_format),
	[OPTION_KIND_I32] = {"N", signed_parse, signed_format, number_expected},
	[OPTION_KIND_U64] = NUMBER(decimal_format),
	[OPTION_KIND_X64] = NUMBER(hex_format),
	[OPTION_KIND_HEX64] = {"HEX", number_parse, hex_format, number_expected},
	[OPTION_KIND_REAL] = {"X", real_parse, real_format, number_expected},
	[OPTION_KIND_PATH] = {"FILE", text_parse, text_format, text_expected},
	[OPTION_KIND_TEXT] = {"TEXT", text_parse, text_format, text_expected},
	[OPTION_KIND_NAMES] = WORDS(names),
	[OPTION_KIND_GUIDS] = WORDS(guids),
	[OPTION_KIND_MLIDS] = WORDS(mlids),
	[OPTION_KIND_VLARB] = WORDS(vlarb),
	[OPTION_KIND_SL2VL] = WORDS(sl2vl),
	[OPTION_KIND_CCT] = WORDS(cct),
	[OPTION_KIND_MASK256] = {"MASK", mask256_parse, mask256_format, mask256_expected},
	[OPTION_KIND_CCT_ENTRY] = {"S:M", cct_entry_parse, cct_entry_format, cct_entry_expected},
	[OPTION_KIND_PER_SL] = {"SL N", per_sl_parse, per_sl_format, per_sl_expected},
};

bool option_is_text(const struct option *option)
{
	return kinds[option->kind].format == text_format;
}

const char *option_argument(const struct option *option)
{
	if (option->kind == OPTION_KIND_PATH && g_str_has_suffix(option->name, "_dir"))
		return "DIR";
	return kinds[option->kind].argument;
}

void option_clear(const struct option *option, void *field)
{
	if (option_is_text(option))
		g_free(*(char **)field);
	memset(field, 0, option->size);
}

char *option_expected(const struct option *option, bool command)
{
	return kinds[option->kind].expected(option, command);
}

char *option_format(const struct option *option, const void *field)
{
	return kinds[option->kind].format(option, field);
}

/* The letter of the option probably meant if this one is given a file: -P for -p. */
static char letter_for_file(const struct option *option, const char *text)
{
	char other = (char)(option->letter ^ ('a' ^ 'A'));

	for (unsigned int id = 0; *text == '/' && option->letter && id < OPTION_COUNT; id++)
		if (option_table[id].letter == other && option_table[id].kind == OPTION_KIND_PATH)
			return other;
	return '\0';
}

/* How to write the value correctly, if that can be guessed. */
static const char *advice(const struct option *option, const char *text)
{
	bool is_hex = option->kind == OPTION_KIND_HEX64 || option->kind == OPTION_KIND_X64;

	if (*text == '=' || *text == ':')
		return "; write the value after its key without '=' or ':'";
	if (is_hex && strchr(text, ':'))
		return "; write it without colons, as 0x and 16 digits";
	return has_leading_zero(text) ? "; write it without leading zeros" : "";
}

bool option_is_secret(const struct option *option)
{
	return (option->kind == OPTION_KIND_HEX64 || option->kind == OPTION_KIND_X64) &&
	       g_str_has_suffix(option->name, "_key");
}

static char *refusal(const struct option *option, const char *text, bool command)
{
	g_autofree char *shown = option_printable(text);
	g_autofree char *expected = option_expected(option, command);
	char other = command ? letter_for_file(option, text) : '\0';

	if (option == &option_table[OPTION_guid] && strpbrk(text, ", \t;"))
		return g_strdup_printf("'%s' names several ports, but a daemon serves one: start "
				       "one for each, by opensm@GUID or PORTS",
				       shown);
	if (other)
		return g_strdup_printf("'%s' is not %s; did you mean -%c?", shown, expected, other);
	if (option_is_secret(option)) /* the error may be a single letter of it */
		return g_strdup_printf("its value is not %s%s", expected, advice(option, text));
	return g_strdup_printf("'%s' is not %s%s", shown, expected, advice(option, text));
}

char *option_parse(const struct option *option, void *field, const char *text, bool command)
{
	if (strcmp(text, "(null)") == 0 || (option_is_text(option) && !*text)) {
		option_clear(option, field);
		/* Unset means the default; a test checks that all defaults are valid. */
		if (option->def && !option_is_text(option))
			g_assert(kinds[option->kind].parse(option, field, option->def, false));
		return NULL;
	}
	if (kinds[option->kind].parse(option, field, text, command))
		return NULL;
	return refusal(option, text, command);
}
