// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Parser of topology files: output of ibnetdiscover, and the hand-written format of ibsim.
 *
 *	vendid=0x2c9				keys of the next record, optional
 *	switchguid=0x200000(200000)
 *	Switch 8 "S-0000000000200000" # "leaf 1"	a record: type, ports, id, description
 *	[1](guid) "H-1"[1](guid) # "host 1" lid 4 4xEDR	a cable of the record
 *
 * Cables are collected until the end of the file, when all ids are known, and then plugged. A cable
 * may be listed at one of its ends or at both, but both ends must agree. `include "FILE"`, `module
 * "PREFIX"` (ids of the records that follow become PREFIX#ID) and `do Unlink "ID"[PORT]` (a cable
 * that is not plugged in) are the extensions of ibsim.
 *
 * The text is not trusted: every error names file, line, what was found and what was expected.
 */
#include <complib/file.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "complib/hash.h"
#include "libvendor/sim/topology.h"

#define INCLUDE_DEPTH_MAX 16
#define LANES_UNSET 0

struct cable {
	unsigned int node, port, remote_port;
	uint8_t lanes, speed;
	char *remote; /* id */
	const char *file;
	unsigned int line;
};

struct unlink {
	char *id;
	unsigned int port;
	const char *file;
	unsigned int line;
};

/* Keys read before the header that they belong to. */
struct record_keys {
	uint64_t vendor_id, device_id, system_image_guid, node_guid, port_guid;
};

struct parser {
	struct topology *topology;
	GHashTable *ids;     /* id -> node index + 1 */
	GHashTable *guids;   /* node GUIDs in use */
	GArray *cables;	     /* struct cable */
	GArray *unlinks;     /* struct unlink */
	GStringChunk *names; /* of files, for messages */
	char *prefix;	     /* of module, or NULL */
	struct record_keys keys;
	int node; /* owner of the following cables, or -1 */
	const char *file;
	unsigned int line, depth;
	GError **error;
};

static void cable_clear(void *data)
{
	g_free(((struct cable *)data)->remote);
}

static void unlink_clear(void *data)
{
	g_free(((struct unlink *)data)->id);
}

/* ---- errors and tokens ---- */

static bool fail_at(struct parser *parser, const char *file, unsigned int line, int code,
		    const char *format, ...) G_GNUC_PRINTF(5, 6);

static bool fail_at(struct parser *parser, const char *file, unsigned int line, int code,
		    const char *format, ...)
{
	g_autofree char *text = NULL;
	g_autofree char *safe = NULL;
	va_list args;

	va_start(args, format);
	text = g_strdup_vprintf(format, args);
	va_end(args);
	safe = g_utf8_make_valid(text, -1);
	g_set_error(parser->error, TOPOLOGY_ERROR, code, "%s, line %u: %s", file, line, safe);
	return false;
}

/* At most a short piece of the untrusted text goes into a message. */
static bool expected(struct parser *parser, const char *found, const char *what)
{
	if (!*found)
		return fail_at(parser, parser->file, parser->line, TOPOLOGY_ERROR_SYNTAX,
			       "found the end of the line, expected %s", what);
	return fail_at(parser, parser->file, parser->line, TOPOLOGY_ERROR_SYNTAX,
		       "found '%.40s', expected %s", found, what);
}

static void skip_blanks(const char **at)
{
	*at += strspn(*at, " \t\r\f\v");
}

static bool take_char(const char **at, char c)
{
	if (**at != c)
		return false;
	(*at)++;
	return true;
}

static bool take_number(const char **at, int base, uint64_t *value)
{
	char *end;

	if (base == 16 ? !g_ascii_isxdigit(**at) : !g_ascii_isdigit(**at))
		return false;
	*value = g_ascii_strtoull(*at, &end, base);
	*at = end;
	return true;
}

