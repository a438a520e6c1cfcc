// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The fixtures of the unit tests use ck_assert, which needs libcheck's runner. In a fuzz target a
 * failed assertion ends the run, and one that holds does nothing.
 */
#include <check.h>
#include <glib.h>

void (_mark_point)(const char *file, int line)
{
	(void)file;
	(void)line;
}

void _ck_assert_failed(const char *file, int line, const char *expression, const char *message, ...)
{
	(void)message;
	g_error("%s:%d: %s", file, line, expression);
}
