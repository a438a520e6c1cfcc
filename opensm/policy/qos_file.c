// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * qos-policy.conf, line by line. A line is the beginning or end of a section, "keyword: value", or,
 * among qos-ulps, "who, what: SL". Sections are rows of a table: where one may stand, and what
 * keywords it knows.
 *
 * Rules of qos-ulps are made into rules and levels of the long form, which stand behind the others.
 */
#include "policy/qos_file.h"

#include <complib/file.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "iba/iba.h"

#define DEFAULT_LEVEL "DEFAULT"
#define P_KEY_MASK 0x7FFF
#define IPOIB_P_KEY 0x7FFF
#define SDP_FIRST 0x10000
#define RDS_FIRST 0x1060000
#define RDS_PORT 0x48CA
#define ISER_PORT 0x0CBC
#define PORT_MAX 0xFFFF

enum section {
	TOP,
	GROUPS,
	GROUP,
	SETUP,
	VLARBS,
	VLARB,
	SL2VLS,
	SL2VL,
	LEVELS,
	LEVEL,
	RULES,
	RULE,
	ULPS,
	N_SECTIONS
};

static const struct {
	const char *name; /* its end is "end-NAME" */
	enum section in;
} sections[N_SECTIONS] = {
	[TOP] = {"the file", TOP},	    [GROUPS] = {"port-groups", TOP},
	[GROUP] = {"port-group", GROUPS},   [SETUP] = {"qos-setup", TOP},
	[VLARBS] = {"vlarb-tables", SETUP}, [VLARB] = {"vlarb-scope", VLARBS},
	[SL2VLS] = {"sl2vl-tables", SETUP}, [SL2VL] = {"sl2vl-scope", SL2VLS},
	[LEVELS] = {"qos-levels", TOP},	    [LEVEL] = {"qos-level", LEVELS},
	[RULES] = {"qos-match-rules", TOP}, [RULE] = {"qos-match-rule", RULES},
	[ULPS] = {"qos-ulps", TOP},
};

/* Of a group, in a rule or scope. */
struct mention {
	unsigned int line;
	char *name;
	GArray *indexes; /* int: gets its index */
};

struct parser {
	const char *file;
	unsigned int line;
	enum section section;
	unsigned int section_line;
	struct qos_policy *policy;
	struct qos_group *group; /* that the section is about */
	struct qos_level *level;
	struct qos_rule *rule;
	struct qos_scope *scope;
	bool scope_has_ends;	/* some line of it names ports */
	char *rule_level;	/* name that the rule gives */
	GPtrArray *rule_levels; /* of all rules: names, looked up at the end */
	GPtrArray *ulps;	/* struct qos_rule of the short form */
	GArray *mentions;	/* struct mention */
	bool has_fallback;
	GError **error;
};

GQuark qos_file_error_quark(void)
{
	return g_quark_from_static_string("qos-file-error-quark");
}

G_GNUC_PRINTF(3, 4)
static bool wrong(const struct parser *p, const char *found, const char *format, ...)
{
	g_autofree char *expected = NULL, *printable = g_strescape(found, NULL);
	va_list args;

	va_start(args, format);
	expected = g_strdup_vprintf(format, args);
	va_end(args);
	g_set_error(p->error, QOS_FILE_ERROR, QOS_FILE_ERROR_SYNTAX,
		    "%s:%u: found '%.80s', expected %s", p->file, p->line, printable, expected);
	return false;
}

static void warn(const struct parser *p, const char *text)
{
	g_ptr_array_add(p->policy->warnings, g_strdup_printf("%s:%u: %s", p->file, p->line, text));
}

/* ---- values ---- */

static bool read_number(const char *text, uint64_t max, uint64_t *value)
{
	bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');

	return g_ascii_string_to_unsigned(hex ? text + 2 : text, hex ? 16 : 10, 0, max, value,
					  NULL);
}

/* "N" or "N-N" */
static bool read_range(const struct parser *p, const char *text, uint64_t max,
		       struct qos_range *range)
{
	g_auto(GStrv) ends = g_strsplit(text, "-", 2);

	if (ends[0] && read_number(g_strstrip(ends[0]), max, &range->first) &&
	    read_number(ends[1] ? g_strstrip(ends[1]) : ends[0], max, &range->last) &&
	    range->first <= range->last)
		return true;
	return wrong(p, text, "a number, or a range of them, up to 0x%" G_GINT64_MODIFIER "x", max);
}

