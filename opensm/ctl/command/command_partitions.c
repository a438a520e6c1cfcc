// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The command about partitions: those in effect in the subnet, and those it cannot have. */
#include <inttypes.h>
#include <string.h>

#include "client/control.h"
#include "core/printable.h"
#include "ctl/base/problem.h"
#include "ctl/command/command_private.h"
#include "policy/partition/partition.h"
#include "subnet/inventory.h"

#define ASKED_MAX 256 /* tables requested at a time */
#define WAIT_MAX_S 20
#define LOGGED_MAX 160 /* characters of a request in the log */

/* Finds a partition by P_Key, with or without the membership bit, or by name. NULL: none. */
static const struct partition_rule *find(const struct partition_rules *rules, const char *word)
{
	char *end;
	uint64_t p_key = g_ascii_strtoull(word, &end, 0);

	if (g_ascii_isdigit(*word) && !*end)
		return p_key <= 0xFFFF ? partition_rules_find(rules, P_KEY_BASE(p_key)) : NULL;
	for (guint i = 0; i < rules->rules->len; i++) {
		const struct partition_rule *rule = rules->rules->pdata[i];

		if (!g_strcmp0(rule->name, word))
			return rule;
	}
	return NULL;
}

static const char *membership(const struct partitions *partitions, uint32_t port, uint16_t base)
{
	bool full = false, limited = false;
	uint32_t n;
	const uint16_t *keys = partitions_of(partitions, port, &n);

	for (uint32_t i = 0; i < n; i++) {
		full |= keys[i] == (base | P_KEY_FULL);
		limited |= keys[i] == base;
	}
	if (full && limited)
		return "both";
	return full ? "full" : limited ? "limited" : NULL;
}

/* Where the port's table has a key of that partition, as far as the table was read back. */
static void add_indexes(GVariantBuilder *row, const struct inventory_list *table, uint16_t base)
{
	g_autoptr(GString) text = g_string_new(NULL);

	for (uint32_t b = 0; b < inventory_list_blocks(table); b++) {
		const struct iba_p_key_table *block = inventory_list_block(table, b);

		for (uint32_t i = 0; block && i < G_N_ELEMENTS(block->p_key); i++)
			if (block->p_key[i] && P_KEY_BASE(block->p_key[i]) == base)
				g_string_append_printf(text, "%s%u", text->len ? "," : "",
						       b * (uint32_t)G_N_ELEMENTS(block->p_key) +
							       i);
	}
	answer_text(row, "index", text->len ? text->str : "none");
}

/*
 * What the sweep knows of the tables needs no MAD, but the SM must be asked for it: true if it was.
 */
static bool look_at_table(GVariantBuilder *row, struct command_call *call,
			  const struct inventory *inventory, uint32_t port, uint16_t base)
{
	const struct fabric_port *p = &call->fabric->ports[port];
	const struct inventory_list *table;
	uint64_t now = actor_now(daemon_actor(call->env->daemon));
	enum inventory_state state = inventory_look(inventory, call->fabric->nodes[p->node].guid,
						    p->num, INVENTORY_P_KEYS, now, &table);

	if (state == INVENTORY_KNOWN)
		add_indexes(row, table, base);
	if (state != INVENTORY_UNKNOWN)
		return false;
	call->again = true;
	event_emit(&call->context->bus, EVENT_INVENTORY_WANTED,
		   inventory_want(INVENTORY_P_KEYS, p->lid, p->num));
	return true;
}

static void add_members(GVariantBuilder *builder, struct command_call *call,
			const struct partition *partition)
{
	const struct fabric *fabric = call->fabric;
	struct inventory *inventory = slot_take(&call->context->inventory);
	GVariantBuilder list, row;
	unsigned int asked = 0;

	answer_begin_list(&list);
	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		const char *is = membership(call->subnet->partitions, i, partition->p_key);

		if (!is)
			continue;
		answer_begin(&row);
		answer_guid(&row, "port_guid", fabric->ports[i].guid);
		answer_name(&row, "node", fabric, fabric->ports[i].node);
		answer_number(&row, "port", fabric->ports[i].num);
		answer_text(&row, "membership", is);
		if (asked < ASKED_MAX)
			asked += look_at_table(&row, call, inventory, i, partition->p_key);
		answer_append(&list, &row);
	}
	answer_member(builder, "members", &list);
	inventory_unref(inventory);
}

