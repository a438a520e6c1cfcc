// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * See database.h. A record is a line of words KEY=VALUE, with numbers in hex, followed by an empty
 * line. A group is followed by its members. Text from clients, ServiceName, is escaped as in C
 * where it is not printable, so that a name cannot fake a line.
 */
#include "sa/database.h"

#include <string.h>

#include "complib/actor.h"

#define X64 "0x%016" G_GINT64_MODIFIER "x"
#define GID X64 ":" X64
#define WELL_KNOWN "(well known)"
#define CLOCK_SET 1000000000 /* 2001: a clock below this was not set */

/* ---- writing ---- */

struct writer {
	GString *out;
	uint64_t subnet_prefix;
	struct sa_moment moment;
};

static void write_member(const struct writer *writer, const struct sa_group *group,
			 const struct sa_member *member)
{
	g_string_append_printf(writer->out,
			       "mcm_port: port_gid=" GID " scope_state=0x%02x proxy_join=0x%x",
			       writer->subnet_prefix, member->guid,
			       group->record.scope << 4 | member->join_state, member->proxy);
	if (member->proxy && member->maker)
		g_string_append_printf(writer->out, " joined_by=" X64, member->maker);
	g_string_append(writer->out, "\n\n");
}

static bool write_group(const struct sa_group *group, void *arg)
{
	struct writer *writer = arg;
	const struct iba_mc_member_record *r = &group->record;

	g_string_append_printf(
		writer->out,
		"MC Group 0x%04x %s: mgid=" GID " port_gid=" GID " qkey=0x%08x mlid=0x%04x"
		" mtu=0x%02x tclass=0x%02x pkey=0x%04x rate=0x%02x pkt_life=0x%02x"
		" sl_flow_hop=0x%08x scope_state=0x%02x proxy_join=0x0\n\n",
		r->mlid, group->well_known ? " " WELL_KNOWN : "", r->mgid.prefix, r->mgid.guid,
		UINT64_C(0), UINT64_C(0), r->q_key, r->mlid, r->mtu_selector << 6 | r->mtu,
		r->t_class, r->p_key, r->rate_selector << 6 | r->rate,
		r->packet_life_time_selector << 6 | r->packet_life_time,
		(uint32_t)r->sl << 28 | r->flow_label << 8 | r->hop_limit,
		r->scope << 4 | IBA_JOIN_FULL_MEMBER);
	for (guint i = 0; i < group->members->len; i++)
		write_member(writer, group, &g_array_index(group->members, struct sa_member, i));
	return true;
}

static bool write_subscription(struct sa_subscription *subscription, void *arg)
{
	const struct writer *writer = arg;
	const struct iba_inform_info *info = &subscription->info;
	const struct vendor_address *to = &subscription->to;

	g_string_append_printf(
		writer->out,
		"InformInfo Record: subscriber_gid=" GID
		" subscriber_enum=0x%x InformInfo: gid=" GID
		" lid_range_begin=0x%x lid_range_end=0x%x is_generic=0x%x subscribe=0x1"
		" trap_type=0x%x trap_num=0x%x qpn_resp_time_val=0x%x node_type=0x%06x"
		" rep_addr: lid=0x%04x path_bits=0x%02x static_rate=0x00 remote_qp=0x%08x"
		" remote_qkey=0x%08x pkey_ix=0x%04x sl=0x%02x\n\n",
		writer->subnet_prefix, subscription->guid, subscription->enumeration,
		info->gid.prefix, info->gid.guid, info->lid_range_begin, info->lid_range_end,
		info->is_generic, info->type, info->trap_number,
		info->qpn << 8 | info->resp_time_value, info->producer_type, to->lid, to->path_bits,
		to->qpn, to->qkey, to->p_key_index, to->sl);
	return true;
}

/* Writes the octets of a part of an encoded record, in hex, as two words. */
static void write_octets(GString *out, const char *name, const uint8_t *octets)
{
	g_string_append_printf(out, " %s=0x", name);
	for (unsigned int i = 0; i < 16; i++)
		g_string_append_printf(out, "%s%02x", i == 8 ? ":0x" : "", octets[i]);
}

/* Parts of 16 octets of a ServiceRecord that are written as on the wire. */
static const struct {
	const char *name;
	unsigned int at;
} service_parts[] = {
	{"data8", 896 / 8}, {"data16", 1024 / 8}, {"data32", 1152 / 8}, {"data64", 1280 / 8}};
