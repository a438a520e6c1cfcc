// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * wire_samples FILE SEED ROUNDS: a capture with MADs of every attribute, filled at random, and on
 * stdout their intended meaning, for another decoder to confirm. After a line for every field that
 * there is, some lines for each packet:
 *
 *	known <tab> type.field
 *	frame <tab> class <tab> what it is
 *	type.field <tab> record <tab> bit <tab> width <tab> value in hex
 *
 * record counts the records of a table from 0; it is empty for fields before them. bit counts from
 * the start of the packet (its LRH), width is that of one element. Arrays give one line per
 * element; octets, text and GIDs are one value. A structure of other types is not printed as a
 * whole.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "iba/attributes.h"
#include "vendor/capture.h"

#define ROOM 2048
#define LRH_BITS 64
#define GRH_BITS 320
#define HEADERS_BITS 224 /* LRH, BTH, DETH */

struct samples {
	struct capture *capture;
	GRand *rand;
	unsigned int frame;
	unsigned int mad_bit; /* where the MAD begins in the packet */
	struct capture_address address;
};

/* Contents of a MAD besides its attribute. */
struct kind {
	uint8_t mgmt_class, method;
	uint16_t attribute;
	const struct wire_type *type;
	unsigned int records;		 /* of a table */
	const struct wire_type *details; /* of a notice */
	uint16_t trap_number;
};

/* ---- random values ---- */

static uint64_t random64(GRand *rand)
{
	uint64_t high = g_rand_int(rand);

	return high << 32 | g_rand_int(rand);
}

static void fill(const struct wire_type *type, GRand *rand, uint8_t *host)
{
	for (unsigned int i = 0; i < type->n_fields; i++) {
		const struct wire_field *field = &type->fields[i];

		for (unsigned int j = 0; j < field->count; j++) {
			if (field->kind == WIRE_NEST)
				fill(field->nested, rand, host + field->offset + j * field->size);
			else if (field->print == WIRE_TEXT)
				wire_set_value(field, host, j,
					       (uint64_t)g_rand_int_range(rand, '0', 'z'));
			else
				wire_set_value(field, host, j,
					       random64(rand) >> (64 - field->width));
		}
	}
}

/* ---- the intended meaning ---- */

/* Up to the value. */
static void print_place(int record, const struct wire_type *type, const struct wire_field *field,
			unsigned int bit, unsigned int width)
{
	printf("%s.%s\t", type->name, field->name);
	if (record >= 0)
		printf("%d", record);
	printf("\t%u\t%u\t", bit + field->bit, width);
}

static void print_octets(int record, const struct wire_type *type, const struct wire_field *field,
			 const uint8_t *host, unsigned int bit)
{
	unsigned int width = 8 * field->count;
	uint8_t wire[ROOM];

	wire_encode(type, host, wire);
	print_place(record, type, field, bit, width);
	for (unsigned int i = 0; i < width / 8; i++)
		printf("%02x", wire[field->bit / 8 + i]);
	putchar('\n');
}

static void print_values(int record, const struct wire_type *type, const struct wire_field *field,
			 const uint8_t *host, unsigned int bit)
{
	for (unsigned int i = 0; i < field->count; i++) {
		print_place(record, type, field, bit + i * field->width, field->width);
		printf("%" PRIx64 "\n", wire_value(field, host, i));
	}
}

/* A GID is one value wherever it stands. */
static void print_gids(int record, const struct wire_type *type, const struct wire_field *field,
		       const uint8_t *host, unsigned int bit)
{
	for (unsigned int i = 0; i < field->count; i++) {
		struct iba_gid gid;

		memcpy(&gid, host + field->offset + i * field->size, sizeof(gid));
		print_place(record, type, field, bit + i * field->width, field->width);
		printf("%016" PRIx64 "%016" PRIx64 "\n", gid.prefix, gid.guid);
	}
}

static bool holds_others(const struct wire_type *type, const struct wire_field *field)
{
	static const struct wire_type *const whole[] = {&iba_smp_type, &iba_dr_smp_type,
							&iba_sa_mad_type, &iba_pm_mad_type,
							&iba_cc_mad_type};

	if (field->kind == WIRE_NEST)
		return field->nested != &iba_gid_type;
	for (size_t i = 0; i < G_N_ELEMENTS(whole); i++)
		if (type == whole[i] && strstr(field->name, "data"))
			return true;
	return false;
}

