// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Traps: they are repressed and turned into reasons for a sweep. The claim of a trap is only a hint
 * where to look; a source that sends too many is still repressed, but ignored.
 */
#include <inttypes.h>
#include <string.h>

#include "complib/bucket.h"
#include "core/traps.h"
#include "sm/discover/discover_private.h"
#include "sm/election/other_sm.h"
#include "sm/health/health.h"
#include "sm/keys/keys.h"
#include "sm/sm_private.h"
#include "sm/smp/smp.h"
#include "sm/write/write.h"

#define TRAPS_PER_SECOND 10
#define TRAP_BURST 50

/* A sender of traps, and the last of each kind that caused a query. */
struct source {
	struct bucket bucket;
	struct told {
		uint64_t tid;
		uint64_t since; /* first sweep that can have read the change it reported; 0: none */
	} links, local;
};

static struct source *source_of(struct sm *sm, uint16_t lid)
{
	void *key = GUINT_TO_POINTER(lid);
	struct source *source = g_hash_table_lookup(sm->discovery->trap_sources, key);

	if (!source) {
		source = g_new0(struct source, 1);
		bucket_init(&source->bucket, TRAPS_PER_SECOND, TRAP_BURST);
		g_hash_table_insert(sm->discovery->trap_sources, key, source);
	}
	return source;
}

/* A trap that is repeated, as no TrapRepress arrives, was handled the first time. */
static void note_told(const struct sm *sm, struct told *told, uint64_t tid)
{
	if (told->since && told->tid == tid)
		return;
	told->tid = tid;
	told->since = sm->sweep.serial + (sweep_runs(sm) && !sweep_is_discovering(sm));
}

static struct builder_node *node_of_lid(const struct sm *sm, uint16_t lid)
{
	uint32_t port = sm->fabric ? fabric_port_by_lid(sm->fabric, lid) : FABRIC_NONE;

	if (port == FABRIC_NONE)
		return NULL;
	return builder_find(sm->builder, sm->fabric->nodes[sm->fabric->ports[port].node].guid);
}

/* The known endport with this LID, or NULL. */
static struct builder_port *port_of_lid(const struct sm *sm, uint16_t lid)
{
	return port_published(sm, sm->fabric ? fabric_port_by_lid(sm->fabric, lid) : FABRIC_NONE);
}

/*
 * TrapRepress is checked like a Set (IBA 14.2.4): the port accepts only its own M_Key, which while
 * the option changes is not that of the option.
 */
static uint64_t key_of_source(const struct sm *sm, uint16_t lid)
{
	const struct builder_port *port = port_of_lid(sm, lid);

	return port ? keys_of_port(sm, port) : sm->options->m_key;
}

/*
 * If the node was read since, this does not cancel a sweep, which may just be repairing the routes
 * to it. But the node may have changed again, so it is read after that.
 */
static void want_look(struct sm *sm, uint16_t lid, unsigned int reason, const struct told *told)
{
	struct builder_node *node = node_of_lid(sm, lid);

	if (!node) {
		if (sm->options->sweep_on_trap)
			sweep_want(sm, SWEEP_LIGHT); /* unknown port: query known switches */
		return;
	}
	if (reason == SWEEP_LOCAL_TRAP)
		node->has_description = false; /* a switch also reports a new name this way */
	builder_mark(node);
	if (node->looked_at >= told->since)
		sweep_want_next(sm, reason);
	else
		sweep_want(sm, reason);
}

/*
 * Whether a trap 144 reports only capabilities, and these are as last read: the echo of a Set.
 * CapabilityMask2 is newer than the trap: 0 from nodes that do not report it.
 */
static bool is_known(const struct sm *sm, uint16_t lid, const struct iba_trap_local_change *change)
{
	const struct builder_port *known = port_of_lid(sm, lid);

	if (!known || !known->known || change->change_flags || change->other_local_changes)
		return false;
	return known->info.capability_mask == change->capability_mask &&
	       (!change->capability_mask2 ||
		known->info.capability_mask2 == change->capability_mask2);
}

/* "LID 7, NAME (0xGUID) port 1", or the LID alone if the port is unknown. Returns buffer. */
static const char *lid_name(const struct sm *sm, uint16_t lid, char *buffer, size_t size)
{
	uint32_t port = sm->fabric ? fabric_port_by_lid(sm->fabric, lid) : FABRIC_NONE;
	int n = snprintf(buffer, size, "LID %u%s", lid, port == FABRIC_NONE ? "" : ", ");

	if (port != FABRIC_NONE && fabric_is_switch(sm->fabric, sm->fabric->ports[port].node))
		fabric_node_name(sm->fabric, sm->fabric->ports[port].node, buffer + n, size - n);
	else if (port != FABRIC_NONE)
		fabric_port_name(sm->fabric, port, buffer + n, size - n);
	return buffer;
}