#define SERVICE_KEY_AT (256 / 8)

static bool write_service(const struct sa_service *service, void *arg)
{
	const struct writer *writer = arg;
	const struct iba_service_record *r = &service->record;
	uint8_t octets[iba_service_record_bytes];
	g_autofree char *text = g_strndup(r->service_name, sizeof(r->service_name));
	g_autofree char *name = g_strescape(text, NULL);

	wire_encode(&iba_service_record_type, r, octets);
	g_string_append_printf(writer->out,
			       "Service Record: id=" X64 " gid=" GID " pkey=0x%x lease=0x%x",
			       r->service_id, r->service_gid.prefix, r->service_gid.guid,
			       r->service_p_key, r->service_lease);
	write_octets(writer->out, "key", octets + SERVICE_KEY_AT);
	g_string_append_printf(writer->out, " name='%s'", name);
	for (unsigned int i = 0; i < G_N_ELEMENTS(service_parts); i++)
		write_octets(writer->out, service_parts[i].name, octets + service_parts[i].at);
	g_string_append_printf(writer->out, " modified_time=0x%x lease_period=0x%x\n\n",
			       (uint32_t)writer->moment.time,
			       sa_service_lease(service, writer->moment.now));
	return true;
}

/* Writes the blocks that are not empty. */
static void write_aliases(const struct writer *writer, const struct alias_guids *aliases)
{
	const GArray *entries = aliases->by_port;

	for (guint i = 0; i < entries->len; i = alias_guids_next_block(entries, i)) {
		const struct alias_guid *first = alias_guids_at(entries, i);
		uint8_t block = first->index / ALIAS_PER_BLOCK;
		uint64_t guids[ALIAS_PER_BLOCK];

		alias_guids_block(aliases, first->port, block, guids);
		g_string_append_printf(writer->out,
				       "GUIDInfo Record: base_guid=" X64 " lid=0x0000"
				       " block_num=0x%x",
				       first->port, block);
		for (unsigned int k = 0; k < ALIAS_PER_BLOCK; k++)
			g_string_append_printf(writer->out, " guid%u=" X64, k, guids[k]);
		g_string_append(writer->out, "\n\n");
	}
}

char *sa_database_write(const struct sa_registries *registries, uint64_t subnet_prefix,
			struct sa_moment moment)
{
	struct writer writer = {g_string_new(NULL), subnet_prefix, moment};

	write_aliases(&writer, sa_aliases_now(registries->aliases));
	sa_store_each(registries->groups, write_group, &writer);
	sa_subscribers_each(registries->subscribers, write_subscription, &writer);
	sa_services_each(registries->services, 0, write_service, &writer);
	return g_string_free(writer.out, FALSE);
}

/* ---- reading ---- */

struct reader {
	const struct sa_registries *registries;
	struct sa_group *group; /* the group of the members that follow */
	uint64_t subnet_prefix;
	struct sa_moment moment;
	const char *at;	   /* the next word is searched from here */
	const char *lacks; /* the first word that was not found */
	unsigned int n_left_out; /* groups skipped, as no MLID was free */
};

/* The number after " NAME=0x", of at most that many bits; reading continues after it. */
static uint64_t number(struct reader *reader, const char *name, unsigned int bits)
{
	g_autofree char *word = g_strdup_printf(" %s=0x", name);
	const char *found = reader->lacks ? NULL : strstr(reader->at, word);
	char *end = NULL;
	uint64_t value = 0;

	if (found && g_ascii_isxdigit(found[strlen(word)])) {
		value = g_ascii_strtoull(found + strlen(word), &end, 16);
		if (end - found - strlen(word) <= 16 && (bits == 64 || value >> bits == 0)) {
			reader->at = end;
			return value;
		}
	}
	if (!reader->lacks)
		reader->lacks = name;
	return 0;
}

/* The second half of a pair, which must follow immediately. */
static uint64_t other_half(struct reader *reader, const char *name)
{
	char *end;

	if (!reader->lacks && g_str_has_prefix(reader->at, ":0x") &&
	    g_ascii_isxdigit(reader->at[3])) {
		uint64_t value = g_ascii_strtoull(reader->at + 3, &end, 16);

		reader->at = end;
		return value;
	}
	if (!reader->lacks)
		reader->lacks = name;
	return 0;
}

