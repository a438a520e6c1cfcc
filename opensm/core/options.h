// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The options of the daemon: defaults < opensm.conf < command line. All come from the one list in
 * options.def; a field of struct options has the name of its key. Once built, the options are
 * immutable and reference counted: any thread may read them.
 */
#ifndef CORE_OPTIONS_H
#define CORE_OPTIONS_H

#include "complib/handoff.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Values of CHOICE options: the index in their list of words. */
enum perfmgr_clear { PERFMGR_CLEAR_AUTO, PERFMGR_CLEAR_NEVER };
enum part_enforce { PART_ENFORCE_BOTH, PART_ENFORCE_IN, PART_ENFORCE_OUT, PART_ENFORCE_OFF };
enum log_format { LOG_FORMAT_TEXT, LOG_FORMAT_JSON };
enum cc_key_mode { CC_KEY_SEND, CC_KEY_SET, CC_KEY_PER_PORT };
enum cc_profile { CC_CLASSIC, CC_GENTLE, CC_STANDARD, CC_AGGRESSIVE };
enum console_mode { CONSOLE_OFF, CONSOLE_LOCAL, CONSOLE_LOOPBACK, CONSOLE_SOCKET };

/* An entry of the congestion control table (IBA A10.2.2): delay = multiplier * 2^shift. */
struct option_cct_entry {
	uint8_t shift;
	uint16_t multiplier;
};

/* Groups of options, in the order of the template and of --help. */
#define OPTION_SECTIONS(X)                                                                         \
	X(RUN, "Running")                                                                          \
	X(DEVICE, "Device attributes")                                                             \
	X(PARTITION, "Partitions")                                                                 \
	X(SWEEP, "Sweeps")                                                                         \
	X(ROUTING, "Routing")                                                                      \
	X(HANDOVER, "Other subnet managers")                                                       \
	X(TIMING, "Timing and threads")                                                            \
	X(MISC, "Miscellaneous")                                                                   \
	X(PERFMGR, "Performance manager")                                                          \
	X(EVENT, "Events and names")                                                               \
	X(LOG, "Log and dumps")                                                                    \
	X(DEBUG, "Debugging and console")                                                          \
	X(QOS, "Quality of service")                                                               \
	X(CC, "Congestion control")                                                                \
	X(SA, "Subnet administration")                                                             \
	X(SSA, "Scalable SA")                                                                      \
	X(SIM, "Simulated fabric")

enum option_section {
#define X(name, title) OPTION_SECTION_##name,
	OPTION_SECTIONS(X)
#undef X
		OPTION_SECTION_COUNT
};

/* OPTION_lmc and so on; an index below OPTION_COUNT. */
enum option_id {
#define OPTION(name, kind, def, min, max, unit, flag, letter, preset, scope, state, section, help) \
	OPTION_##name,
#include "core/options.def"
	OPTION_COUNT
};

enum option_source { OPTION_FROM_DEFAULT, OPTION_FROM_FILE, OPTION_FROM_COMMAND };

/* How a KIND of options.def is stored. Text is NULL if unset. */
#define OPTION_FIELD_BOOL(name) bool name
#define OPTION_FIELD_U8(name) uint8_t name
#define OPTION_FIELD_X8(name) uint8_t name
#define OPTION_FIELD_SET8(name) uint8_t name
#define OPTION_FIELD_CHOICE(name) uint8_t name
#define OPTION_FIELD_U16(name) uint16_t name
#define OPTION_FIELD_X16(name) uint16_t name
#define OPTION_FIELD_U32(name) uint32_t name
#define OPTION_FIELD_X32(name) uint32_t name
#define OPTION_FIELD_I32(name) int32_t name
#define OPTION_FIELD_U64(name) uint64_t name
#define OPTION_FIELD_X64(name) uint64_t name
#define OPTION_FIELD_HEX64(name) uint64_t name
#define OPTION_FIELD_REAL(name) double name
#define OPTION_FIELD_PATH(name) char *name
#define OPTION_FIELD_TEXT(name) char *name
#define OPTION_FIELD_NAMES(name) char *name	    /* comma separated */
#define OPTION_FIELD_GUIDS(name) char *name	    /* see option_guids_have() */
#define OPTION_FIELD_MLIDS(name) char *name	    /* see mlid_rules_parse() */
#define OPTION_FIELD_VLARB(name) char *name	    /* VL:weight,... */
#define OPTION_FIELD_SL2VL(name) char *name	    /* 16 VLs, comma separated */
#define OPTION_FIELD_CCT(name) char *name	    /* shift:multiplier,... */
#define OPTION_FIELD_MASK256(name) uint8_t name[32] /* bit n is bit n % 8 of byte n / 8 */
#define OPTION_FIELD_CCT_ENTRY(name) struct option_cct_entry name
#define OPTION_FIELD_PER_SL(name) uint16_t name[16]

/* Identifies the state of the file that was read. All 0: there was no file. */
struct options_stamp {
	uint64_t device, inode, size, changed_ns;
};

struct options {
#define OPTION(name, kind, def, min, max, unit, flag, letter, preset, scope, state, section, help) \
	OPTION_FIELD_##kind(name);
#include "core/options.def"

