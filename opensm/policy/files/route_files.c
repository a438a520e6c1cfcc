// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Converts the files of GUIDs to the arrays that engines read. */
#include "policy/files/route_files.h"

#include <inttypes.h>
#include <string.h>

#include "iba/codes.h"
#include "policy/files/guid_file.h"
#include "policy/files/lft_file.h"
#include "policy/files/ties.h"
#include "policy/files/torus_file.h"
#include "policy/qos/qos.h"

struct route_files {
	struct ref ref;
#define LIST(member, kind, option, readers) GArray *member; /* of ROUTE_LIST_kind */
#include "route/inputs.def"
	GArray *ties;	 /* struct tie_row */
	struct lft_file *lfts;	 /* NULL: not named */
	struct hops_file *hops; /* NULL: not named */
	struct torus_file *torus; /* NULL: no engine reads it */
	GPtrArray *warnings;	/* char *: what was accepted but is questionable */
};

static const struct guid_file_form guids_form = {
	.columns = "a GUID a line",
	.repeated = true,
};
static const struct guid_file_form ids_form = {
	.columns = "a node GUID and its number a line",
	.least = 1,
	.most = 1,
	.max = UINT64_MAX,
};

static const struct guid_file_form ignored_form = {
	.columns = "a port GUID, or a node GUID and the number of a port",
	.most = 1,
	.max = 255,
	.repeated = true,
};

static const struct guid_file_form orders_form = {
	.columns = "a switch GUID and its ports a line",
	.least = 1,
	.most = 255,
	.min = 1,
	.max = 254,
};

static const struct guid_file_form weights_form = {
	.columns = "a switch GUID, a port and its weight from 1 to 255",
	.least = 2,
	.most = 2,
	.min = 1,
	.last_zero = true,
	.max = 255,
	.repeated = true,
};

/* Loads a list of GUIDs; an empty array if no file is named, NULL if it is wrong. */
static GArray *load_guids(const char *file, GPtrArray *warnings, GError **error)
{
	GArray *guids = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	struct guid_table *table =
		file ? guid_file_load(file, &guids_form, warnings, error) : NULL;

	if (file && !table) {
		g_array_unref(guids);
		return NULL;
	}
	for (guint i = 0; table && i < table->rows->len; i++)
		g_array_append_val(guids, g_array_index(table->rows, struct guid_row, i).guid);
	guid_table_free(table);
	return guids;
}

static GArray *load_ids(const char *file, GPtrArray *warnings, GError **error)
{
	GArray *ids = g_array_new(FALSE, FALSE, sizeof(struct route_id));
	struct guid_table *table =
		file ? guid_file_load(file, &ids_form, warnings, error) : NULL;

	if (file && !table) {
		g_array_unref(ids);
		return NULL;
	}
	for (guint i = 0; table && i < table->rows->len; i++) {
		const struct guid_row *row = &g_array_index(table->rows, struct guid_row, i);
		struct route_id id = {
			.guid = row->guid,
			.id = g_array_index(table->numbers, uint64_t, row->first),
		};

		g_array_append_val(ids, id);
	}
	guid_table_free(table);
	return ids;
}

static GArray *load_endports(const char *file, GPtrArray *warnings, GError **error)
{
	GArray *ports = g_array_new(FALSE, FALSE, sizeof(struct route_endport));
	struct guid_table *table =
		file ? guid_file_load(file, &ignored_form, warnings, error) : NULL;

	if (file && !table) {
		g_array_unref(ports);
		return NULL;
	}
	for (guint i = 0; table && i < table->rows->len; i++) {
		const struct guid_row *row = &g_array_index(table->rows, struct guid_row, i);
		struct route_endport port = {.guid = row->guid, .num = -1};

		if (row->n)
			port.num = g_array_index(table->numbers, uint64_t, row->first);
		g_array_append_val(ports, port);
	}
	guid_table_free(table);
	return ports;
}

static GArray *load_orders(const char *file, GPtrArray *warnings, GError **error)
{
	GArray *orders = g_array_new(FALSE, FALSE, sizeof(struct route_port_order));
	struct guid_table *table =
		file ? guid_file_load(file, &orders_form, warnings, error) : NULL;

	if (file && !table) {
		g_array_unref(orders);
		return NULL;
	}
	for (guint i = 0; table && i < table->rows->len; i++) {
		const struct guid_row *row = &g_array_index(table->rows, struct guid_row, i);
		struct route_port_order order = {.guid = row->guid, .n = row->n};

		for (uint32_t k = 0; k < row->n; k++)
			order.ports[k] = g_array_index(table->numbers, uint64_t, row->first + k);
		g_array_append_val(orders, order);
	}
	guid_table_free(table);
	return orders;
}