static struct iba_gid gid(struct reader *reader, const char *name)
{
	struct iba_gid gid;

	gid.prefix = number(reader, name, 64);
	gid.guid = other_half(reader, name);
	return gid;
}

static void read_group(struct reader *reader)
{
	struct iba_mc_member_record r = {0};
	bool well_known = strstr(reader->at, WELL_KNOWN) != NULL;
	uint32_t sl_flow_hop, code;

	r.mgid = gid(reader, "mgid");
	r.q_key = number(reader, "qkey", 32);
	r.mlid = number(reader, "mlid", 16);
	code = number(reader, "mtu", 8);
	r.mtu_selector = code >> 6;
	r.mtu = code & 0x3F;
	r.t_class = number(reader, "tclass", 8);
	r.p_key = number(reader, "pkey", 16);
	code = number(reader, "rate", 8);
	r.rate_selector = code >> 6;
	r.rate = code & 0x3F;
	code = number(reader, "pkt_life", 8);
	r.packet_life_time_selector = code >> 6;
	r.packet_life_time = code & 0x3F;
	sl_flow_hop = number(reader, "sl_flow_hop", 32);
	r.sl = sl_flow_hop >> 28;
	r.flow_label = sl_flow_hop >> 8 & 0xFFFFF;
	r.hop_limit = sl_flow_hop & 0xFF;
	r.scope = number(reader, "scope_state", 8) >> 4;
	reader->group = NULL;
	if (!reader->lacks && (!iba_gid_is_multicast(r.mgid) || !iba_lid_is_multicast(r.mlid)))
		reader->lacks = "mgid and mlid of a group";
	if (reader->lacks || sa_store_find(reader->registries->groups, r.mgid))
		return;
	reader->group = sa_store_create(reader->registries->groups, &r, reader->subnet_prefix, 0);
	reader->n_left_out += !reader->group;
	if (reader->group && well_known)
		sa_store_keep(reader->registries->groups, reader->group, true);
}

static void read_member(struct reader *reader)
{
	struct iba_gid port = gid(reader, "port_gid");
	uint8_t join_state = number(reader, "scope_state", 8) & 0xF;
	bool proxy = number(reader, "proxy_join", 8);
	uint64_t maker = proxy ? 0 : sa_registries_owner(reader->registries, port.guid);

	if (proxy && strstr(reader->at, " joined_by=")) /* other SMs do not write it */
		maker = number(reader, "joined_by", 64);
	if (!reader->lacks && reader->group && port.guid && join_state)
		sa_store_join_by(reader->registries->groups, reader->group, port.guid, join_state,
				 proxy, maker);
}

static void read_subscription(struct reader *reader)
{
	struct iba_gid port = gid(reader, "subscriber_gid");
	struct iba_inform_info info = {.subscribe = 1};
	struct vendor_address to = {0};

	info.gid = gid(reader, "gid");
	info.lid_range_begin = number(reader, "lid_range_begin", 16);
	info.lid_range_end = number(reader, "lid_range_end", 16);
	info.is_generic = number(reader, "is_generic", 1);
	info.type = number(reader, "trap_type", 16);
	info.trap_number = number(reader, "trap_num", 16);
	info.resp_time_value = number(reader, "qpn_resp_time_val", 32) & 0x1F;
	info.producer_type = number(reader, "node_type", 24);
	to.lid = number(reader, "lid", 16);
	to.path_bits = number(reader, "path_bits", 8);
	to.qpn = number(reader, "remote_qp", 24);
	to.qkey = number(reader, "remote_qkey", 32);
	to.p_key_index = number(reader, "pkey_ix", 16);
	to.sl = number(reader, "sl", 4);
	if (!reader->lacks && (!iba_lid_is_unicast(to.lid) || !port.guid))
		reader->lacks = "lid and GID of a subscriber";
	if (!reader->lacks)
		sa_subscribers_restore(reader->registries->subscribers, port.guid, &to, &info,
				       false);
}

static void read_octets(struct reader *reader, const char *name, uint8_t *octets)
{
	struct iba_gid both = gid(reader, name);

	wire_encode(&iba_gid_type, &both, octets);
}

static void read_name(struct reader *reader, uint8_t *octets)
{
	const char *first = reader->lacks ? NULL : strstr(reader->at, " name='");
	const char *end = first ? g_strrstr(first, "' data8=0x") : NULL;

	if (end) {
		g_autofree char *word = g_strndup(first + 7, end - first - 7);
		g_autofree char *name = g_strcompress(word);

		memcpy(octets, name, MIN(strlen(name), 64));
		reader->at = end;
	} else if (!reader->lacks) {
		reader->lacks = "name";
	}
}

