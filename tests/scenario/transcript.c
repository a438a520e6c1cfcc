// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "transcript.h"

#include <iba/attributes.h>
#include <inttypes.h>
#include <string.h>

#include "published.h"
#include "tale.h"

#define OCTETS_MAX 24 /* of a table that are shown one by one */
#define RUN_MIN 4     /* equal octets that are shown as one in others */
#define FNV_OFFSET UINT32_C(2166136261)
#define FNV_PRIME UINT32_C(16777619)
/* In a MAD; between them are a status and a TransactionID. */
#define METHOD_OFFSET 3
#define ATTRIBUTE_OFFSET 16

/* What the daemon publishes to its other parts. */
static const struct {
	const char *name;
	GByteArray *(*octets)(struct context *context);
	char *(*summary)(struct context *context);
} published[] = {
	{"subnet", published_subnet, published_subnet_summary},
	{"trees", published_trees, published_trees_summary},
	{"unhealthy", published_unhealthy, published_unhealthy_summary},
	{"state", published_state, published_state_summary},
};

struct transcript {
	struct scenario *s;
	struct tale *tale;
	uint64_t begin_ns, last_ns;
	unsigned int n_packets;
	uint32_t digest;
	size_t logged;		   /* octets of the log shown so far */
	GPtrArray *packets, *sets; /* struct line */
	GHashTable *unanswered;	   /* char *: requests */
	GHashTable *asked;	   /* uint64_t *, a TransactionID: char *, its request */
	struct counters counters;
	uint32_t published[G_N_ELEMENTS(published)]; /* digests, as shown last */
	const char *lose; /* such packets for lose_node; NULL: none */
	int lose_node;
	bool losing;
};

/* An event, its count, how often it was tried again, and its places. */
struct line {
	char *what;
	unsigned int n, again;
	GPtrArray *where; /* struct line: each place; NULL: none */
};

static void line_free(void *data)
{
	struct line *line = data;

	g_clear_pointer(&line->where, g_ptr_array_unref);
	g_free(line->what);
	g_free(line);
}

static GPtrArray *lines_new(void)
{
	return g_ptr_array_new_with_free_func(line_free);
}

/* Counts one more, or one more try. */
static struct line *add_try(GPtrArray *lines, const char *what, bool again)
{
	struct line *line = NULL;

	for (guint i = 0; i < lines->len && !line; i++)
		if (strcmp(((struct line *)g_ptr_array_index(lines, i))->what, what) == 0)
			line = g_ptr_array_index(lines, i);
	if (!line) {
		line = g_new0(struct line, 1);
		line->what = g_strdup(what);
		g_ptr_array_add(lines, line);
	}
	if (again)
		line->again++;
	else
		line->n++;
	return line;
}

static struct line *add(GPtrArray *lines, const char *what)
{
	return add_try(lines, what, false);
}

/* Each with its count. How often requests are tried again depends on times: "Get(NodeInfo)*2+3". */
static void tell_words(struct tale *tale, const GPtrArray *lines)
{
	for (guint i = 0; i < lines->len; i++) {
		const struct line *line = g_ptr_array_index(lines, i);
		g_autofree char *said = line->n > 1 ? g_strdup_printf("%s*%u", line->what, line->n)
						    : g_strdup(line->what);
		g_autofree char *again = g_strdup_printf("+%u", line->again);
		g_autofree char *only_again = g_strconcat(line->what, again, NULL);

		if (line->n)
			tale_word(tale, said, line->again ? again : "");
		else
			tale_word(tale, "", only_again);
	}
}

static uint32_t digest(uint32_t sum, const void *data, size_t length)
{
	const uint8_t *octets = data;

	for (size_t i = 0; i < length; i++)
		sum = (sum ^ octets[i]) * FNV_PRIME;
	return sum;
}

/* ---- the addressee of a packet ---- */

static bool is_switch(const struct transcript *t, unsigned int node, struct sim_node_view *view)
{
	sim_node_view(t->s->sim, node, view);
	return view->type == IBA_NODE_SWITCH;
}