static bool read_ranges(const struct parser *p, const char *text, uint64_t max, GArray *ranges)
{
	g_auto(GStrv) items = g_strsplit(text, ",", -1);

	for (unsigned int i = 0; items[i]; i++) {
		struct qos_range range;

		if (!read_range(p, g_strstrip(items[i]), max, &range))
			return false;
		g_array_append_val(ranges, range);
	}
	return items[0] || wrong(p, "nothing", "a list of numbers");
}

static bool read_names(const struct parser *p, const char *text, GPtrArray *names)
{
	g_auto(GStrv) items = g_strsplit(text, ",", -1);

	for (unsigned int i = 0; items[i]; i++) {
		if (!*g_strstrip(items[i]))
			return wrong(p, text, "a list of names");
		g_ptr_array_add(names, g_strdup(items[i]));
	}
	return items[0] || wrong(p, "nothing", "a list of names");
}

static bool read_u8(const struct parser *p, const char *text, uint8_t max, uint8_t *value,
		    bool *has)
{
	uint64_t number;

	if (!read_number(text, max, &number))
		return wrong(p, text, "a number from 0 to %u", max);
	*value = (uint8_t)number;
	*has = true;
	return true;
}

static void mask_p_keys(GArray *ranges)
{
	for (guint i = 0; i < ranges->len; i++) {
		struct qos_range *range = &g_array_index(ranges, struct qos_range, i);

		if (range->first > P_KEY_MASK)
			range->first &= P_KEY_MASK;
		if (range->last > P_KEY_MASK)
			range->last &= P_KEY_MASK;
	}
}

/* ---- objects ---- */

static GArray *ranges_new(void)
{
	return g_array_new(FALSE, FALSE, sizeof(struct qos_range));
}

static void group_free(void *data)
{
	struct qos_group *group = data;

	g_free(group->name);
	g_array_unref(group->guids);
	g_array_unref(group->p_keys);
	g_ptr_array_unref(group->partitions);
	g_ptr_array_unref(group->ports);
	g_free(group);
}

static struct qos_group *group_new(struct parser *p)
{
	struct qos_group *group = g_new0(struct qos_group, 1);

	group->guids = ranges_new();
	group->p_keys = ranges_new();
	group->partitions = g_ptr_array_new_with_free_func(g_free);
	group->ports = g_ptr_array_new_with_free_func(g_free);
	g_ptr_array_add(p->policy->groups, group);
	return group;
}

static void level_free(void *data)
{
	struct qos_level *level = data;

	g_free(level->name);
	g_array_unref(level->path_bits);
	g_free(level);
}

static struct qos_level *level_new(struct qos_policy *policy, const char *name)
{
	struct qos_level *level = g_new0(struct qos_level, 1);

	level->name = g_strdup(name);
	level->path_bits = ranges_new();
	g_ptr_array_add(policy->levels, level);
	return level;
}

static void rule_free(void *data)
{
	struct qos_rule *rule = data;

	g_array_unref(rule->classes);
	g_array_unref(rule->services);
	g_array_unref(rule->p_keys);
	g_array_unref(rule->sources);
	g_array_unref(rule->destinations);
	g_free(rule);
}

static struct qos_rule *rule_new(const struct parser *p, GPtrArray *rules)
{
	struct qos_rule *rule = g_new0(struct qos_rule, 1);

	rule->line = p->line;
	rule->classes = ranges_new();
	rule->services = ranges_new();
	rule->p_keys = ranges_new();
	rule->sources = g_array_new(FALSE, FALSE, sizeof(int));
	rule->destinations = g_array_new(FALSE, FALSE, sizeof(int));
	g_ptr_array_add(rules, rule);
	return rule;
}

static void scope_free(void *data)
{
	struct qos_scope *scope = data;

	g_array_unref(scope->group.groups);
	g_array_unref(scope->across.groups);
	g_array_unref(scope->across_from.groups);
	g_array_unref(scope->across_to.groups);
	g_free(scope);
}

static struct qos_scope *scope_new(const struct parser *p)
{
	struct qos_scope *scope = g_new0(struct qos_scope, 1);

	scope->line = p->line;
	scope->group.groups = g_array_new(FALSE, FALSE, sizeof(int));
	scope->across.groups = g_array_new(FALSE, FALSE, sizeof(int));
	scope->across_from.groups = g_array_new(FALSE, FALSE, sizeof(int));
	scope->across_to.groups = g_array_new(FALSE, FALSE, sizeof(int));
	memset(scope->from, true, sizeof(scope->from));
	memset(scope->to, true, sizeof(scope->to));
	g_ptr_array_add(p->policy->scopes, scope);
	return scope;
}

static struct qos_policy *policy_new(const char *file)
{
	struct qos_policy *policy = g_new0(struct qos_policy, 1);

