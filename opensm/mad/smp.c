// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Encoding of SMPs. A directed SMP and a LID-routed one differ in class and in the route. */
#include "mad/smp.h"

#include <string.h>

static void encode_lid(const struct mad_request *request, uint32_t tid, uint8_t *wire)
{
	struct iba_smp smp = {
		.header = {.base_version = 1,
			   .mgmt_class = IBA_CLASS_SUBN_LID,
			   .class_version = 1,
			   .method = request->method,
			   .transaction_id = tid,
			   .attribute_id = request->attribute,
			   .attribute_modifier = request->modifier},
		.m_key = request->m_key,
	};

	memcpy(smp.data, request->data, sizeof(smp.data));
	wire_encode(&iba_smp_type, &smp, wire);
}

static void encode_directed(const struct mad_request *request, bool mixed, uint32_t tid,
			    uint16_t own_lid, uint8_t *wire)
{
	struct iba_dr_smp smp = {
		.base_version = 1,
		.mgmt_class = IBA_CLASS_SUBN_DIRECTED,
		.class_version = 1,
		.method = request->method,
		.transaction_id = tid,
		.attribute_id = request->attribute,
		.attribute_modifier = request->modifier,
		.m_key = request->m_key,
		.dr_slid = mixed ? own_lid : IBA_LID_PERMISSIVE,
		.dr_dlid = IBA_LID_PERMISSIVE,
		.hop_count = mixed ? request->route.via_hops : request->route.hops,
	};
	unsigned int skipped = request->route.hops - smp.hop_count;

	memcpy(smp.data, request->data, sizeof(smp.data));
	memcpy(smp.initial_path + 1, request->route.path + 1 + skipped, smp.hop_count);
	wire_encode(&iba_dr_smp_type, &smp, wire);
}

void smp_encode(const struct mad_request *request, enum smp_form form, uint32_t tid,
		uint16_t own_lid, uint8_t sl, uint8_t wire[IBA_MAD_BYTES],
		struct vendor_address *to)
{
	*to = (struct vendor_address){.sl = sl};
	switch (form) {
	case SMP_LID:
		to->lid = request->route.lid;
		encode_lid(request, tid, wire);
		break;
	case SMP_MIXED:
		to->lid = request->route.via;
		encode_directed(request, true, tid, own_lid, wire);
		break;
	default:
		to->lid = IBA_LID_PERMISSIVE;
		to->sl = 0;
		encode_directed(request, false, tid, own_lid, wire);
		break;
	}
}

bool smp_decode(struct mad_request *request, const uint8_t wire[IBA_MAD_BYTES])
{
	struct iba_smp smp;

	wire_decode(&iba_smp_type, wire, &smp);
	if (smp.header.method != IBA_METHOD_GET_RESP ||
	    smp.header.attribute_id != request->attribute ||
	    smp.header.attribute_modifier != request->modifier)
		return false;
	request->status = smp.header.status;
	if (smp.header.mgmt_class == IBA_CLASS_SUBN_DIRECTED)
		request->status &= 0x7FFF; /* the D bit */
	request->result = request->status ? MAD_STATUS : MAD_OK;
	memcpy(request->data, smp.data, sizeof(request->data));
	return true;
}
