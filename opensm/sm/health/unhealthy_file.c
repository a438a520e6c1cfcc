// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Unhealthy ports as text:
 *
 *	0xGUID PORT CONDITION TYPE ACTION 0xBLAMED LEFT RELEASE AGAIN CUT_OFF
 *
 * of struct unhealthy_port; LEFT are the seconds until it is released, or "never".
 */
#include <inttypes.h>
#include <string.h>

#include "complib/actor.h"
#include "sm/health/unhealthy.h"
#include "core/state/state_file.h"

#define WORDS 10
#define LEFT_MAX ((uint64_t)PORT_RULE_RELEASE_MAX << 4)

static void format_port(GString *text, const struct unhealthy_port *port, uint64_t now_ns)
{
	g_string_append_printf(text, "0x%016" PRIx64 " %u %s %s %s 0x%016" PRIx64 " ", port->guid,
			       port->num, port_condition_word(port->condition),
			       port_type_word(port->type), port_action_word(port->action),
			       port->blamed);
	if (port->until_ns == UINT64_MAX)
		g_string_append(text, "never");
	else
		g_string_append_printf(text, "%" PRIu64,
				       (port->until_ns - MIN(port->until_ns, now_ns)) / NS_PER_S);
	g_string_append_printf(text, " %u %u %u\n", port->release, port->again, port->cut_off);
}

char *unhealthy_format(const struct unhealthy *unhealthy, uint64_t now_ns)
{
	g_autoptr(GPtrArray) list = unhealthy_list(unhealthy);
	GString *text =
		g_string_new("# unhealthy ports: switch, port, condition, type, action, blamed "
			     "GUID, seconds left, release, again, cut_off\n");

	for (guint i = 0; i < list->len; i++)
		format_port(text, list->pdata[i], now_ns);
	return g_string_free(text, FALSE);
}

/* ---- reading ---- */

static bool number(const char *word, guint base, uint64_t max, uint64_t *value)
{
	if (base == 16 && g_str_has_prefix(word, "0x"))
		word += 2;
	return g_ascii_string_to_unsigned(word, base, 0, max, value, NULL);
}

/* Its index in a list of words, at least 0. */
static bool known(int (*find)(const char *word, size_t length), const char *word, uint8_t *value)
{
	int found = find(word, strlen(word));

	*value = (uint8_t)found;
	return found >= 0;
}

static const char *take_words(struct unhealthy_port *port, char **words)
{
	uint64_t num, release, again, cut_off;

	if (!number(words[0], 16, UINT64_MAX, &port->guid) || !port->guid)
		return "expected the GUID of a switch first";
	if (!number(words[1], 10, IBA_SWITCH_MAX_PORT, &num))
		return "expected a port from 0 to 254 after the GUID";
	if (!known(port_condition_find, words[2], &port->condition))
		return "expected a condition after the port";
	if (!known(port_type_find, words[3], &port->type))
		return "expected ca, switch or router after the condition";
	if (!known(port_action_find, words[4], &port->action) || port->action == PORT_IGNORE)
		return "expected an action after the type";
	if (!number(words[5], 16, UINT64_MAX, &port->blamed))
		return "expected a GUID after the action";
	port->until_ns = UINT64_MAX;
	if (strcmp(words[6], "never") && !number(words[6], 10, LEFT_MAX, &port->until_ns))
		return "expected seconds or never";
	if (!number(words[7], 10, PORT_RULE_RELEASE_MAX, &release) ||
	    !number(words[8], 10, 4, &again) || !number(words[9], 10, 1, &cut_off))
		return "expected seconds, a number up to 4, and 0 or 1 at the end";
	port->num = (uint8_t)num;
	port->release = (uint32_t)release;
	port->again = (uint8_t)again;
	port->cut_off = cut_off;
	return NULL;
}

struct loading {
	struct unhealthy *unhealthy;
	uint64_t now_ns;
};

static const char *take_line(void *arg, const char *line)
{
	const struct loading *loading = arg;
	g_auto(GStrv) words = g_strsplit(line, " ", WORDS + 1);
	struct unhealthy_port port = {0};
	const char *wrong;

	if (g_strv_length(words) != WORDS)
		return "expected 10 words with one blank between them";
	wrong = take_words(&port, words);
	if (wrong)
		return wrong;
	if (port.until_ns != UINT64_MAX)
		port.until_ns = loading->now_ns + port.until_ns * NS_PER_S;
	if (unhealthy_find(loading->unhealthy, port.guid, port.num))
		return "this port is listed twice";
	if (!unhealthy_restore(loading->unhealthy, &port))
		return "there is no room for more ports";
	return NULL;
}

unsigned int unhealthy_parse(struct unhealthy *unhealthy, const char *file, const char *text,
			     struct log *log, uint64_t now_ns)
{
	struct loading loading = {unhealthy, now_ns};

	return state_parse(log, file, text, take_line, &loading);
}

void unhealthy_load(struct unhealthy *unhealthy, const char *file, struct log *log, uint64_t now_ns)
{
	struct loading loading = {unhealthy, now_ns};

	state_load(log, file, "unhealthy ports", take_line, &loading);
}