	ref_init(&policy->ref);
	policy->file = g_strdup(file);
	policy->scopes = g_ptr_array_new_with_free_func(scope_free);
	policy->groups = g_ptr_array_new_with_free_func(group_free);
	policy->levels = g_ptr_array_new_with_free_func(level_free);
	policy->rules = g_ptr_array_new_with_free_func(rule_free);
	policy->warnings = g_ptr_array_new_with_free_func(g_free);
	return policy;
}

struct qos_policy *qos_policy_ref(struct qos_policy *policy)
{
	ref_get(&policy->ref);
	return policy;
}

bool qos_policy_same(const struct qos_policy *a, const struct qos_policy *b)
{
	return !g_strcmp0(a->text, b->text);
}

void qos_policy_unref(struct qos_policy *policy)
{
	if (!policy || !ref_put(&policy->ref))
		return;
	g_ptr_array_unref(policy->groups);
	g_ptr_array_unref(policy->levels);
	g_ptr_array_unref(policy->rules);
	g_ptr_array_unref(policy->scopes);
	g_ptr_array_unref(policy->warnings);
	g_free(policy->file);
	g_free(policy->text);
	g_free(policy);
}

/* ---- keywords ---- */

static bool give_name(const struct parser *p, char **name, const char *value)
{
	if (*name)
		return wrong(p, value, "one name only, it has '%s'", *name);
	if (!*value)
		return wrong(p, value, "a name");
	*name = g_strdup(value);
	return true;
}

static bool group_name(struct parser *p, const char *value)
{
	for (guint i = 0; i < p->policy->groups->len; i++) {
		const struct qos_group *other = p->policy->groups->pdata[i];

		if (!g_strcmp0(other->name, value))
			return wrong(p, value, "a name that no other group has");
	}
	return give_name(p, &p->group->name, value);
}

static bool group_guids(struct parser *p, const char *value)
{
	return read_ranges(p, value, UINT64_MAX, p->group->guids);
}

static bool group_ports(struct parser *p, const char *value)
{
	guint before = p->group->ports->len;

	if (!read_names(p, value, p->group->ports))
		return false;
	for (guint i = before; i < p->group->ports->len; i++)
		if (!strstr(p->group->ports->pdata[i], "/P"))
			return wrong(p, p->group->ports->pdata[i], "NodeDescription/Pnumber");
	return true;
}

static bool group_p_keys(struct parser *p, const char *value)
{
	bool well = read_ranges(p, value, 0xFFFF, p->group->p_keys);

	mask_p_keys(p->group->p_keys);
	return well;
}

static bool group_partitions(struct parser *p, const char *value)
{
	return read_names(p, value, p->group->partitions);
}

static bool group_types(struct parser *p, const char *value)
{
	static const struct {
		const char *name;
		unsigned int types;
		bool self;
	} types[] = {
		{"CA", 1u << IBA_NODE_CA, false},
		{"SWITCH", 1u << IBA_NODE_SWITCH, false},
		{"ROUTER", 1u << IBA_NODE_ROUTER, false},
		{"ALL", 1u << IBA_NODE_CA | 1u << IBA_NODE_SWITCH | 1u << IBA_NODE_ROUTER, false},
		{"SELF", 0, true},
	};
	g_auto(GStrv) words = g_strsplit(value, ",", -1);

	for (unsigned int i = 0; words[i]; i++) {
		unsigned int t = 0;

		g_strstrip(words[i]);
		while (t < G_N_ELEMENTS(types) && g_ascii_strcasecmp(types[t].name, words[i]))
			t++;
		if (t == G_N_ELEMENTS(types))
			return wrong(p, words[i], "CA, SWITCH, ROUTER, ALL or SELF");
		p->group->types |= types[t].types;
		p->group->self |= types[t].self;
	}
	return true;
}

static const struct qos_level *find_level(const struct qos_policy *policy, const char *name,
					  unsigned int *index)
{
	for (guint i = 0; i < policy->levels->len; i++) {
		const struct qos_level *level = policy->levels->pdata[i];

		*index = i;
		if (!g_strcmp0(level->name, name))
			return level;
	}
	return NULL;
}

static bool level_name(struct parser *p, const char *value)
{
	unsigned int index;

	if (find_level(p->policy, value, &index))
		return wrong(p, value, "a name that no other level has");
	return give_name(p, &p->level->name, value);
}

/* As read_u8, of a keyword that may stand once. */
static bool read_once(const struct parser *p, const char *text, uint8_t max, uint8_t *value,
		      bool *has)
{
	if (*has)
		return wrong(p, text, "one such line only, it says %u before", *value);
	return read_u8(p, text, max, value, has);
}

