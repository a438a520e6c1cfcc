// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Counts of another SM may be a little old: a MASTER polls its standbys and a STANDBY its master
 * every sminfo_polling_timeout, but a standby reads the subnet again only if it sees less than its
 * master, or the other way round (mastership.c). So small differences are shown, not judged.
 */
#include "ctl/report/sms.h"

#include <inttypes.h>

#include "iba/constants.h"
#include "sm/election/ability.h"
#include "sm/election/peers.h"

/* This SM, in the form of other SMs. */
static struct election_sm own_sm(struct context *context, const struct peers *peers)
{
	return (struct election_sm){
		.guid = peers->own,
		.state = atomic_load(&context->sm_state),
		.ability = ability_unpack(atomic_load(&context->ability)),
	};
}

static void add_sm(struct context *context, GVariantBuilder *list, const struct election_sm *sm,
		   uint64_t heard_ns)
{
	const char *state = iba_name(IBA_SET_SM_STATE, sm->state);
	GVariantBuilder row;

	answer_begin(&row);
	answer_guid(&row, "guid", sm->guid);
	answer_text(&row, "state", state ? state : "?");
	answer_flag(&row, "self", !heard_ns);
	answer_flag(&row, "tells", sm->ability.known);
	if (sm->ability.known) {
		answer_flag(&row, "able", !sm->ability.unable);
		answer_number(&row, "switches", sm->ability.switches);
		answer_number(&row, "ports", sm->ability.endports);
		answer_number(&row, "settable_ports", sm->ability.settable);
	}
	if (heard_ns)
		answer_number(&row, "heard_seconds_ago",
			      (runtime_now(context->rt) - heard_ns) / NS_PER_S);
	answer_append(list, &row);
}

void sms_answer(struct context *context, GVariantBuilder *builder)
{
	struct peers *peers = slot_take(&context->peers);
	GVariantBuilder list;

	answer_begin_list(&list);
	if (peers && peers->n) {
		const struct election_sm own = own_sm(context, peers);

		add_sm(context, &list, &own, 0);
	}
	for (unsigned int i = 0; peers && i < peers->n; i++)
		if (peers->peers[i].heard_ns)
			add_sm(context, &list, &peers->peers[i].sm, peers->peers[i].heard_ns);
	answer_member(builder, "sms", &list);
	peers_unref(peers);
}

void sms_print_row(GVariant *row, GString *out)
{
	g_string_append_printf(out, "SM %s, %s", answer_get_text(row, "guid"),
			       answer_get_text(row, "state"));
	if (answer_get_flag(row, "self"))
		g_string_append(out, " (this one)");
	if (answer_get_flag(row, "tells"))
		g_string_append_printf(out,
				       ": sees %" PRIu64 " switches and %" PRIu64 " ports, can "
				       "configure %" PRIu64 " of these\n",
				       answer_get_number(row, "switches"),
				       answer_get_number(row, "ports"),
				       answer_get_number(row, "settable_ports"));
	else
		g_string_append(out, ": what it sees is unknown\n");
}

/* ---- judgement ---- */

struct judge {
	void (*tell)(void *arg, bool grave, const char *text);
	void *arg;
};

G_GNUC_PRINTF(3, 4)
static void tell(const struct judge *judge, bool grave, const char *format, ...)
{
	g_autofree char *text = NULL;
	va_list args;

	va_start(args, format);
	text = g_strdup_vprintf(format, args);
	va_end(args);
	judge->tell(judge->arg, grave, text);
}

static void judge_standby(const struct judge *judge, const struct election_sm *own,
			  const struct election_sm *standby)
{
	const struct ability *sees = &standby->ability;

	if (sees->unable)
		tell(judge, false,
		     "the standby, SM 0x%016" PRIx64 ", cannot configure the subnet, of which it "
		     "sees %u switches and %u ports, and could not take over",
		     standby->guid, sees->switches, sees->endports);
	else if (ability_falls_short(&own->ability, sees))
		tell(judge, true,
		     "this master can configure %u of the %u ports that it sees, and the "
		     "standby, SM 0x%016" PRIx64 ", could configure %u of %u",
		     own->ability.settable, own->ability.endports, standby->guid, sees->settable,
		     sees->endports);
	else if (ability_falls_short(sees, &own->ability))
		tell(judge, false,
		     "the standby, SM 0x%016" PRIx64 ", sees %u switches and %u ports and could "
		     "configure %u of these, but this master configures %u: the others would be "
		     "lost",
		     standby->guid, sees->switches, sees->endports, sees->settable,
		     own->ability.settable);
}

static void judge_master(const struct judge *judge, const struct election_sm *own,
			 const struct election_sm *master)
{
	const struct ability *sees = &master->ability;

	if (ability_falls_short(sees, &own->ability))
		tell(judge, true,
		     "the master can configure %u ports, but this standby could configure %u of "
		     "the %u that it sees",
		     sees->settable, own->ability.settable, own->ability.endports);
	else if (ability_falls_short(&own->ability, sees))
		tell(judge, false,
		     "the master can configure %u ports, but this standby sees %u switches and "
		     "%u ports and could configure %u of these: the others would be lost",
		     sees->settable, own->ability.switches, own->ability.endports,
		     own->ability.settable);
}

void sms_judge(struct context *context, void (*tell_it)(void *arg, bool grave, const char *text),
	       void *arg)
{
	struct peers *peers = slot_take(&context->peers);
	const struct judge judge = {tell_it, arg};
	const struct peers nobody = {.n = 0};
	const struct election_sm own = own_sm(context, peers ? peers : &nobody);
	bool is_standby = own.state == IBA_SM_STANDBY;

	if (own.ability.unable)
		tell(&judge, true,
		     "it cannot configure the subnet, of which it sees %u ports, so it %s: it "
		     "lacks their M_Keys, or its neighbour does not answer; see the log",
		     own.ability.endports, is_standby ? "could not take over" : "should not lead");
	for (unsigned int i = 0; peers && !own.ability.unable && i < peers->n; i++) {
		const struct election_sm *other = &peers->peers[i].sm;

		if (is_standby && other->state == IBA_SM_MASTER)
			judge_master(&judge, &own, other);
		else if (own.state == IBA_SM_MASTER && other->state == IBA_SM_STANDBY)
			judge_standby(&judge, &own, other);
	}
	peers_unref(peers);
}