#define LID_NAME_SIZE (FABRIC_NAME_SIZE + 16)

/* The violator of a key, and its use; port of a switch; "" for other traps. */
static char *details_text(const struct sm *sm, const struct iba_notice *notice)
{
	char from[LID_NAME_SIZE], to[LID_NAME_SIZE];
	struct iba_trap_m_key m_key;
	struct iba_trap_switch_p_key p_key;
	struct iba_trap_port place;
	struct iba_trap_key key;
	const char *attribute;

	if (!notice->is_generic)
		return g_strdup("");
	switch (notice->trap_number) {
	case IBA_TRAP_LINK_INTEGRITY:
	case IBA_TRAP_BUFFER_OVERRUN:
	case IBA_TRAP_WATCHDOG:
		wire_decode(&iba_trap_port_type, notice->data_details, &place);
		return g_strdup_printf(": port %u", place.port_num);
	case IBA_TRAP_BAD_M_KEY:
		wire_decode(&iba_trap_m_key_type, notice->data_details, &m_key);
		attribute = iba_name(IBA_SET_ATTR, m_key.attribute_id);
		return g_strdup_printf(
			": %s sent %s(%s)%s", lid_name(sm, m_key.lid, from, sizeof(from)),
			m_key.method == IBA_METHOD_SET ? "Set" : "Get", attribute ? attribute : "?",
			m_key.dr_notice ? " by a directed route" : "");
	case IBA_TRAP_BAD_P_KEY:
	case IBA_TRAP_BAD_Q_KEY: /* which is a secret */
		wire_decode(&iba_trap_key_type, notice->data_details, &key);
		lid_name(sm, key.lid1, from, sizeof(from));
		lid_name(sm, key.lid2, to, sizeof(to));
		if (notice->trap_number == IBA_TRAP_BAD_Q_KEY)
			return g_strdup_printf(": %s, QP 0x%x sent to %s, QP 0x%x", from, key.qp1,
					       to, key.qp2);
		return g_strdup_printf(": %s, QP 0x%x sent with P_Key 0x%04x to %s, QP 0x%x", from,
				       key.qp1, key.key & 0xFFFF, to, key.qp2);
	case IBA_TRAP_SWITCH_BAD_P_KEY:
		wire_decode(&iba_trap_switch_p_key_type, notice->data_details, &p_key);
		return g_strdup_printf(": %s sent with P_Key 0x%04x to %s by port %u",
				       lid_name(sm, p_key.lid1, from, sizeof(from)), p_key.p_key,
				       lid_name(sm, p_key.lid2, to, sizeof(to)), p_key.port_num);
	default:
		return g_strdup("");
	}
}

/* The issuer's port, if it is known. */
static struct about about_trap(const struct sm *sm, uint16_t lid)
{
	uint32_t port = sm->fabric ? fabric_port_by_lid(sm->fabric, lid) : FABRIC_NONE;
	struct about about = {.kind = "trap", .lid = lid};

	if (port == FABRIC_NONE)
		return about;
	about.guid = sm->fabric->nodes[sm->fabric->ports[port].node].guid;
	about.node = fabric_called(sm->fabric, sm->fabric->ports[port].node);
	about.port = sm->fabric->ports[port].num;
	return about;
}

/* Begins as the classic daemon's line does, which scripts search for; then come the names. */
static void log_trap(struct sm *sm, unsigned int level, const struct iba_notice *notice,
		     uint64_t tid, uint16_t from)
{
	uint16_t issuer = notice->issuer_lid ? notice->issuer_lid : from;
	const char *name = iba_name(IBA_SET_TRAP, notice->trap_number);
	const char *producer = iba_name(IBA_SET_NODE_TYPE, notice->producer_type);
	const struct about about = about_trap(sm, issuer);
	g_autofree char *details = NULL;
	char source[LID_NAME_SIZE];
	unsigned int held_back;

	if (!schedule_may_log(sm, &held_back))
		return;
	details = details_text(sm, notice);
	lid_name(sm, issuer, source, sizeof(source));
	if (!notice->is_generic)
		log_about(sm->log, level, &about,
			  "Received Vendor Notice type:%u vend:0x%06X dev:%u from LID:%u "
			  "TID:0x%016" PRIx64 ": %s%s",
			  notice->type, notice->producer_type, notice->trap_number, from, tid,
			  source, held_back ? "; similar lines were suppressed" : "");
	else
		log_about(sm->log, level, &about,
			  "Received Generic Notice type:%u num:%u (%s) Producer:%u (%s) from "
			  "LID:%u TID:0x%016" PRIx64 ": %s%s%s",
			  notice->type, notice->trap_number, name ? name : "Unknown",
			  notice->producer_type, producer ? producer : "Unknown", from, tid, source,
			  details, held_back ? "; similar lines were suppressed" : "");
}

