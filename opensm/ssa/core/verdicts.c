// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What the policy says, asked once for each pair of kinds of ports: ports of one kind are in equal
 * partitions and QoS groups, and so get equal verdicts.
 */
#include <string.h>

#include "policy/qos/qos_paths.h"
#include "ssa/core/make.h"
#include "subnet/path.h"

/* ---- kinds of ports ---- */

static void note_groups(const GArray *groups, bool *used)
{
	for (guint i = 0; i < groups->len; i++)
		used[g_array_index(groups, int, i)] = true;
}

/* The groups that rules look at. */
static GArray *groups_of_rules(const struct qos_paths *qos)
{
	GArray *groups = g_array_new(FALSE, FALSE, sizeof(guint));
	g_autofree bool *used = qos ? g_new0(bool, qos->policy->groups->len + 1) : NULL;

	for (guint i = 0; qos && i < qos->policy->rules->len; i++) {
		const struct qos_rule *rule = qos->policy->rules->pdata[i];

		note_groups(rule->sources, used);
		note_groups(rule->destinations, used);
	}
	for (guint i = 0; qos && i < qos->policy->groups->len; i++)
		if (used[i])
			g_array_append_val(groups, i);
	return groups;
}

static GBytes *kind_of(const struct subnet *subnet, const GArray *groups, uint32_t port)
{
	const struct fabric *fabric = subnet->fabric;
	uint32_t class = partitions_class(subnet->partitions, port);
	uint8_t quirk = subnet->options->enable_quirks &&
			policy_is_tavor(&fabric->nodes[fabric->ports[port].node].info);
	GByteArray *kind = g_byte_array_new();
	uint8_t bits = 0;

	g_byte_array_append(kind, (const guint8 *)&class, sizeof(class));
	g_byte_array_append(kind, &quirk, 1);
	for (guint i = 0; i < groups->len; i++) {
		const uint8_t *members = subnet->qos->members[g_array_index(groups, guint, i)];

		bits |= (uint8_t)((members[port / 8] >> port % 8 & 1) << i % 8);
		if (i % 8 == 7 || i + 1 == groups->len) {
			g_byte_array_append(kind, &bits, 1);
			bits = 0;
		}
	}
	return g_byte_array_free_to_bytes(kind);
}

void ssa_make_classes(const struct ssa_source *source, struct ssa_index *index)
{
	const struct subnet *subnet = source->view->subnet;
	g_autoptr(GArray) groups = groups_of_rules(subnet->qos);
	g_autoptr(GHashTable) kinds = g_hash_table_new_full(g_bytes_hash, g_bytes_equal,
							    (GDestroyNotify)g_bytes_unref, NULL);

	index->class = g_new(uint32_t, index->n_endports + 1);
	index->class_of_one = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	for (uint32_t i = 0; i < index->n_endports; i++) {
		uint32_t port = index->endport[i];
		GBytes *kind = kind_of(subnet, groups, port);
		gpointer found = g_hash_table_lookup(kinds, kind);

		if (found) {
			g_bytes_unref(kind);
		} else if (index->n_classes == SSA_MAX_CLASSES) {
			g_bytes_unref(kind);
			g_clear_pointer(&index->class, g_free);
			index->n_classes = 0;
			return;
		} else {
			found = GUINT_TO_POINTER(++index->n_classes);
			g_hash_table_insert(kinds, kind, found);
			g_array_append_val(index->class_of_one, port);
		}
		index->class[i] = GPOINTER_TO_UINT(found) - 1;
	}
}

/* ---- verdicts ---- */

struct court {
	const struct subnet *subnet;
	GArray *verdicts;  /* struct ssa_verdict */
	GHashTable *lists; /* GBytes of the verdicts of a pair: index + 1 of the first */
	GHashTable *bits;  /* qos_level: index + 1 in path_bits */
	GByteArray *path_bits;
};

/* All endports of both kinds stand for each other, but a port with itself needs no life time. */
static uint16_t path_bits_of(struct court *court, const struct qos_level *level)
{
	const GArray *ranges = level ? level->path_bits : NULL;
	uint8_t bits[16] = {0};
	gpointer found;

	if (!ranges || !ranges->len)
		return 0;
	found = g_hash_table_lookup(court->bits, level);
	if (found)
		return (uint16_t)GPOINTER_TO_UINT(found);
	for (unsigned int n = 0; n < 128; n++)
		if (qos_ranges_have(ranges, n))
			bits[n / 8] |= 1u << n % 8;
	g_byte_array_append(court->path_bits, bits, sizeof(bits));
	found = GUINT_TO_POINTER(court->path_bits->len / sizeof(bits));
	g_hash_table_insert(court->bits, (gpointer)level, found);
	return (uint16_t)GPOINTER_TO_UINT(found);
}