static void add_partition(GVariantBuilder *list, struct command_call *call,
			  const struct partition *partition, bool members)
{
	GVariantBuilder row;

	answer_begin(&row);
	answer_hex16(&row, "p_key", partition->p_key);
	answer_text(&row, "name", partition->name);
	answer_flag(&row, "ipoib", partition->ipoib);
	answer_flag(&row, "indx0", partition->indx0);
	answer_number(&row, "full", partition->n_full);
	answer_number(&row, "limited", partition->n_limited);
	answer_number(&row, "groups", partition->n_groups);
	if (members)
		add_members(&row, call, partition);
	answer_append(list, &row);
}

/* A partition without members in the subnet. */
static void add_empty(GVariantBuilder *list, struct command_call *call,
		      const struct partition_rule *rule, bool members)
{
	g_autofree char *name = g_strdup(rule->name);
	const struct partition empty = {
		.p_key = rule->p_key, .name = name, .ipoib = rule->ipoib, .indx0 = rule->indx0};

	if (!partitions_find(call->subnet->partitions, rule->p_key))
		add_partition(list, call, &empty, members);
}

static GVariant *tell(struct command_call *call, const struct partition_rule *only)
{
	const struct partitions *partitions = call->subnet->partitions;
	const struct refusal *refusal = daemon_refusal(call->env->daemon, DAEMON_PARTITIONS);
	GVariantBuilder builder, list;

	answer_begin(&builder);
	answer_begin_list(&list);
	for (uint32_t i = 0; i < partitions->n; i++)
		if (!only || only->p_key == partitions->all[i].p_key)
			add_partition(&list, call, &partitions->all[i], only != NULL);
	for (guint i = 0; i < partitions->rules->rules->len; i++)
		if (!only || only == partitions->rules->rules->pdata[i])
			add_empty(&list, call, partitions->rules->rules->pdata[i], only != NULL);
	answer_member(&builder, "partitions", &list);
	answer_number(&builder, "policy", partitions->rules->serial);
	answer_number(&builder, "classes", partitions->n_classes - 1);
	answer_flag(&builder, "enforced",
		    call->subnet->options->part_enforce != PART_ENFORCE_OFF);
	answer_begin_list(&list);
	problem_add(&list, PROBLEM_ERROR, refusal->why);
	problem_add_all(&list, PROBLEM_WARNING, partitions->problems);
	problem_add_all(&list, PROBLEM_WARNING, partitions->crowded);
	answer_member(&builder, "problems", &list);
	if (refusal->why) {
		answer_text(&builder, "refused", refusal->why);
		answer_text(&builder, "since", refusal->since);
	}
	return g_variant_builder_end(&builder);
}

static GVariant *reload(struct command_call *call, GError **error)
{
	const struct refusal *refusal = daemon_refusal(call->env->daemon, DAEMON_PARTITIONS);
	bool changed = daemon_reread_partitions(call->env->daemon);

	if (refusal->why)
		return command_failed(error, "the partitions are unchanged: %s", refusal->why);
	if (!changed)
		return answer_of_text("partitions.conf has not changed");
	event_emit(&call->context->bus, EVENT_SWEEP_WANTED, SWEEP_POLICY);
	return answer_of_text("partitions.conf was read; the P_Key tables will be updated");
}

/* For programs also which kind of error it is. */
G_GNUC_PRINTF(5, 6)
static GVariant *refused_as(bool json, unsigned int *status, const char *kind, GError **error,
			    const char *format, ...)
{
	g_autofree char *lines = NULL, *text = NULL;
	GVariantBuilder builder;
	va_list args;

	va_start(args, format);
	lines = g_strdup_vprintf(format, args);
	va_end(args);
	text = answer_one_line(lines);
	if (!json)
		return command_failed(error, "%s", text);
	*status = CONTROL_FAILED;
	answer_begin(&builder);
	answer_text(&builder, "error", text);
	answer_text(&builder, "kind", kind);
	return g_variant_builder_end(&builder);
}

