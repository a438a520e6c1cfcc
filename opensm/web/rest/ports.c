// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Ports, from an image of the fabric. The list of 40,000 of them is 16 MB: a thread writes it to a
 * file in memory, so that the main loop goes on.
 */
#include "config.h"

#include <errno.h>
#include <gio/gio.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "client/image.h"
#include "web/api/api.h"
#include "web/api/asker.h"
#include "web/base/say.h"
#include "web/rest/rest_private.h"

#define CHUNK (64u << 10)

struct listing {
	struct call *call;
	int image;
	bool active;
	int type; /* enum image_type; 0: all */
};

static void listing_free(gpointer data)
{
	struct listing *listing = data;

	if (listing->image > 0)
		close(listing->image);
	g_free(listing);
}

/* ---- one port ---- */

static const char *logical_state(unsigned int state)
{
	static const char *const words[] = {"Down", "Down", "Initialize", "Armed", "Active"};

	return state < G_N_ELEMENTS(words) ? words[state] : "Down";
}

static const char *physical_state(unsigned int state)
{
	static const char *const words[] = {
		"Unknown", "Sleep",   "Polling",	     "Disabled",
		"Port Configuration Training", "Link Up", "Link Error Recovery", "Phy Test"};

	return state < G_N_ELEMENTS(words) ? words[state] : "Unknown";
}

/* That of a switch is the GUID of the node. 0: unknown. */
static uint64_t guid_of(const struct image *image, const struct image_port *port)
{
	const struct image_node *node = &image->nodes[port->node];

	return node->type == IMAGE_SWITCH ? node->guid : port->guid;
}

static void add_text(GString *out, const char *key, const char *text)
{
	g_string_append_printf(out, ",\"%s\":", key);
	say_json(out, text);
}

/* The first word of a NodeDescription is the host; the rest is the device. */
static char *host_of(const char *description)
{
	return g_strndup(description, strcspn(description, " \t"));
}

static char *device_of(const struct image *image, const struct image_port *port)
{
	const struct image_node *node = &image->nodes[port->node];
	const char *description = image_name(image, node->name);
	const char *rest = description + strcspn(description, " \t");

	rest += strspn(rest, " \t");
	if (node->type == IMAGE_SWITCH)
		return g_strdup_printf("%u", port->num);
	return g_strdup_printf("%s/%u", *rest ? rest : "HCA", port->num);
}

static void add_peer(GString *out, const struct image *image, const struct image_port *peer)
{
	const struct image_node *node = &image->nodes[peer->node];
	const char *description = image_name(image, node->name);
	g_autofree char *host = host_of(description), *device = device_of(image, peer);
	uint64_t guid = guid_of(image, peer);

	g_string_append_printf(out,
			       ",\"peer\":\"%016" G_GINT64_MODIFIER "x_%u\","
			       "\"peer_guid\":\"%016" G_GINT64_MODIFIER "x\"",
			       guid, peer->num, guid);
	add_text(out, "peer_node_name", node->type == IMAGE_SWITCH ? description : host);
	add_text(out, "peer_port_dname", device);
	add_text(out, "peer_node_description", description);
}

static void add_port(GString *out, const struct image *image, const struct image_port *port)
{
	const struct image_node *node = &image->nodes[port->node];
	const char *description = image_name(image, node->name);
	g_autofree char *host = host_of(description), *device = device_of(image, port);
	uint64_t guid = guid_of(image, port);
	uint64_t system = node->system_guid ? node->system_guid : node->guid;

	g_string_append_printf(out,
			       "{\"guid\":\"%016" G_GINT64_MODIFIER "x\","
			       "\"name\":\"%016" G_GINT64_MODIFIER "x_%u\","
			       "\"systemID\":\"%016" G_GINT64_MODIFIER "x\",\"lid\":%u",
			       guid, guid, port->num, system,
			       node->type == IMAGE_SWITCH ? node->lid : port->lid);
	add_text(out, "dname", device);
	add_text(out, "system_name", node->type == IMAGE_SWITCH ? description : host);
	add_text(out, "physical_state", physical_state(port->physical));
	add_text(out, "logical_state", logical_state(port->state));
	g_string_append_printf(out, ",\"number\":%u", port->num);
	add_text(out, "label", device);
	add_text(out, "node_description", description);
	if (port->peer != IMAGE_NONE && !(port->flags & IMAGE_PORT_LOST))
		add_peer(out, image, &image->ports[port->peer]);
	g_string_append_c(out, '}');
}

