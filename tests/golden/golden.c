// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "tests/golden/golden.h"

#include <check.h>
#include <glib.h>
#include <string.h>

void golden_expect_same(const char *file, const char *kept, const char *text)
{
	g_auto(GStrv) was = g_strsplit(kept, "\n", -1), is = g_strsplit(text, "\n", -1);
	unsigned int i = 0;

	while (was[i] && is[i] && strcmp(was[i], is[i]) == 0)
		i++;
	ck_assert_msg(!was[i] && !is[i],
		      "%s differs, first in line %u; make golden-update shows\n"
		      "the whole. It was\n%.500s\nand is\n%.500s",
		      file, i + 1, was[i] ? was[i] : "(the end)", is[i] ? is[i] : "(the end)");
}

void golden_tell(const char *name, const char *text)
{
	const char *directory = g_getenv("GOLDEN_TELL");
	g_autofree char *file = directory ? g_build_filename(directory, name, NULL) : NULL;

	if (file)
		ck_assert_msg(g_file_set_contents(file, text, -1, NULL), "cannot write %s", file);
}

void golden_compare(const char *file, const char *text)
{
	g_autofree char *kept = NULL;

	if (g_getenv("GOLDEN_UPDATE"))
		ck_assert_msg(g_file_set_contents(file, text, -1, NULL), "cannot write %s", file);
	ck_assert_msg(g_file_get_contents(file, &kept, NULL, NULL),
		      "%s is missing: make golden-update", file);
	golden_expect_same(file, kept, text);
}