/*
 * ---- what is asked of each, for programs that change partitions: a pool makes the answer, as it
 * may name each port several times ----
 */

struct listing {
	struct command_work work;
	struct subnet *subnet;
	struct partition_rules *rules; /* the latest, which may not be in effect yet */
	uint16_t only;		       /* P_Key; 0: all */
	/* By GUID, the highest indx0 of its partitions; NULL: at most one partition has it. */
	GHashTable *index0;
	unsigned int index0_of_all; /* that of ports that are not there */
};

static void listing_free(struct command_work *work)
{
	struct listing *listing = container_of(work, struct listing, work);

	subnet_unref(listing->subnet);
	partition_rules_unref(listing->rules);
	if (listing->index0)
		g_hash_table_unref(listing->index0);
	g_free(listing);
}

struct member {
	uint64_t guid;
	uint8_t membership; /* enum partition_membership */
	bool absent;
};

static gint compare_guids(gconstpointer a, gconstpointer b)
{
	uint64_t x = ((const struct member *)a)->guid, y = ((const struct member *)b)->guid;

	return x < y ? -1 : x > y;
}

/* Of entries for all ports, the last; PARTITION_NO_MEMBER: there is none. */
static uint8_t membership_of_all(const struct partition_rule *rule)
{
	uint8_t membership = PARTITION_NO_MEMBER;

	for (guint i = 0; i < rule->members->len; i++) {
		const struct partition_member *member =
			&g_array_index(rule->members, struct partition_member, i);

		if (member->who == PARTITION_ALL)
			membership = member->membership;
	}
	return membership;
}

static uint8_t membership_in_effect(const struct partitions *partitions, uint32_t port,
				    uint16_t base)
{
	uint8_t membership = PARTITION_NO_MEMBER;
	uint32_t n;
	const uint16_t *keys = partitions_of(partitions, port, &n);

	for (uint32_t i = 0; i < n; i++)
		if (P_KEY_BASE(keys[i]) == base)
			membership |= keys[i] & P_KEY_FULL ? PARTITION_FULL : PARTITION_LIMITED;
	return membership;
}

static void add_ports(const struct listing *listing, uint16_t base, GArray *members)
{
	const struct fabric *fabric = listing->subnet->fabric;

	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		struct member member = {
			.guid = fabric->ports[i].guid,
			.membership = membership_in_effect(listing->subnet->partitions, i, base),
		};

		if (member.membership)
			g_array_append_val(members, member);
	}
}

/* Single GUIDs: in the order of their entries, so that the last one of a GUID counts. */
static void add_named(const struct listing *listing, const struct partition_rule *rule,
		      GArray *members)
{
	const struct fabric *fabric = listing->subnet->fabric;
	bool in_effect = listing->subnet->partitions->rules->serial >= listing->rules->serial;

	for (guint i = 0; i < rule->members->len; i++) {
		const struct partition_member *entry =
			&g_array_index(rule->members, struct partition_member, i);
		struct member member = {.guid = entry->first, .membership = entry->membership};

		if (entry->who != PARTITION_GUIDS || entry->first != entry->last)
			continue;
		member.absent = fabric_port_by_guid(fabric, entry->first) == FABRIC_NONE;
		if (member.absent || !in_effect)
			g_array_append_val(members, member);
	}
}

/* The last of each GUID, by GUID. */
static GArray *members_of(const struct listing *listing, const struct partition_rule *rule,
			  bool all)
{
	GArray *members = g_array_new(FALSE, FALSE, sizeof(struct member));
	guint n = 0;

	if (!all)
		add_ports(listing, rule->p_key, members);
	add_named(listing, rule, members);
	g_array_sort(members, compare_guids); /* which keeps the order of equal ones */
	for (guint i = 0; i < members->len; i++) {
		const struct member *at = &g_array_index(members, struct member, i);

		if (i + 1 < members->len && at[1].guid == at->guid)
			continue;
		if (at->membership)
			g_array_index(members, struct member, n++) = *at;
	}
	g_array_set_size(members, n);
	return members;
}