static void print_known(void)
{
	for (unsigned int i = 0; iba_types[i]; i++)
		for (unsigned int j = 0; j < iba_types[i]->n_fields; j++)
			if (!holds_others(iba_types[i], &iba_types[i]->fields[j]))
				printf("known\t%s.%s\n", iba_types[i]->name,
				       iba_types[i]->fields[j].name);
}

/* skip, if not NULL, is printed as something else. */
static void print_meaning(int record, const struct wire_type *type, const uint8_t *host,
			  unsigned int bit, const struct wire_field *skip)
{
	for (unsigned int i = 0; i < type->n_fields; i++) {
		const struct wire_field *field = &type->fields[i];

		if (field == skip)
			continue;
		if (field->kind == WIRE_UINT)
			print_values(record, type, field, host, bit);
		else if (field->kind == WIRE_BYTES && !holds_others(type, field))
			print_octets(record, type, field, host, bit);
		else if (field->nested == &iba_gid_type)
			print_gids(record, type, field, host, bit);
		for (unsigned int j = 0;
		     field->kind == WIRE_NEST && holds_others(type, field) && j < field->count; j++)
			print_meaning(record, field->nested, host + field->offset + j * field->size,
				      bit + field->bit + j * field->width, skip);
	}
}

static void print_header(const char *name, unsigned int bit, unsigned int width, uint64_t value)
{
	printf("%s\t\t%u\t%u\t%" PRIx64 "\n", name, bit, width, value);
}

static void print_packet(const struct capture_address *address)
{
	unsigned int bth = LRH_BITS + (address->has_grh ? GRH_BITS : 0);

	print_header("lrh.vl", 0, 4, address->dest_qp == 0 ? IBA_MGMT_VL : 0);
	print_header("lrh.sl", 8, 4, address->sl);
	print_header("lrh.dlid", 16, 16, address->dlid);
	print_header("lrh.slid", 48, 16, address->slid);
	print_header("bth.p_key", bth + 16, 16, address->p_key);
	print_header("bth.dest_qp", bth + 40, 24, address->dest_qp);
	print_header("deth.q_key", bth + 96, 32, address->q_key);
	print_header("deth.src_qp", bth + 136, 24, address->src_qp);
	if (!address->has_grh)
		return;
	print_header("grh.traffic_class", LRH_BITS + 4, 8, address->traffic_class);
	print_header("grh.flow_label", LRH_BITS + 12, 20, address->flow_label);
	print_header("grh.hop_limit", LRH_BITS + 56, 8, address->hop_limit);
	printf("grh.sgid\t\t%u\t128\t%016" PRIx64 "%016" PRIx64 "\n", LRH_BITS + 64,
	       address->sgid.prefix, address->sgid.guid);
	printf("grh.dgid\t\t%u\t128\t%016" PRIx64 "%016" PRIx64 "\n", LRH_BITS + 192,
	       address->dgid.prefix, address->dgid.guid);
}

/* ---- packets ---- */

static void address_packet(struct samples *samples, bool smp)
{
	struct capture_address *address = &samples->address;
	GRand *rand = samples->rand;

	*address = (struct capture_address){.src_qp = IBA_QP0, .dest_qp = IBA_QP0};
	address->slid = (uint16_t)g_rand_int(rand);
	address->dlid = (uint16_t)g_rand_int(rand);
	address->sl = g_rand_int(rand) & 15;
	if (!smp) {
		address->src_qp = g_rand_int(rand) & 0xFFFFFF;
		address->dest_qp = IBA_QP1;
	}
	address->q_key = g_rand_int(rand);
	address->p_key = (uint16_t)g_rand_int(rand);
	address->has_grh = !smp && g_rand_boolean(rand);
	address->hop_limit = (uint8_t)g_rand_int(rand);
	address->traffic_class = (uint8_t)g_rand_int(rand);
	address->flow_label = g_rand_int(rand) & 0xFFFFF;
	address->sgid.prefix = random64(rand);
	address->sgid.guid = random64(rand);
	address->dgid.prefix = random64(rand);
	address->dgid.guid = random64(rand);
	samples->mad_bit = HEADERS_BITS + (address->has_grh ? GRH_BITS : 0);
}