/* A quoted string without its quotes; NULL if it is missing. */
static char *take_quoted(const char **at)
{
	const char *end;
	char *text;

	if (**at != '"')
		return NULL;
	end = strchr(*at + 1, '"');
	if (!end)
		return NULL;
	text = g_strndup(*at + 1, end - *at - 1);
	*at = end + 1;
	return text;
}

/* An id as in the tables: with the prefix of its module; "#id" is outside all modules. */
static char *take_id(struct parser *parser, const char **at)
{
	char *id = take_quoted(at);
	char *full;

	if (!id || (!parser->prefix && id[0] != '#') || (id[0] != '#' && strchr(id, '#')))
		return id;
	full = id[0] == '#' ? g_strdup(id + 1) : g_strconcat(parser->prefix, "#", id, NULL);
	g_free(id);
	return full;
}

/* "[3]", a port number that can exist. */
static bool take_port(struct parser *parser, const char **at, unsigned int *port)
{
	const char *start = *at;
	uint64_t number;

	if (!take_char(at, '[') || !take_number(at, 10, &number) || !take_char(at, ']'))
		return expected(parser, start, "[port]");
	if (number < 1 || number > TOPOLOGY_PORTS_MAX)
		return expected(parser, start, "a port number from 1 to 254");
	*port = number;
	return true;
}

/* "(guid)" in hex without 0x, or nothing. */
static bool take_port_guid(struct parser *parser, const char **at, uint64_t *guid)
{
	const char *start = *at;

	*guid = 0;
	if (!take_char(at, '('))
		return true;
	if (!take_number(at, 16, guid) || !take_char(at, ')'))
		return expected(parser, start, "(GUID)");
	return true;
}

/* ---- keys: name=value before a header ---- */

static bool parse_key(struct parser *parser, const char *line)
{
	static const struct {
		const char *name;
		size_t offset;
	} keys[] = {
		{"vendid", offsetof(struct record_keys, vendor_id)},
		{"devid", offsetof(struct record_keys, device_id)},
		{"sysimgguid", offsetof(struct record_keys, system_image_guid)},
		{"switchguid", offsetof(struct record_keys, node_guid)},
		{"caguid", offsetof(struct record_keys, node_guid)},
		{"hcaguids", offsetof(struct record_keys, node_guid)},
		{"hcaguid", offsetof(struct record_keys, node_guid)},
		{"rtguid", offsetof(struct record_keys, node_guid)},
	};
	const char *at = strchr(line, '=') + 1;
	size_t length = at - 1 - line;

	for (size_t i = 0; i < G_N_ELEMENTS(keys); i++) {
		if (strlen(keys[i].name) != length || strncmp(line, keys[i].name, length) != 0)
			continue;
		if (!take_number(&at, 16, (uint64_t *)((char *)&parser->keys + keys[i].offset)))
			return expected(parser, at, "a hexadecimal number");
		return take_port_guid(parser, &at, &parser->keys.port_guid);
	}
	return expected(parser, line,
			"vendid=, devid=, sysimgguid=, switchguid=, caguid= or rtguid=");
}

/* ---- node headers ---- */

static int node_type(const char *word, size_t length)
{
	static const struct {
		const char *name;
		int type;
	} types[] = {
		{"switch", IBA_NODE_SWITCH}, {"ca", IBA_NODE_CA},	  {"hca", IBA_NODE_CA},
		{"rt", IBA_NODE_ROUTER},     {"router", IBA_NODE_ROUTER},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(types); i++)
		if (strlen(types[i].name) == length &&
		    g_ascii_strncasecmp(word, types[i].name, length) == 0)
			return types[i].type;
	return -1;
}