/* ---- which partition has index 0 of the table of a port ---- */

static void claim_index0(struct listing *listing, const struct partition_rule *rule)
{
	bool all = membership_of_all(rule) != PARTITION_NO_MEMBER;
	g_autoptr(GArray) members = members_of(listing, rule, all);

	if (all)
		listing->index0_of_all = MAX(listing->index0_of_all, rule->indx0);
	for (guint i = 0; i < members->len; i++) {
		uint64_t guid = g_array_index(members, struct member, i).guid;
		gpointer before = g_hash_table_lookup(listing->index0, &guid);

		g_hash_table_insert(listing->index0, g_memdup2(&guid, sizeof(guid)),
				    GUINT_TO_POINTER(MAX(GPOINTER_TO_UINT(before), rule->indx0)));
	}
}

static void claim_all_index0(struct listing *listing)
{
	const GPtrArray *rules = listing->rules->rules;
	unsigned int n = 0;

	for (guint i = 0; i < rules->len; i++)
		n += ((const struct partition_rule *)rules->pdata[i])->indx0 > 0;
	if (n < 2)
		return;
	listing->index0 = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	for (guint i = 0; i < rules->len; i++)
		if (((const struct partition_rule *)rules->pdata[i])->indx0)
			claim_index0(listing, rules->pdata[i]);
}

/* Members of a partition with indx0 whose index 0 another one has, which comes after it. */
static void add_displaced(GVariantBuilder *row, const struct listing *listing,
			  const struct partition_rule *rule, const GArray *members)
{
	GVariantBuilder list;

	g_variant_builder_init(&list, G_VARIANT_TYPE("as"));
	for (guint i = 0; rule->indx0 && listing->index0 && i < members->len; i++) {
		const struct member *member = &g_array_index(members, struct member, i);
		unsigned int best = GPOINTER_TO_UINT(
			g_hash_table_lookup(listing->index0, &member->guid));

		if (MAX(best, listing->index0_of_all) > rule->indx0)
			g_variant_builder_add_value(
				&list, g_variant_new_take_string(g_strdup_printf(
					       "0x%016" G_GINT64_MODIFIER "x", member->guid)));
	}
	g_variant_builder_add(row, "{sv}", "not_at_index0", g_variant_builder_end(&list));
}

static const char *const memberships[] = {"none", "limited", "full", "both"};

static void add_guids(GVariantBuilder *row, const char *key, const GArray *members,
		      uint8_t membership, bool absent)
{
	GVariantBuilder list;

	g_variant_builder_init(&list, G_VARIANT_TYPE("as"));
	for (guint i = 0; i < members->len; i++) {
		const struct member *member = &g_array_index(members, struct member, i);

		if (absent ? member->absent : member->membership == membership)
			g_variant_builder_add_value(
				&list, g_variant_new_take_string(g_strdup_printf(
					       "0x%016" G_GINT64_MODIFIER "x", member->guid)));
	}
	g_variant_builder_add(row, "{sv}", key, g_variant_builder_end(&list));
}

/* Codes; mtu and rate are 0 without a broadcast group. */
static void add_effect(GVariantBuilder *row, const struct listing *listing,
		       const struct partition_rule *rule)
{
	const struct partition *partition =
		partitions_find(listing->subnet->partitions, rule->p_key);
	const struct partition_group *group =
		partition && partition->n_groups ? &partition->groups[0] : NULL;
	GVariantBuilder effect;

	answer_begin(&effect);
	answer_flag(&effect, "exists", partition != NULL);
	answer_flag(&effect, "ipoib", partition && partition->ipoib);
	answer_number(&effect, "mtu", group ? group->mtu : 0);
	answer_number(&effect, "rate", group ? group->rate : 0);
	answer_number(&effect, "sl", partition ? partition->sl : 0);
	answer_member(row, "effective", &effect);
}

