// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Events come to an actor; what they call for is done by a thread of its own, one epoch at a time.
 * Whatever changes meanwhile is one more epoch, however much it was.
 */
#include "ssa/core/core.h"

#include <string.h>
#include <sys/stat.h>

#include "complib/actor.h"
#include "complib/container_of.h"
#include "complib/log.h"
#include "core/counters.h"
#include "ssa/core/addresses.h"
#include "ssa/core/make.h"
#include "ssa/store/store.h"
#include "ssa/wire/alive.h"

#define OTHER_LOOKS 2u /* pulses of another SM that are missing before it is silent */

/* Whose epoch the store has. */
enum found { OWN, OF_OTHER, LOST };

struct ssa_core {
	struct context *context;
	struct actor *actor;
	struct pool *pool; /* one thread */
	char *uri;
	GBytes *key;	    /* NULL: none */
	char *address_file; /* NULL: none */
	struct timer pulse;
	bool working, again;
	bool fresh;		 /* a subnet was published since this SM became MASTER */
	atomic_uint masterships; /* how often this SM became MASTER; 0: it is not, now */
	unsigned int counted;

	/* Of the thread. */
	struct ssa_store *store;
	struct ssa_manifest last; /* what the store has; term 0: nothing */
	unsigned int mastership;  /* in which it published last */
	bool refused;		  /* the last try failed, which is in the log */
	struct ssa_addresses *addresses;
	uint64_t generation; /* of the subnet that it looked at last */
	struct stat address_stat; /* of the file when it was read */
	uint64_t pulse_us;	  /* time of day of the last pulse */
	char *other_pulse;	  /* of the SM whose epoch the store has; NULL: none */
	unsigned int other_looks; /* how often it has not changed */
	uint64_t sent;		  /* octets of the chunks put for this epoch */
	unsigned int n_sent;
};

struct job {
	struct message message;
	struct ssa_core *core;
	bool only_pulse; /* unless the file of addresses has changed, or the epoch is lost */
};

/* ---- the thread ---- */

static uint64_t wall_us(void)
{
	return (uint64_t)g_get_real_time();
}

/*
 * Grows even if the clock went back, and differs from that of another SM that becomes MASTER in the
 * same second.
 */
static uint64_t next_term(const struct ssa_manifest *last, uint64_t sm_guid)
{
	uint64_t by_clock =
		wall_us() / G_USEC_PER_SEC << 16 | (sm_guid * UINT64_C(0x9E3779B97F4A7C15)) >> 48;

	return MAX(by_clock, last->term + 1);
}

static GBytes *get_chunk(void *arg, const char *name, GError **error)
{
	struct ssa_core *core = arg;

	return ssa_store_get(core->store, name, error);
}

static bool put_chunk(void *arg, const char *name, GBytes *frame, GError **error)
{
	struct ssa_core *core = arg;

	core->sent += g_bytes_get_size(frame);
	core->n_sent++;
	return ssa_store_put(core->store, name, frame, error);
}

/* Whether the file is another one than that which was read. */
static bool address_file_changed(struct ssa_core *core, struct stat *now)
{
	const struct stat *old = &core->address_stat;

	memset(now, 0, sizeof(*now));
	if (stat(core->address_file, now) != 0)
		memset(now, 0, sizeof(*now));
	return !core->addresses || now->st_ino != old->st_ino || now->st_dev != old->st_dev ||
	       now->st_size != old->st_size || now->st_mtim.tv_sec != old->st_mtim.tv_sec ||
	       now->st_mtim.tv_nsec != old->st_mtim.tv_nsec;
}

/* True: there are others now. A file with a mistake leaves those that there were. */
static bool read_addresses(struct ssa_core *core)
{
	g_autoptr(GError) error = NULL;
	struct ssa_addresses *read;
	struct stat now;

	if (!core->address_file || !address_file_changed(core, &now))
		return false;
	core->address_stat = now;
	read = ssa_addresses_load(core->address_file, &error);
	if (error)
		log_error(core->context->log,
			  "ssa_address_file: hosts keep the addresses that "
			  "they have: %s",
			  error->message);
	if (!read && !core->addresses)
		read = ssa_addresses_parse(core->address_file, "", 0, NULL);
	if (!read)
		return false;
	ssa_addresses_unref(core->addresses);
	core->addresses = read;
	return true;
}

