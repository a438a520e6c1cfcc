// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "ctl/report/hints.h"

#include <inttypes.h>
#include <string.h>

#include "ctl/console/control_socket.h"
#include "subnet/subnet.h"

/* Whether it can be typed in the shell and the console without quoting. */
static bool is_plain(const char *text)
{
	const char *p = text;

	while (g_ascii_isalnum(*p) || (*p && strchr("-_./", *p)))
		p++;
	return *text && !*p;
}

static char *shell_word(const char *text)
{
	return is_plain(text) ? g_strdup(text) : g_shell_quote(text);
}

/* That beside this program in a build tree, else by PATH. */
static char *command_name(void)
{
	g_autofree char *self = g_file_read_link("/proc/self/exe", NULL);
	g_autofree char *directory = self ? g_path_get_dirname(self) : g_strdup("/");
	g_autofree char *built = g_build_filename(directory, "opensmctl", "opensmctl", NULL);

	if (g_file_test(built, G_FILE_TEST_IS_EXECUTABLE))
		return shell_word(built);
	return g_strdup("opensmctl");
}

/* As the command sim accepts it. */
static char *node_word(const struct fabric_node *node)
{
	if (is_plain(node->description))
		return g_strdup(node->description);
	return g_strdup_printf("0x%016" PRIx64, node->guid);
}

/* A cable between switches, as a redundant fabric can lose one; FABRIC_NONE: there is none. */
static uint32_t some_cable(const struct fabric *fabric)
{
	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		const struct fabric_port *port = &fabric->ports[i];

		if (port->peer != FABRIC_NONE && fabric_is_switch(fabric, port->node) &&
		    fabric_is_switch(fabric, fabric->ports[port->peer].node) && !port->loopback)
			return i;
	}
	return FABRIC_NONE;
}

/* The third command: what the simulation can show, or the state of the daemon. */
static char *third_words(struct context *context, bool simulated)
{
	struct subnet *subnet = simulated ? slot_take(&context->subnet) : NULL;
	uint32_t port = subnet ? some_cable(subnet->fabric) : FABRIC_NONE;
	char *words;

	if (port == FABRIC_NONE) {
		words = g_strdup("health");
	} else {
		const struct fabric *fabric = subnet->fabric;
		const struct fabric_port *p = &fabric->ports[port];
		g_autofree char *node = node_word(&fabric->nodes[p->node]);

		words = g_strdup_printf("sim unlink %s %u", node, p->num);
	}
	subnet_unref(subnet);
	return words;
}

char *hints_text(struct daemon *daemon)
{
	struct context *context = daemon_context(daemon);
	struct options *options = slot_take(&context->options);
	char *text = NULL;

	if (options->control_socket) {
		g_autofree char *name = command_name();
		g_autofree char *path =
			control_socket_name(options->control_socket, daemon_port_guid(daemon));
		g_autofree char *socket = shell_word(path);
		g_autofree char *third = third_words(context, options->sim != NULL);

		text = g_strdup_printf("In another shell:\n"
				       "    %s -s %s status\n"
				       "    %s -s %s %s\n"
				       "    %s -s %s events\n",
				       name, socket, name, socket, third, name, socket);
	}
	options_unref(options);
	return text;
}