/* Where the tables of the switches lead from a node; -1: nowhere. */
static int node_by_lid(const struct transcript *t, unsigned int node, uint16_t lid)
{
	unsigned int port = 1, peer;
	struct sim_node_view view;

	if (!is_switch(t, node, &view) && sim_port_info(t->s->sim, node, 1)->lid == lid)
		return (int)node;
	for (unsigned int hops = 0; hops < IBA_MAX_HOPS; hops++) {
		if (port > view.num_ports || !sim_peer(t->s->sim, node, port, &peer, &port))
			return -1;
		node = peer;
		if (!is_switch(t, node, &view) || sim_port_info(t->s->sim, node, 0)->lid == lid)
			return (int)node;
		port = view.lft[lid];
	}
	return -1;
}

/* The end of a directed route, which begins where LIDs lead to; -1: none. */
static int target_of(const struct transcript *t, const struct vendor_address *to, uint64_t from,
		     const struct iba_dr_smp *smp)
{
	int node = sim_find_guid(t->s->sim, from);
	unsigned int peer, port;

	if (to->lid != IBA_LID_PERMISSIVE)
		node = node_by_lid(t, (unsigned int)node, to->lid);
	if (smp->mgmt_class != IBA_CLASS_SUBN_DIRECTED)
		return node;
	for (unsigned int hop = 1; hop <= smp->hop_count && node >= 0; hop++) {
		struct sim_node_view view;

		sim_node_view(t->s->sim, (unsigned int)node, &view);
		if (smp->initial_path[hop] > view.num_ports ||
		    !sim_peer(t->s->sim, (unsigned int)node, smp->initial_path[hop], &peer, &port))
			return -1;
		node = (int)peer;
	}
	return node;
}

/* ---- what a Set changes ---- */

static bool is_one_of(const char *name, const char *const names[])
{
	while (*names && strcmp(name, *names) != 0)
		names++;
	return *names;
}

/* The fields that differ from the present ones; where 0 means no change, those that are not 0. */
static void add_fields(GString *out, const struct wire_type *type, const void *set, const void *is)
{
	static const char *const orders[] = {"link_width_enabled",
					     "link_speed_enabled",
					     "link_speed_ext_enabled",
					     "link_speed_ext_enabled2",
					     "port_state",
					     "port_physical_state",
					     "link_down_default_state",
					     "client_reregister",
					     "port_state_change",
					     NULL};
	static const char *const not_set[] = {"local_port_num", "act_count", NULL};

	for (unsigned int i = 0; i < type->n_fields; i++) {
		const struct wire_field *field = &type->fields[i];
		uint64_t value = wire_value(field, set, 0);
		bool hex = field->print != WIRE_DEC && field->print != WIRE_LID;

		if (is_one_of(field->name, orders) ? !value : value == wire_value(field, is, 0))
			continue;
		if (strcmp(field->name, "port_state") == 0)
			g_string_append_printf(out, " %s",
					       iba_name(IBA_SET_PORT_STATE, (uint32_t)value));
		else if (!is_one_of(field->name, not_set))
			g_string_append_printf(out, hex ? " %s=0x%" PRIx64 : " %s=%" PRIu64,
					       field->name, value);
	}
}

/* In others, "ff*4 " stands for four equal octets. */
static void add_runs(GString *out, const uint8_t *data, size_t length)
{
	for (size_t i = 0, n; i < length; i += n) {
		for (n = 1; i + n < length && data[i + n] == data[i]; n++)
			;
		if (n < RUN_MIN)
			n = 1;
		g_string_append_printf(out, "%02x", data[i]);
		if (n > 1)
			g_string_append_printf(out, "*%zu ", n);
	}
}

void transcript_octets(GString *out, const uint8_t *data, size_t length)
{
	size_t n = length;

	while (n > 1 && data[n - 1] == data[n - 2])
		n--;
	if (n > OCTETS_MAX)
		add_runs(out, data, n);
	for (size_t i = 0; i < n && n <= OCTETS_MAX; i++)
		g_string_append_printf(out, "%02x", data[i]);
	g_string_append(out, n < length ? "*" : "");
}