	GBytes *m_key_seed; /* contents of m_key_seed_file; not NULL with m_key_per_port */

	/* Private to the module. */
	struct ref ref;
	uint8_t source[OPTION_COUNT]; /* enum option_source */
	uint32_t line[OPTION_COUNT];  /* in the file, if that is the source */
	char **argv;		      /* as given, for options_reread() */
	char *site_file;	      /* absolute path of the file read if none is named */
	char *file;		      /* the file to read, absolute */
	bool file_required;	      /* named by -F, or it existed before */
	bool file_is_cut;	      /* its last line has no newline */
	struct options_stamp stamp;   /* of the file when it was read */
};

#define OPTIONS_ERROR options_error_quark()
GQuark options_error_quark(void);
enum options_error {
	OPTIONS_ERROR_USAGE, /* the command line: exit code 1 */
	OPTIONS_ERROR_FILE,  /* opensm.conf: all its errors, a line each */
};

/* What the command line asks for besides setting options. */
enum options_request { OPTIONS_RUN, OPTIONS_HELP, OPTIONS_VERSION };

/* Whether a list of GUIDs contains that one. */
bool option_guids_have(const char *list, uint64_t guid);

/* All options at their defaults; free with options_unref(). */
struct options *options_new(void);

/*
 * Reads the command line and the file it names, or OSM_CONF_DIR/opensm.conf if that exists. If help
 * or version is requested, *out is NULL. The strings of warnings (NULL: not wanted) are newly
 * allocated. False and an error if anything was wrong; then nothing is applied.
 */
bool options_load(struct options **out, enum options_request *request, int argc, char *const *argv,
		  GPtrArray *warnings, GError **error);

/*
 * After options_load() has failed, for callers that want to say more: the options as far as they
 * are valid; do not run with them. NULL: the command line cannot even be split.
 */
struct options *options_load_right(int argc, char *const *argv);

/* sa_key has its default, so any client may send it. */
static inline bool options_sa_key_is_known(const struct options *options)
{
	return options->sa_key <= 1;
}

/* There is a TCP console that requires no key. */
static inline bool options_console_is_open(const struct options *options)
{
	return (options->console == CONSOLE_LOOPBACK || options->console == CONSOLE_SOCKET) &&
	       !options->console_key_file;
}

/* Whether both have the same value for the option. */
bool options_same(const struct options *a, const struct options *b, enum option_id id);

/*
 * The options after reading the file again, or another one, which must exist: live ones follow it,
 * the others keep their value, with a warning if the file differs; the command line still takes
 * precedence. NULL and an error: stay with old. check (NULL: none) may refuse what the next start
 * would read.
 */
typedef bool options_check_fn(const struct options *options, const struct options *old,
			      GError **error);
struct options *options_reread(const struct options *old, const char *file,
			       options_check_fn *check, GPtrArray *warnings, GError **error);

/* Whether the last line of the file that they were read from has no newline. */
bool options_file_is_cut(const struct options *options);
/* The present stamp of the file. options_stamp_same(): whether both are of the same state. */
struct options_stamp options_file_stamp(const struct options *options);
bool options_stamp_same(const struct options_stamp *a, const struct options_stamp *b);
/* Whether the file is not the one that the options were read from. */
bool options_file_changed(const struct options *options);

/*
 * A copy with one value changed, with text as in the file; it lasts until the file is read again.
 * NULL and an error that says what was expected.
 */
struct options *options_copy_with(const struct options *old, enum option_id id,
				  const char *text, GError **error);

struct options *options_ref(struct options *options);
void options_unref(struct options *options); /* NULL is fine */

void options_slot_init(struct slot *slot); /* a slot for options, empty */

/* Where the value comes from: distinguishes -g 0 from no -g at all. */
enum option_source options_source(const struct options *options, enum option_id id);
/*
 * No log of a simulated fabric was requested: errors go to standard error, and milestones to
 * standard output only.
 */
bool options_logs_apart(const struct options *options);
/* The source as text: "FILE:LINE", "command line" or "built in". Free it with g_free(). */
char *options_origin(const struct options *options, enum option_id id);

/*
 * Whether the operator chose that value: on the command line, or in the file and different from the
 * built-in one. A file of --create-config has all keys, and chooses nothing by those at their
 * default.
 */
bool options_is_named(const struct options *options, enum option_id id);

/* The value as written in the file; "(null)" if unset. Free it with g_free(). */
char *options_text(const struct options *options, enum option_id id);

/*
 * The value as boolean, number or text, or nothing (of type "ms") if unset; a floating reference.
 */
GVariant *options_value(const struct options *options, enum option_id id);

/* Key in the file, or flag if it is not in the file. */
const char *options_name(enum option_id id);

/* Whether it may be in the file; others are for the command line only. */
bool options_in_file(enum option_id id);

/*
 * Writes a commented opensm.conf with the values of options, including keys: readable only by its
 * owner. False and an error if it cannot be written, or the path is not a regular file.
 */
bool options_write(const struct options *options, const char *file, GError **error);

/* The options given on the command line, as lines of the classic daemon that scripts look for. */
char *options_tell_given(const struct options *options);

/* Text of --help, and of all values ("key value" lines); free with g_free(). */
char *options_help(void);
char *options_dump(const struct options *options);

#endif
