// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The table of options, and functions shared by the files of this module. */
#ifndef CORE_OPTIONS_PRIVATE_H
#define CORE_OPTIONS_PRIVATE_H

#include "core/options.h"

#define OPTIONS_REPORT_LIMIT 20 /* mistakes, and warnings, reported per file */

enum option_kind {
	OPTION_KIND_BOOL,
	OPTION_KIND_U8,
	OPTION_KIND_X8,
	OPTION_KIND_SET8,
	OPTION_KIND_CHOICE,
	OPTION_KIND_U16,
	OPTION_KIND_X16,
	OPTION_KIND_U32,
	OPTION_KIND_X32,
	OPTION_KIND_I32,
	OPTION_KIND_U64,
	OPTION_KIND_X64,
	OPTION_KIND_HEX64,
	OPTION_KIND_REAL,
	OPTION_KIND_PATH,
	OPTION_KIND_TEXT,
	OPTION_KIND_NAMES,
	OPTION_KIND_GUIDS,
	OPTION_KIND_MLIDS,
	OPTION_KIND_VLARB,
	OPTION_KIND_SL2VL,
	OPTION_KIND_CCT,
	OPTION_KIND_MASK256,
	OPTION_KIND_CCT_ENTRY,
	OPTION_KIND_PER_SL,
	OPTION_KIND_COUNT
};

enum option_scope { OPTION_SCOPE_LIVE, OPTION_SCOPE_RESTART, OPTION_SCOPE_COMMAND };
enum option_state { OPTION_STATE_WORKS, OPTION_STATE_ALWAYS };

struct option {
	const char *name;
	enum option_kind kind;
	size_t offset; /* of the field in struct options */
	size_t size;
	const char *def;
	int64_t min;
	uint64_t max;
	const char *unit;
	const char *flag;
	char letter;
	const char *preset;
	enum option_scope scope;
	enum option_state state;
	enum option_section section;
	const char *help;
};

enum option_action_id {
#define ACTION(id, flag, letter, argument, section, help) OPTION_ACTION_##id,
#include "core/options.def"
	OPTION_ACTION_COUNT
};

struct option_action {
	const char *flag;
	char letter;
	const char *argument;
	enum option_section section;
	const char *help;
};

struct option_alias {
	const char *old;
	enum option_id id;
};

extern const struct option option_table[OPTION_COUNT];
extern const struct option_action option_actions[OPTION_ACTION_COUNT];
extern const struct option_alias option_aliases[];
extern const unsigned int option_alias_count;
extern const char *const option_section_titles[OPTION_SECTION_COUNT];

/* ---- options_kind.c: one value as text ---- */

/*
 * Sets the field from text as in the file, or with command as on the command line. NULL if it was
 * valid, otherwise a new "'text' is not ..."; the field is then unchanged.
 */
char *option_parse(const struct option *option, void *field, const char *text, bool command);
void option_clear(const struct option *option, void *field); /* zero, or unset */
char *option_format(const struct option *option, const void *field);
/* A description of accepted values: "a number from 0 to 7". */
char *option_expected(const struct option *option, bool command);
bool option_is_text(const struct option *option);	  /* stored as a string that may be unset */
const char *option_argument(const struct option *option); /* its name in --help: "FILE" */
/* Text of unknown origin, in a form suitable for a message. */
char *option_printable(const char *text);
bool option_is_secret(const struct option *option); /* a key, which is never shown */

/* ---- options_file.c: opensm.conf ---- */

/* Applies the file to options, which must not be used after a false. */
bool options_file_read(struct options *options, const char *file, GPtrArray *warnings,
		       GError **error);
/* Applies the contents of a file: length octets followed by a NUL, which are modified. */
bool options_file_parse(struct options *options, const char *file, char *text, size_t length,
			GPtrArray *warnings, GError **error);
/* The part of a line after its key, without blanks, comment and quotes; NULL: no closing quote. */
char *options_file_value(const char *text);

/* ---- options_write.c ---- */

/* Whether the classic daemon does not know the key. */
bool option_is_newer(enum option_id id);

/* ---- options_args.c: the command line ---- */

/* One option of the command line: a row of the table, or an action with id >= OPTION_COUNT. */
struct option_given {
	unsigned int id;
	const char *value; /* into argv; NULL: the bare flag */
};

/* Splits argv into struct option_given; NULL and an error if an argument is not an option. */
GArray *options_args_split(int argc, char *const *argv, GError **error);
bool options_args_apply(struct options *options, const GArray *given, GPtrArray *warnings,
			GError **error);

/* ---- options.c ---- */
static inline void *option_field(const struct options *options, enum option_id id)
{
	return (char *)options + option_table[id].offset;
}

/* Adds more, which it takes ownership of, to *all; NULL: nothing. */
void options_add_error(GError **all, GError *more);

/* The key most similar to name, or NULL if none is; flags: compare with flags instead. */
const char *option_nearest(const char *name, bool flags);

void options_warn(GPtrArray *warnings, const char *format, ...) G_GNUC_PRINTF(2, 3);

/* options_load() with another default file, for tests. */
bool options_load_with(struct options **out, enum options_request *request,
		       const char *default_file, int argc, char *const *argv, GPtrArray *warnings,
		       GError **error);

#endif