static void add_content(const struct transcript *t, GString *out, int node,
			const struct iba_dr_smp *smp)
{
	unsigned int num = smp->attribute_modifier & 0xFF;
	const struct iba_sm_info none = {0};
	struct iba_switch_info sw;
	struct iba_port_info port;
	struct iba_sm_info sm;
	struct sim_node_view view = {0};

	if (node >= 0)
		sim_node_view(t->s->sim, (unsigned int)node, &view);
	if (smp->attribute_id == IBA_ATTR_PORT_INFO && view.type && num <= view.num_ports) {
		wire_decode(&iba_port_info_type, smp->data, &port);
		add_fields(out, &iba_port_info_type, &port,
			   sim_port_info(t->s->sim, (unsigned int)node, num));
	} else if (smp->attribute_id == IBA_ATTR_SWITCH_INFO && view.switch_info) {
		wire_decode(&iba_switch_info_type, smp->data, &sw);
		add_fields(out, &iba_switch_info_type, &sw, view.switch_info);
	} else if (smp->attribute_id == IBA_ATTR_SM_INFO) {
		wire_decode(&iba_sm_info_type, smp->data, &sm);
		add_fields(out, &iba_sm_info_type, &sm, &none);
	} else {
		g_string_append_c(out, ' ');
		transcript_octets(out, smp->data, sizeof(smp->data));
	}
}

/* ---- packets ---- */

static char *name_of(const struct iba_dr_smp *mad, uint8_t mgmt_class)
{
	const char *method = iba_name(IBA_SET_METHOD, mad->method);
	const char *attribute = iba_attribute_name(mgmt_class, mad->attribute_id);

	return g_strdup_printf("%s(%s)", method ? method : "?", attribute ? attribute : "?");
}

static const char *description(const struct transcript *t, int node)
{
	struct sim_node_view view = {.description = "nobody"};

	if (node >= 0)
		sim_node_view(t->s->sim, (unsigned int)node, &view);
	return view.description;
}

static void tell_set(struct transcript *t, int node, const struct iba_dr_smp *smp, const char *name,
		     bool again)
{
	uint32_t modifier = smp->attribute_modifier;
	g_autoptr(GString) target = g_string_new(description(t, node));
	g_autoptr(GString) what = g_string_new(name);
	struct line *line;

	if (smp->attribute_id == IBA_ATTR_PORT_INFO)
		g_string_append_printf(target, "[%u]", modifier & 0xFF);
	else if (modifier >> 16)
		g_string_append_printf(target, "[%x/%u]", modifier >> 16, modifier & 0xFFFF);
	else if (smp->attribute_id != IBA_ATTR_SWITCH_INFO)
		g_string_append_printf(target, "[%u]", modifier);
	add_content(t, what, node, smp);
	line = add(t->sets, what->str);
	if (!line->where)
		line->where = lines_new();
	add_try(line->where, target->str, again);
}

/* Packets of others matter if the SM has to react to them. */
static void tell_other(struct transcript *t, uint64_t from, const struct iba_dr_smp *mad,
		       const char *name)
{
	const char *sender = description(t, sim_find_guid(t->s->sim, from));
	g_autofree char *text =
		mad->status ? g_strdup_printf("%s:%s,status=0x%02x", sender, name, mad->status)
			    : g_strdup_printf("%s:%s", sender, name);

	if (mad->status || mad->method == IBA_METHOD_TRAP ||
	    mad->attribute_id == IBA_ATTR_SM_INFO || !iba_class_is_smp(mad->mgmt_class))
		add(t->packets, text);
}

/* Its SMA answers its own SM. */
static bool is_own_answer(const struct iba_dr_smp *mad)
{
	return iba_class_is_smp(mad->mgmt_class) && mad->method == IBA_METHOD_GET_RESP &&
	       mad->attribute_id != IBA_ATTR_SM_INFO;
}

/* Whether the same was sent on the same path before, and is not answered yet. */
static bool is_again(struct transcript *t, uint16_t lid, const struct iba_dr_smp *mad,
		     const char *name)
{
	GString *request;
	uint64_t *id;

	if (!iba_class_is_smp(mad->mgmt_class) ||
	    (mad->method != IBA_METHOD_GET && mad->method != IBA_METHOD_SET))
		return false;
	request = g_string_new(name);
	g_string_append_printf(request, " %x %" PRIx64 " %08x %u", mad->attribute_modifier,
			       mad->m_key, digest(FNV_OFFSET, mad->data, sizeof(mad->data)), lid);
	for (unsigned int hop = 1;
	     hop <= mad->hop_count && mad->mgmt_class == IBA_CLASS_SUBN_DIRECTED; hop++)
		g_string_append_printf(request, ",%u", mad->initial_path[hop]);
	id = g_memdup2(&mad->transaction_id, sizeof(*id));
	g_hash_table_insert(t->asked, id, g_strdup(request->str));
	return !g_hash_table_add(t->unanswered, g_string_free(request, FALSE));
}