/* The GUID of a node: that of a key, or in an id such as S-0002c90200001234, or a new one. */
static uint64_t node_guid(struct parser *parser, int type, const char *id)
{
	uint64_t guid = parser->keys.node_guid;

	if (!guid && strlen(id) == 18 && strchr("SHR", id[0]) && id[1] == '-' &&
	    strspn(id + 2, "0123456789abcdefABCDEF") == 16)
		guid = g_ascii_strtoull(id + 2, NULL, 16);
	if (guid)
		return guid;
	guid = type == IBA_NODE_SWITCH ? 0x0200000080000000 : 0x0200000000000000;
	/* A stride that leaves room for the GUIDs of the ports. */
	guid += (uint64_t)(parser->topology->nodes->len + 1) * 256;
	while (g_hash_table_contains(parser->guids, &guid))
		guid += 256;
	return guid;
}

static char *take_comment_description(const char *at)
{
	const char *hash = strchr(at, '#');
	const char *quote = hash ? strchr(hash, '"') : NULL;
	const char *end = quote ? strrchr(quote, '"') : NULL;

	return end && end > quote ? g_strndup(quote + 1, end - quote - 1) : NULL;
}

static bool add_node(struct parser *parser, int type, unsigned int ports, const char *id,
		     const char *description)
{
	uint64_t guid = node_guid(parser, type, id);
	struct topology_node *node;

	if (parser->topology->nodes->len >= TOPOLOGY_NODES_MAX)
		return fail_at(parser, parser->file, parser->line, TOPOLOGY_ERROR_CONTENT,
			       "found one node more than the limit of %d", TOPOLOGY_NODES_MAX);
	if (g_hash_table_contains(parser->ids, id))
		return fail_at(parser, parser->file, parser->line, TOPOLOGY_ERROR_CONTENT,
			       "found a second node '%.40s', expected an id of its own", id);
	if (!g_hash_table_add(parser->guids, g_memdup2(&guid, sizeof(guid))))
		return fail_at(parser, parser->file, parser->line, TOPOLOGY_ERROR_CONTENT,
			       "found node GUID 0x%016" PRIx64 " twice", guid);
	parser->node = topology_add(parser->topology, type, ports, id,
				    description ? description : id, guid);
	g_hash_table_insert(parser->ids, g_strdup(id), GINT_TO_POINTER(parser->node + 1));
	node = topology_node(parser->topology, parser->node);
	node->vendor_id = parser->keys.vendor_id & 0xFFFFFF;
	node->device_id = parser->keys.device_id & 0xFFFF;
	if (parser->keys.system_image_guid)
		node->system_image_guid = parser->keys.system_image_guid;
	if (type == IBA_NODE_SWITCH)
		topology_port(parser->topology, parser->node, 0)->guid = parser->keys.port_guid;
	memset(&parser->keys, 0, sizeof(parser->keys));
	return true;
}

static bool parse_header(struct parser *parser, const char *line)
{
	size_t length = strcspn(line, " \t");
	int type = node_type(line, length);
	const char *at = line + length;
	const char *number;
	g_autofree char *id = NULL;
	g_autofree char *description = NULL;
	uint64_t ports;

	if (type < 0)
		return expected(parser, line, "Switch, Ca, Hca, Rt, [port], a key= or #");
	skip_blanks(&at);
	number = at;
	if (!take_number(&at, 10, &ports) || ports < 1 || ports > TOPOLOGY_PORTS_MAX)
		return expected(parser, number, "a number of ports from 1 to 254");
	skip_blanks(&at);
	id = take_id(parser, &at);
	if (!id || !*id)
		return expected(parser, at, "a quoted id");
	description = take_comment_description(at);
	return add_node(parser, type, ports, id, description);
}

/* ---- cables ---- */

/* "4xEDR" */
static bool take_rate(const char *word, uint8_t *lanes, uint8_t *speed)
{
	uint64_t n;

	if (!take_number(&word, 10, &n) || !take_char(&word, 'x'))
		return false;
	if (n != 1 && n != 2 && n != 4 && n != 8 && n != 12)
		return false;
	for (unsigned int i = 0; i < TOPOLOGY_SPEEDS; i++)
		if (g_ascii_strcasecmp(word, topology_speed_names[i]) == 0) {
			*lanes = n;
			*speed = i;
			return true;
		}
	return false;
}

