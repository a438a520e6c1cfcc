// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include <net-snmp/net-snmp-config.h>

#include <net-snmp/net-snmp-includes.h>

#include <net-snmp/agent/net-snmp-agent-includes.h>
#include <net-snmp/agent/agent_callbacks.h>

#include "snmp/subagent.h"
#include "snmp/loop.h"

#include <string.h>

#include "client/control.h"
#include "client/say.h"
#include "snmp/changes.h"

#define NAME "opensm-snmp"
#define BASE_MAX 32 /* numbers */
#define TRY_AGAIN_S 5
/*
 * That a phase of a SET waits for the daemon: snmpd repeats what is not answered in a second, which
 * the library would take for another SET.
 */
#define PHASE_MS 800

/* Subtrees of the MIB, and what notifications carry (opensmNotice). */
enum { NOTIFICATIONS = 0, OBJECTS = 1, NOTICE = 7 };
enum { NOTICE_TEXT = 1, NOTICE_COUNT, NOTICE_GUID };

struct subagent {
	struct mirror *mirror;
	unsigned int parts; /* of the mirror, that are served */
	bool connected;
	GSource *loop;
	netsnmp_handler_registration *registration;
	struct say_limit failures;
	GHashTable *applied; /* transactions whose changes were made, until snmpd confirms them */
	oid objects[BASE_MAX + 2];
	size_t n_objects;
};

/* A request that waits for the daemon. */
struct pending {
	struct subagent *agent;
	netsnmp_delegated_cache *cache;
	int mode;
};

GQuark subagent_error_quark(void)
{
	return g_quark_from_static_string("opensm-subagent-error");
}

/* ---- OIDs and values ---- */

static struct oid to_own(const struct subagent *agent, const netsnmp_variable_list *vb)
{
	struct oid own = {0};

	for (size_t i = agent->n_objects; i < vb->name_length; i++)
		oid_add(&own, (uint32_t)vb->name[i]);
	return own;
}

static size_t to_whole(const struct subagent *agent, const struct oid *own, oid *whole)
{
	memcpy(whole, agent->objects, agent->n_objects * sizeof(oid));
	for (uint32_t i = 0; i < own->n; i++)
		whole[agent->n_objects + i] = own->id[i];
	return agent->n_objects + own->n;
}

static void set_value(netsnmp_variable_list *vb, const struct mib_value *value)
{
	struct counter64 large = {.high = value->number >> 32, .low = value->number & UINT32_MAX};
	long number = (long)value->number;

	switch (value->type) {
	case MIB_INTEGER:
		snmp_set_var_typed_value(vb, ASN_INTEGER, &number, sizeof(number));
		break;
	case MIB_GAUGE:
		snmp_set_var_typed_value(vb, ASN_GAUGE, &number, sizeof(number));
		break;
	case MIB_COUNTER64:
		snmp_set_var_typed_value(vb, ASN_COUNTER64, &large, sizeof(large));
		break;
	case MIB_OCTETS:
		snmp_set_var_typed_value(vb, ASN_OCTET_STR, value->octets ? value->octets : "",
					 value->length);
		break;
	}
}

static bool is_too_long(const struct subagent *agent, const netsnmp_variable_list *vb)
{
	return vb->name_length > agent->n_objects + MIB_OID_MAX;
}

/* ---- GET and GETNEXT ---- */

static void get(const struct subagent *agent, const struct mib_rows *rows,
		netsnmp_agent_request_info *reqinfo, netsnmp_request_info *request)
{
	struct oid own = to_own(agent, request->requestvb);
	struct mib_value value;
	enum mib_found found = MIB_NO_INSTANCE;

	if (!is_too_long(agent, request->requestvb))
		found = mib_get(rows, &own, &value);
	if (found == MIB_FOUND)
		set_value(request->requestvb, &value);
	else
		netsnmp_set_request_error(reqinfo, request,
					  found == MIB_NO_OBJECT ? SNMP_NOSUCHOBJECT
								 : SNMP_NOSUCHINSTANCE);
}

/* Without a value, the library goes on behind our objects. */
static void get_next(const struct subagent *agent, const struct mib_rows *rows,
		     netsnmp_request_info *request)
{
	struct oid own = to_own(agent, request->requestvb);
	struct mib_value value;
	oid whole[BASE_MAX + 2 + MIB_OID_MAX];
	size_t n;

	if (!request->inclusive || is_too_long(agent, request->requestvb) ||
	    mib_get(rows, &own, &value) != MIB_FOUND)
		if (!mib_next(rows, &own, &value))
			return;
	n = to_whole(agent, &own, whole);
	snmp_set_var_objid(request->requestvb, whole, n);
	set_value(request->requestvb, &value);
}

