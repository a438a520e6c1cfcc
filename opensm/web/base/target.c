// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "web/base/target.h"

#include <string.h>

#include "web/base/exchange.h"

/* Decodes what is before end; plus: a '+' is a blank. NULL: it is not text. */
static char *decode(const char *at, const char *end, bool plus)
{
	g_autoptr(GString) out = g_string_new(NULL);

	while (at < end) {
		int c = (unsigned char)*at++;

		if (c == '%') {
			if (end - at < 2 || !g_ascii_isxdigit(at[0]) || !g_ascii_isxdigit(at[1]))
				return NULL;
			c = g_ascii_xdigit_value(at[0]) << 4 | g_ascii_xdigit_value(at[1]);
			at += 2;
		} else if (c == '+' && plus) {
			c = ' ';
		}
		if (c < ' ' || c == 0x7f)
			return NULL;
		g_string_append_c(out, (char)c);
	}
	return g_utf8_validate(out->str, (gssize)out->len, NULL)
		       ? g_string_free(g_steal_pointer(&out), FALSE)
		       : NULL;
}

static char *refuse(const char *what)
{
	return g_strdup_printf("%s: expected text in UTF-8 without control characters, with %%HH "
			       "for other octets",
			       what);
}

/* One argument, before end. */
static bool take_argument(struct request *request, const char *at, const char *end)
{
	const char *equals = memchr(at, '=', (size_t)(end - at));
	g_autofree char *name = decode(at, equals ? equals : end, true);
	g_autofree char *value = equals ? decode(equals + 1, end, true) : g_strdup("");

	if (name && value && *name)
		request_add_argument(request, name, value);
	return name && value;
}

static char *take_arguments(struct request *request, const char *at)
{
	for (unsigned int n = 0; *at; n++) {
		const char *end = at + strcspn(at, "&");

		if (n == TARGET_MAX_ARGUMENTS)
			return g_strdup_printf("too many arguments, expected at most %d",
					       TARGET_MAX_ARGUMENTS);
		if (!take_argument(request, at, end))
			return refuse("argument");
		at = *end ? end + 1 : end;
	}
	return NULL;
}

/* What comes after "http://HOST"; *host: newly allocated, NULL: the target has none. */
static const char *skip_host(const char *target, char **host)
{
	static const char *const schemes[] = {"http://", "https://"};

	*host = NULL;
	for (size_t i = 0; i < G_N_ELEMENTS(schemes) && !*host; i++) {
		size_t n = strlen(schemes[i]);

		if (g_ascii_strncasecmp(target, schemes[i], n) != 0)
			continue;
		*host = g_strndup(target + n, strcspn(target + n, "/?#"));
		target += n + strlen(*host);
	}
	return target;
}

struct request *target_request(const char *method, const char *target, char **why)
{
	g_autofree char *host = NULL;
	const char *from = skip_host(target, &host);
	const char *end = from + strcspn(from, "?#");
	g_autofree char *path = NULL;
	struct request *request;

	if (host && from == end)
		path = g_strdup("/");
	else if (*from == '/')
		path = decode(from, end, false);
	*why = NULL;
	if (!path) {
		*why = refuse("path");
		return NULL;
	}
	request = request_new(method, path);
	request_set_host(request, host);
	if (*end == '?')
		*why = take_arguments(request, end + 1);
	if (!*why)
		return request;
	request_unref(request);
	return NULL;
}