static struct ssa_verdict judge(struct court *court, uint32_t from, uint32_t to, uint16_t p_key)
{
	const struct subnet *subnet = court->subnet;
	const struct policy_wanted wanted = {.has_p_key = p_key != 0, .p_key = p_key};
	const struct qos_level *level;
	struct policy_path path;
	struct ssa_verdict verdict = {.asked = GUINT16_TO_LE(p_key)};

	if (!policy_verdict(subnet, &wanted, from, to, &path)) {
		verdict.flags = SSA_VERDICT_REFUSED;
	} else {
		level = path.level;
		verdict.p_key = GUINT16_TO_LE(path.p_key);
		verdict.path_bits = GUINT16_TO_LE(path_bits_of(court, level));
		verdict.flags = level && level->has_sl ? SSA_VERDICT_SL_FIXED : 0;
		verdict.sl = path.sl;
		verdict.mtu = level && level->has_mtu ? level->mtu : 0;
		verdict.rate = level && level->has_rate ? level->rate : 0;
		verdict.life =
			level && level->has_life ? level->life : subnet->options->subnet_timeout;
		verdict.mtu_best = path.mtu_best;
	}
	if (partitions_shared(subnet->partitions, from, to))
		verdict.flags |= SSA_VERDICT_KNOWN;
	return verdict;
}

/* The verdicts of a pair: without P_Key, then for each that both hold. */
static void judge_pair(struct court *court, uint32_t from, uint32_t to, GArray *list)
{
	const struct partitions *partitions = court->subnet->partitions;
	uint32_t n;
	const uint16_t *p_keys = partitions_of(partitions, from, &n);
	struct ssa_verdict verdict = judge(court, from, to, 0);
	uint16_t last = 0;

	g_array_set_size(list, 0);
	g_array_append_val(list, verdict);
	for (uint32_t i = 0; i < n; i++) {
		uint16_t base = P_KEY_BASE(p_keys[i]);

		if (base == last || !base || !partitions_member(partitions, to, base))
			continue;
		last = base;
		verdict = judge(court, from, to, base);
		if (!(verdict.flags & SSA_VERDICT_REFUSED))
			g_array_append_val(list, verdict);
	}
	g_array_index(list, struct ssa_verdict, list->len - 1).flags |= SSA_VERDICT_LAST;
}

/* Index of the first verdict of a list; pairs with equal lists share them. */
static uint32_t keep_list(struct court *court, const GArray *list)
{
	GBytes *bytes = g_bytes_new(list->data, list->len * sizeof(struct ssa_verdict));
	gpointer found = g_hash_table_lookup(court->lists, bytes);

	if (found) {
		g_bytes_unref(bytes);
		return GPOINTER_TO_UINT(found) - 1;
	}
	found = GUINT_TO_POINTER(court->verdicts->len + 1);
	g_array_append_vals(court->verdicts, list->data, list->len);
	g_hash_table_insert(court->lists, bytes, found);
	return GPOINTER_TO_UINT(found) - 1;
}

void ssa_make_verdicts(const struct ssa_source *source, const struct ssa_index *index,
		       struct ssa_made *made)
{
	struct court court = {
		.subnet = source->view->subnet,
		.verdicts = g_array_new(FALSE, FALSE, sizeof(struct ssa_verdict)),
		.lists = g_hash_table_new_full(g_bytes_hash, g_bytes_equal,
					       (GDestroyNotify)g_bytes_unref, NULL),
		.bits = g_hash_table_new(NULL, NULL),
		.path_bits = g_byte_array_new(),
	};
	g_autoptr(GArray) list = g_array_new(FALSE, FALSE, sizeof(struct ssa_verdict));
	uint32_t n = index->n_classes;
	uint32_t *pairs = g_new0(uint32_t, (size_t)n * n + 1);
	uint64_t n_bits, n_verdicts;

	for (uint32_t a = 0; a < n; a++)
		for (uint32_t b = 0; b < n; b++) {
			judge_pair(&court, g_array_index(index->class_of_one, uint32_t, a),
				   g_array_index(index->class_of_one, uint32_t, b), list);
			pairs[(size_t)a * n + b] = GUINT32_TO_LE(keep_list(&court, list));
		}
	ssa_made_put(made, SSA_PAIRS, pairs, (uint64_t)n * n, sizeof(*pairs));
	n_verdicts = court.verdicts->len;
	ssa_made_put(made, SSA_VERDICTS, g_array_free(court.verdicts, FALSE), n_verdicts,
		     sizeof(struct ssa_verdict));
	n_bits = court.path_bits->len / 16;
	ssa_made_put(made, SSA_PATH_BITS, g_byte_array_free(court.path_bits, FALSE), n_bits, 16);
	g_hash_table_unref(court.lists);
	g_hash_table_unref(court.bits);
}