static bool level_sl(struct parser *p, const char *value)
{
	return read_once(p, value, 15, &p->level->sl, &p->level->has_sl);
}

static bool level_mtu(struct parser *p, const char *value)
{
	return read_once(p, value, IBA_MTU_4096, &p->level->mtu, &p->level->has_mtu);
}

static bool level_rate(struct parser *p, const char *value)
{
	return read_once(p, value, 63, &p->level->rate, &p->level->has_rate);
}

static bool level_life(struct parser *p, const char *value)
{
	return read_once(p, value, 63, &p->level->life, &p->level->has_life);
}

static bool level_path_bits(struct parser *p, const char *value)
{
	return read_ranges(p, value, 127, p->level->path_bits);
}

static bool level_p_key(struct parser *p, const char *value)
{
	uint64_t number;

	if (!read_number(value, 0xFFFF, &number) || !(number & P_KEY_MASK))
		return wrong(p, value, "a P_Key from 0x1 to 0xffff");
	p->level->p_key = number & P_KEY_MASK;
	p->level->has_p_key = true;
	return true;
}

/* They may stand behind: looked up at the end. */
static bool read_groups(struct parser *p, const char *value, GArray *indexes)
{
	g_auto(GStrv) names = g_strsplit(value, ",", -1);

	for (unsigned int i = 0; names[i]; i++) {
		struct mention mention = {p->line, g_strdup(g_strstrip(names[i])), indexes};

		g_array_append_val(p->mentions, mention);
	}
	return names[0] || wrong(p, "nothing", "names of groups");
}

static bool rule_classes(struct parser *p, const char *value)
{
	return read_ranges(p, value, 0xFFF, p->rule->classes);
}

static bool rule_sources(struct parser *p, const char *value)
{
	return read_groups(p, value, p->rule->sources);
}

static bool rule_destinations(struct parser *p, const char *value)
{
	return read_groups(p, value, p->rule->destinations);
}

static bool rule_services(struct parser *p, const char *value)
{
	return read_ranges(p, value, UINT64_MAX, p->rule->services);
}

static bool rule_p_keys(struct parser *p, const char *value)
{
	bool well = read_ranges(p, value, 0xFFFF, p->rule->p_keys);

	mask_p_keys(p->rule->p_keys);
	return well;
}

static bool rule_level(struct parser *p, const char *value)
{
	return give_name(p, &p->rule_level, value);
}

/* ---- keywords of scopes ---- */

/* Names of groups, or "*". */
static bool find_ends(struct parser *p, const char *value, struct qos_ends *ends)
{
	p->scope_has_ends = true;
	if (strcmp(value, "*") != 0)
		return read_groups(p, value, ends->groups);
	ends->all = true;
	return true;
}

static bool scope_group(struct parser *p, const char *value)
{
	return find_ends(p, value, &p->scope->group);
}

static bool scope_across(struct parser *p, const char *value)
{
	return find_ends(p, value, &p->scope->across);
}

static bool scope_across_from(struct parser *p, const char *value)
{
	return find_ends(p, value, &p->scope->across_from);
}

static bool scope_across_to(struct parser *p, const char *value)
{
	return find_ends(p, value, &p->scope->across_to);
}

/* Numbers of ports, or "*"; more than one such line add up. */
static bool read_port_numbers(const struct parser *p, const char *value, bool ports[256], bool *has)
{
	g_autoptr(GArray) ranges = ranges_new();

	if (!strcmp(value, "*")) {
		memset(ports, true, 256);
		*has = true;
		return true;
	}
	if (!read_ranges(p, value, UINT8_MAX - 1, ranges))
		return false;
	if (!*has)
		memset(ports, false, 256);
	*has = true;
	for (guint i = 0; i < ranges->len; i++) {
		const struct qos_range *range = &g_array_index(ranges, struct qos_range, i);

		memset(ports + range->first, true, range->last - range->first + 1);
	}
	return true;
}

static bool scope_from(struct parser *p, const char *value)
{
	return read_port_numbers(p, value, p->scope->from, &p->scope->has_from);
}

static bool scope_to(struct parser *p, const char *value)
{
	return read_port_numbers(p, value, p->scope->to, &p->scope->has_to);
}

/* "VL:WEIGHT, ..."; more than one such line add up. */
static bool read_entries(const struct parser *p, const char *value,
			 struct iba_vl_arbitration_entry *entries, unsigned int *n)
{
	g_auto(GStrv) items = g_strsplit(value, ",", -1);

