// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * MADs in the log, one line each:
 *
 *	sent SubnDirected Get(NodeInfo) 0x0 path 0,1,4 TID 0x00000000c0ffee11
 *	received SubnAdm GetTable(PathRecord) 0x0 LID 7 QP 1 TID 0x... components 0x...: sgid=...
 *
 * After the colon follow the attribute's fields that are not 0. Received MADs are not trusted to be
 * long enough. For a class without rows in iba/attributes.def only the header is shown, and for a
 * Notice only known details, as unknown ones may hold keys.
 */
#include "frames.h"

#include <arpa/inet.h>
#include <iba/attributes.h>
#include <inttypes.h>
#include <string.h>

#define DETAILS sizeof(((struct iba_notice *)NULL)->data_details) /* the end of a Notice */

static void add_name(GString *line, const char *name, const char *format, unsigned int value)
{
	if (name)
		g_string_append(line, name);
	else
		g_string_append_printf(line, format, value);
}

/* "SubnAdm GetTable(PathRecord) 0x0" */
static void add_what(GString *line, const struct iba_mad_header *header)
{
	add_name(line, iba_name(IBA_SET_CLASS, header->mgmt_class), "class 0x%02x",
		 header->mgmt_class);
	g_string_append_c(line, ' ');
	add_name(line, iba_name(IBA_SET_METHOD, header->method), "method 0x%02x", header->method);
	g_string_append_c(line, '(');
	add_name(line, iba_attribute_name(header->mgmt_class, header->attribute_id), "0x%04x",
		 header->attribute_id);
	g_string_append_printf(line, ") 0x%" PRIx32, header->attribute_modifier);
}

static void add_gid(GString *line, const struct iba_gid *gid)
{
	char text[INET6_ADDRSTRLEN];
	uint8_t wire[iba_gid_bytes];

	wire_encode(&iba_gid_type, gid, wire);
	g_string_append_printf(line, " GID %s", inet_ntop(AF_INET6, wire, text, sizeof(text)));
}

/* Shows the requester's directed route, along which the answer returns. */
static void add_path(GString *line, const struct iba_dr_smp *smp)
{
	unsigned int last = sizeof(smp->initial_path) - 1; /* another hop does not fit */

	g_string_append(line, " path 0");
	for (unsigned int hop = 1; hop <= MIN(smp->hop_count, last); hop++)
		g_string_append_printf(line, ",%u", smp->initial_path[hop]);
}

static void add_address(GString *line, const struct vendor_address *remote, bool smp)
{
	if (remote->lid != IBA_LID_PERMISSIVE)
		g_string_append_printf(line, " LID %u", remote->lid);
	if (!smp)
		g_string_append_printf(line, " QP %" PRIu32, remote->qpn);
	if (remote->has_grh)
		add_gid(line, &remote->gid);
}

static void add_header(GString *line, const struct iba_mad_header *header)
{
	unsigned int status = header->status;

	if (header->mgmt_class == IBA_CLASS_SUBN_DIRECTED)
		status &= 0x7FFF; /* the D bit */
	g_string_append_printf(line, " TID 0x%016" PRIx64, header->transaction_id);
	if (status || header->method & IBA_METHOD_RESPONSE)
		g_string_append_printf(line, " status 0x%04x", status);
}

/* ---- the attribute ---- */

static const struct wire_type *content_type(const struct iba_mad_header *header)
{
	const struct iba_attribute *row =
		iba_attribute_find(header->mgmt_class, header->attribute_id);

	if (!row || header->mgmt_class != IBA_CLASS_SUBN_ADM)
		return row ? row->type : NULL;
	if (header->method == IBA_METHOD_GET_TRACE_TABLE || /* IBA 15.2.5.18 */
	    (header->method & IBA_METHOD_RESPONSE &&
	     header->attribute_id == IBA_ATTR_MULTI_PATH_RECORD))
		return &iba_path_record_type;
	return row->type;
}

static void add_words(GString *line, const struct wire_type *type, const uint8_t *wire)
{
	g_autofree void *host = g_malloc0(type->size);

	wire_decode(type, wire, host);
	wire_print_words(type, host, line);
}

static void add_details(GString *line, const uint8_t *wire)
{
	const struct wire_type *type;
	struct iba_notice notice;

	wire_decode(&iba_notice_type, wire, &notice);
	type = notice.is_generic ? iba_trap_details(notice.trap_number) : NULL;
	if (type)
		add_words(line, type, notice.data_details);
}