/* "w=4", and ibsim's "s=" with the LinkSpeed bits of PortInfo (only the fastest counts). */
static bool take_assignment(struct parser *parser, const char *word, struct cable *cable)
{
	const char *at = word + 2;
	uint64_t value;

	if (word[1] != '=' || !take_number(&at, 10, &value) || *at)
		return expected(parser, word, "w=LANES, s=SPEED, # or the end of the line");
	if (word[0] == 'w' && (value == 1 || value == 4 || value == 8 || value == 12)) {
		cable->lanes = value;
		return true;
	}
	if (word[0] == 's' && value >= 1 && value <= 7) {
		cable->speed = value & 4 ? TOPOLOGY_QDR : value & 2 ? TOPOLOGY_DDR : TOPOLOGY_SDR;
		return true;
	}
	return expected(parser, word, "w=1, 4, 8 or 12, or s=1 to 7");
}

/* The text after the remote port: assignments, and a comment that ends in the rate. */
static bool parse_cable_tail(struct parser *parser, const char *at, struct cable *cable)
{
	const char *hash = strchr(at, '#');
	g_autofree char *plain = hash ? g_strndup(at, hash - at) : g_strdup(at);
	g_auto(GStrv) words = g_strsplit_set(plain, " \t\r", -1);
	const char *quote = hash ? strrchr(hash, '"') : NULL;

	for (char **word = words; *word; word++)
		if (**word && !take_assignment(parser, *word, cable))
			return false;
	if (hash) {
		g_auto(GStrv) notes = g_strsplit_set(quote ? quote + 1 : hash + 1, " \t\r", -1);

		for (char **note = notes; *note; note++)
			take_rate(*note, &cable->lanes, &cable->speed);
	}
	return true;
}

static bool parse_cable(struct parser *parser, const char *line)
{
	struct cable cable = {.node = parser->node, .lanes = LANES_UNSET, .speed = TOPOLOGY_EDR};
	const struct topology_node *node;
	const char *at = line;
	uint64_t guid, remote_guid;

	if (parser->node < 0)
		return expected(parser, line, "a node record before its first cable");
	node = topology_node(parser->topology, parser->node);
	if (!take_port(parser, &at, &cable.port))
		return false;
	if (cable.port > node->num_ports)
		return fail_at(parser, parser->file, parser->line, TOPOLOGY_ERROR_CONTENT,
			       "found port %u, expected at most %u of this node", cable.port,
			       node->num_ports);
	if (g_str_has_prefix(at, "[ext ")) {
		const char *end = strchr(at, ']'); /* external label of a chassis port */

		at = end ? end + 1 : at;
	}
	if (!take_port_guid(parser, &at, &guid))
		return false;
	if (guid && node->type != IBA_NODE_SWITCH)
		topology_port(parser->topology, parser->node, cable.port)->guid = guid;
	skip_blanks(&at);
	cable.remote = take_id(parser, &at);
	cable.file = parser->file;
	cable.line = parser->line;
	if (!cable.remote)
		return expected(parser, at, "the quoted id of the remote node");
	if (!take_port(parser, &at, &cable.remote_port) ||
	    !take_port_guid(parser, &at, &remote_guid) || !parse_cable_tail(parser, at, &cable)) {
		g_free(cable.remote);
		return false;
	}
	g_array_append_val(parser->cables, cable);
	return true;
}

/* ---- directives of ibsim ---- */

static bool parse_module(struct parser *parser, const char *at)
{
	skip_blanks(&at);
	if (*at == '"') {
		g_free(parser->prefix);
		parser->prefix = take_quoted(&at);
		if (parser->prefix && !*parser->prefix)
			g_clear_pointer(&parser->prefix, g_free);
		else if (!parser->prefix)
			return expected(parser, at, "a quoted prefix");
		return true;
	}
	return expected(parser, at, "a quoted prefix");
}