	for (unsigned int i = 0; items[i]; i++, ++*n) {
		char *colon = strchr(items[i], ':');
		uint64_t vl, weight;

		if (*n == QOS_ARB_ENTRIES)
			return wrong(p, items[i], "at most %u entries", QOS_ARB_ENTRIES);
		if (colon)
			*colon++ = '\0';
		if (!colon || !read_number(g_strstrip(items[i]), QOS_DROP - 1, &vl) ||
		    !read_number(g_strstrip(colon), UINT8_MAX, &weight))
			return wrong(p, colon ? value : items[i],
				     "VL:WEIGHT, a VL from 0 to 14 and a weight from 0 to 255");
		entries[*n].vl = (uint8_t)vl;
		entries[*n].weight = (uint8_t)weight;
	}
	return items[0] || wrong(p, "nothing", "a list of VL:WEIGHT");
}

static bool scope_high(struct parser *p, const char *value)
{
	p->scope->sets |= QOS_SETS_HIGH;
	return read_entries(p, value, p->scope->high, &p->scope->n_high);
}

static bool scope_low(struct parser *p, const char *value)
{
	p->scope->sets |= QOS_SETS_LOW;
	return read_entries(p, value, p->scope->low, &p->scope->n_low);
}

static bool scope_limit(struct parser *p, const char *value)
{
	bool has;

	if (p->scope->sets & QOS_SETS_LIMIT)
		return wrong(p, value, "one vlarb-high-limit only");
	p->scope->sets |= QOS_SETS_LIMIT;
	return read_u8(p, value, UINT8_MAX, &p->scope->limit, &has);
}

static bool scope_sl2vl(struct parser *p, const char *value)
{
	g_auto(GStrv) items = g_strsplit(value, ",", -1);
	bool has;

	if (p->scope->sets & QOS_SETS_SL2VL)
		return wrong(p, value, "one sl2vl-table only");
	if (g_strv_length(items) != QOS_SLS)
		return wrong(p, value, "%u VLs, of SL 0 to %u", QOS_SLS, QOS_SLS - 1);
	p->scope->sets |= QOS_SETS_SL2VL;
	for (unsigned int sl = 0; sl < QOS_SLS; sl++)
		if (!read_u8(p, g_strstrip(items[sl]), QOS_DROP, &p->scope->vl[sl], &has))
			return false;
	return true;
}

static bool nothing(struct parser *p, const char *value)
{
	(void)p;
	(void)value;
	return true;
}

static const struct keyword {
	enum section section;
	const char *word;
	bool (*read)(struct parser *p, const char *value);
} keywords[] = {
	{GROUP, "name", group_name},
	{GROUP, "use", nothing},
	{GROUP, "port-guid", group_guids},
	{GROUP, "port-name", group_ports},
	{GROUP, "pkey", group_p_keys},
	{GROUP, "partition", group_partitions},
	{GROUP, "node-type", group_types},
	{VLARB, "group", scope_group},
	{VLARB, "across", scope_across},
	{VLARB, "vlarb-high", scope_high},
	{VLARB, "vlarb-low", scope_low},
	{VLARB, "vlarb-high-limit", scope_limit},
	{SL2VL, "group", scope_group},
	{SL2VL, "across", scope_across},
	{SL2VL, "across-from", scope_across_from},
	{SL2VL, "across-to", scope_across_to},
	{SL2VL, "from", scope_from},
	{SL2VL, "to", scope_to},
	{SL2VL, "sl2vl-table", scope_sl2vl},
	{LEVEL, "name", level_name},
	{LEVEL, "use", nothing},
	{LEVEL, "sl", level_sl},
	{LEVEL, "mtu-limit", level_mtu},
	{LEVEL, "rate-limit", level_rate},
	{LEVEL, "packet-life", level_life},
	{LEVEL, "path-bits", level_path_bits},
	{LEVEL, "pkey", level_p_key},
	{RULE, "use", nothing},
	{RULE, "qos-class", rule_classes},
	{RULE, "source", rule_sources},
	{RULE, "destination", rule_destinations},
	{RULE, "service-id", rule_services},
	{RULE, "pkey", rule_p_keys},
	{RULE, "qos-level-name", rule_level},
};

/* ---- the short form ---- */

/* A group of just those port GUIDs, without a name. */
static bool add_guids(struct parser *p, const char *value, struct qos_rule *rule, bool source)
{
	int index = (int)p->policy->groups->len;

	p->group = group_new(p);
	g_array_append_val(*(source ? &rule->sources : &rule->destinations), index);
	return read_ranges(p, value, UINT64_MAX, p->group->guids);
}

