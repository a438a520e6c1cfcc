// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * An SM without definitions of partitions, such as a standby without a partitions.conf, does not
 * open a subnet in which another SM has isolated ports:
 *
 *	it becomes MASTER, all tables are read
 *	    no port is isolated ------------------> open: tables are written as the rules say
 *	    some ports are, as their tables have
 *	    P_Keys and the full default one not --> held: no P_Key table or enforcement is written
 *	held, and there are definitions ----------> open
 *
 * /dev/null as the name of the file means that there are no partitions, and nothing is held.
 */
#include "iba/codes.h"
#include "sm/discover/discover.h"
#include "sm/sm_private.h"
#include "sm/smp/smp.h"
#include "sm/write/pkey_private.h"

#define PER_BLOCK 32
#define BLOCK_BYTES sizeof(struct iba_p_key_table)
#define P_KEY_OPEN (P_KEY_FULL | 0x7FFF)

/* A port that the rules would open, as far as its table is known. */
static bool is_kept_apart(const struct builder_port *port)
{
	bool any = false;

	for (uint32_t block = 0; block < trust_n_blocks(&port->p_keys); block++) {
		const uint16_t *keys = trust_get(port->node, &port->p_keys, block, BLOCK_BYTES);

		for (unsigned int i = 0; keys && i < PER_BLOCK; i++) {
			if (keys[i] == P_KEY_OPEN)
				return false;
			any |= P_KEY_BASE(keys[i]) != 0;
		}
	}
	return any;
}

/* Number of such endports, and one of them. */
static unsigned int count(const struct sm *sm, const struct builder_port **first)
{
	g_autoptr(GPtrArray) ports = sweep_ports(sm, false);
	unsigned int n = 0;

	for (guint i = 0; i < ports->len; i++) {
		const struct builder_port *port = ports->pdata[i];

		if (!port->guid || !is_kept_apart(port))
			continue;
		if (!n++)
			*first = port;
	}
	return n;
}

static void tell(const struct sm *sm, const struct partition_rules *rules, unsigned int n,
		 const struct builder_port *first)
{
	char name[SM_NAME_SIZE];

	log_error(sm->log,
		  "%s: no partitions are defined, but %u ports (such as %s) are separated by P_Key "
		  "tables that another SM has set: none is written; expected definitions in that "
		  "file, or 'Default=0x7fff,ipoib:ALL=full;' if every port may talk to every other",
		  (const char *)rules->files->pdata[0], n,
		  sm_node_name(first->node, name, sizeof(name)));
}

static bool opens_all(const struct sm *sm, const struct partition_rules *rules)
{
	return rules->built_in && !partition_rules_says_none(rules) &&
	       !sm->options->disconnect_unconfigured_endports;
}

void p_key_guard_look(struct sm *sm)
{
	const struct partition_rules *rules = sm->partitions->rules;
	const struct builder_port *first = NULL;
	unsigned int n = 0;

	if (!opens_all(sm, rules)) {
		if (sm->settings->p_keys->held)
			log_info(sm->log,
				 "P_Key tables are written again, as partitions are defined now");
		sm->settings->p_keys->held = false;
		sm->settings->p_keys->looked = true;
	} else if (!sm->settings->p_keys->looked) {
		n = count(sm, &first);
		sm->settings->p_keys->held = n != 0;
		sm->settings->p_keys->looked = true;
		if (n)
			tell(sm, rules, n, first);
	} else {
		return;
	}
	if (!sm->dry)
		atomic_store(&sm->context->p_keys_held, n);
}

void p_key_guard_forget(struct sm *sm)
{
	sm->settings->p_keys->looked = false;
}