static bool parse_do(struct parser *parser, const char *at)
{
	struct unlink unlink = {.file = parser->file, .line = parser->line};

	skip_blanks(&at);
	if (g_ascii_strncasecmp(at, "unlink", 6) != 0)
		return expected(parser, at, "Unlink \"id\"[port], the only command supported");
	at += 6;
	skip_blanks(&at);
	unlink.id = take_id(parser, &at);
	if (!unlink.id)
		return expected(parser, at, "a quoted id");
	if (!take_port(parser, &at, &unlink.port)) {
		g_free(unlink.id);
		return false;
	}
	g_array_append_val(parser->unlinks, unlink);
	return true;
}

/* The file named by an include, relative to the including file. */
static char *include_path(struct parser *parser, const char *at)
{
	g_autofree char *name = NULL;
	g_autofree char *directory = g_path_get_dirname(parser->file);

	skip_blanks(&at);
	name = *at == '"' ? take_quoted(&at) : g_strndup(at, strcspn(at, " \t\r#"));
	if (!name || !*name) {
		expected(parser, at, "the name of a file");
		return NULL;
	}
	return g_path_is_absolute(name) ? g_steal_pointer(&name)
					: g_build_filename(directory, name, NULL);
}

/* ---- lines and files ---- */

static bool is_word(const char *line, const char *word)
{
	size_t length = strlen(word);

	return strncmp(line, word, length) == 0 && (line[length] == ' ' || line[length] == '\t');
}

/* Any line except an include, which would recurse. */
static bool parse_line(struct parser *parser, const char *line)
{
	const char *at = line;

	skip_blanks(&at);
	if (!*at || *at == '#')
		return true;
	if (*at == '[')
		return parse_cable(parser, at);
	if (is_word(at, "module"))
		return parse_module(parser, at + 6);
	if (is_word(at, "do"))
		return parse_do(parser, at + 2);
	/* Headings of ibnetdiscover --grouping; they contain no cables. */
	if (is_word(at, "Chassis") || g_str_has_prefix(at, "Non-Chassis"))
		return true;
	if (at[strcspn(at, " \t\"=")] == '=')
		return parse_key(parser, at);
	return parse_header(parser, at);
}

static bool parse_file(struct parser *parser, const char *path)
{
	const char *outer = parser->file;
	unsigned int outer_line = parser->line;
	g_autofree char *text = NULL;
	gsize length;

	if (strcmp(path, "-"))
		text = file_read(path, FILE_MAX_DUMP, &length, parser->error);
	else
		text = file_read_stdin(FILE_MAX_DUMP, &length, parser->error);
	if (!text)
		return false;
	parser->file = g_string_chunk_insert_const(parser->names, path);
	parser->line = 0;
	for (char *line = text, *end; line; line = end) {
		size_t rest = length - (line - text);

		end = memchr(line, '\n', rest);
		parser->line++;
		if (memchr(line, '\0', end ? (size_t)(end - line) : rest))
			return expected(parser, "\\0", "text");
		if (end)
			*end++ = '\0';
		if (!is_word(line, "include")) {
			if (!parse_line(parser, line))
				return false;
			continue;
		}
		g_autofree char *inner = include_path(parser, line + 7);

		if (!inner)
			return false;
		if (++parser->depth > INCLUDE_DEPTH_MAX)
			return expected(parser, line, "at most 16 levels of include");
		if (!parse_file(parser, inner))
			return false;
		parser->depth--;
	}
	parser->file = outer;
	parser->line = outer_line;
	return true;
}

/* ---- plugging the cables ---- */

static bool cable_fail(struct parser *parser, const struct cable *cable, const char *what,
		       const char *why)
{
	const struct topology_node *node = topology_node(parser->topology, cable->node);

	return fail_at(parser, cable->file, cable->line, TOPOLOGY_ERROR_CONTENT,
		       "found a cable of '%.40s'[%u] to '%.40s'[%u], but %s; expected %s", node->id,
		       cable->port, cable->remote, cable->remote_port, why, what);
}