/* TCP ports, as the last 16 bits of service IDs. */
static bool add_ports(struct parser *p, const char *value, uint64_t first, struct qos_rule *rule)
{
	guint before = rule->services->len;

	if (!read_ranges(p, value, PORT_MAX, rule->services))
		return false;
	for (guint i = before; i < rule->services->len; i++) {
		struct qos_range *range = &g_array_index(rule->services, struct qos_range, i);

		range->first += first;
		range->last += first;
	}
	return true;
}

static void add_range(GArray *ranges, uint64_t first, uint64_t last)
{
	struct qos_range range = {first, last};

	g_array_append_val(ranges, range);
}

/* Who, without more. */
static bool ulp_alone(struct parser *p, const char *who, struct qos_rule *rule)
{
	if (!strcmp(who, "sdp"))
		add_range(rule->services, SDP_FIRST, SDP_FIRST + PORT_MAX);
	else if (!strcmp(who, "rds"))
		add_range(rule->services, RDS_FIRST + RDS_PORT, RDS_FIRST + RDS_PORT);
	else if (!strcmp(who, "iser"))
		add_range(rule->services, RDS_FIRST + ISER_PORT, RDS_FIRST + ISER_PORT);
	else if (!strcmp(who, "ipoib"))
		add_range(rule->p_keys, IPOIB_P_KEY, IPOIB_P_KEY);
	else
		return wrong(p, who, "default, sdp, rds, iser, ipoib, or srp or any with more");
	return true;
}

/* Who, and the "WORD value" behind the comma. */
static bool ulp_with(struct parser *p, const char *who, const char *word, const char *value,
		     struct qos_rule *rule)
{
	bool any = !strcmp(who, "any");

	if (!strcmp(word, "port-num") && !strcmp(who, "sdp"))
		return add_ports(p, value, SDP_FIRST, rule);
	if (!strcmp(word, "port-num") && (!strcmp(who, "rds") || !strcmp(who, "iser")))
		return add_ports(p, value, RDS_FIRST, rule);
	if (!strcmp(word, "target-port-guid") && (any || !strcmp(who, "srp")))
		return add_guids(p, value, rule, false);
	if (!strcmp(word, "source-port-guid") && any)
		return add_guids(p, value, rule, true);
	if (!strcmp(word, "source-target-port-guid") && any) {
		rule->either = true;
		return add_guids(p, value, rule, true);
	}
	if (!strcmp(word, "service-id") && any)
		return read_ranges(p, value, UINT64_MAX, rule->services);
	if (!strcmp(word, "pkey") && (any || !strcmp(who, "ipoib"))) {
		bool well = read_ranges(p, value, 0xFFFF, rule->p_keys);

		mask_p_keys(rule->p_keys);
		return well;
	}
	return wrong(p, word, "what may stand behind '%s'", who);
}

static unsigned int level_of_sl(struct qos_policy *policy, uint8_t sl)
{
	g_autofree char *name = g_strdup_printf("SL %u", sl);
	unsigned int index;
	struct qos_level *level;

	if (find_level(policy, name, &index))
		return index;
	level = level_new(policy, name);
	level->sl = sl;
	level->has_sl = true;
	return policy->levels->len - 1;
}

/* "who[, word value]" */
static bool read_ulp(struct parser *p, char *text, uint8_t sl)
{
	char *more = strchr(text, ','), *value;
	struct qos_rule *rule;

	if (more)
		*more++ = '\0';
	g_strstrip(text);
	if (!strcmp(text, "default") && !more) {
		if (p->has_fallback)
			return wrong(p, text, "one default only");
		p->has_fallback = true;
		p->policy->fallback = level_of_sl(p->policy, sl);
		return true;
	}
	rule = rule_new(p, p->ulps);
	rule->level = level_of_sl(p->policy, sl);
	if (!more)
		return ulp_alone(p, text, rule);
	g_strstrip(more);
	value = more + strcspn(more, " \t");
	if (*value)
		*value++ = '\0';
	return ulp_with(p, text, more, g_strstrip(value), rule);
}

/* The SL is behind the last colon. */
static bool read_ulp_line(struct parser *p, char *text)
{
	char *colon = strrchr(text, ':');
	uint64_t sl;

	if (!colon)
		return wrong(p, text, "a rule, ':' and an SL");
	*colon++ = '\0';
	if (!read_number(g_strstrip(colon), 15, &sl))
		return wrong(p, colon, "an SL from 0 to 15");
	return read_ulp(p, text, (uint8_t)sl);
}

/* ---- sections ---- */