/* Of a table and, for the way from it to the next one, of those behind it until one has rows. */
static unsigned int parts_from(uint32_t table, bool next, const struct mib_rows *rows)
{
	static const unsigned int parts[MIB_TABLES] = {MIRROR_STATUS,
						       MIRROR_STATUS,
						       MIRROR_STATUS | MIRROR_POLICY,
						       MIRROR_STATUS | MIRROR_POLICY,
						       MIRROR_FABRIC,
						       MIRROR_FABRIC};
	unsigned int all = 0;

	for (uint32_t i = table ? table - 1 : 0; i < MIB_TABLES; i++) {
		if (!next && i + 1 != table)
			break;
		all |= parts[i];
		if (i + 1 > table && rows[i].n)
			break;
	}
	return all;
}

/* What must be known to answer. */
static unsigned int parts_of(const struct subagent *agent, int mode,
			     const netsnmp_request_info *requests)
{
	struct mib_rows rows[MIB_TABLES];
	unsigned int all = 0;

	facts_rows(mirror_facts(agent->mirror), rows);
	for (; requests; requests = requests->next) {
		struct oid own = to_own(agent, requests->requestvb);

		all |= parts_from(own.n ? own.id[0] : 0, mode != MODE_GET, rows);
	}
	return all & agent->parts;
}

static void answer(struct subagent *agent, int mode, netsnmp_agent_request_info *reqinfo,
		   netsnmp_request_info *requests)
{
	struct mib_rows rows[MIB_TABLES];

	facts_rows(mirror_facts(agent->mirror), rows);
	for (netsnmp_request_info *r = requests; r; r = r->next) {
		if (r->processed)
			continue;
		if (mode == MODE_GET)
			get(agent, rows, reqinfo, r);
		else
			get_next(agent, rows, r);
	}
	/* The library has gone on without it. */
	if (reqinfo->mode == MODE_GETBULK)
		netsnmp_bulk_to_next_fix_requests(requests);
}

/* ---- SET ---- */

static GArray *binds_of(const struct subagent *agent, const netsnmp_request_info *requests)
{
	GArray *binds = g_array_new(FALSE, TRUE, sizeof(struct change_bind));

	for (; requests; requests = requests->next) {
		const netsnmp_variable_list *vb = requests->requestvb;
		struct change_bind bind = {.oid = to_own(agent, vb), .type = MIB_COUNTER64};

		if (is_too_long(agent, vb))
			bind.oid.n = 0;
		if (vb->type == ASN_INTEGER) {
			bind.type = MIB_INTEGER;
			bind.number = *vb->val.integer;
		} else if (vb->type == ASN_OCTET_STR) {
			bind.type = MIB_OCTETS;
			bind.octets = (const char *)vb->val.string;
			bind.length = vb->val_len;
		}
		g_array_append_val(binds, bind);
	}
	return binds;
}

static void fail(netsnmp_agent_request_info *reqinfo, netsnmp_request_info *requests,
		 unsigned int at, enum change_error error)
{
	while (at-- && requests->next)
		requests = requests->next;
	netsnmp_set_request_error(reqinfo, requests, (int)error);
}

/* False: an error is set. line is to be freed; NULL: nothing is to be done. */
static bool plan(const struct subagent *agent, netsnmp_agent_request_info *reqinfo,
		 netsnmp_request_info *requests, char **line)
{
	g_autoptr(GArray) binds = binds_of(agent, requests);
	unsigned int at;
	enum change_error error =
		change_plan(mirror_facts(agent->mirror), (const struct change_bind *)binds->data,
			    binds->len, &at, line);

	if (error)
		fail(reqinfo, requests, at, error);
	return !error;
}

static gpointer transaction(const netsnmp_agent_request_info *reqinfo)
{
	return GUINT_TO_POINTER((guint)reqinfo->asp->pdu->transid);
}

/* ---- requests that wait ---- */

/* The library must not be called back about them before the handler has returned. */
static struct pending *delegate(struct subagent *agent, netsnmp_mib_handler *handler,
				netsnmp_handler_registration *reginfo,
				netsnmp_agent_request_info *reqinfo, netsnmp_request_info *requests)
{
	struct pending *pending = g_new(struct pending, 1);

	*pending = (struct pending){.agent = agent, .mode = reqinfo->mode};
	for (netsnmp_request_info *r = requests; r; r = r->next)
		r->delegated = 1;
	pending->cache = netsnmp_create_delegated_cache(handler, reginfo, reqinfo, requests, NULL);
	return pending;
}

