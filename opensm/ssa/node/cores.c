// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "ssa/node/cores.h"

#include <string.h>

#include "client/say.h"
#include "ssa/store/store.h"
#include "ssa/tree/thread.h"

#define NAME "opensm-ssa"
#define SERVICE_ID UINT64_C(0x026F70656E736D01) /* 02: locally administered; "opensm", 1 */
#define P_KEY_FULL_DEFAULT 0xFFFF
#define DATA_OFFSET 112 /* of the data, in a ServiceRecord */
#define LEASE_S 120u
#define RENEW_S 30u /* a new SM that does not know the record learns it by then */
#define TRY_AGAIN_S 5u

#define C(name) IBA_COMPONENT(service_record, name)
#define DATA_COMPONENTS (((UINT64_C(1) << 30) - 1) * C(service_data8)) /* one for each number */

/* ---- addresses ---- */

static bool is_host(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (!g_ascii_isalnum(text[i]) && !strchr(".:-_[]", text[i]))
			return false;
	return length > 0;
}

bool ssa_core_is_address(const char *text)
{
	const char *colon = strrchr(text, ':');
	guint64 port;

	return colon && strlen(text) < SSA_CORE_ADDRESS && is_host(text, (size_t)(colon - text)) &&
	       g_ascii_string_to_unsigned(colon + 1, 10, 1, G_MAXUINT16, &port, NULL);
}

/* ---- finding ---- */

struct found {
	struct iba_gid gid;
	char address[SSA_CORE_ADDRESS];
};

static bool take_record(const uint8_t *octets, struct found *found)
{
	static const char name[sizeof(((struct iba_service_record *)NULL)->service_name)] = NAME;
	struct iba_service_record record;

	wire_decode(&iba_service_record_type, octets, &record);
	memcpy(found->address, octets + DATA_OFFSET, sizeof(found->address));
	found->gid = record.service_gid;
	return record.service_id == SERVICE_ID &&
	       !memcmp(record.service_name, name, sizeof(name)) &&
	       memchr(found->address, '\0', sizeof(found->address)) &&
	       ssa_core_is_address(found->address);
}

static int by_gid(const void *a, const void *b)
{
	const struct found *x = a, *y = b;

	if (x->gid.guid != y->gid.guid)
		return x->gid.guid < y->gid.guid ? -1 : 1;
	return strcmp(x->address, y->address);
}

GPtrArray *ssa_cores_parse(const struct ssa_sa_answer *answer)
{
	g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(struct found));
	GPtrArray *addresses = g_ptr_array_new_with_free_func(g_free);

	for (size_t at = 0; answer->stride >= iba_service_record_bytes &&
			    at + iba_service_record_bytes <= answer->length;
	     at += answer->stride) {
		struct found found;

		if (take_record(answer->data + at, &found))
			g_array_append_val(all, found);
	}
	g_array_sort(all, by_gid);
	for (guint i = 0; i < all->len && addresses->len < SSA_CORES_MAX; i++) {
		const char *address = g_array_index(all, struct found, i).address;

		if (!g_ptr_array_find_with_equal_func(addresses, address, g_str_equal, NULL))
			g_ptr_array_add(addresses, g_strdup(address));
	}
	return addresses;
}

GPtrArray *ssa_cores_find(GError **error)
{
	const struct iba_service_record wanted = {.service_name = NAME};
	const struct ssa_sa_request request = {IBA_METHOD_GET_TABLE, IBA_ATTR_SERVICE_RECORD,
					       C(service_name), &iba_service_record_type, &wanted};
	struct ssa_sa *sa = ssa_sa_open(error);
	struct ssa_sa_answer answer;
	GPtrArray *addresses = NULL;
	int status;

	if (!sa)
		return NULL;
	status = ssa_sa_ask(sa, &request, &answer);
	if (status < 0)
		g_set_error(error, SSA_STORE_ERROR, SSA_STORE_ERROR_GONE, "the SA does not answer");
	else if (status && status != IBA_SA_NO_RECORDS)
		g_set_error(error, SSA_STORE_ERROR, SSA_STORE_ERROR_REFUSED,
			    "the SA does not tell cores: status 0x%04x", (unsigned int)status);
	else if (status == 0)
		addresses = ssa_cores_parse(&answer);
	else
		addresses = g_ptr_array_new_with_free_func(g_free);
	ssa_sa_close(sa);
	if (addresses && !addresses->len) {
		g_clear_pointer(&addresses, g_ptr_array_unref);
		g_set_error(error, SSA_STORE_ERROR, SSA_STORE_ERROR_ABSENT,
			    "no core is registered at the SA, as service " NAME);
	}
	return addresses;
}