/* Takes up what the store has, from before a restart or from the SM that was MASTER before. */
static void resume(struct ssa_core *core)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(GBytes) bytes = ssa_store_manifest(core->store, &error);
	g_autoptr(GPtrArray) names = NULL;
	struct ssa_manifest found;

	if (bytes && ssa_manifest_parse(bytes, core->key, &found, &error)) {
		core->last = found;
		names = ssa_wire_names(&found, get_chunk, core, &error);
		if (!names) /* its numbers count, but its chunks are put again */
			core->last.n = 0;
	}
	if (error && !g_error_matches(error, SSA_STORE_ERROR, SSA_STORE_ERROR_ABSENT))
		log_error(core->context->log, "SSA: the epoch in %s is not used: %s", core->uri,
			  error->message);
}

static bool open_store(struct ssa_core *core, uint64_t prefix, GError **error)
{
	const struct ssa_store_options options = {.writes = true};

	if (core->store)
		return true;
	core->store = ssa_store_open(core->uri, prefix, &options, error);
	return core->store != NULL;
}

static const struct ssa_listed *find_listed(const struct ssa_manifest *manifest, unsigned int id)
{
	for (unsigned int i = 0; i < manifest->n; i++)
		if (manifest->tables[i].id == id)
			return &manifest->tables[i];
	return NULL;
}

/* The names of the tables that differ from the last epoch; NULL: none. */
static char *tell_changed(const struct ssa_core *core, const struct ssa_made *made)
{
	GString *text = g_string_new(NULL);

	for (unsigned int id = 0; id < SSA_TABLE_END; id++) {
		const struct ssa_listed *old = find_listed(&core->last, id);
		const struct ssa_rows *new = &made->rows[id];

		if (!new->bytes && !old)
			continue;
		if (!new->bytes || !old || old->rows != new->rows ||
		    memcmp(old->hash, new->hash, sizeof(new->hash)) != 0)
			g_string_append_printf(text, "%s%s", text->len ? ", " : "",
					       ssa_table_name(id));
	}
	return g_string_free(text, text->len == 0);
}

/* whole: chunks that the store should have are put again. */
static bool put_and_publish(struct ssa_core *core, struct ssa_made *made, bool whole,
			    GError **error)
{
	struct ssa_manifest manifest;
	g_autoptr(GPtrArray) names = NULL;
	g_autoptr(GBytes) bytes = NULL;

	core->sent = core->n_sent = 0;
	if (!ssa_wire_cut(made, whole ? NULL : &core->last, put_chunk, core, &manifest, error))
		return false;
	names = ssa_wire_names(&manifest, get_chunk, core, error);
	if (!names)
		return false;
	bytes = ssa_manifest_encode(&manifest, core->key);
	if (!ssa_store_publish(core->store, bytes, manifest.term, manifest.epoch,
			       (const char *const *)names->pdata, names->len, error))
		return false;
	core->last = manifest;
	return true;
}

/* A store that was damaged is opened and filled again. */
static bool publish(struct ssa_core *core, struct ssa_made *made, GError **error)
{
	g_autoptr(GError) why = NULL;

	if (put_and_publish(core, made, core->last.n == 0, &why))
		return true;
	if (g_error_matches(why, SSA_STORE_ERROR, SSA_STORE_ERROR_OLDER)) {
		g_propagate_error(error, g_steal_pointer(&why));
		return false;
	}
	g_clear_pointer(&core->store, ssa_store_close);
	if (!open_store(core, made->prefix, error) || !put_and_publish(core, made, true, error))
		return false;
	log_error(core->context->log, "SSA: the store was damaged, and is filled again: %s",
		  why->message);
	return true;
}

/* False and an error if it is not in the store. */
static bool publish_if_new(struct ssa_core *core, unsigned int mastership, struct ssa_made *made,
			   GError **error)
{
	bool is_new_term = mastership != core->mastership;
	g_autofree char *changed = tell_changed(core, made);

	if (!changed && !is_new_term)
		return true;
	made->term = is_new_term ? next_term(&core->last, made->sm_guid) : core->last.term;
	made->epoch = core->last.epoch + (changed != NULL);
	made->time_us = wall_us();
	for (unsigned int id = 0; id < SSA_TABLE_END; id++)
		made->rows[id].epoch = made->epoch;
	if (!publish(core, made, error))
		return false;
	core->mastership = mastership;
	counter_inc(&core->context->counters, ssa_epochs);
	log_info(core->context->log,
		 "SSA: epoch %" G_GUINT64_FORMAT " of term %" G_GUINT64_FORMAT ": %s%s; %u chunks "
		 "of %" G_GUINT64_FORMAT " octets",
		 made->epoch, made->term, changed ? "changed: " : "nothing changed",
		 changed ? changed : "", core->n_sent, core->sent);
	return true;
}