/* The first of each kind is reported, then the number of others. */
struct weight_faults {
	GPtrArray *warnings;
	const char *file;
	uint32_t zeros, replaced;
};

static void tell_zero(struct weight_faults *faults, const struct guid_row *row, uint8_t port)
{
	if (!faults->zeros++)
		g_ptr_array_add(faults->warnings, g_strdup_printf(
			"%s:%u: weight 0 of port %u of switch 0x%016" PRIx64
			" counts as 1, expected 1 to 255", faults->file, row->line, port,
			row->guid));
}

static void tell_replaced(struct weight_faults *faults, const struct guid_row *row,
			  const uint64_t *numbers, const struct guid_row *other, uint64_t weight)
{
	if (!faults->replaced++)
		g_ptr_array_add(faults->warnings, g_strdup_printf(
			"%s:%u: port %u of switch 0x%016" PRIx64 " has weight %" PRIu64
			" in line %u, which weight %" PRIu64 " of this line replaces", faults->file,
			row->line, (unsigned int)numbers[0], row->guid, weight, other->line,
			numbers[1]));
}

static void tell_more(struct weight_faults *faults, uint32_t n, const char *what)
{
	if (n > 1)
		g_ptr_array_add(faults->warnings, g_strdup_printf("%s: %u more lines %s",
								  faults->file, n - 1, what));
}

/*
 * As in the classic daemon, 0 counts as if the line were absent, and the last weight of a port
 * wins.
 */
static void add_weight(GArray *weights, GHashTable *seen, const struct guid_table *table,
		       const struct guid_row *row, struct weight_faults *faults)
{
	const uint64_t *numbers = &g_array_index(table->numbers, uint64_t, row->first);
	struct route_weight weight = {row->guid, numbers[0], MAX(numbers[1], 1)};
	g_autofree char *key = g_strdup_printf("%" PRIx64 " %u", row->guid, weight.port);
	const struct guid_row *other = g_hash_table_lookup(seen, key);
	uint64_t before = 0;

	if (other)
		before = g_array_index(table->numbers, uint64_t, other->first + 1);
	if (!numbers[1])
		tell_zero(faults, row, weight.port);
	if (other && before != numbers[1])
		tell_replaced(faults, row, numbers, other, before);
	g_hash_table_insert(seen, g_steal_pointer(&key), (gpointer)row);
	g_array_append_val(weights, weight);
}

static GArray *load_weights(const char *file, GPtrArray *warnings, GError **error)
{
	GArray *weights = g_array_new(FALSE, FALSE, sizeof(struct route_weight));
	struct guid_table *table =
		file ? guid_file_load(file, &weights_form, warnings, error) : NULL;
	g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	struct weight_faults faults = {.warnings = warnings, .file = file};

	if (file && !table)
		g_clear_pointer(&weights, g_array_unref);
	for (guint i = 0; table && i < table->rows->len; i++)
		add_weight(weights, seen, table, &g_array_index(table->rows, struct guid_row, i),
			   &faults);
	tell_more(&faults, faults.zeros, "with weight 0");
	tell_more(&faults, faults.replaced, "that replace the weight of an earlier one");
	guid_table_free(table);
	return weights;
}

typedef GArray *load_fn(const char *file, GPtrArray *warnings, GError **error);

/* The options and the engines that read their files. */
struct loading {
	struct route_files *files;
	const struct options *options;
	const char *engines; /* engines that will be tried, NULL: any */
	const struct route_files *old; /* in effect, NULL: none */
	GString *refused; /* a line for each wrong file */
};

/* Whether one of the names in readers is in the list of engines. */
static bool is_tried(const struct loading *loading, const char *readers)
{
	g_auto(GStrv) named = g_strsplit_set(loading->engines ? loading->engines : "", ", ", -1);
	g_auto(GStrv) names = g_strsplit(readers, " ", -1);

	for (unsigned int i = 0; names[i]; i++)
		if (g_strv_contains((const char *const *)named, names[i]))
			return true;
	return !loading->engines;
}