/* NULL: the request is gone. */
static netsnmp_delegated_cache *take_up(const struct pending *pending)
{
	netsnmp_delegated_cache *cache = netsnmp_handler_check_cache(pending->cache);

	for (netsnmp_request_info *r = cache ? cache->requests : NULL; r; r = r->next)
		r->delegated = 0;
	return cache;
}

static void pending_free(struct pending *pending)
{
	netsnmp_free_delegated_cache(pending->cache);
	g_free(pending);
}

static void finish(struct pending *pending)
{
	loop_wake(pending->agent->loop);
	pending_free(pending);
}

static void on_known(void *arg)
{
	struct pending *pending = arg;
	netsnmp_delegated_cache *cache = take_up(pending);

	if (cache)
		answer(pending->agent, pending->mode, cache->reqinfo, cache->requests);
	finish(pending);
}

/*
 * ---- SETs, whose phases wait here: if snmpd or its patience ended meanwhile, the library would
 * write to what it has freed ----
 */

struct wait {
	bool done, abandoned;
	unsigned int status;
	char *output;
};

static void wait_free(struct wait *wait)
{
	g_free(wait->output);
	g_free(wait);
}

static void on_answer(void *arg, unsigned int status, const char *output)
{
	struct wait *wait = arg;

	if (wait->abandoned) {
		wait_free(wait);
		return;
	}
	wait->status = status;
	wait->output = g_strdup(output);
	wait->done = true;
}

static void on_there(void *arg)
{
	on_answer(arg, CONTROL_DONE, NULL);
}

static gboolean on_late(gpointer late)
{
	*(bool *)late = true;
	return G_SOURCE_CONTINUE;
}

/* False: it is late, and what comes will be ignored. */
static bool wait_for(const struct subagent *agent, struct wait *wait)
{
	bool late = false;
	guint timer = g_timeout_add(PHASE_MS, on_late, &late);

	loop_hold(agent->loop, true);
	while (!wait->done && !late)
		g_main_context_iteration(NULL, TRUE);
	loop_hold(agent->loop, false);
	g_source_remove(timer);
	wait->abandoned = !wait->done;
	return wait->done;
}

static void check_set(struct subagent *agent, netsnmp_agent_request_info *reqinfo,
		      netsnmp_request_info *requests)
{
	struct wait *wait = g_new0(struct wait, 1);
	g_autofree char *line = NULL;

	if (mirror_want(agent->mirror, MIRROR_STATUS | MIRROR_POLICY, on_there, wait) &&
	    !wait_for(agent, wait)) {
		fail(reqinfo, requests, 0, CHANGE_RESOURCE_UNAVAILABLE);
		return;
	}
	wait_free(wait);
	plan(agent, reqinfo, requests, &line);
}

static void make_set(struct subagent *agent, netsnmp_agent_request_info *reqinfo,
		     netsnmp_request_info *requests)
{
	g_autofree char *line = NULL, *why = NULL;
	struct wait *wait;
	enum change_error error = CHANGE_COMMIT_FAILED;

	if (!plan(agent, reqinfo, requests, &line) || !line)
		return;
	wait = g_new0(struct wait, 1);
	mirror_change(agent->mirror, line, on_answer, wait);
	if (wait_for(agent, wait)) {
		error = change_result(wait->status, wait->output, &why);
		wait_free(wait);
	} else {
		why = g_strdup("the daemon does not answer, but may still do it");
	}
	if (!error) {
		g_hash_table_add(agent->applied, transaction(reqinfo));
		return;
	}
	if (say_may(&agent->failures, g_get_monotonic_time()))
		say(LOG_WARNING, "a SET of partitions failed: %s", why);
	fail(reqinfo, requests, 0, error);
}

/* ---- the handler of all objects ---- */