/* Another SM may have published since: then this one, which is MASTER, begins another term. */
static bool publish_as_master(struct ssa_core *core, unsigned int mastership, struct ssa_made *made,
			      GError **error)
{
	g_autoptr(GError) why = NULL;

	if (publish_if_new(core, mastership, made, &why))
		return true;
	if (!g_error_matches(why, SSA_STORE_ERROR, SSA_STORE_ERROR_OLDER)) {
		g_propagate_error(error, g_steal_pointer(&why));
		return false;
	}
	log_error(core->context->log, "SSA: another SM has published too: %s", why->message);
	resume(core);
	core->mastership = 0;
	return publish_if_new(core, mastership, made, error);
}

static bool make_and_publish(struct ssa_core *core, struct subnet *subnet, unsigned int mastership,
			     GError **error)
{
	struct alias_guids *aliases = slot_take(&core->context->aliases);
	struct subnet_view *view = subnet_view_new(subnet_ref(subnet));
	const struct ssa_source source = {
		.view = view,
		.aliases = aliases,
		.addresses = core->addresses,
		.threads = MAX(core->context->pool_threads, 1),
	};
	struct ssa_made made = {.sm_guid = subnet->sm_guid};
	bool good;

	ssa_make(&source, &made);
	good = publish_as_master(core, mastership, &made, error);
	ssa_made_clear(&made);
	subnet_view_unref(view);
	alias_guids_unref(aliases);
	return good;
}

/* Tells a failure once, and that it is over. */
static void tell(struct ssa_core *core, const GError *error)
{
	if (error && !core->refused)
		log_error(core->context->log,
			  "SSA: the epoch is not published, hosts go by the last one: %s",
			  error->message);
	else if (!error && core->refused)
		log_info(core->context->log, "SSA: epochs are published again");
	core->refused = error != NULL;
	atomic_store(&core->context->ssa_unpublished, core->refused);
}

/* This SM is MASTER, and what it published last is what hosts should have. */
static void pulse(struct ssa_core *core)
{
	struct ssa_alive alive = {core->last.term, core->last.epoch,
				  MAX(wall_us(), core->pulse_us + 1)};
	g_autofree char *text = NULL;
	g_autoptr(GError) error = NULL;

	text = ssa_alive_text(&alive, core->last.prefix, core->key);
	if (!ssa_store_set_pulse(core->store, text, &error)) /* hosts tell that none comes */
		log_debug(core->context->log, "SSA: no pulse: %s", error->message);
	core->pulse_us = alive.time_us;
}

/* Whether the SM whose epoch the store has says no more that it is MASTER. */
static bool other_is_silent(struct ssa_core *core)
{
	g_autofree char *text = ssa_store_pulse(core->store, NULL);

	if (g_strcmp0(text, core->other_pulse) != 0)
		core->other_looks = 0;
	g_free(core->other_pulse);
	core->other_pulse = g_steal_pointer(&text);
	return core->other_looks++ >= OTHER_LOOKS;
}

/*
 * What the store has, as a daemon that was stopped for a while does not know what became of it:
 * another SM may have been MASTER meanwhile. Its epoch is the one that hosts use, until it is
 * followed by one of another term.
 */
static enum found look_for_own(struct ssa_core *core)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(GBytes) bytes = ssa_store_manifest(core->store, &error);
	struct ssa_manifest found;

	if (bytes && ssa_manifest_parse(bytes, core->key, &found, &error)) {
		if (ssa_manifest_compare(&found, &core->last) > 0)
			return other_is_silent(core) ? LOST : OF_OTHER;
		core->other_looks = 0;
		return ssa_manifest_compare(&found, &core->last) < 0 ? LOST : OWN;
	}
	return g_error_matches(error, SSA_STORE_ERROR, SSA_STORE_ERROR_GONE) ? OF_OTHER : LOST;
}

/* False: there is more to do than that. */
static bool only_pulsed(struct ssa_core *core, unsigned int mastership)
{
	if (!core->store || core->refused || mastership != core->mastership)
		return false;
	switch (look_for_own(core)) {
	case OWN:
		pulse(core);
		return true;
	case OF_OTHER:
		return true;
	case LOST:
		break;
	}
	log_error(core->context->log,
		  "SSA: %s does not have the epoch of this MASTER: it is published again",
		  core->uri);
	core->other_looks = 0;
	core->mastership = 0;
	return false;
}

static void work(struct ssa_core *core, bool only_pulse)
{
	unsigned int mastership = atomic_load(&core->masterships);
	struct subnet *subnet;
	g_autoptr(GError) error = NULL;

	if (!mastership)
		return;
	if (!read_addresses(core) && only_pulse && only_pulsed(core, mastership))
		return;
	subnet = slot_take(&core->context->subnet);
	if (!subnet)
		return;
	core->generation = subnet->generation;
	if (open_store(core, subnet->options->subnet_prefix, &error)) {
		if (mastership != core->mastership)
			resume(core);
		make_and_publish(core, subnet, mastership, &error);
	}
	subnet_unref(subnet);
	tell(core, error);
}