/* What is left of a lease that had this length at that time, if the clock can tell. */
static uint32_t lease_left(const struct reader *reader, int64_t time, uint32_t lease)
{
	int64_t age = time < CLOCK_SET ? 0 : MAX(reader->moment.time - time, 0);

	if (lease == SA_LEASE_FOREVER)
		return lease;
	return age < lease ? lease - (uint32_t)age : 0;
}

static void read_service(struct reader *reader)
{
	struct iba_service_record r = {.service_id = number(reader, "id", 64)}, rest;
	uint8_t octets[iba_service_record_bytes] = {0};
	uint64_t owner = 0;
	uint32_t time;

	r.service_gid = gid(reader, "gid");
	r.service_p_key = number(reader, "pkey", 16);
	number(reader, "lease", 32);
	read_octets(reader, "key", octets + SERVICE_KEY_AT);
	read_name(reader, octets + 384 / 8);
	for (unsigned int i = 0; i < G_N_ELEMENTS(service_parts); i++)
		read_octets(reader, service_parts[i].name, octets + service_parts[i].at);
	wire_decode(&iba_service_record_type, octets, &rest);
	rest.service_id = r.service_id;
	rest.service_gid = r.service_gid;
	rest.service_p_key = r.service_p_key ? r.service_p_key : P_KEY_DEFAULT;
	time = number(reader, "modified_time", 32);
	rest.service_lease = lease_left(reader, time, number(reader, "lease_period", 32));
	if (!iba_gid_is_multicast(rest.service_gid))
		owner = sa_registries_owner(reader->registries, rest.service_gid.guid);
	if (!reader->lacks && rest.service_lease)
		sa_services_restore(reader->registries->services, &rest, owner, owner != 0,
				    reader->moment.now);
}

/* Entries at the end of a block may be missing. */
static void read_aliases(struct reader *reader)
{
	static const char *const names[ALIAS_PER_BLOCK] = {"guid0", "guid1", "guid2", "guid3",
							   "guid4", "guid5", "guid6", "guid7"};
	uint64_t port = number(reader, "base_guid", 64);
	uint8_t block = (uint8_t)number(reader, "block_num", 5);

	for (unsigned int i = 0; i < ALIAS_PER_BLOCK && !reader->lacks; i++) {
		uint64_t guid = strstr(reader->at, names[i]) ? number(reader, names[i], 64) : 0;
		uint8_t index = (uint8_t)(block * ALIAS_PER_BLOCK + i);

		if (guid && index && port && !reader->lacks)
			sa_aliases_set(reader->registries->aliases, port, index, guid);
	}
}

static const struct {
	const char *begins;
	void (*read)(struct reader *reader);
} kinds[] = {
	{"MC Group ", read_group},
	{"mcm_port:", read_member},
	{"InformInfo Record:", read_subscription},
	{"Service Record:", read_service},
	{"GUIDInfo Record:", read_aliases},
};

static void read_line(struct reader *reader, char *line)
{
	reader->at = line;
	for (unsigned int i = 0; i < G_N_ELEMENTS(kinds); i++)
		if (g_str_has_prefix(line, kinds[i].begins)) {
			kinds[i].read(reader);
			return;
		}
	if (*g_strstrip(line))
		reader->lacks = "a record";
}

bool sa_database_read(const struct sa_registries *registries, const char *file, const char *text,
		      uint64_t subnet_prefix, struct sa_moment moment, unsigned int *n_left_out,
		      GError **error)
{
	struct reader reader = {
		.registries = registries, .subnet_prefix = subnet_prefix, .moment = moment};

	for (unsigned int number = 1; *text && !reader.lacks; number++) {
		const char *end = text + strcspn(text, "\n");
		g_autofree char *line = g_strndup(text, end - text);

		if (*end)
			read_line(&reader, line);
		else
			reader.lacks = "the end of the line";
		if (reader.lacks)
			g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_INVAL,
				    "%s:%u: expected %s; the rest is ignored", file, number,
				    reader.lacks);
		text = *end ? end + 1 : end;
	}
	*n_left_out = reader.n_left_out;
	return !reader.lacks;
}