/*
 * Takes ownership of why. If no engine will read the file it causes a warning; otherwise all files
 * are refused.
 */
static void forgive(struct loading *loading, const char *option, const char *readers, GError *why)
{
	if (!readers || is_tried(loading, readers))
		g_string_append_printf(loading->refused, "%s%s: %s",
				       loading->refused->len ? "\n" : "", option, why->message);
	else
		g_ptr_array_add(
			loading->files->warnings,
			g_strdup_printf(
				"%s: %s; this has no effect, as routing_engine does not list %s",
				option, why->message, readers));
	g_error_free(why);
}

/* A named file must not be empty. */
static bool says_something(guint n, const char *file, GError **error)
{
	if (n || !file || !strcmp(file, "/dev/null"))
		return true;
	g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_INVAL,
		    "%s: it is empty; write its contents, or name /dev/null instead and restart "
		    "to go without it",
		    file);
	return false;
}

/* Messages about the file begin with the option that names it. */
static void load(struct loading *loading, const char *option, const char *readers,
		 const char *file, load_fn *load_file, GArray **array)
{
	GPtrArray *warnings = loading->files->warnings;
	guint first = warnings->len;
	GError *why = NULL;

	*array = load_file(file, warnings, &why);
	if (*array && !says_something((*array)->len, file, &why))
		g_clear_pointer(array, g_array_unref);
	for (guint i = first; i < warnings->len; i++) {
		char *warning = warnings->pdata[i];

		warnings->pdata[i] = g_strdup_printf("%s: %s", option, warning);
		g_free(warning);
	}
	if (*array)
		return;
	forgive(loading, option, readers, why);
	*array = load_file(NULL, warnings, NULL); /* as if not named */
}

/* Loads both files, if named. */
static void load_routes(struct loading *loading)
{
	const struct options *options = loading->options;
	struct route_files *files = loading->files;
	GError *why = NULL;

	if (options->lfts_file)
		files->lfts = lft_file_load(options->lfts_file, &why);
	if (why)
		forgive(loading, "lfts_file", "file", g_steal_pointer(&why));
	if (options->lid_matrix_dump_file)
		files->hops = hops_file_load(options->lid_matrix_dump_file, &why);
	if (why)
		forgive(loading, "lid_matrix_dump_file", "file", why);
}

/* Whether an engine is named that does not need torus-2QoS.conf. */
static bool has_other_engine(const struct loading *loading)
{
	g_auto(GStrv) names = g_strsplit_set(loading->engines ? loading->engines : "", ", ", -1);

	for (unsigned int i = 0; names[i]; i++)
		if (*names[i] && strcmp(names[i], "torus-2QoS") != 0 &&
		    strcmp(names[i], "no_fallback") != 0)
			return true;
	return false;
}

/*
 * torus-2QoS.conf has a default name: if it is missing, that is an error only if the engine is the
 * only one named, or has already routed by such a file. Otherwise another engine of the list is
 * what the operator wants in that case.
 */
static void load_torus(struct loading *loading)
{
	struct route_files *files = loading->files;
	GError *why = NULL;
	bool is_missing;

	if (!is_tried(loading, "torus-2QoS"))
		return;
	files->torus = torus_file_load(loading->options->torus_config, &why);
	is_missing = g_error_matches(why, G_FILE_ERROR, G_FILE_ERROR_NOENT) &&
		     !(loading->old && loading->old->torus);
	if (is_missing && has_other_engine(loading))
		g_ptr_array_add(files->warnings,
				g_strdup_printf("torus_config: %s; the next engine is tried",
						why->message));
	else if (why && !(is_missing && !loading->engines))
		forgive(loading, "torus_config", NULL, g_steal_pointer(&why));
	g_clear_error(&why);
}