static void is_answered(struct transcript *t, const struct iba_dr_smp *mad)
{
	const char *request = g_hash_table_lookup(t->asked, &mad->transaction_id);

	if (!request || !iba_class_is_smp(mad->mgmt_class) || mad->method != IBA_METHOD_GET_RESP)
		return;
	g_hash_table_remove(t->unanswered, request);
	g_hash_table_remove(t->asked, &mad->transaction_id);
}

/* The simulator decides on its loss after it was recorded. */
static void lose(struct transcript *t, int node, const char *name)
{
	t->losing = t->lose && node == t->lose_node && strcmp(name, t->lose) == 0;
	if (t->losing)
		sim_set_loss(t->s->sim, 1);
}

static void on_packet(void *arg, uint64_t now_ns, const struct vendor_address *to, uint64_t from,
		      const uint8_t *data, size_t length)
{
	struct transcript *t = arg;
	g_autofree char *name = NULL;
	struct iba_dr_smp mad;
	uint64_t after_us;
	int node, place;
	bool again;

	if (t->losing)
		sim_set_loss(t->s->sim, 0);
	t->losing = false;
	if (length < IBA_MAD_BYTES)
		return;
	wire_decode(&iba_dr_smp_type, data, &mad);
	name = name_of(&mad, mad.mgmt_class);
	if (from != t->s->sm_guid) {
		lose(t, sim_find_guid(t->s->sim, from), name);
		if (!t->losing)
			is_answered(t, &mad);
		tell_other(t, from, &mad, name);
		return;
	}
	if (is_own_answer(&mad)) {
		is_answered(t, &mad);
		return;
	}
	node = target_of(t, to, from, &mad);
	place = GINT_TO_LE(node);
	after_us = GUINT64_TO_LE((now_ns - t->begin_ns) / NS_PER_US);
	t->digest = digest(t->digest, &after_us, sizeof(after_us));
	t->digest = digest(t->digest, &place, sizeof(place));
	t->digest = digest(t->digest, data + METHOD_OFFSET, 1);
	t->digest = digest(t->digest, data + ATTRIBUTE_OFFSET, length - ATTRIBUTE_OFFSET);
	t->last_ns = now_ns;
	t->n_packets++;
	lose(t, node, name);
	again = is_again(t, to->lid, &mad, name);
	if (iba_class_is_smp(mad.mgmt_class) && mad.method == IBA_METHOD_SET)
		tell_set(t, node, &mad, name, again);
	add_try(t->packets, name, again);
}

/* ---- the text ---- */

static gint by_text(gconstpointer a, gconstpointer b)
{
	return strcmp((*(struct line *const *)a)->what, (*(struct line *const *)b)->what);
}

static void tell_packets(struct transcript *t)
{
	g_ptr_array_sort(t->packets, by_text);
	tale_begin_line(t->tale, "packets:");
	tell_words(t->tale, t->packets);
	tale_end_line(t->tale);
}

static void tell_sets(struct transcript *t)
{
	for (guint i = 0; i < t->sets->len; i++) {
		const struct line *line = g_ptr_array_index(t->sets, i);
		g_autofree char *head = g_strconcat(line->what, ":", NULL);

		tale_begin_line(t->tale, head);
		tell_words(t->tale, line->where);
		tale_end_line(t->tale);
	}
}