static int on_request(netsnmp_mib_handler *handler, netsnmp_handler_registration *reginfo,
		      netsnmp_agent_request_info *reqinfo, netsnmp_request_info *requests)
{
	struct subagent *agent = handler->myvoid;
	struct pending *pending;

	switch (reqinfo->mode) {
	case MODE_GET:
	case MODE_GETNEXT:
		pending = delegate(agent, handler, reginfo, reqinfo, requests);
		if (mirror_want(agent->mirror, parts_of(agent, reqinfo->mode, requests), on_known,
				pending))
			break;
		for (netsnmp_request_info *r = requests; r; r = r->next)
			r->delegated = 0;
		answer(agent, reqinfo->mode, reqinfo, requests);
		pending_free(pending);
		break;
	case MODE_SET_RESERVE1:
		check_set(agent, reqinfo, requests);
		break;
	case MODE_SET_ACTION:
		make_set(agent, reqinfo, requests);
		break;
	case MODE_SET_UNDO:
		/* Only if another subagent could not do its part of the SET. */
		if (g_hash_table_remove(agent->applied, transaction(reqinfo)))
			fail(reqinfo, requests, 0, CHANGE_UNDO_FAILED);
		break;
	case MODE_SET_COMMIT:
	case MODE_SET_FREE:
		g_hash_table_remove(agent->applied, transaction(reqinfo));
		break;
	}
	return SNMP_ERR_NOERROR;
}

/* ---- life ---- */

static int on_log(int major, int minor, void *message, void *arg)
{
	const struct snmp_log_message *line = message;
	g_autofree char *text = g_strchomp(g_strdup(line->msg));

	(void)major, (void)minor, (void)arg;
	say(line->priority, "%s", text);
	return SNMP_ERR_NOERROR;
}

static const int connection_events[] = {SNMPD_CALLBACK_INDEX_START, SNMPD_CALLBACK_INDEX_STOP};

static int on_connected(int major, int minor, void *session, void *arg)
{
	struct subagent *agent = arg;

	(void)major, (void)session;
	agent->connected = minor == SNMPD_CALLBACK_INDEX_START;
	g_hash_table_remove_all(agent->applied);
	if (agent->connected)
		say(LOG_NOTICE, "connected to snmpd");
	else
		say(LOG_NOTICE, "snmpd has gone; trying again every %d s", TRY_AGAIN_S);
	return SNMP_ERR_NOERROR;
}

/* The library reads no files: neither its own configuration nor MIBs. */
static void set_up_library(const struct subagent_config *config)
{
	static const int library[] = {NETSNMP_DS_LIB_DONT_READ_CONFIGS,
				      NETSNMP_DS_LIB_DONT_PERSIST_STATE,
				      NETSNMP_DS_LIB_ALARM_DONT_USE_SIG};
	static const int agent[] = {NETSNMP_DS_AGENT_ROLE, NETSNMP_DS_AGENT_NO_ROOT_ACCESS,
				    NETSNMP_DS_AGENT_NO_CONNECTION_WARNINGS};

	g_setenv("MIBS", "", TRUE);
	snmp_disable_log();
	netsnmp_register_loghandler(NETSNMP_LOGHANDLER_CALLBACK, LOG_NOTICE);
	snmp_register_callback(SNMP_CALLBACK_LIBRARY, SNMP_CALLBACK_LOGGING, on_log, NULL);
	for (size_t i = 0; i < G_N_ELEMENTS(library); i++)
		netsnmp_ds_set_boolean(NETSNMP_DS_LIBRARY_ID, library[i], 1);
	for (size_t i = 0; i < G_N_ELEMENTS(agent); i++)
		netsnmp_ds_set_boolean(NETSNMP_DS_APPLICATION_ID, agent[i], 1);
	if (config->agentx)
		netsnmp_ds_set_string(NETSNMP_DS_APPLICATION_ID, NETSNMP_DS_AGENT_X_SOCKET,
				      config->agentx);
}

/* The OID of opensmObjects. */
static bool take_base(struct subagent *agent, const char *base, GError **error)
{
	g_auto(GStrv) words = g_strsplit(base[0] == '.' ? base + 1 : base, ".", -1);
	guint n = g_strv_length(words);
	guint64 number;

	for (guint i = 0; i < n && n <= BASE_MAX; i++) {
		if (g_ascii_string_to_unsigned(words[i], 10, 0, UINT32_MAX, &number, NULL))
			agent->objects[i] = number;
		else
			n = 0;
	}
	if (n < 2 || n > BASE_MAX) {
		g_set_error(error, SUBAGENT_ERROR, 0,
			    "--base %s: expected 2 to %d numbers with points between them", base,
			    BASE_MAX);
		return false;
	}
	agent->objects[n++] = 1;
	agent->objects[n++] = OBJECTS;
	agent->n_objects = n;
	return true;
}

static bool offer(struct subagent *agent)
{
	agent->registration = netsnmp_create_handler_registration(
		"opensm", on_request, agent->objects, agent->n_objects, HANDLER_CAN_RWRITE);
	if (!agent->registration)
		return false;
	agent->registration->handler->myvoid = agent;
	return netsnmp_register_handler(agent->registration) == MIB_REGISTERED_OK;
}

