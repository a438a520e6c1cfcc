// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The words of the command perfmgr: each answers with a dictionary (ctl/base/answer.h), whose
 * member "word" says which it was, and prints it. They read the published images, and order the
 * rest from the performance manager.
 */
#ifndef CTL_PERFMGR_WORD_H
#define CTL_PERFMGR_WORD_H

#include "core/context.h"
#include "core/options.h"
#include "ctl/base/answer.h"
#include "perf/image/image.h"
#include "perf/judge/perf_rules.h"
#include "perf/perf.h"

struct perfmgr_call {
	struct context *context;
	struct perf *perf;
	const struct options *options;
	const struct perf_images *images; /* NULL: none yet */
	const struct perf_image *image;	  /* the last of them, or NULL */
	char **words;			  /* after the word that names it */
	unsigned int n;
	const struct perf_rules *rules;
	bool failed; /* set by a word that answers although something was wrong */
	/*
	 * A word that needs files from the disk sets needs_files and fails, without an error. Then
	 * it is run again, by another thread and with may_read.
	 */
	bool may_read, needs_files;
	bool (*stop)(void *arg); /* with may_read: whether to end early */
	void *arg;
};

struct perfmgr_word {
	const char *name, *also; /* a second name, or NULL */
	const char *arguments, *help;
	bool changes; /* it changes the daemon, a file or the subnet, or makes it send packets */
	/* floating, without the member "word"; false and error: it failed */
	bool (*run)(struct perfmgr_call *call, GVariantBuilder *answer, GError **error);
	void (*print)(GVariant *answer, GString *out);
};

#define PERFMGR_ERROR perfmgr_error_quark()
GQuark perfmgr_error_quark(void);
enum perfmgr_error {
	PERFMGR_ERROR_USAGE,   /* the error says what was expected */
	PERFMGR_ERROR_UNKNOWN, /* as the classic daemon puts it: the text says all */
	PERFMGR_ERROR_FAILED,
};
/* Sets error; always false. */
bool perfmgr_fail(GError **error, enum perfmgr_error code, const char *format, ...)
	G_GNUC_PRINTF(3, 4);

/* word NULL: the state. NULL and error if it fails or, without one, needs files; else floating. */
GVariant *perfmgr_run(struct perfmgr_call *call, const char *word, GError **error);
void perfmgr_print(GVariant *answer, GString *out);
/* Whether a user with the right to look, but not to change, is refused this word. */
bool perfmgr_changes(const char *word);
/* The table, as the member "words" of an answer, and as text. */
void perfmgr_add_words(GVariantBuilder *answer);
void perfmgr_print_words(GVariant *answer, GString *out);
/* A row of the table, by number; NULL past the last. */
const struct perfmgr_word *perfmgr_describe(unsigned int number);

/* The words of the other files, for the table. */
#define PERFMGR_WORD(name)                                                                         \
	bool perfmgr_##name(struct perfmgr_call *call, GVariantBuilder *answer, GError **error);   \
	void perfmgr_print_##name(GVariant *answer, GString *out)
PERFMGR_WORD(state);
PERFMGR_WORD(counters);
PERFMGR_WORD(errors);
PERFMGR_WORD(redir);
PERFMGR_WORD(top);
PERFMGR_WORD(history);
PERFMGR_WORD(cable);
PERFMGR_WORD(images);
PERFMGR_WORD(groups);
PERFMGR_WORD(rules);
bool perfmgr_forget_redir(struct perfmgr_call *call, GVariantBuilder *answer, GError **error);
#undef PERFMGR_WORD

/* The words of enum perf_sweep_state, as the classic daemon has them. */
const char *perfmgr_sweep_text(enum perf_sweep_state state);

#endif