/* ---- registering ---- */

struct ssa_announcer {
	char address[SSA_CORE_ADDRESS];
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool stop; /* by the lock */
	bool failed;
};

static bool send_record(const struct ssa_announcer *announcer, uint8_t method, GError **error)
{
	uint8_t octets[iba_service_record_bytes] = {0};
	struct ssa_sa *sa = ssa_sa_open(error);
	struct iba_service_record record;
	struct ssa_sa_answer answer;
	struct ssa_sa_request request = {method, IBA_ATTR_SERVICE_RECORD, 0,
					 &iba_service_record_type, &record};
	int status;

	if (!sa)
		return false;
	memcpy(octets + DATA_OFFSET, announcer->address, sizeof(announcer->address));
	wire_decode(&iba_service_record_type, octets, &record);
	record.service_id = SERVICE_ID;
	record.service_gid = ssa_sa_gid(sa);
	record.service_p_key = P_KEY_FULL_DEFAULT;
	record.service_lease = LEASE_S;
	g_strlcpy(record.service_name, NAME, sizeof(record.service_name));
	request.mask = C(service_id) | C(service_gid) | C(service_p_key) | C(service_lease) |
		       C(service_name) | DATA_COMPONENTS;
	status = ssa_sa_ask(sa, &request, &answer);
	ssa_sa_close(sa);
	if (status < 0)
		g_set_error(error, SSA_STORE_ERROR, SSA_STORE_ERROR_GONE, "the SA does not answer");
	else if (status)
		g_set_error(error, SSA_STORE_ERROR, SSA_STORE_ERROR_REFUSED,
			    "the SA refuses it: status 0x%04x", (unsigned int)status);
	return status == 0;
}

static bool renew(struct ssa_announcer *announcer)
{
	g_autoptr(GError) error = NULL;
	bool done = send_record(announcer, IBA_METHOD_SET, &error);

	if (!done && !announcer->failed)
		say(LOG_NOTICE,
		    "this core is not registered, nodes find it by option core only: %s",
		    error->message);
	else if (done && announcer->failed)
		say(LOG_INFO, "this core is registered at the SA");
	announcer->failed = !done;
	return done;
}

static void *run(void *arg)
{
	struct ssa_announcer *announcer = arg;

	pthread_mutex_lock(&announcer->lock);
	while (!announcer->stop) {
		unsigned int seconds;
		int64_t until_us;

		pthread_mutex_unlock(&announcer->lock);
		seconds = renew(announcer) ? RENEW_S : TRY_AGAIN_S;
		until_us = g_get_monotonic_time() + seconds * G_USEC_PER_SEC;
		pthread_mutex_lock(&announcer->lock);
		while (!announcer->stop &&
		       ssa_cond_wait_until(&announcer->changed, &announcer->lock, until_us))
			;
	}
	pthread_mutex_unlock(&announcer->lock);
	if (!announcer->failed)
		send_record(announcer, IBA_METHOD_DELETE, NULL);
	return NULL;
}

struct ssa_announcer *ssa_announcer_start(const char *address)
{
	struct ssa_announcer *announcer = g_new0(struct ssa_announcer, 1);

	g_strlcpy(announcer->address, address, sizeof(announcer->address));
	pthread_mutex_init(&announcer->lock, NULL);
	ssa_cond_init(&announcer->changed);
	ssa_thread_start(&announcer->thread, run, announcer);
	return announcer;
}

void ssa_announcer_stop(struct ssa_announcer *announcer)
{
	if (!announcer)
		return;
	pthread_mutex_lock(&announcer->lock);
	announcer->stop = true;
	pthread_cond_signal(&announcer->changed);
	pthread_mutex_unlock(&announcer->lock);
	pthread_join(announcer->thread, NULL);
	pthread_mutex_destroy(&announcer->lock);
	pthread_cond_destroy(&announcer->changed);
	g_free(announcer);
}