struct subagent *subagent_new(const struct subagent_config *config, struct mirror *mirror,
			      GError **error)
{
	struct subagent *agent = g_new0(struct subagent, 1);

	agent->mirror = mirror;
	agent->parts = MIRROR_STATUS | MIRROR_POLICY | (config->fabric ? MIRROR_FABRIC : 0);
	agent->applied = g_hash_table_new(NULL, NULL);
	if (!take_base(agent, config->base, error)) {
		subagent_free(agent);
		return NULL;
	}
	set_up_library(config);
	for (size_t i = 0; i < G_N_ELEMENTS(connection_events); i++)
		snmp_register_callback(SNMP_CALLBACK_APPLICATION, connection_events[i],
				       on_connected, agent);
	if (init_agent(NAME) != 0 || !offer(agent)) {
		g_set_error(error, SUBAGENT_ERROR, 0, "the library of Net-SNMP does not start");
		subagent_free(agent);
		return NULL;
	}
	/* init_agent() has set an interval of its own; init_snmp() begins with it. */
	netsnmp_ds_set_int(NETSNMP_DS_APPLICATION_ID, NETSNMP_DS_AGENT_AGENTX_PING_INTERVAL,
			   TRY_AGAIN_S);
	init_snmp(NAME);
	agent->loop = loop_new();
	if (!agent->connected)
		say(LOG_NOTICE, "snmpd cannot be reached; trying again every %d s", TRY_AGAIN_S);
	return agent;
}

void subagent_free(struct subagent *agent)
{
	if (!agent)
		return;
	if (agent->loop) {
		loop_free(agent->loop);
		/* Else the library would free what it calls back with. */
		for (size_t i = 0; i < G_N_ELEMENTS(connection_events); i++)
			snmp_unregister_callback(SNMP_CALLBACK_APPLICATION, connection_events[i],
						 on_connected, agent, 1);
		snmp_shutdown(NAME);
	}
	g_hash_table_unref(agent->applied);
	g_free(agent);
}

bool subagent_is_connected(const struct subagent *agent)
{
	return agent->connected;
}

/* ---- notifications ---- */

static void add(netsnmp_variable_list **list, const struct subagent *agent, const struct oid *own,
		const struct mib_value *value)
{
	netsnmp_variable_list *vb;
	oid whole[BASE_MAX + 2 + MIB_OID_MAX];
	size_t n = to_whole(agent, own, whole);

	vb = snmp_varlist_add_variable(list, whole, n, ASN_NULL, NULL, 0);
	if (vb)
		set_value(vb, value);
}

static void add_notice(netsnmp_variable_list **list, const struct subagent *agent, uint32_t object,
		       const struct mib_value *value)
{
	const struct oid own = {3, {NOTICE, object, 0}};

	add(list, agent, &own, value);
}

void subagent_notify(struct subagent *agent, const struct notice *notice)
{
	static const oid trap_oid[] = {1, 3, 6, 1, 6, 3, 1, 1, 4, 1, 0};
	const struct oid state = {3, {1, mib_objects[MIB_STATE].number, 0}};
	const struct oid guid = {3, {1, mib_objects[MIB_GUID].number, 0}};
	struct mib_value value = {.type = MIB_INTEGER, .number = notice->state};
	netsnmp_variable_list *list = NULL;
	oid kind[BASE_MAX + 3];
	size_t n = agent->n_objects;

	memcpy(kind, agent->objects, n * sizeof(oid));
	kind[n - 1] = NOTIFICATIONS;
	kind[n++] = notice_number(notice->kind);
	snmp_varlist_add_variable(&list, trap_oid, G_N_ELEMENTS(trap_oid), ASN_OBJECT_ID, kind,
				  n * sizeof(oid));
	add(&list, agent, &state, &value);
	value.type = MIB_OCTETS;
	mib_set_guid(&value, notice->sm_guid);
	add(&list, agent, &guid, &value);
	mib_set_text(&value, notice->text);
	add_notice(&list, agent, NOTICE_TEXT, &value);
	mib_set_guid(&value, notice->guid);
	add_notice(&list, agent, NOTICE_GUID, &value);
	value = (struct mib_value){.type = MIB_GAUGE, .number = notice->count};
	add_notice(&list, agent, NOTICE_COUNT, &value);
	send_v2trap(list);
	snmp_free_varbind(list);
}