/* The header of a MAD around its data, which is already there. */
static void add_header(struct samples *samples, const struct kind *kind, uint8_t *mad)
{
	struct iba_mad_header header;

	fill(&iba_mad_header_type, samples->rand, (uint8_t *)&header);
	header.base_version = IBA_BASE_VERSION;
	header.mgmt_class = kind->mgmt_class;
	header.class_version = kind->mgmt_class == IBA_CLASS_SUBN_ADM ? IBA_SA_CLASS_VERSION : 1;
	header.method = kind->method;
	header.attribute_id = kind->attribute;
	wire_encode(&iba_mad_header_type, &header, mad);
	print_meaning(-1, &iba_mad_header_type, (uint8_t *)&header, samples->mad_bit, NULL);
}

static void add_sa_headers(struct samples *samples, const struct kind *kind, uint8_t *mad)
{
	struct iba_rmpp_header rmpp;
	struct iba_sa_header sa;

	fill(&iba_rmpp_header_type, samples->rand, (uint8_t *)&rmpp);
	fill(&iba_sa_header_type, samples->rand, (uint8_t *)&sa);
	rmpp.rmpp_version = IBA_RMPP_VERSION;
	rmpp.rmpp_type = kind->records > 1 ? IBA_RMPP_DATA : IBA_RMPP_NONE;
	rmpp.rmpp_flags = kind->records > 1 ? IBA_RMPP_ACTIVE | IBA_RMPP_FIRST | IBA_RMPP_LAST : 0;
	rmpp.rmpp_status = IBA_RMPP_NORMAL;
	rmpp.segment_number = kind->records > 1;
	sa.attribute_offset = (uint16_t)((wire_bytes(kind->type) + 7) / 8);
	if (kind->records > 1)
		rmpp.data2 = 20 + kind->records * sa.attribute_offset * 8;
	wire_encode(&iba_rmpp_header_type, &rmpp, mad + 24);
	wire_encode(&iba_sa_header_type, &sa, mad + 36);
	print_meaning(-1, &iba_rmpp_header_type, (uint8_t *)&rmpp, samples->mad_bit + 8 * 24, NULL);
	print_meaning(-1, &iba_sa_header_type, (uint8_t *)&sa, samples->mad_bit + 8 * 36, NULL);
}

static void add_directed_header(struct samples *samples, const struct kind *kind, uint8_t *mad)
{
	struct iba_dr_smp smp, all;

	wire_decode(&iba_dr_smp_type, mad, &all);
	fill(&iba_dr_smp_type, samples->rand, (uint8_t *)&smp);
	smp.base_version = IBA_BASE_VERSION;
	smp.mgmt_class = kind->mgmt_class;
	smp.class_version = IBA_SMP_CLASS_VERSION;
	smp.method = kind->method;
	smp.attribute_id = kind->attribute;
	memcpy(smp.data, all.data, sizeof(smp.data));
	wire_encode(&iba_dr_smp_type, &smp, mad);
	print_meaning(-1, &iba_dr_smp_type, (uint8_t *)&smp, samples->mad_bit, NULL);
}

static void add_key(struct samples *samples, const struct wire_type *type, const char *name,
		    uint8_t *mad)
{
	const struct wire_field *field = wire_find_field(type, name);
	uint64_t key = random64(samples->rand), wire = GUINT64_TO_BE(key);

	memcpy(mad + field->bit / 8, &wire, sizeof(wire));
	print_place(-1, type, field, samples->mad_bit, 64);
	printf("%" PRIx64 "\n", key);
}