/* ---- the actor ---- */

static void begin(struct ssa_core *core, bool only_pulse);

static void run_done(struct message *message)
{
	struct job *job = container_of(message, struct job, message);
	struct ssa_core *core = job->core;

	g_free(job);
	core->working = false;
	if (core->again)
		begin(core, false);
}

static void run_work(struct message *message)
{
	struct job *job = container_of(message, struct job, message);

	work(job->core, job->only_pulse);
	job->message.run = run_done;
	actor_post(job->core->actor, &job->message);
}

static void drop(struct message *message)
{
	g_free(container_of(message, struct job, message));
}

static void begin(struct ssa_core *core, bool only_pulse)
{
	struct job *job;

	if (core->working) {
		core->again |= !only_pulse;
		return;
	}
	core->again = false;
	core->working = true;
	job = g_new0(struct job, 1);
	job->message.run = run_work;
	job->message.drop = drop;
	job->core = core;
	job->only_pulse = only_pulse;
	pool_post(core->pool, &job->message);
}

static void on_subnet(void *arg, uint64_t generation)
{
	struct ssa_core *core = arg;

	(void)generation;
	core->fresh = atomic_load(&core->masterships) != 0;
	if (core->fresh)
		begin(core, false);
}

static void on_aliases(void *arg, uint64_t serial)
{
	struct ssa_core *core = arg;

	(void)serial;
	if (core->fresh)
		begin(core, false);
}

static void on_sm_state(void *arg, uint64_t state)
{
	struct ssa_core *core = arg;

	if (state != IBA_SM_MASTER)
		core->fresh = false;
	if (state != IBA_SM_MASTER)
		atomic_store(&core->masterships, 0);
	else if (!atomic_load(&core->masterships))
		atomic_store(&core->masterships, ++core->counted);
}

/* The thread decides whether the file of addresses has changed: a disk may take its time. */
static void on_pulse(struct timer *timer)
{
	struct ssa_core *core = container_of(timer, struct ssa_core, pulse);

	if (core->fresh)
		begin(core, true);
	timer_start(timer, SSA_ALIVE_S * NS_PER_S);
}

bool ssa_core_check(const char *address_file, GError **error)
{
	struct ssa_addresses *addresses = ssa_addresses_load(address_file, error);

	ssa_addresses_unref(addresses);
	return addresses != NULL;
}

struct ssa_core *ssa_core_new(struct context *context, const struct ssa_core_config *config)
{
	struct ssa_core *core = g_new0(struct ssa_core, 1);

	core->context = context;
	core->actor = actor_new(context->rt, "ssa");
	core->pool = pool_new_background(context->rt, "ssa", 1);
	core->uri = g_strdup_printf("files:%s", config->directory);
	core->key = config->key ? g_bytes_new(config->key, strlen(config->key)) : NULL;
	core->address_file = g_strdup(config->address_file);
	timer_init(&core->pulse, core->actor, on_pulse);
	timer_start(&core->pulse, SSA_ALIVE_S * NS_PER_S);
	event_subscribe(&context->bus, EVENT_SUBNET_PUBLISHED, core->actor, on_subnet, core);
	event_subscribe(&context->bus, EVENT_ALIASES_CHANGED, core->actor, on_aliases, core);
	event_subscribe(&context->bus, EVENT_SM_STATE, core->actor, on_sm_state, core);
	return core;
}

void ssa_core_attach(struct ssa_core *core, GMainContext *loop)
{
	actor_attach(core->actor, loop);
}

void ssa_core_stop(struct ssa_core *core)
{
	actor_stop(core->actor);
}

/* The last subnet may have been published just before the end, as with --once. */
static void finish(struct ssa_core *core)
{
	struct subnet *subnet = slot_take(&core->context->subnet);

	if (subnet && subnet->generation != core->generation)
		work(core, false);
	subnet_unref(subnet);
}

void ssa_core_free(struct ssa_core *core)
{
	if (!core)
		return;
	pool_free(core->pool); /* before the actor, to which it posts */
	finish(core);
	actor_free(core->actor);
	ssa_store_close(core->store);
	if (core->key)
		g_bytes_unref(core->key);
	ssa_addresses_unref(core->addresses);
	g_free(core->address_file);
	g_free(core->other_pulse);
	g_free(core->uri);
	g_free(core);
}
