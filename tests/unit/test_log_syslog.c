// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Syslog gets the same as from the classic daemon: name, process, facility, severity, prefix. */
#include <check.h>
#include <glib.h>
#include <stdarg.h>
#include <syslog.h>

#include "complib/log_private.h"
#include "tests/run_suite.h"

/* Functions of the C library, replaced in this program. */
static struct {
	const char *ident;
	int option, facility, priority;
	char *text;
} seen;

void openlog(const char *ident, int option, int facility)
{
	seen.ident = ident;
	seen.option = option;
	seen.facility = facility;
}

G_GNUC_PRINTF(2, 0) static void take(int priority, const char *format, va_list args)
{
	seen.priority = priority;
	g_free(seen.text);
	seen.text = g_strdup_vprintf(format, args);
}

void syslog(int priority, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	take(priority, format, args);
	va_end(args);
}

/* syslog() with _FORTIFY_SOURCE. */
void __syslog_chk(int priority, int flag, const char *format, ...) G_GNUC_PRINTF(3, 4);
void __syslog_chk(int priority, int flag, const char *format, ...)
{
	va_list args;

	(void)flag;
	va_start(args, format);
	take(priority, format, args);
	va_end(args);
}

START_TEST(test_as_the_classic)
{
	log_to_syslog(SYSLOG_NOTE, NULL, "Entering MASTER state");
	ck_assert_str_eq(seen.ident, "OpenSM");
	ck_assert_int_eq(seen.option, LOG_CONS | LOG_PID);
	ck_assert_int_eq(seen.facility, LOG_USER);
	ck_assert_int_eq(seen.priority, LOG_INFO); /* of that facility */
	ck_assert_str_eq(seen.text, "Entering MASTER state");
	log_to_syslog(SYSLOG_NOTE, "sm1", "SUBNET UP");
	ck_assert_str_eq(seen.text, "sm1: SUBNET UP");
}
END_TEST

START_TEST(test_errors_are_errors)
{
	log_to_syslog(SYSLOG_ERROR, NULL, "ERRORS DURING INITIALIZATION");
	ck_assert_int_eq(seen.priority, LOG_ERR);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("log_syslog");
	TCase *tcase = tcase_create("syslog");

	tcase_add_test(tcase, test_as_the_classic);
	tcase_add_test(tcase, test_errors_are_errors);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