/* Reports all errors at once. */
static bool load_all(struct loading *loading, GError **error)
{
	const struct {
		const char *option, *readers, *file; /* readers NULL: fall-backs read it too */
		load_fn *load_file;
		GArray **array;
	} all[] = {
#define LIST(member, kind, option, readers)                                                        \
	{#option, readers, loading->options->option, load_##kind, &loading->files->member},
#include "route/inputs.def"
		{"partition_links_file", NULL, loading->options->partition_links_file, ties_load,
		 &loading->files->ties},
	};

	for (unsigned int i = 0; i < G_N_ELEMENTS(all); i++)
		load(loading, all[i].option, all[i].readers, all[i].file, all[i].load_file,
		     all[i].array);
	load_routes(loading);
	load_torus(loading);
	if (loading->refused->len)
		g_set_error_literal(error, GUID_FILE_ERROR, 0, loading->refused->str);
	return !loading->refused->len;
}

void route_files_names(const struct options *options, GPtrArray *names)
{
	char *const all[] = {
#define LIST(member, kind, option, readers) options->option,
#define INPUT_FILE(option) options->option,
#include "route/inputs.def"
	};

	for (unsigned int i = 0; i < G_N_ELEMENTS(all); i++)
		g_ptr_array_add(names, all[i]);
}

static struct route_files *load_by(const struct route_files *old, const struct options *options,
				   const char *engines, GError **error)
{
	g_autoptr(GString) refused = g_string_new(NULL);
	struct loading loading = {g_new0(struct route_files, 1), options, engines, old, refused};

	ref_init(&loading.files->ref);
	loading.files->warnings = g_ptr_array_new_with_free_func(g_free);
	if (load_all(&loading, error))
		return loading.files;
	route_files_unref(loading.files);
	return NULL;
}

struct route_files *route_files_load(const struct options *options, GError **error)
{
	return load_by(NULL, options, NULL, error);
}

struct route_files *route_files_load_for(const struct options *options, const char *engines,
					 GError **error)
{
	return load_by(NULL, options, engines ? engines : "", error);
}

struct route_files *route_files_reload(const struct route_files *old, const struct options *options,
				       const char *engines, GError **error)
{
	return load_by(old, options, engines ? engines : "", error);
}

const GArray *route_files_ties(const struct route_files *files)
{
	return files ? files->ties : NULL;
}

const GPtrArray *route_files_warnings(const struct route_files *files)
{
	return files->warnings;
}

struct route_files *route_files_ref(struct route_files *files)
{
	ref_get(&files->ref);
	return files;
}

void route_files_unref(struct route_files *files)
{
	if (!files || !ref_put(&files->ref))
		return;
#define LIST(member, kind, option, readers) g_clear_pointer(&files->member, g_array_unref);
#include "route/inputs.def"
	g_clear_pointer(&files->ties, g_array_unref);
	lft_file_free(files->lfts);
	hops_file_free(files->hops);
	torus_file_free(files->torus);
	g_ptr_array_unref(files->warnings);
	g_free(files);
}

/* Padding between the members of an element may differ: the arrays then count as different. */
static bool same_array(const GArray *a, const GArray *b)
{
	return a->len == b->len &&
	       (!a->len ||
		!memcmp(a->data, b->data, (size_t)a->len * g_array_get_element_size((GArray *)a)));
}

bool route_files_same(const struct route_files *a, const struct route_files *b)
{
	if (!a->lfts != !b->lfts || !a->hops != !b->hops || !a->torus != !b->torus)
		return false;
	if (a->torus && !torus_file_same(a->torus, b->torus))
		return false;
	if (a->lfts && (!same_array(a->lfts->lfts, b->lfts->lfts) ||
			!same_array(a->lfts->entries, b->lfts->entries)))
		return false;
	if (a->hops && (!same_array(a->hops->rows, b->hops->rows) ||
			!same_array(a->hops->hops, b->hops->hops)))
		return false;
#define LIST(member, kind, option, readers)                                                        \
	if (!same_array(a->member, b->member))                                                     \
		return false;
#include "route/inputs.def"
	return same_array(a->ties, b->ties);
}

void route_files_input(const struct route_files *files, const struct options *options,
		       struct route_input *input)
{
	struct qos qos;

	qos_make(options, &qos);
	*input = (struct route_input){
		.threads = 1,
		.patience_s = options->event_plugin_routing_timeout,
		.vls = MIN(iba_vls_count(options->max_op_vls), qos.of[QOS_SWITCH].vls),
#define INPUT(member, type, option) .member = options->option,
#include "route/inputs.def"
	};
	if (!files)
		return;
#define LIST(member, kind, option, readers)                                                        \
	input->member = (const ROUTE_LIST_##kind *)(const void *)files->member->data;              \
	input->n_##member = files->member->len;
#include "route/inputs.def"
	input->lfts = lft_file_input(files->lfts);
	input->hops = hops_file_input(files->hops);
	input->torus = torus_file_input(files->torus);
}