static void add_headers(struct samples *samples, const struct kind *kind, uint8_t *mad)
{
	if (kind->mgmt_class == IBA_CLASS_SUBN_DIRECTED) {
		add_directed_header(samples, kind, mad);
		return;
	}
	add_header(samples, kind, mad);
	if (kind->mgmt_class == IBA_CLASS_SUBN_ADM)
		add_sa_headers(samples, kind, mad);
	else if (kind->mgmt_class == IBA_CLASS_SUBN_LID)
		add_key(samples, &iba_smp_type, "m_key", mad);
	else if (kind->mgmt_class == IBA_CLASS_CC)
		add_key(samples, &iba_cc_mad_type, "cc_key", mad);
}

/* Notices of a trap contain its details instead of random ones. */
static void add_details(struct samples *samples, const struct kind *kind, uint8_t *host,
			unsigned int bit)
{
	_Alignas(8) uint8_t details[ROOM] = {0};
	struct iba_notice *notice = (struct iba_notice *)host; /* a sa_notice begins with one */

	notice->is_generic = 1;
	notice->trap_number = kind->trap_number;
	fill(kind->details, samples->rand, details);
	wire_encode(kind->details, details, notice->data_details);
	print_meaning(0, kind->details, details,
		      bit + wire_find_field(&iba_notice_type, "data_details")->bit, NULL);
}

static void add_attribute(struct samples *samples, const struct kind *kind, uint8_t *mad,
			  unsigned int record)
{
	size_t room = (wire_bytes(kind->type) + 7) / 8 * 8;
	size_t offset = iba_attribute_offset(kind->mgmt_class, kind->attribute) + record * room;
	unsigned int bit = samples->mad_bit + 8 * (unsigned int)offset;
	_Alignas(8) uint8_t host[ROOM] = {0};

	fill(kind->type, samples->rand, host);
	if (kind->type == &iba_congestion_log_switch_type)
		((struct iba_congestion_log_switch *)host)->log_type = IBA_CC_LOG_SWITCH;
	else if (kind->type == &iba_congestion_log_ca_type)
		((struct iba_congestion_log_ca *)host)->log_type = IBA_CC_LOG_CA;
	if (kind->type == &iba_multi_path_query_type) {
		((struct iba_multi_path_query *)host)->record.sgid_count = 5;
		((struct iba_multi_path_query *)host)->record.dgid_count = 6;
	}
	if (kind->details)
		add_details(samples, kind, host, bit);
	wire_encode(kind->type, host, mad + offset);
	print_meaning((int)record, kind->type, host, bit,
		      kind->details ? wire_find_field(&iba_notice_type, "data_details") : NULL);
}

static void sample(struct samples *samples, const struct kind *kind)
{
	bool smp = kind->mgmt_class == IBA_CLASS_SUBN_LID ||
		   kind->mgmt_class == IBA_CLASS_SUBN_DIRECTED;
	uint8_t mad[IBA_MAD_BYTES] = {0};

	samples->frame++;
	printf("frame\t0x%02x\t%s, method 0x%02x", kind->mgmt_class, kind->type->name,
	       kind->method);
	if (kind->details)
		printf(", trap %u", kind->trap_number);
	putchar('\n');
	address_packet(samples, smp);
	print_packet(&samples->address);
	for (unsigned int i = 0; i < MAX(kind->records, 1); i++)
		add_attribute(samples, kind, mad, i);
	add_headers(samples, kind, mad);
	capture_write(samples->capture, samples->frame * UINT64_C(1000000000), &samples->address,
		      mad, sizeof(mad));
}

/* ---- every attribute ---- */

static void sample_methods(struct samples *samples, const struct iba_attribute *row)
{
	static const uint8_t methods[] = {IBA_METHOD_GET_RESP, IBA_METHOD_SET};
	struct kind kind = {.mgmt_class = row->mgmt_class,
			    .attribute = row->attribute,
			    .type = row->type,
			    .records = 1};
	size_t octets = (wire_bytes(row->type) + 7) / 8 * 8;

	for (size_t i = 0; i < G_N_ELEMENTS(methods); i++) {
		kind.method = methods[i];
		sample(samples, &kind);
	}
	if (row->mgmt_class == IBA_CLASS_SUBN_LID) {
		kind.mgmt_class = IBA_CLASS_SUBN_DIRECTED;
		sample(samples, &kind);
	} else if (row->mgmt_class == IBA_CLASS_SUBN_ADM) {
		kind.method = IBA_METHOD_GET_TABLE_RESP;
		kind.records = (unsigned int)MIN(IBA_SA_DATA_BYTES / octets, 3);
		sample(samples, &kind);
	} else if (row->type == &iba_congestion_log_switch_type) {
		kind.type = &iba_congestion_log_ca_type;
		sample(samples, &kind);
	}
}