static bool is_wanted(const struct listing *listing, const struct image *image,
		      const struct image_port *port)
{
	unsigned int type = image->nodes[port->node].type;

	if (!(port->flags & IMAGE_PORT_KNOWN) || !guid_of(image, port))
		return false;
	if (listing->active && port->state != 4)
		return false;
	return !listing->type || (listing->type == IMAGE_SWITCH) == (type == IMAGE_SWITCH);
}

/* ---- all of them, in a thread ---- */

static bool flush(GString *out, FILE *file)
{
	bool good = fwrite(out->str, 1, out->len, file) == out->len;

	g_string_truncate(out, 0);
	return good;
}

static bool write_ports(const struct listing *listing, const struct image *image, FILE *file)
{
	g_autoptr(GString) out = g_string_new("[");
	bool good = true, first = true;

	for (uint32_t i = 0; good && i < image->header->n_ports; i++) {
		if (!is_wanted(listing, image, &image->ports[i]))
			continue;
		g_string_append(out, first ? "" : ",\n");
		first = false;
		add_port(out, image, &image->ports[i]);
		good = out->len < CHUNK || flush(out, file);
	}
	g_string_append(out, "]\n");
	return good && flush(out, file) && !fflush(file);
}

static void run(GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
	struct listing *listing = data;
	int fd = memfd_create("opensm-rest-ports", MFD_CLOEXEC), copy = -1;
	FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;
	GError *error = NULL;
	struct image image;

	(void)source;
	(void)cancellable;
	if (file && image_map(&image, listing->image, &error)) {
		if (write_ports(listing, &image, file))
			copy = dup(fd);
		image_unmap(&image);
	}
	if (!error && copy < 0)
		error = g_error_new(G_IO_ERROR, G_IO_ERROR_FAILED, "the list cannot be kept: %s",
				    g_strerror(errno));
	if (file)
		fclose(file);
	else if (fd >= 0)
		close(fd);
	if (error)
		g_task_return_error(task, error);
	else
		g_task_return_int(task, copy);
}

static void on_written(GObject *source, GAsyncResult *result, gpointer arg)
{
	struct call *call = arg;
	g_autoptr(GError) error = NULL;
	int file = (int)g_task_propagate_int(G_TASK(result), &error);
	struct held *held = error ? NULL : held_new(file, &call->web->held);

	(void)source;
	if (error)
		request_fail(call->request, 503, "%s", error->message);
	else if (held)
		request_answer_file(call->request, 200, WEB_JSON, held);
	else
		request_fail(call->request, 503, "%s", HELD_TOO_MUCH);
	call_free(call);
}

/* ---- the image ---- */

static void fail(struct call *call, const struct reply *reply)
{
	const char *text = reply->output ? reply->output : "";
	g_autoptr(GBytes) bytes = g_bytes_new(text, strlen(text));

	api_fail(call->web, call->request,
		 reply->status == CONTROL_DONE ? CONTROL_FAILED : reply->status, bytes, 503);
	call_free(call);
}

static void on_image(void *arg, struct reply *reply)
{
	struct listing *listing = arg;
	struct call *call = listing->call;
	g_autoptr(GTask) task = NULL;

	if (reply->status != CONTROL_DONE || !reply->file) {
		fail(call, reply);
		listing_free(listing);
		return;
	}
	listing->image = reply->file;
	reply->file = 0;
	task = g_task_new(NULL, NULL, on_written, call);
	g_task_set_task_data(task, listing, listing_free);
	g_task_run_in_thread(task, run);
}

void read_ports(struct call *call)
{
	const char *active = request_argument(call->request, "active");
	const char *type = request_argument(call->request, "sys_type");
	struct listing *listing = g_new0(struct listing, 1);

	listing->call = call;
	listing->active = active && !g_ascii_strcasecmp(active, "true");
	if (type && !g_ascii_strcasecmp(type, "switch"))
		listing->type = IMAGE_SWITCH;
	else if (type)
		listing->type = IMAGE_HOST;
	link_ask(call->web->link, "image descriptor", patience_of(call), on_image, listing);
}

/* ---- hosts by name ---- */

/* A host that is asked for: a name in the body. */
struct host {
	const char *name;
	bool found;
};