static bool begin(struct parser *p, enum section section)
{
	p->section = section;
	p->section_line = p->line;
	switch (section) {
	case GROUP:
		p->group = group_new(p);
		break;
	case LEVEL:
		p->level = level_new(p->policy, NULL);
		break;
	case RULE:
		p->rule = rule_new(p, p->policy->rules);
		break;
	case VLARB:
	case SL2VL:
		if (p->policy->scopes->len == QOS_SCOPES_MAX)
			return wrong(p, sections[section].name, "at most %u scopes",
				     QOS_SCOPES_MAX);
		p->scope = scope_new(p);
		p->scope_has_ends = false;
		break;
	default:
		break;
	}
	return true;
}

static bool end_scope(const struct parser *p)
{
	const struct qos_scope *scope = p->scope;

	if (!p->scope_has_ends)
		return wrong(p, "the end", "group: or across: in this %s",
			     sections[p->section].name);
	if (p->section == SL2VL && !scope->sets)
		return wrong(p, "the end", "sl2vl-table: in this sl2vl-scope");
	if (!scope->sets)
		warn(p, "this vlarb-scope sets nothing");
	return true;
}

static bool end(struct parser *p)
{
	const char *name = sections[p->section].name;

	if ((p->section == VLARB || p->section == SL2VL) && !end_scope(p))
		return false;
	if (p->section == GROUP && !p->group->name)
		return wrong(p, "the end", "name: in this %s", name);
	if (p->section == LEVEL && !p->level->name)
		return wrong(p, "the end", "name: in this %s", name);
	if (p->section == LEVEL && !p->level->has_sl)
		return wrong(p, "the end", "sl: in this %s", name);
	if (p->section == RULE && !p->rule_level)
		return wrong(p, "the end", "qos-level-name: in this %s", name);
	if (p->section == RULE)
		g_ptr_array_add(p->rule_levels, g_steal_pointer(&p->rule_level));
	p->section = sections[p->section].in;
	return true;
}

/* The section that begins with this word here, or N_SECTIONS. */
static enum section section_named(const struct parser *p, const char *word)
{
	enum section section = GROUPS;

	while (section < N_SECTIONS &&
	       (sections[section].in != p->section || strcmp(sections[section].name, word) != 0))
		section++;
	return section;
}

static bool read_keyword(struct parser *p, char *text)
{
	char *colon = strchr(text, ':');

	if (colon)
		*colon++ = '\0';
	g_strstrip(text);
	for (size_t i = 0; colon && i < G_N_ELEMENTS(keywords); i++)
		if (keywords[i].section == p->section && !strcmp(keywords[i].word, text))
			return keywords[i].read(p, g_strstrip(colon));
	return wrong(p, text, "what may stand in %s (which begins in line %u), or its end",
		     sections[p->section].name, p->section_line);
}

static bool read_line(struct parser *p, char *text)
{
	enum section section;

	text[strcspn(text, "#")] = '\0';
	g_strstrip(text);
	if (!*text)
		return true;
	if (g_str_has_prefix(text, "end-") && p->section != TOP &&
	    !strcmp(text + 4, sections[p->section].name))
		return end(p);
	section = section_named(p, text);
	if (section != N_SECTIONS)
		return begin(p, section);
	return p->section == ULPS ? read_ulp_line(p, text) : read_keyword(p, text);
}

/* ---- the file ---- */

static bool name_levels(struct parser *p)
{
	for (guint i = 0; i < p->policy->rules->len; i++) {
		struct qos_rule *rule = p->policy->rules->pdata[i];
		const char *name = p->rule_levels->pdata[i];

		p->line = rule->line;
		if (!find_level(p->policy, name, &rule->level))
			return wrong(p, name, "the name of a qos-level");
	}
	return true;
}

static bool find_groups(struct parser *p)
{
	g_autoptr(GHashTable) groups = g_hash_table_new(g_str_hash, g_str_equal);

	for (guint i = 0; i < p->policy->groups->len; i++) {
		struct qos_group *group = p->policy->groups->pdata[i];

		if (group->name)
			g_hash_table_insert(groups, group->name, GUINT_TO_POINTER(i + 1));
	}
	for (guint i = 0; i < p->mentions->len; i++) {
		const struct mention *mention = &g_array_index(p->mentions, struct mention, i);
		int index = GPOINTER_TO_INT(g_hash_table_lookup(groups, mention->name)) - 1;

		p->line = mention->line;
		if (index < 0)
			return wrong(p, mention->name, "the name of a group");
		g_array_append_val(mention->indexes, index);
	}
	return true;
}