static void add_listed(GVariantBuilder *list, const struct listing *listing,
			  const struct partition_rule *rule)
{
	uint8_t all = membership_of_all(rule);
	g_autoptr(GArray) members = members_of(listing, rule, all != PARTITION_NO_MEMBER);
	bool own = rule->file >= listing->rules->n_own_files;
	GVariantBuilder row;

	answer_begin(&row);
	answer_hex16(&row, "p_key", rule->p_key);
	answer_text(&row, "name", rule->name);
	answer_text(&row, "origin", own ? "run time" : "file");
	answer_flag(&row, "stays", rule->stays || !own);
	answer_flag(&row, "ipoib", rule->ipoib);
	answer_flag(&row, "indx0", rule->indx0);
	answer_number(&row, "mtu", rule->mtu);
	answer_number(&row, "rate", rule->rate);
	answer_number(&row, "sl", rule->sl);
	add_effect(&row, listing, rule);
	answer_text(&row, "all", memberships[all]);
	add_guids(&row, "full", members, PARTITION_FULL, false);
	add_guids(&row, "limited", members, PARTITION_LIMITED, false);
	add_guids(&row, "both", members, PARTITION_BOTH, false);
	add_guids(&row, "absent", members, 0, true);
	add_displaced(&row, listing, rule, members);
	answer_append(list, &row);
}

static GVariant *list_members(struct command_work *work, GError **error)
{
	struct listing *listing = container_of(work, struct listing, work);
	const GPtrArray *rules = listing->rules->rules;
	GVariantBuilder builder, list;
	unsigned int n = 0;

	claim_all_index0(listing);
	answer_begin_list(&list);
	for (guint i = 0; i < rules->len; i++) {
		const struct partition_rule *rule = rules->pdata[i];

		if (listing->only && listing->only != rule->p_key)
			continue;
		add_listed(&list, listing, rule);
		n++;
	}
	if (!n && listing->only) {
		g_variant_builder_clear(&list);
		return refused_as(work->json, &work->status, "unknown", error,
				  "partition 0x%04x does not exist", listing->only);
	}
	answer_begin(&builder);
	answer_number(&builder, "serial", listing->rules->serial);
	answer_number(&builder, "policy", listing->subnet->partitions->rules->serial);
	answer_member(&builder, "members", &list);
	return g_variant_builder_end(&builder);
}

static GVariant *tell_members(struct command_call *call, GError **error)
{
	struct listing *listing;
	uint64_t p_key = 0;

	if (call->n > 2 || (call->n == 2 && (!find_number(call->words[1], 0xFFFF, &p_key) ||
					     !P_KEY_BASE(p_key))))
		return command_usage(error, "expected a P_Key or nothing after 'members'");
	listing = g_new0(struct listing, 1);
	listing->work.run = list_members;
	listing->work.free = listing_free;
	listing->subnet = slot_take(&call->context->subnet);
	listing->rules = slot_take(&call->context->partition_rules);
	listing->only = P_KEY_BASE(p_key);
	command_work_post(call, &listing->work, call->context->slow);
	return NULL;
}

/* ---- changes at run time ---- */

GVariant *command_policy_answer(const struct command_env *env, uint64_t serial)
{
	uint64_t now = daemon_partitions_serial(env->daemon);
	const char *failure = daemon_partitions_failure(env->daemon, serial);
	unsigned int with, without;
	bool kept = daemon_partitions_kept(env->daemon, serial, &with, &without);
	GVariantBuilder builder;

	answer_begin(&builder);
	answer_number(&builder, "serial", serial);
	answer_flag(&builder, "in_effect", now >= serial && !failure);
	answer_flag(&builder, "kept", kept);
	if (failure)
		answer_text(&builder, "error", failure);
	answer_number(&builder, "standbys", with);
	answer_number(&builder, "standbys_without", without);
	answer_number(&builder, "policy", now);
	answer_flag(&builder, "errors",
		    atomic_load(&daemon_context(env->daemon)->sweep) & SWEEP_FLAG_ERRORS);
	return g_variant_builder_end(&builder);
}