/* That NodeDescriptions begin with, before their end or a blank. */
static bool is_host(GHashTable *hosts, const char *description)
{
	bool found = false;

	for (size_t n = 1; description[n - 1]; n++) {
		g_autofree char *name = NULL;
		struct host *host;

		if (description[n] && !strchr(" \t", description[n]))
			continue;
		name = g_strndup(description, n);
		host = g_hash_table_lookup(hosts, name);
		if (host)
			host->found = found = true;
	}
	return found;
}

static void add_ports(struct body *body, const struct image *image, GHashTable *hosts)
{
	for (uint32_t i = 0; i < image->header->n_ports; i++) {
		const struct image_port *port = &image->ports[i];
		const struct image_node *node = &image->nodes[port->node];
		struct body_member member = {
			.guid = port->guid,
			.membership = body->membership ? body->membership : "full",
		};

		if (node->type != IMAGE_SWITCH && port->guid &&
		    is_host(hosts, image_name(image, node->name)))
			g_array_append_val(body->members, member);
	}
}

/* NULL: there may be hosts that are unknown, but no other mistake. */
static char *resolve(struct call *call, int file)
{
	g_autoptr(GHashTable) hosts = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, g_free);
	g_autoptr(GError) error = NULL;
	const GPtrArray *names = call->body.hosts;
	struct image image;

	if (!image_map(&image, file, &error))
		return g_strdup(error->message);
	for (guint i = 0; i < names->len; i++) {
		struct host *host = g_new0(struct host, 1);

		host->name = names->pdata[i];
		g_hash_table_replace(hosts, names->pdata[i], host);
	}
	add_ports(&call->body, &image, hosts);
	image_unmap(&image);
	for (guint i = 0; i < names->len; i++) {
		const struct host *host = g_hash_table_lookup(hosts, names->pdata[i]);

		if (!host->found)
			g_ptr_array_add(call->unknown, g_strdup(host->name));
	}
	return call->body.members->len > BODY_GUIDS_MAX
		       ? g_strdup_printf("these hosts have more than %u ports", BODY_GUIDS_MAX)
		       : NULL;
}

struct naming {
	struct call *call;
	void (*go_on)(struct call *call);
};

static void refuse(struct call *call, const char *why)
{
	request_fail(call->request, 422, "%s", why);
	call_free(call);
}

static void refuse_unknown(struct call *call, const char *why)
{
	g_autofree char *text = g_strdup_printf("host '%s' is not in the subnet%s",
						(char *)call->unknown->pdata[0], why);

	refuse(call, text);
}

/* A host that has left may still be a member; which GUIDs it had is unknown. */
static void on_absent(void *arg, enum control_status status, GBytes *text)
{
	g_autofree struct naming *naming = arg;
	g_autoptr(JsonParser) parser = json_parser_new();
	JsonObject *answer = json_read(parser, text);
	JsonObject *partition = json_row(json_list(answer, "members"), 0);

	if (!strcmp(json_text(answer, "kind"), "unknown")) {
		call_done(naming->call);
	} else if (status != CONTROL_DONE || !partition) {
		api_fail(naming->call->web, naming->call->request, status, text, 503);
		call_free(naming->call);
	} else if (json_rows(json_list(partition, "absent"))) {
		refuse_unknown(naming->call,
			       ", and the partition has members that are not there either, which "
			       "may be its ports: expected their GUIDs");
	} else {
		naming->go_on(naming->call);
	}
}

static void on_names(void *arg, struct reply *reply)
{
	struct naming *naming = arg;
	struct call *call = naming->call;
	g_autofree char *mistake = NULL, *line = NULL;

	if (reply->status != CONTROL_DONE || !reply->file) {
		fail(call, reply);
	} else if ((mistake = resolve(call, reply->file))) {
		refuse(call, mistake);
	} else if (call->unknown->len && call->writing == WRITE_REMOVE) {
		line = g_strdup_printf("partitions members 0x%x json", call->body.p_key);
		asker_ask(call->web->asker, line, 0, patience_of(call), on_absent, naming);
		return;
	} else if (call->unknown->len) {
		refuse_unknown(call, "");
	} else {
		naming->go_on(call);
	}
	g_free(naming);
}

void ports_of_hosts(struct call *call, void (*go_on)(struct call *call))
{
	struct naming *naming = g_new(struct naming, 1);

	*naming = (struct naming){call, go_on};
	link_ask(call->web->link, "image descriptor", patience_of(call), on_names, naming);
}