static void tell_trap(struct sm *sm, const struct iba_notice *notice, uint16_t from)
{
	uint64_t lid = notice->issuer_lid ? notice->issuer_lid : from;
	struct traps *before = slot_take(&sm->context->traps);

	slot_publish(&sm->context->traps, traps_with(before, notice, from));
	traps_unref(before);
	event_emit(&sm->context->bus, EVENT_TRAP_RECEIVED, lid << 16 | notice->trap_number);
}

static void handle_notice(struct sm *sm, struct source *source, const struct iba_notice *notice,
			  uint64_t tid, uint16_t from)
{
	uint16_t issuer = notice->issuer_lid ? notice->issuer_lid : from;
	const struct builder_port *port;
	struct iba_trap_local_change local;
	struct iba_trap_switch change;

	if (!notice->is_generic) {
		log_trap(sm, LOG_INFO, notice, tid, from);
		return;
	}
	switch (notice->trap_number) {
	case IBA_TRAP_LINK_STATE_CHANGE:
		wire_decode(&iba_trap_switch_type, notice->data_details, &change);
		log_trap(sm, LOG_INFO, notice, tid, from);
		note_told(sm, &source->links, tid);
		want_look(sm, change.lid, SWEEP_LINK_TRAP, &source->links);
		break;
	case IBA_TRAP_LOCAL_CHANGES:
		wire_decode(&iba_trap_local_change_type, notice->data_details, &local);
		log_trap(sm, LOG_INFO, notice, tid, from);
		note_told(sm, &source->local, tid);
		port = port_of_lid(sm, issuer);
		if (port && local.change_flags & IBA_TRAP_144_SM_PRIORITY)
			other_sm_reported_rank(sm, port);
		if (!is_known(sm, issuer, &local))
			want_look(sm, issuer, SWEEP_LOCAL_TRAP, &source->local);
		break;
	case IBA_TRAP_BAD_M_KEY:
		counter_inc(&sm->context->counters, traps_m_key);
		log_trap(sm, LOG_ERROR, notice, tid, from);
		lease_violated(sm, port_of_lid(sm, issuer));
		break;
	case IBA_TRAP_BAD_P_KEY:
	case IBA_TRAP_BAD_Q_KEY:
	case IBA_TRAP_SWITCH_BAD_P_KEY:
		counter_inc(&sm->context->counters, traps_p_key);
		log_trap(sm, LOG_ERROR, notice, tid, from);
		break;
	default:
		log_trap(sm, LOG_INFO, notice, tid, from);
	}
}

/* Both take ownership of mad. */
static void receive_trap(struct sm *sm, struct vendor_mad *mad, struct iba_smp *smp)
{
	uint16_t lid = mad->remote.lid;
	struct source *source = source_of(sm, lid);
	uint64_t tid = smp->header.transaction_id;
	const struct builder_port *port;
	struct iba_notice notice;

	counter_inc(&sm->context->counters, traps_received);
	wire_decode(&iba_notice_type, smp->data, &notice);
	smp->header.method = IBA_METHOD_TRAP_REPRESS;
	smp->header.status = 0;
	smp->m_key = key_of_source(sm, lid);
	if (sm->fabric || !keys_are_used(sm->options))
		mad_reply_smp(sm->mad, mad, smp);
	else
		vendor_mad_free(mad); /* the sender is unknown yet: it will send it again */
	port = port_of_lid(sm, lid);
	if (port)
		port_health_trap(sm, port, &notice);
	if (!bucket_take(&source->bucket, actor_now(sm->actor))) {
		counter_inc(&sm->context->counters, traps_limited);
		return;
	}
	tell_trap(sm, &notice, lid);
	handle_notice(sm, source, &notice, tid, lid);
}

static void refuse(struct sm *sm, struct vendor_mad *mad, struct iba_smp *smp)
{
	counter_inc(&sm->context->counters, mad_unhandled);
	if (smp->header.method != IBA_METHOD_GET && smp->header.method != IBA_METHOD_SET) {
		vendor_mad_free(mad);
		return;
	}
	smp->header.method = IBA_METHOD_GET_RESP;
	smp->header.status = IBA_STATUS_UNSUP_METHOD_ATTR;
	mad_reply_smp(sm->mad, mad, smp);
}

void trap_receive(void *arg, struct vendor_mad *mad)
{
	struct sm *sm = arg;
	struct iba_smp smp;

	wire_decode(&iba_smp_type, mad->data, &smp);
	if (smp.header.method == IBA_METHOD_TRAP && smp.header.attribute_id == IBA_ATTR_NOTICE)
		receive_trap(sm, mad, &smp);
	else
		refuse(sm, mad, &smp);
}