/* What is asked for, and how. */
struct wanted {
	struct partition_request request;
	const char *by;	    /* for the log; NULL: unknown */
	uint64_t settle_ns; /* see command_policy_is_there() */
	bool at_once;	    /* the answer is only that the request was taken */
	char *text;	    /* of the request, to be freed */
};

/* Takes words from *at on. False and error: one lacks its value. */
static bool take_options(struct wanted *wanted, char **words, unsigned int *at, GError **error)
{
	for (char *word; (word = words[*at]); ++*at) {
		uint64_t seconds;

		if (!strcmp(word, "merge")) {
			wanted->request.merge = true;
		} else if (!strcmp(word, "replace")) {
			wanted->request.replace = true;
		} else if (!strcmp(word, "existing")) {
			wanted->request.existing = true;
		} else if (!strcmp(word, "strict")) {
			wanted->request.strict = true;
		} else if (!strcmp(word, "by")) {
			wanted->by = words[++*at];
			if (!wanted->by)
				return command_usage(error, "expected a user after 'by'") != NULL;
		} else if (!strcmp(word, "wait")) {
			word = words[++*at];
			wanted->at_once = word && !strcmp(word, "none");
			if (!wanted->at_once &&
			    (!word || !find_number(word, WAIT_MAX_S, &seconds)))
				return command_usage(error,
						     "expected none, or 0 to %u seconds, after "
						     "'wait'",
						     WAIT_MAX_S) != NULL;
			wanted->settle_ns = wanted->at_once ? 0 : seconds * NS_PER_S;
		} else {
			break;
		}
	}
	return true;
}

static bool wants_change(const char *word)
{
	return !strcmp(word, "change") || !strcmp(word, "forget");
}

static bool take_words(struct wanted *wanted, struct command_call *call, GError **error)
{
	bool forget = !strcmp(call->words[0], "forget");
	unsigned int at = 1;
	uint64_t p_key = 0;

	if (!take_options(wanted, call->words, &at, error))
		return false;
	if (forget) {
		if (at + 1 != call->n || (strcmp(call->words[at], "all") != 0 &&
					  (!find_number(call->words[at], 0xFFFF, &p_key) ||
					   !P_KEY_BASE(p_key)))) {
			command_usage(error, "expected a P_Key or all");
			return false;
		}
		wanted->request.forget = (uint16_t)p_key;
		return true;
	}
	wanted->text = g_strjoinv(" ", call->words + at);
	wanted->request.text = wanted->text;
	if (*g_strstrip(wanted->text))
		return true;
	command_usage(error, "expected a definition");
	return false;
}

static const char *kind_of(const GError *wrong)
{
	static const char *const kinds[] = {
		[PARTITION_ERROR_SYNTAX] = "syntax",
		[PARTITION_ERROR_FILE] = "file",
		[PARTITION_ERROR_LIMIT] = "limit",
		[PARTITION_ERROR_NOT_MASTER] = "not master",
		[PARTITION_ERROR_UNKNOWN] = "unknown",
		[PARTITION_ERROR_CONFIGURED] = "configured",
		[PARTITION_ERROR_NAME] = "name",
		[PARTITION_ERROR_IMPOSSIBLE] = "impossible",
	};

	return wrong->domain == PARTITION_ERROR ? kinds[wrong->code] : "file";
}

static GVariant *refused(struct command_call *call, const GError *wrong, GError **error)
{
	return refused_as(call->json, &call->status, kind_of(wrong), error,
			  "no change was made: %s", wrong->message);
}