static bool finish(struct parser *p)
{
	unsigned int index;

	if (p->section != TOP)
		return wrong(p, "the end of the file", "end-%s (it begins in line %u)",
			     sections[p->section].name, p->section_line);
	if (!name_levels(p) || !find_groups(p))
		return false;
	if (find_level(p->policy, DEFAULT_LEVEL, &index)) {
		p->policy->fallback = index;
		p->has_fallback = true;
	}
	if (!p->has_fallback)
		return wrong(p, "no such level",
			     "a qos-level named DEFAULT, or default among qos-ulps");
	for (guint i = 0; i < p->ulps->len; i++)
		g_ptr_array_add(p->policy->rules, p->ulps->pdata[i]);
	g_ptr_array_set_free_func(p->ulps, NULL);
	return true;
}

static void clear_mention(void *data)
{
	g_free(((struct mention *)data)->name);
}

static bool parse(struct parser *p, const char *text)
{
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);

	for (unsigned int i = 0; lines[i]; i++) {
		p->line = i + 1;
		if (!read_line(p, lines[i]))
			return false;
	}
	return finish(p);
}

struct qos_policy *qos_policy_parse(const char *file, const char *text, GError **error)
{
	struct parser p = {.file = file, .line = 1, .error = error};
	bool well;

	p.policy = policy_new(file);
	p.policy->text = g_strdup(text);
	p.rule_levels = g_ptr_array_new_with_free_func(g_free);
	p.ulps = g_ptr_array_new_with_free_func(rule_free);
	p.mentions = g_array_new(FALSE, FALSE, sizeof(struct mention));
	g_array_set_clear_func(p.mentions, clear_mention);
	well = parse(&p, text);
	g_ptr_array_unref(p.ulps);
	g_ptr_array_unref(p.rule_levels);
	g_array_unref(p.mentions);
	g_free(p.rule_level);
	if (well)
		return p.policy;
	qos_policy_unref(p.policy);
	return NULL;
}

struct qos_policy *qos_policy_load(const char *file, GError **error)
{
	g_autoptr(GError) failure = NULL;
	g_autofree char *text = NULL;
	struct qos_policy *policy;
	gsize length;

	text = file ? file_read(file, FILE_MAX_CONFIG, &length, &failure) : NULL;
	if (text && memchr(text, '\0', length)) {
		g_set_error(error, QOS_FILE_ERROR, QOS_FILE_ERROR_SYNTAX,
			    "%s: found a zero octet, expected text", file);
		return NULL;
	}
	if (text)
		return qos_policy_parse(file, text, error);
	if (file && !g_error_matches(failure, G_FILE_ERROR, G_FILE_ERROR_NOENT)) {
		g_set_error(error, QOS_FILE_ERROR, QOS_FILE_ERROR_READ, "%s", failure->message);
		return NULL;
	}
	policy = policy_new(file);
	level_new(policy, DEFAULT_LEVEL);
	return policy;
}

/* ---- matching ---- */

bool qos_ranges_have(const GArray *ranges, uint64_t value)
{
	for (guint i = 0; i < ranges->len; i++) {
		const struct qos_range *range = &g_array_index(ranges, struct qos_range, i);

		if (value >= range->first && value <= range->last)
			return true;
	}
	return false;
}

static bool fits(const GArray *ranges, bool has, uint64_t value)
{
	return !ranges->len || (has && qos_ranges_have(ranges, value));
}

static bool is_in_one(const struct qos_query *query, const GArray *groups, bool destination)
{
	for (guint i = 0; i < groups->len; i++)
		if (query->is_in(query->arg, (unsigned int)g_array_index(groups, int, i),
				 destination))
			return true;
	return false;
}

static bool ends_fit(const struct qos_rule *rule, const struct qos_query *query)
{
	if (rule->either)
		return is_in_one(query, rule->sources, false) ||
		       is_in_one(query, rule->sources, true);
	return (!rule->sources->len || is_in_one(query, rule->sources, false)) &&
	       (!rule->destinations->len || is_in_one(query, rule->destinations, true));
}

const struct qos_level *qos_policy_level(const struct qos_policy *policy, struct qos_query *query)
{
	query->rule = NULL;
	for (guint i = 0; i < policy->rules->len; i++) {
		const struct qos_rule *rule = policy->rules->pdata[i];

		if (fits(rule->classes, query->has_class, query->qos_class) &&
		    fits(rule->services, query->has_service, query->service_id) &&
		    fits(rule->p_keys, query->has_p_key, query->p_key & P_KEY_MASK) &&
		    ends_fit(rule, query)) {
			query->rule = rule;
			return policy->levels->pdata[rule->level];
		}
	}
	return policy->levels->pdata[policy->fallback];
}