static bool plug(struct parser *parser, const struct cable *cable)
{
	struct topology *topology = parser->topology;
	int remote = GPOINTER_TO_INT(g_hash_table_lookup(parser->ids, cable->remote)) - 1;
	struct topology_port *near = topology_port(topology, cable->node, cable->port);
	struct topology_port *far;

	if (remote < 0)
		return cable_fail(parser, cable, "a record of it", "there is no such node");
	if (cable->remote_port > topology_node(topology, remote)->num_ports)
		return cable_fail(parser, cable, "a port of it", "that node has fewer ports");
	far = topology_port(topology, remote, cable->remote_port);
	if (near == far)
		return cable_fail(parser, cable, "another port", "that is the same port");
	if (near->peer == remote && near->peer_port == cable->remote_port) {
		if (cable->lanes != LANES_UNSET) {
			near->lanes = far->lanes = cable->lanes;
			near->speed = far->speed = cable->speed;
		}
		return true;
	}
	if (near->peer >= 0 || far->peer >= 0)
		return cable_fail(parser, cable, "one cable a port",
				  near->peer >= 0 ? "another line has a different one here"
						  : "the other end has a different one");
	near->lanes = cable->lanes != LANES_UNSET ? cable->lanes : 4;
	near->speed = cable->speed;
	topology_connect(topology, cable->node, cable->port, remote, cable->remote_port);
	return true;
}

static bool unplug(struct parser *parser, const struct unlink *unlink)
{
	int node = GPOINTER_TO_INT(g_hash_table_lookup(parser->ids, unlink->id)) - 1;
	struct topology_port *port;

	if (node < 0 || unlink->port > topology_node(parser->topology, node)->num_ports)
		return fail_at(parser, unlink->file, unlink->line, TOPOLOGY_ERROR_CONTENT,
			       "found port '%.40s'[%u], expected one of a record", unlink->id,
			       unlink->port);
	port = topology_port(parser->topology, node, unlink->port);
	if (port->peer >= 0) {
		topology_port(parser->topology, port->peer, port->peer_port)->peer = -1;
		port->peer = -1;
	}
	return true;
}

static bool finish(struct parser *parser)
{
	if (!parser->topology->nodes->len)
		return fail_at(parser, parser->file, 1, TOPOLOGY_ERROR_CONTENT,
			       "found no node in the whole file, expected Switch or Ca records");
	for (unsigned int i = 0; i < parser->cables->len; i++)
		if (!plug(parser, &g_array_index(parser->cables, struct cable, i)))
			return false;
	for (unsigned int i = 0; i < parser->unlinks->len; i++)
		if (!unplug(parser, &g_array_index(parser->unlinks, struct unlink, i)))
			return false;
	for (unsigned int i = 0; i < parser->topology->nodes->len; i++)
		topology_default_port_guids(parser->topology, i);
	return true;
}

struct topology *topology_read(const char *file, GError **error)
{
	struct parser parser = {
		.topology = topology_new(),
		.ids = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
		.guids = g_hash_table_new_full(hash_uint64, g_int64_equal, g_free, NULL),
		.cables = g_array_new(FALSE, FALSE, sizeof(struct cable)),
		.unlinks = g_array_new(FALSE, FALSE, sizeof(struct unlink)),
		.names = g_string_chunk_new(256),
		.file = file,
		.node = -1,
		.error = error,
	};

	g_array_set_clear_func(parser.cables, cable_clear);
	g_array_set_clear_func(parser.unlinks, unlink_clear);
	if (!parse_file(&parser, file) || !finish(&parser))
		g_clear_pointer(&parser.topology, topology_free);
	g_hash_table_destroy(parser.ids);
	g_hash_table_destroy(parser.guids);
	g_array_free(parser.cables, TRUE);
	g_array_free(parser.unlinks, TRUE);
	g_string_chunk_free(parser.names);
	g_free(parser.prefix);
	return parser.topology;
}
