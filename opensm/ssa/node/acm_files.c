// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "ssa/node/acm_files.h"

#include <arpa/inet.h>
#include <string.h>
#include <sys/stat.h>

#include "complib/file.h"
#include "ssa/look/look.h"

#define C(name) IBA_COMPONENT(path_record, name)
#define NAME_MAX_OCTETS 45 /* more are cut off by the reader */

/* ---- paths ---- */

static void add_header(GString *text, const struct ssa_endport *port)
{
	g_string_append_printf(text, "%s 0x%016" G_GINT64_MODIFIER "x, base LID %u, port %u\n",
			       port->kind == SSA_SWITCH	  ? "Switch"
			       : port->kind == SSA_ROUTER ? "Router"
							  : "Channel Adapter",
			       ssa_64(port->guid), ssa_16(port->lid), port->port);
}

static bool look_up(const struct ssa_snapshot *snapshot, uint32_t from, uint32_t to, uint16_t p_key,
		    struct iba_path_record *record)
{
	const struct ssa_endport *ports = snapshot->endports;
	const struct iba_path_record wanted = {
		.sgid = {snapshot->prefix, ssa_64(ports[from].guid)},
		.dgid = {snapshot->prefix, ssa_64(ports[to].guid)},
		.slid = ssa_16(ports[from].lid),
		.dlid = ssa_16(ports[to].lid),
		.reversible = 1,
		.p_key = p_key,
	};
	uint64_t mask = C(sgid) | C(dgid) | C(slid) | C(dlid) | C(reversible);

	return ssa_look_path(snapshot, from, &wanted, p_key ? mask | C(p_key) : mask, record,
			     NULL) == SSA_LOOK_FOUND;
}

/* The verdicts of a pair: without a P_Key first, then for each that the two share. */
static const struct ssa_verdict *verdicts_of(const struct ssa_snapshot *snapshot, uint32_t from,
					     uint32_t to)
{
	const uint32_t *pairs = (const void *)snapshot->tables[SSA_PAIRS].data;
	uint64_t n = ssa_32(snapshot->subnet->n_classes);
	const struct ssa_verdict *verdicts = (const void *)snapshot->tables[SSA_VERDICTS].data;

	return verdicts + ssa_32(pairs[ssa_32(snapshot->endports[from].class) * n +
				       ssa_32(snapshot->endports[to].class)]);
}

/* With all P_Keys alike. */
static bool find_path(const struct ssa_snapshot *snapshot, uint32_t from, uint32_t to,
		      struct iba_path_record *record)
{
	const struct ssa_verdict *verdict;

	if (ssa_32(snapshot->subnet->flags) & SSA_NO_VERDICTS ||
	    !look_up(snapshot, from, to, 0, record))
		return false;
	for (verdict = verdicts_of(snapshot, from, to);; verdict++) {
		uint16_t p_key = ssa_16(verdict->asked);
		struct iba_path_record other;

		if (p_key &&
		    (!look_up(snapshot, from, to, p_key, &other) || other.sl != record->sl ||
		     other.mtu != record->mtu || other.rate != record->rate))
			return false;
		if (verdict->flags & SSA_VERDICT_LAST)
			return true;
	}
}

static void add_port(GString *text, const struct ssa_snapshot *snapshot, uint32_t from)
{
	add_header(text, &snapshot->endports[from]);
	g_string_append(text, "# LID : SL : MTU : RATE\n");
	for (uint32_t to = 0; to < snapshot->n_endports; to++) {
		struct iba_path_record record;

		if (snapshot->endports[to].lid && find_path(snapshot, from, to, &record))
			g_string_append_printf(text, "0x%04X : %u : %u : %u\n", record.dlid,
					       record.sl, record.mtu, record.rate);
	}
}

static bool is_own(uint64_t guid, const uint64_t *guids, unsigned int n)
{
	for (unsigned int i = 0; i < n && guids[i]; i++)
		if (guids[i] == guid)
			return true;
	return false;
}

/* The lines of the own ports; all others are named, as lines of LIDs count only with a GUID. */
char *ssa_acm_routes(const struct ssa_snapshot *snapshot, const uint64_t *guids, unsigned int n)
{
	GString *text = g_string_new("# By opensm-ssa, for route_preload opensm_full_v1\n");

	for (unsigned int own = 0; own < 2; own++) {
		for (uint32_t i = 0; i < snapshot->n_endports; i++) {
			const struct ssa_endport *port = &snapshot->endports[i];

			if (!port->lid || is_own(ssa_64(port->guid), guids, n) != !own)
				continue;
			if (own)
				add_header(text, port);
			else
				add_port(text, snapshot, i);
		}
	}
	return g_string_free(text, FALSE);
}

