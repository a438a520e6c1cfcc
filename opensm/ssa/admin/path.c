// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* ssadmin path: what a host answers for two ports, and why. */
#include <stdio.h>
#include <string.h>

#include "iba/codes.h"
#include "ssa/admin/admin.h"
#include "ssa/look/look.h"

#define C(name) IBA_COMPONENT(path_record, name)

static uint32_t find_by_name(const struct ssa_snapshot *snapshot, const char *text)
{
	const struct ssa_name *name;
	uint64_t guid;
	uint32_t n;

	for (uint32_t i = 0; i < snapshot->n_endports; i++)
		if (!strcmp(ssa_look_name(snapshot, i), text))
			return i;
	name = ssa_look_named(snapshot, text, &n);
	if (!name)
		return SSA_NONE;
	memcpy(&guid, name->rest.gid + 8, sizeof(guid));
	return ssa_look_guid(snapshot, GUINT64_FROM_BE(guid));
}

static uint32_t find_by_gid(const struct ssa_snapshot *snapshot, const char *text)
{
	g_autoptr(GInetAddress) address = g_inet_address_new_from_string(text);
	uint64_t guid;

	if (!address || g_inet_address_get_family(address) != G_SOCKET_FAMILY_IPV6)
		return SSA_NONE;
	memcpy(&guid, g_inet_address_to_bytes(address) + 8, sizeof(guid));
	return ssa_look_guid(snapshot, GUINT64_FROM_BE(guid));
}

uint32_t admin_find_port(const struct ssa_snapshot *snapshot, const char *text)
{
	guint64 number;
	uint32_t port;

	if (g_str_has_prefix(text, "0x") &&
	    g_ascii_string_to_unsigned(text + 2, 16, 1, G_MAXUINT64, &number, NULL))
		return ssa_look_guid(snapshot, number);
	if (g_ascii_string_to_unsigned(text, 10, 1, SSA_LIDS - 1, &number, NULL))
		return ssa_look_lid(snapshot, (uint16_t)number);
	port = find_by_gid(snapshot, text);
	return port != SSA_NONE ? port : find_by_name(snapshot, text);
}

static void print_record(const struct iba_path_record *record)
{
	printf("DGID %016" G_GINT64_MODIFIER "x:%016" G_GINT64_MODIFIER "x  DLID %u\n",
	       record->dgid.prefix, record->dgid.guid, record->dlid);
	printf("SGID %016" G_GINT64_MODIFIER "x:%016" G_GINT64_MODIFIER "x  SLID %u\n",
	       record->sgid.prefix, record->sgid.guid, record->slid);
	printf("P_Key 0x%04x  SL %u  MTU %u  rate %.1f Gb/s  life 2^%u x 4.096 us  %s\n",
	       record->p_key, record->sl, iba_mtu_bytes(record->mtu),
	       iba_rate_tenths(record->rate) / 10.0, record->packet_life_time,
	       record->reversible ? "reversible" : "one way");
}

static void add_record(JsonBuilder *builder, const struct iba_path_record *record)
{
	json_builder_set_member_name(builder, "record");
	json_builder_begin_object(builder);
	admin_add_hex(builder, "dgid_prefix", record->dgid.prefix, 16);
	admin_add_hex(builder, "dgid_guid", record->dgid.guid, 16);
	admin_add_hex(builder, "sgid_prefix", record->sgid.prefix, 16);
	admin_add_hex(builder, "sgid_guid", record->sgid.guid, 16);
	admin_add_number(builder, "dlid", record->dlid);
	admin_add_number(builder, "slid", record->slid);
	admin_add_hex(builder, "p_key", record->p_key, 4);
	admin_add_number(builder, "sl", record->sl);
	admin_add_number(builder, "mtu", iba_mtu_bytes(record->mtu));
	admin_add_number(builder, "rate_code", record->rate);
	admin_add_number(builder, "packet_life_time", record->packet_life_time);
	admin_add_number(builder, "hop_limit", record->hop_limit);
	admin_add_number(builder, "reversible", record->reversible);
	json_builder_end_object(builder);
}

enum ssa_look admin_look_up(const struct ssa_snapshot *snapshot, uint32_t from, uint32_t to,
			    struct iba_path_record *wanted, uint64_t *mask,
			    struct iba_path_record *record, const char **why)
{
	*mask = C(dgid) | C(sgid) | C(reversible) | C(numb_path);
	*wanted = (struct iba_path_record){
		.dgid = {snapshot->prefix, ssa_64(snapshot->endports[to].guid)},
		.sgid = {snapshot->prefix, ssa_64(snapshot->endports[from].guid)},
		.reversible = 1,
		.numb_path = 1,
	};
	return ssa_look_path(snapshot, from, wanted, *mask, record, why);
}

static enum admin_status tell(const struct admin *admin, const struct ssa_snapshot *snapshot,
			      uint32_t from, uint32_t to)
{
	static const char *const answers[] = {
		[SSA_LOOK_FOUND] = "found", [SSA_LOOK_NONE] = "none", [SSA_LOOK_ASK] = "ask"};
	static const enum admin_status statuses[] = {[SSA_LOOK_FOUND] = ADMIN_DONE,
						     [SSA_LOOK_NONE] = ADMIN_NO,
						     [SSA_LOOK_ASK] = ADMIN_ASK};
	g_autoptr(JsonBuilder) builder = json_builder_new();
	struct iba_path_record wanted, record;
	const char *why = NULL;
	uint64_t mask;
	enum ssa_look look = admin_look_up(snapshot, from, to, &wanted, &mask, &record, &why);

	if (!admin->json) {
		printf("%s -> %s\n", ssa_look_name(snapshot, from), ssa_look_name(snapshot, to));
		if (look == SSA_LOOK_FOUND)
			print_record(&record);
		else
			printf("%s: %s\n", look == SSA_LOOK_NONE ? "no path" : "only the SA knows",
			       why ? why : "no reason is known");
		printf("by term %" G_GUINT64_FORMAT ", epoch %" G_GUINT64_FORMAT "\n",
		       snapshot->term, snapshot->epoch);
		return statuses[look];
	}
	json_builder_begin_object(builder);
	admin_add_text(builder, "answer", answers[look]);
	if (why)
		admin_add_text(builder, "why", why);
	if (look == SSA_LOOK_FOUND)
		add_record(builder, &record);
	admin_add_number(builder, "term", snapshot->term);
	admin_add_number(builder, "epoch", snapshot->epoch);
	json_builder_end_object(builder);
	admin_print(builder);
	return statuses[look];
}

enum admin_status admin_path(const struct admin *admin, const char *from, const char *to)
{
	GError *error = NULL;
	struct ssa_snapshot *snapshot = admin_snapshot(admin, &error);
	const char *texts[] = {from, to};
	uint32_t ports[2] = {0, 0};
	enum admin_status status;

	if (!snapshot)
		return admin_fail(ADMIN_UNREACHABLE, error);
	for (unsigned int i = 0; i < 2 && !error; i++) {
		ports[i] = admin_find_port(snapshot, texts[i]);
		if (ports[i] == SSA_NONE)
			g_set_error(&error, SSA_SNAPSHOT_ERROR, 0,
				    "'%s': no such port in term %" G_GUINT64_FORMAT
				    ", epoch %" G_GUINT64_FORMAT
				    "; expected a GUID (0x...), LID, GID, NodeDescription or name",
				    texts[i], snapshot->term, snapshot->epoch);
	}
	status = error ? admin_fail(ADMIN_NO, error) : tell(admin, snapshot, ports[0], ports[1]);
	ssa_snapshot_unref(snapshot);
	return status;
}