static void add_content(GString *line, const struct iba_mad_header *header, const uint8_t *data,
			size_t length)
{
	const struct wire_type *type = content_type(header);
	size_t offset = iba_attribute_offset(header->mgmt_class, header->attribute_id);
	bool notice = header->attribute_id == IBA_ATTR_NOTICE;
	uint8_t content[IBA_MAD_BYTES];
	size_t end = line->len;

	if (!type || !offset || length < offset + wire_bytes(type))
		return;
	memcpy(content, data + offset, wire_bytes(type));
	g_string_append_c(line, ':');
	if (notice)
		memset(content + iba_notice_bytes - DETAILS, 0, DETAILS);
	add_words(line, type, content);
	if (notice)
		add_details(line, data + offset);
	if (line->len == end + 1)
		g_string_truncate(line, end); /* all fields are 0 */
}

/* ---- by class ---- */

static void add_smp(GString *line, const struct iba_mad_header *header,
		    const struct vendor_address *remote, const uint8_t *data, size_t length)
{
	struct iba_dr_smp smp;

	add_address(line, remote, true);
	if (length < IBA_MAD_BYTES) { /* the header of a returned request */
		add_header(line, header);
		return;
	}
	wire_decode(&iba_dr_smp_type, data, &smp);
	if (header->mgmt_class == IBA_CLASS_SUBN_DIRECTED)
		add_path(line, &smp);
	add_header(line, header);
	if (smp.m_key)
		g_string_append(line, " M_Key set");
	add_content(line, header, data, length);
}

/* True if the data begin with a record. */
static bool add_rmpp(GString *line, const struct iba_rmpp_header *rmpp, size_t length)
{
	const char *type = iba_name(IBA_SET_RMPP_TYPE, rmpp->rmpp_type);

	if (!(rmpp->rmpp_flags & IBA_RMPP_ACTIVE))
		return true;
	g_string_append(line, " RMPP ");
	if (length != IBA_MAD_BYTES) {
		g_string_append_printf(line, "message of %zu octets", length - IBA_SA_DATA_OFFSET);
		return true;
	}
	add_name(line, type, "type %u", rmpp->rmpp_type);
	switch (rmpp->rmpp_type) {
	case IBA_RMPP_DATA:
		g_string_append_printf(line, " %" PRIu32 "%s%s", rmpp->segment_number,
				       rmpp->rmpp_flags & IBA_RMPP_FIRST ? " First" : "",
				       rmpp->rmpp_flags & IBA_RMPP_LAST ? " Last" : "");
		if (rmpp->data2)
			g_string_append_printf(line, " payload %" PRIu32, rmpp->data2);
		return rmpp->segment_number == 1;
	case IBA_RMPP_ACK:
		g_string_append_printf(line, " %" PRIu32 " window to %" PRIu32,
				       rmpp->segment_number, rmpp->data2);
		return false;
	default:
		g_string_append_printf(line, " status %u", rmpp->rmpp_status);
		return false;
	}
}

static void add_sa(GString *line, const struct iba_mad_header *header, const uint8_t *data,
		   size_t length)
{
	struct iba_rmpp_header rmpp;
	struct iba_sa_header sa;

	if (length < IBA_SA_DATA_OFFSET)
		return;
	wire_decode(&iba_rmpp_header_type, data + iba_mad_header_bytes, &rmpp);
	wire_decode(&iba_sa_header_type, data + iba_mad_header_bytes + iba_rmpp_header_bytes, &sa);
	if (sa.sm_key)
		g_string_append(line, " SM_Key set");
	if (sa.component_mask)
		g_string_append_printf(line, " components 0x%" PRIx64, sa.component_mask);
	if (add_rmpp(line, &rmpp, length))
		add_content(line, header, data, length);
}

static void add_gmp(GString *line, const struct iba_mad_header *header,
		    const struct vendor_address *remote, const uint8_t *data, size_t length)
{
	add_address(line, remote, false);
	add_header(line, header);
	if (header->mgmt_class == IBA_CLASS_SUBN_ADM)
		add_sa(line, header, data, length);
	else
		add_content(line, header, data, length);
}

bool frames_are_logged(struct log *log)
{
	return log && log_wants(log, LOG_FRAMES, __FILE__);
}

void frames_log(struct log *log, const char *event, const struct vendor_address *remote,
		const uint8_t *data, size_t length)
{
	struct iba_mad_header header;
	g_autoptr(GString) line = NULL;

	if (!frames_are_logged(log) || length < iba_mad_header_bytes)
		return;
	line = g_string_new(event);
	g_string_append_c(line, ' ');
	wire_decode(&iba_mad_header_type, data, &header);
	add_what(line, &header);
	if (iba_class_is_smp(header.mgmt_class))
		add_smp(line, &header, remote, data, length);
	else
		add_gmp(line, &header, remote, data, length);
	log_write(log, LOG_FRAMES, __FILE__, "%s", line->str);
}