static void tell_counter(struct tale *tale, const char *name, int64_t more)
{
	/* The line of packets says as much. */
	static const char *const on_the_wire[] = {
		"smp_sent",	"smp_received", "smp_waiting",	     "smp_on_wire",
		"smp_unicasts", "smp_directed", "smp_directed_hops", NULL};
	/* How often depends on times. */
	static const char *const unsteady[] = {"smp_retries", "smp_timeouts", "smp_late", NULL};
	g_autofree char *count = g_strdup_printf("%+" PRId64, more);
	g_autofree char *word = g_strconcat(name, count, NULL);

	if (!more || strstr(name, "octets")) /* sizes of structs */
		return;
	if (is_one_of(name, on_the_wire))
		tale_word(tale, "", word);
	else if (is_one_of(name, unsteady))
		tale_word(tale, name, count);
	else
		tale_word(tale, word, "");
}

static void tell_counters(struct transcript *t)
{
	struct counters *now;

	if (!t->s->daemon)
		return;
	now = &daemon_context(t->s->daemon)->counters;
	tale_begin_line(t->tale, "counters:");
#define COUNTER(name, kind, help)                                                                  \
	tell_counter(t->tale, #name,                                                               \
		     (int64_t)(counter_get(now, name) - counter_get(&t->counters, name)));         \
	atomic_store(&t->counters.name, counter_get(now, name));
#include "core/counters.def"
#undef COUNTER
	tale_end_line(t->tale);
}

/* What has changed since the last report. */
static void tell_published(struct transcript *t)
{
	tale_begin_line(t->tale, "published:");
	for (unsigned int i = 0; t->s->daemon && i < G_N_ELEMENTS(published); i++) {
		GByteArray *octets = published[i].octets(daemon_context(t->s->daemon));
		uint32_t now = octets->len ? digest(FNV_OFFSET, octets->data, octets->len) : 0;

		if (now != t->published[i]) {
			g_autofree char *summary =
				published[i].summary(daemon_context(t->s->daemon));
			g_autofree char *word =
				g_strdup_printf("%s (%s)", published[i].name, summary);
			g_autofree char *sum = g_strdup_printf(" %08x", now);

			tale_word(t->tale, word, sum);
		}
		t->published[i] = now;
		g_byte_array_unref(octets);
	}
	tale_end_line(t->tale);
}

/* The octets of a number in the log that is a detail: a TransactionID or a duration; 0: none. */
static size_t detail_in_log(const char *line, const char *at)
{
	size_t n = strspn(at, "0123456789.");

	if (at - line >= 4 && strncmp(at - 4, "TID:", 4) == 0)
		return strspn(at, "0123456789abcdefx");
	if (n && at > line && at[-1] == ' ' &&
	    (g_str_has_prefix(at + n, " ms") || strcmp(at + n, " s") == 0))
		return n;
	return 0;
}

/* Without the time, and without names of files that differ in each run. */
static char *plain_line(const struct transcript *t, const char *line, enum tale_form form)
{
	const char *text = strstr(line, "] ");
	GString *plain = g_string_new(NULL);

	line = text ? text + 2 : line;
	for (const char *at = line; *at; at++) {
		size_t n = form == TALE_TERSE ? detail_in_log(line, at) : 0;

		g_string_append_c(plain, n ? '_' : *at);
		at += n ? n - 1 : 0;
	}
	g_string_replace(plain, t->s->directory, "DIRECTORY", 0);
	return g_string_free(plain, FALSE);
}

/* Each line once. */
static void tell_lines(struct transcript *t, char **lines, enum tale_form form)
{
	g_autoptr(GPtrArray) told = lines_new();
	GString *text = tale_text(t->tale, form);

	for (char **line = lines; *line && **line; line++) {
		g_autofree char *plain = plain_line(t, *line, form);

		add(told, plain);
	}
	for (guint i = 0; i < told->len; i++) {
		const struct line *line = g_ptr_array_index(told, i);

		if (line->n > 1)
			g_string_append_printf(text, "log*%u: %s\n", line->n, line->what);
		else
			g_string_append_printf(text, "log: %s\n", line->what);
	}
}

static void tell_log(struct transcript *t)
{
	g_auto(GStrv) lines = g_strsplit(t->s->text->str + t->logged, "\n", -1);

	t->logged = t->s->text->len;
	for (enum tale_form form = 0; form < TALE_FORMS; form++)
		tell_lines(t, lines, form);
}