static void note(struct command_call *call, const struct wanted *wanted, uint64_t serial,
		 const GError *wrong)
{
	g_autofree char *some = g_strndup(wanted->text ? wanted->text : "", LOGGED_MAX);
	g_autofree char *what = printable_text(some);
	g_autofree char *who = printable_text(wanted->by ? wanted->by : "console");
	g_autofree char *why = wrong ? answer_one_line(wrong->message) : NULL;
	g_autofree char *all = wanted->request.text	  ? NULL
			       : wanted->request.forget ? g_strdup_printf("0x%04x",
									  wanted->request.forget)
							: g_strdup("all");

	if (wrong)
		log_info(call->context->log, "%s: partitions %s %s: %s", who, call->words[0],
			 all ? all : what, why);
	else
		log_info(call->context->log, "%s: partitions %s %s: policy %" PRIu64, who,
			 call->words[0], all ? all : what, serial);
}

/* The answer comes once the policy is in effect. */
static GVariant *change(struct command_call *call, GError **error)
{
	struct wanted wanted = {.settle_ns = COMMAND_SETTLE_NS};
	g_autofree char *text = NULL;
	g_autoptr(GError) wrong = NULL;
	uint64_t serial = 0;

	if (!take_words(&wanted, call, error)) {
		g_free(wanted.text);
		return NULL;
	}
	text = wanted.text;
	daemon_request_partitions(call->env->daemon, &wanted.request, &serial, &wrong);
	note(call, &wanted, serial, wrong);
	if (wrong)
		return refused(call, wrong, error);
	if (wanted.at_once)
		return command_policy_answer(call->env, serial);
	call->policy = serial;
	call->settle_ns = wanted.settle_ns;
	call->later = !command_policy_is_there(call->env, serial, call->settle_ns, 0);
	return call->later ? NULL : command_policy_answer(call->env, serial);
}

static void add_failures(GVariantBuilder *builder, struct daemon *daemon)
{
	GVariantBuilder list, row;
	uint64_t from, to;
	const char *why;

	answer_begin_list(&list);
	for (unsigned int i = 0; daemon_partitions_failed(daemon, i, &from, &to, &why); i++) {
		answer_begin(&row);
		answer_number(&row, "from", from);
		answer_number(&row, "to", to);
		answer_text(&row, "error", why);
		answer_append(&list, &row);
	}
	answer_member(builder, "failures", &list);
}

/* How far requests are that were answered at once: cheap, to be asked often. */
static GVariant *tell_serial(struct command_call *call)
{
	struct partition_rules *rules = slot_take(&call->context->partition_rules);
	uint64_t in_effect = call->subnet->partitions->rules->serial;
	struct daemon *daemon = call->env->daemon;
	GVariantBuilder builder;

	answer_begin(&builder);
	answer_number(&builder, "serial", rules->serial);
	answer_number(&builder, "kept", daemon_partitions_kept_to(daemon));
	answer_number(&builder, "policy", in_effect);
	answer_flag(&builder, "held", daemon_partitions_held(daemon));
	answer_flag(&builder, "master",
		    atomic_load(&call->context->sm_state) == IBA_SM_MASTER);
	add_failures(&builder, daemon);
	answer_text(&builder, "text", in_effect == rules->serial
					      ? "the latest policy is in effect"
					      : "the latest policy is not in effect yet");
	partition_rules_unref(rules);
	return g_variant_builder_end(&builder);
}

GVariant *command_partitions(struct command_call *call, GError **error)
{
	const struct partition_rule *only = NULL;

	if (call->n && wants_change(call->words[0]))
		return change(call, error);
	if (call->n == 1 && !strcmp(call->words[0], "serial"))
		return tell_serial(call);
	if (call->n && !strcmp(call->words[0], "members"))
		return tell_members(call, error);
	if (call->n > 1)
		return command_usage(error, "expected one argument at most");
	if (call->n == 1 && !strcmp(call->words[0], "reload"))
		return reload(call, error);
	if (call->n == 1 && !(only = find(call->subnet->partitions->rules, call->words[0])))
		return command_failed(error, "there is no partition '%s'", call->words[0]);
	return tell(call, only);
}

static void print_member(GVariant *row, GString *out)
{
	const char *index = answer_get_text(row, "index");

	g_string_append_printf(out, "      %s %s port %" PRIu64 ": %s%s%s\n",
			       answer_get_text(row, "port_guid"), answer_get_text(row, "node"),
			       answer_get_number(row, "port"), answer_get_text(row, "membership"),
			       *index ? ", at index " : "", index);
}

