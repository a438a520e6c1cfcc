// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "policy/qos/qos_lanes.h"

#include "route/value/lanes.h"

uint16_t qos_lanes(const struct fabric *fabric, const struct routing *routing, uint32_t from,
		   uint32_t to, unsigned int vls, uint8_t vl[QOS_SLS])
{
	const struct fabric_port *port = &fabric->ports[to];

	if (!port->num || port->peer == FABRIC_NONE || !fabric_is_switch(fabric, port->node) ||
	    !fabric_is_switch(fabric, fabric->ports[port->peer].node))
		return routing_end_vls(routing, vls, vl);
	return routing_turn_vls(routing, fabric, from, to, vl);
}

/* A setting that is not followed: for which SLs, and at how many ports. */
struct party {
	uint16_t sls;
	uint32_t ports;
};

struct conflicts {
	const struct qos_place *place;
	const struct routing *routing;
	const struct qos_paths *paths;
	struct party *scopes;				 /* [scopes->len] */
	struct party row[QOS_ROLES], max_vls[QOS_ROLES]; /* by keys of opensm.conf */
};

static void note(struct party *party, uint16_t sls)
{
	party->ports += sls != 0;
	party->sls |= sls;
}

static struct party *party_of(const struct conflicts *c, const struct qos_scope *scope)
{
	guint index = 0;

	g_ptr_array_find(c->paths->policy->scopes, scope, &index);
	return &c->scopes[index];
}

/* The SLs among these that were explicitly given other lanes, not by folding. */
static uint16_t meant(uint16_t sls, const uint8_t *said, const uint8_t *vl)
{
	uint16_t others = 0;

	for (unsigned int sl = 0; sl < QOS_SLS; sl++)
		if (sls >> sl & 1 && said[sl] != vl[sl])
			others |= 1u << sl;
	return others;
}

static void look_at_row(struct conflicts *c, uint32_t from, uint32_t to)
{
	const struct fabric_port *port = &c->place->fabric->ports[to];
	enum qos_role role = qos_setup_role(c->place->fabric, to);
	const struct qos_tables *tables = &c->paths->qos.of[role];
	unsigned int vls = qos_vls(tables, port->info.operational_vls);
	struct iba_sl_to_vl_table row;
	const struct qos_scope *scope;
	uint8_t vl[QOS_SLS];
	uint16_t sls = qos_lanes(c->place->fabric, c->routing, from, to, vls, vl), others;

	scope = qos_setup_row(c->place, tables, vls, from, to, &row);
	sls = qos_merge(&row, sls, vl);
	others = meant(sls, scope ? scope->vl : tables->vl, vl);
	note(scope ? party_of(c, scope) : &c->row[role], others);
	if (vls == tables->vls)
		note(&c->max_vls[role], sls & ~others);
}

static void look_at_port(struct conflicts *c, uint32_t to)
{
	const struct fabric *fabric = c->place->fabric;
	const struct fabric_node *node = &fabric->nodes[fabric->ports[to].node];
	bool even = qos_setup_is_even(c->place, to) && !routing_has_turns(c->routing);
	bool is_switch = node->type == IBA_NODE_SWITCH;
	uint32_t first = is_switch ? node->first_port : to;
	uint8_t vl[QOS_SLS];

	if ((to != node->first_port && fabric->ports[to].peer == FABRIC_NONE) ||
	    !qos_lanes(fabric, c->routing, first, to, 1, vl))
		return;
	look_at_row(c, first, to);
	for (uint32_t in = 1; is_switch && in <= node->num_ports && !even; in++)
		if (fabric->ports[first + in].peer != FABRIC_NONE)
			look_at_row(c, first + in, to);
}

static void tell(const struct conflicts *c, const struct party *party, char *who, GPtrArray *texts)
{
	const struct options *options = c->paths->options;
	g_autofree char *where = options_origin(options, OPTION_routing_engine);
	g_autoptr(GString) sls = g_string_new(NULL);

	for (unsigned int sl = 0; sl < QOS_SLS; sl++)
		if (party->sls >> sl & 1)
			g_string_append_printf(sls, "%s%u", sls->len ? "," : "", sl);
	if (who && party->sls)
		g_ptr_array_add(texts,
				g_strdup_printf("%s maps SL %s to other VLs than routing engine "
						"%s (%s) needs: it is overruled for these SLs in "
						"%u row(s)",
						who, sls->str, c->routing->engine->name, where,
						party->ports));
	g_free(who);
}

/* The one of two keys that is set, the more specific first; NULL: the built-in value counts. */
static char *key_of(const struct options *options, enum option_id near, enum option_id far)
{
	bool is_near = options_source(options, near) != OPTION_FROM_DEFAULT;
	g_autofree char *where = NULL;

	if (!is_near && options_source(options, far) == OPTION_FROM_DEFAULT)
		return NULL;
	where = options_origin(options, is_near ? near : far);
	return g_strdup_printf("%s: %s", where, options_name(is_near ? near : far));
}

static void tell_keys(const struct conflicts *c, GPtrArray *texts)
{
	static const struct {
		enum option_id sl2vl, max_vls;
	} keys[QOS_ROLES] = {
		[QOS_CA] = {OPTION_qos_ca_sl2vl, OPTION_qos_ca_max_vls},
		[QOS_SWITCH_PORT_0] = {OPTION_qos_sw0_sl2vl, OPTION_qos_sw0_max_vls},
		[QOS_SWITCH] = {OPTION_qos_swe_sl2vl, OPTION_qos_swe_max_vls},
		[QOS_ROUTER] = {OPTION_qos_rtr_sl2vl, OPTION_qos_rtr_max_vls},
	};
	const struct options *options = c->paths->options;

	for (unsigned int role = 0; role < QOS_ROLES; role++) {
		tell(c, &c->row[role], key_of(options, keys[role].sl2vl, OPTION_qos_sl2vl), texts);
		tell(c, &c->max_vls[role], key_of(options, keys[role].max_vls, OPTION_qos_max_vls),
		     texts);
	}
}

GPtrArray *qos_lanes_conflicts(const struct qos_place *place, const struct routing *routing)
{
	const GPtrArray *scopes = place->paths->policy->scopes;
	struct conflicts c = {.place = place, .routing = routing, .paths = place->paths};
	GPtrArray *texts = g_ptr_array_new_with_free_func(g_free);

	c.scopes = g_new0(struct party, scopes->len + 1);
	for (uint32_t to = 0; to < place->fabric->n_ports; to++)
		look_at_port(&c, to);
	for (guint i = 0; i < scopes->len; i++) {
		const struct qos_scope *scope = scopes->pdata[i];

		tell(&c, &c.scopes[i],
		     g_strdup_printf("%s:%u: this sl2vl-scope", c.paths->policy->file, scope->line),
		     texts);
	}
	tell_keys(&c, texts);
	g_free(c.scopes);
	return texts;
}