static void tell_log_digest(struct transcript *t)
{
	g_auto(GStrv) lines = g_strsplit(t->s->text->str + t->logged, "\n", -1);
	uint32_t sum = FNV_OFFSET;
	unsigned int n = 0;

	t->logged = t->s->text->len;
	for (; lines[n] && *lines[n]; n++) {
		g_autofree char *plain = plain_line(t, lines[n], TALE_FULL);

		sum = digest(sum, plain, strlen(plain));
	}
	if (!n)
		return;
	tale_say(t->tale, "log: %u lines", n);
	tale_detail(t->tale, ", digest %08x", sum);
	tale_say(t->tale, "\n");
}

void transcript_lose(struct transcript *t, const char *packet, unsigned int node)
{
	t->lose = packet;
	t->lose_node = (int)node;
}

void transcript_event(struct transcript *t, const char *what)
{
	tale_say(t->tale, "%s== %s\n", tale_text(t->tale, TALE_FULL)->len ? "\n" : "", what);
	t->begin_ns = t->last_ns = runtime_now(t->s->rt);
	t->n_packets = 0;
	t->digest = FNV_OFFSET;
}

static void tell_digest(struct transcript *t)
{
	tale_detail(t->tale, "%.3f ms, %u packets, digest %08x\n",
		    (double)(t->last_ns - t->begin_ns) / (double)NS_PER_MS, t->n_packets,
		    t->digest);
}

static void forget(struct transcript *t)
{
	g_ptr_array_set_size(t->packets, 0);
	g_ptr_array_set_size(t->sets, 0);
}

void transcript_tell(struct transcript *t)
{
	tell_digest(t);
	tell_packets(t);
	tell_sets(t);
	tell_counters(t);
	tell_published(t);
	tell_log(t);
	forget(t);
}

void transcript_tell_digest(struct transcript *t)
{
	tell_digest(t);
	tell_packets(t);
	tell_counters(t);
	tell_published(t);
	tell_log_digest(t);
	forget(t);
}

void transcript_say(struct transcript *t, const char *text)
{
	g_autoptr(GString) plain = g_string_new(text);

	g_string_replace(plain, t->s->directory, "DIRECTORY", 0);
	g_string_replace(plain, "}, {", "},\n\t{", 0);
	tale_say(t->tale, "%s\n", plain->str);
}

void transcript_detail(struct transcript *t, const char *text)
{
	tale_detail(t->tale, "%s\n", text);
}

static void tell_file(struct transcript *t, const char *name)
{
	g_autofree char *file = g_build_filename(t->s->cache_dir, name, NULL), *content = NULL;

	if (g_file_get_contents(file, &content, NULL, NULL))
		tale_say(t->tale, "\n== file %s\n%s", name, content);
}

void transcript_tell_files(struct transcript *t)
{
	g_autoptr(GDir) directory = g_dir_open(t->s->cache_dir, 0, NULL);
	GList *names = NULL;
	const char *name;

	/* The saved contents of the site's files name a directory of this run. */
	while ((name = g_dir_read_name(directory)))
		if (strcmp(name, "partitions.last") != 0 && strcmp(name, "options.state") != 0)
			names = g_list_insert_sorted(names, g_strdup(name),
						     (GCompareFunc)strcmp);
	for (const GList *item = names; item; item = item->next)
		tell_file(t, item->data);
	g_list_free_full(names, g_free);
}

/* ---- life ---- */

struct transcript *transcript_new(struct scenario *s)
{
	struct transcript *t = g_new0(struct transcript, 1);

	t->s = s;
	t->tale = tale_new();
	t->packets = lines_new();
	t->sets = lines_new();
	t->unanswered = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	t->asked = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
	sim_set_trace(s->sim, on_packet, t);
	return t;
}

void transcript_free(struct transcript *t)
{
	sim_set_trace(t->s->sim, NULL, NULL);
	g_ptr_array_unref(t->packets);
	g_ptr_array_unref(t->sets);
	g_hash_table_unref(t->unanswered);
	g_hash_table_unref(t->asked);
	tale_free(t->tale);
	g_free(t);
}

void transcript_starts(struct transcript *t)
{
	memset(&t->counters, 0, sizeof(t->counters));
	g_hash_table_remove_all(t->unanswered);
	g_hash_table_remove_all(t->asked);
}

const char *transcript_text(const struct transcript *t, enum tale_form form)
{
	return tale_text(t->tale, form)->str;
}