static void print_partition(GVariant *row, GString *out)
{
	g_string_append_printf(out,
			       "   P_Key %s '%s': %" PRIu64 " full and %" PRIu64
			       " limited members, %" PRIu64 " group(s)%s%s\n",
			       answer_get_text(row, "p_key"), answer_get_text(row, "name"),
			       answer_get_number(row, "full"), answer_get_number(row, "limited"),
			       answer_get_number(row, "groups"),
			       answer_get_flag(row, "ipoib") ? ", IPoIB" : "",
			       answer_get_flag(row, "indx0") ? ", at index 0" : "");
	answer_each(row, "members", print_member, out);
}

static void print_change(GVariant *answer, GString *out)
{
	uint64_t with = answer_get_number(answer, "standbys");
	uint64_t without = answer_get_number(answer, "standbys_without");

	g_string_append_printf(
		out, "policy %" PRIu64 " is %sin effect%s", answer_get_number(answer, "serial"),
		answer_get_flag(answer, "in_effect") ? "" : "not yet ",
		answer_get_flag(answer, "errors") ? ", but part of the subnet could not be "
						    "configured"
						  : "");
	if (with)
		g_string_append_printf(out, "; %" PRIu64 " standby(s) have it", with);
	if (without)
		g_string_append_printf(out, "; %" PRIu64 " other SM(s) did not confirm it in time",
				       without);
	g_string_append(out, answer_get_flag(answer, "kept")
				     ? "\n"
				     : "; another SM is master now and may not know it\n");
}

static void print_guids(GVariant *row, GString *out, const char *key)
{
	g_autoptr(GVariant) list = answer_get(row, key);
	gsize n = list ? g_variant_n_children(list) : 0;

	for (gsize i = 0; i < n; i++) {
		const char *guid;

		g_variant_get_child(list, i, "&s", &guid);
		g_string_append_printf(out, "      %s: %s\n", guid, key);
	}
}

static void print_listed(GVariant *row, GString *out)
{
	const char *all = answer_get_text(row, "all");

	g_string_append_printf(out, "   P_Key %s '%s', from %s%s%s\n",
			       answer_get_text(row, "p_key"), answer_get_text(row, "name"),
			       answer_get_text(row, "origin"),
			       strcmp(all, "none") != 0 ? ", all ports: " : "",
			       strcmp(all, "none") != 0 ? all : "");
	print_guids(row, out, "full");
	print_guids(row, out, "limited");
	print_guids(row, out, "both");
}

void print_partitions(GVariant *answer, GString *out)
{
	g_autoptr(GVariant) partitions = answer_get(answer, "partitions");
	g_autoptr(GVariant) changed = answer_get(answer, "in_effect");
	g_autoptr(GVariant) members = answer_get(answer, "members");

	if (members) {
		answer_each(answer, "members", print_listed, out);
		return;
	}
	if (*answer_get_text(answer, "error")) {
		g_string_append_printf(out, "no change was made: %s\n",
				       answer_get_text(answer, "error"));
		return;
	}
	if (changed) {
		print_change(answer, out);
		return;
	}
	if (!partitions) {
		g_string_append_printf(out, "%s\n", answer_get_text(answer, "text"));
		return;
	}
	g_string_append_printf(
		out, "%" G_GSIZE_FORMAT " partition(s), %" PRIu64 " class(es) of ports, %s\n",
		g_variant_n_children(partitions), answer_get_number(answer, "classes"),
		answer_get_flag(answer, "enforced") ? "enforced by switches"
						    : "not enforced by switches");
	answer_each(answer, "partitions", print_partition, out);
	answer_each(answer, "problems", problem_print, out);
	if (*answer_get_text(answer, "refused"))
		g_string_append_printf(out, "   refused at %s: %s\n",
				       answer_get_text(answer, "since"),
				       answer_get_text(answer, "refused"));
}