/* ---- addresses ---- */

/* The lines of a file that the reader would take for something else. */
static bool can_be_written(const char *name)
{
	uint8_t address[16];

	return *name && *name != '#' && strlen(name) <= NAME_MAX_OCTETS &&
	       inet_pton(AF_INET, name, address) != 1 && inet_pton(AF_INET6, name, address) != 1;
}

static void add_line(GString *text, const char *address, const struct ssa_address_rest *rest)
{
	char gid[INET6_ADDRSTRLEN];

	for (const char *at = address; *at; at++)
		if (!g_ascii_isgraph(*at))
			return;
	inet_ntop(AF_INET6, rest->gid, gid, sizeof(gid));
	g_string_append_printf(text, "%s %s\n", address, gid);
}

/*
 * Whether it is the first of the rows with its key, and the others have the same GID: the file has
 * one line for all P_Keys.
 */
static bool is_told(const struct ssa_table *table, uint64_t row, size_t key_size)
{
	const uint8_t *own = table->data + row * table->row_size;

	if (row && !memcmp(own - table->row_size, own, key_size))
		return false;
	for (uint64_t i = row + 1; i < table->rows; i++) {
		const uint8_t *other = table->data + i * table->row_size;

		if (memcmp(own, other, key_size) != 0)
			return true;
		if (memcmp(own + key_size, other + key_size,
			   sizeof(((struct ssa_address_rest *)NULL)->gid)) != 0)
			return false;
	}
	return true;
}

static void add_names(GString *text, const struct ssa_table *table)
{
	for (uint64_t i = 0; i < table->rows; i++) {
		const struct ssa_name *row = &((const struct ssa_name *)table->data)[i];
		g_autofree char *name = g_strndup(row->name, sizeof(row->name));

		if (is_told(table, i, sizeof(row->name)) && can_be_written(name))
			add_line(text, name, &row->rest);
	}
}

static void add_ipv4(GString *text, const struct ssa_table *table)
{
	for (uint64_t i = 0; i < table->rows; i++) {
		const struct ssa_ipv4 *row = &((const struct ssa_ipv4 *)table->data)[i];
		char address[INET_ADDRSTRLEN];

		inet_ntop(AF_INET, row->address, address, sizeof(address));
		if (is_told(table, i, sizeof(row->address)))
			add_line(text, address, &row->rest);
	}
}

static void add_ipv6(GString *text, const struct ssa_table *table)
{
	for (uint64_t i = 0; i < table->rows; i++) {
		const struct ssa_ipv6 *row = &((const struct ssa_ipv6 *)table->data)[i];
		char address[INET6_ADDRSTRLEN];

		inet_ntop(AF_INET6, row->address, address, sizeof(address));
		if (is_told(table, i, sizeof(row->address)))
			add_line(text, address, &row->rest);
	}
}

char *ssa_acm_hosts(const struct ssa_snapshot *snapshot)
{
	GString *text = g_string_new("# By opensm-ssa, for addr_preload acm_hosts\n");

	add_names(text, &snapshot->tables[SSA_NAMES]);
	add_ipv4(text, &snapshot->tables[SSA_IPV4]);
	add_ipv6(text, &snapshot->tables[SSA_IPV6]);
	return g_string_free(text, FALSE);
}

/* ---- the files ---- */

static bool has_contents(const char *file, const char *text)
{
	g_autofree char *found = NULL;
	struct stat status;
	gsize length;

	return lstat(file, &status) == 0 && S_ISREG(status.st_mode) &&
	       (size_t)status.st_size == strlen(text) &&
	       g_file_get_contents(file, &found, &length, NULL) && length == strlen(text) &&
	       !memcmp(found, text, length);
}

static bool write_file(const char *directory, const char *name, const char *text, GError **error)
{
	g_autofree char *file = g_build_filename(directory, name, NULL);

	return has_contents(file, text) || file_write(file, text, 0644, error);
}

bool ssa_acm_files_write(const char *directory, const struct ssa_snapshot *snapshot,
			 const uint64_t *guids, unsigned int n, GError **error)
{
	g_autofree char *routes = ssa_acm_routes(snapshot, guids, n);
	g_autofree char *hosts = ssa_acm_hosts(snapshot);

	return write_file(directory, SSA_ACM_ROUTES, routes, error) &&
	       write_file(directory, SSA_ACM_HOSTS, hosts, error);
}