static const struct {
	uint8_t mgmt_class;
	uint16_t number;
	const struct wire_type *details;
} traps[] = {
	{IBA_CLASS_SUBN_ADM, IBA_TRAP_GID_IN_SERVICE, &iba_trap_gid_type},
	{IBA_CLASS_SUBN_ADM, IBA_TRAP_GID_OUT_OF_SERVICE, &iba_trap_gid_type},
	{IBA_CLASS_SUBN_ADM, IBA_TRAP_MCAST_GROUP_CREATED, &iba_trap_gid_type},
	{IBA_CLASS_SUBN_ADM, IBA_TRAP_MCAST_GROUP_DELETED, &iba_trap_gid_type},
	{IBA_CLASS_SUBN_LID, IBA_TRAP_LINK_STATE_CHANGE, &iba_trap_switch_type},
	{IBA_CLASS_SUBN_LID, IBA_TRAP_LINK_INTEGRITY, &iba_trap_port_type},
	{IBA_CLASS_SUBN_LID, IBA_TRAP_BUFFER_OVERRUN, &iba_trap_port_type},
	{IBA_CLASS_SUBN_LID, IBA_TRAP_WATCHDOG, &iba_trap_port_type},
	{IBA_CLASS_SUBN_LID, IBA_TRAP_LOCAL_CHANGES, &iba_trap_local_change_type},
	{IBA_CLASS_SUBN_LID, IBA_TRAP_SYSTEM_IMAGE_GUID, &iba_trap_system_image_type},
	{IBA_CLASS_SUBN_LID, IBA_TRAP_BAD_M_KEY, &iba_trap_m_key_type},
	{IBA_CLASS_SUBN_LID, IBA_TRAP_BAD_P_KEY, &iba_trap_key_type},
	{IBA_CLASS_SUBN_LID, IBA_TRAP_BAD_Q_KEY, &iba_trap_key_type},
	{IBA_CLASS_SUBN_LID, IBA_TRAP_SWITCH_BAD_P_KEY, &iba_trap_switch_p_key_type},
	{IBA_CLASS_CC, IBA_CC_TRAP_BAD_CC_KEY, &iba_trap_cc_key_type},
};

static void sample_traps(struct samples *samples)
{
	for (size_t i = 0; i < G_N_ELEMENTS(traps); i++) {
		bool smp = traps[i].mgmt_class == IBA_CLASS_SUBN_LID;
		struct kind kind = {
			.mgmt_class = traps[i].mgmt_class,
			.method = smp ? IBA_METHOD_TRAP : IBA_METHOD_REPORT,
			.attribute = IBA_ATTR_NOTICE,
			.type = smp ? &iba_notice_type : &iba_sa_notice_type,
			.details = traps[i].details,
			.trap_number = traps[i].number,
		};

		sample(samples, &kind);
	}
}

int main(int argc, char **argv)
{
	g_autoptr(GError) error = NULL;
	struct samples samples = {0};
	unsigned long rounds;

	if (argc != 4) {
		fprintf(stderr, "usage: %s FILE SEED ROUNDS\n", argv[0]);
		return 2;
	}
	samples.capture = capture_new(argv[1], NULL, &error);
	if (!samples.capture) {
		fprintf(stderr, "%s: %s\n", argv[0], error->message);
		return 1;
	}
	samples.rand = g_rand_new_with_seed((guint32)strtoul(argv[2], NULL, 10));
	rounds = strtoul(argv[3], NULL, 10);
	print_known();
	for (unsigned long i = 0; i < rounds; i++) {
		for (const struct iba_attribute *row = iba_attributes; row->type; row++)
			sample_methods(&samples, row);
		sample_traps(&samples);
	}
	capture_free(samples.capture);
	g_rand_free(samples.rand);
	return 0;
}
