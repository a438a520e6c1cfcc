// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Reads the policy for ports that misbehave, as a whole or not at all: ports_policy.h. */
#include "policy/files/ports_policy.h"

#include <complib/file.h>
#include <string.h>

#include "core/words.h"

#define RELEASE_DEFAULT 600

enum { SECONDS, SWEEPS };

static const struct condition {
	const char *word, *text;
	bool sweeps;
	uint16_t count;
	uint32_t window;
} conditions[] = {
#define PORT_CONDITION(name, word, unit, count, window, text)                                      \
	{word, text, unit == SWEEPS, count, window},
#include "policy/files/port_conditions.def"
};

static const char *const actions[] = {
	[PORT_IGNORE] = "ignore",   [PORT_REPORT] = "report",	[PORT_NO_DISCOVER] = "no_discover",
	[PORT_ISOLATE] = "isolate", [PORT_DISABLE] = "disable", [PORT_ENABLE] = "enable",
};

static const char *const types[] = {
	[IBA_NODE_CA] = "ca",
	[IBA_NODE_SWITCH] = "switch",
	[IBA_NODE_ROUTER] = "router",
};

GQuark ports_policy_error_quark(void)
{
	return g_quark_from_static_string("ports-policy-error-quark");
}

const char *port_condition_word(unsigned int condition)
{
	return conditions[condition].word;
}

const char *port_condition_text(unsigned int condition)
{
	return conditions[condition].text;
}

const char *port_action_word(unsigned int action)
{
	return actions[action];
}

const char *port_type_word(unsigned int node_type)
{
	return types[node_type];
}

static bool is_word(const char *word, size_t length, const char *known)
{
	return known && strlen(known) == length && memcmp(word, known, length) == 0;
}

static int find_word(const char *word, size_t length, const char *const *words, int n)
{
	for (int i = 0; i < n; i++)
		if (is_word(word, length, words[i]))
			return i;
	return -1;
}

int port_condition_find(const char *word, size_t length)
{
	for (int i = 0; i < PORT_CONDITIONS; i++)
		if (is_word(word, length, conditions[i].word))
			return i;
	return -1;
}

int port_action_find(const char *word, size_t length)
{
	return find_word(word, length, actions, G_N_ELEMENTS(actions));
}

int port_type_find(const char *word, size_t length)
{
	return find_word(word, length, types, G_N_ELEMENTS(types));
}

/* ---- the file ---- */

struct reader {
	struct words w; /* first */
	struct ports_policy *policy;
	unsigned int said[PORT_CONDITIONS][IBA_NODE_ROUTER + 1]; /* line of the rule; 0: none */
};

/* The word must be an integer from 1 to max; continues after it. */
static bool read_number(struct reader *r, const char *what, uint64_t max, uint64_t *number,
			GError **error)
{
	g_autofree char *word = g_strndup(r->w.word, r->w.length);
	guint64 value;

	if (!g_ascii_string_to_unsigned(word, 10, 1, max, &value, NULL))
		return words_refuse(&r->w, error, "%s, a number from 1 to %" G_GUINT64_FORMAT, what,
				    max);
	*number = value;
	words_next(&r->w);
	return true;
}

static bool read_condition(struct reader *r, int *condition, GError **error)
{
	*condition = port_condition_find(r->w.word, r->w.length);
	if (*condition < 0 || *condition == PORT_BABBLING)
		return words_refuse(
			&r->w, error,
			"reboot, unresponsive, noisy_traps, set_errors, flapping, illegal "
			"or counters");
	words_next(&r->w);
	return true;
}

/* Bits 1 << IBA_NODE_CA .. */
static bool read_types(struct reader *r, unsigned int *bits, GError **error)
{
	int type = port_type_find(r->w.word, r->w.length);

	if (type < 0 && !words_is(&r->w, "all"))
		return words_refuse(&r->w, error, "ca, switch, router or all");
	*bits = type < 0 ? 1 << IBA_NODE_CA | 1 << IBA_NODE_SWITCH | 1 << IBA_NODE_ROUTER
			 : 1u << type;
	words_next(&r->w);
	return true;
}

static bool read_action(struct reader *r, struct port_rule *rule, GError **error)
{
	int action = port_action_find(r->w.word, r->w.length);

	if (action < 0 || action == PORT_ENABLE)
		return words_refuse(&r->w, error,
				    "ignore, report, no_discover, isolate or disable");
	rule->action = (uint8_t)action;
	words_next(&r->w);
	return true;
}

/* "N in SECONDS" or "N of SWEEPS". */
static bool read_threshold(struct reader *r, struct port_rule *rule, GError **error)
{
	uint64_t count, window;

	if (!read_number(r, "how often it may happen", PORT_RULE_COUNT_MAX, &count, error))
		return false;
	if (!words_is(&r->w, rule->sweeps ? "of" : "in"))
		return words_refuse(&r->w, error, "%s",
				    rule->sweeps ? "of, and a number of sweeps"
						 : "in, and seconds");
	words_next(&r->w);
	if (!read_number(r, rule->sweeps ? "sweeps" : "seconds", PORT_RULE_WINDOW_MAX, &window,
			 error))
		return false;
	rule->count = (uint16_t)count;
	rule->window = (uint32_t)window;
	return true;
}

static bool read_release(struct reader *r, struct port_rule *rule, GError **error)
{
	uint64_t release;

	words_next(&r->w);
	if (words_is(&r->w, "never")) {
		rule->release = 0;
		words_next(&r->w);
		return true;
	}
	if (!read_number(r, "never or seconds", PORT_RULE_RELEASE_MAX, &release, error))
		return false;
	rule->release = (uint32_t)release;
	return true;
}

/* The options after the action, each at most once and in this order. */
static bool read_rest(struct reader *r, struct port_rule *rule, GError **error)
{
	if (r->w.length && g_ascii_isdigit(*r->w.word) && !read_threshold(r, rule, error))
		return false;
	if (words_is(&r->w, "release") && !read_release(r, rule, error))
		return false;
	if (words_is(&r->w, "cut_off")) {
		rule->cut_off = true;
		words_next(&r->w);
	}
	if (r->w.length)
		return words_refuse(&r->w, error,
				    "%s, release, cut_off or the end of the line, in this order",
				    rule->sweeps ? "N of SWEEPS" : "N in SECONDS");
	if (rule->sweeps && rule->count > rule->window)
		return words_refuse(&r->w, error,
				    "the number of sweeps with the condition (%u) to be at "
				    "most that of sweeps (%u)",
				    rule->count, rule->window);
	return true;
}

static bool take_rule(struct reader *r, unsigned int condition, unsigned int bits,
		      const struct port_rule *rule, GError **error)
{
	for (unsigned int type = IBA_NODE_CA; type <= IBA_NODE_ROUTER; type++) {
		if (!(bits & 1u << type))
			continue;
		if (r->said[condition][type])
			return words_refuse(
				&r->w, error, "no second rule for %s of a %s (the first: line %u)",
				conditions[condition].word, types[type], r->said[condition][type]);
		r->said[condition][type] = r->w.line;
		r->policy->rules[condition][type] = *rule;
		r->policy->n_rules++;
	}
	return true;
}

static bool read_line(struct words *words, GError **error)
{
	struct reader *r = (struct reader *)words;
	unsigned int bits = 0;
	struct port_rule rule;
	int condition;

	if (!read_condition(r, &condition, error) || !read_types(r, &bits, error))
		return false;
	rule = r->policy->rules[condition][IBA_NODE_CA];
	rule.release = RELEASE_DEFAULT;
	rule.count = conditions[condition].count;
	rule.window = conditions[condition].window;
	rule.cut_off = false;
	return read_action(r, &rule, error) && read_rest(r, &rule, error) &&
	       take_rule(r, (unsigned int)condition, bits, &rule, error);
}

static struct ports_policy *policy_new(void)
{
	struct ports_policy *policy = g_new0(struct ports_policy, 1);

	ref_init(&policy->ref);
	for (unsigned int i = 0; i < PORT_CONDITIONS; i++)
		for (unsigned int type = 0; type <= IBA_NODE_ROUTER; type++)
			policy->rules[i][type] = (struct port_rule){
				.action = i == PORT_BABBLING ? PORT_IGNORE : PORT_REPORT,
				.sweeps = conditions[i].sweeps,
				.count = conditions[i].count,
				.window = conditions[i].window,
				.release = RELEASE_DEFAULT,
			};
	return policy;
}

struct ports_policy *ports_policy_parse(const char *file, const char *text, size_t length,
					GError **error)
{
	struct reader r = {
		.w = {.file = file, .domain = PORTS_POLICY_ERROR},
		.policy = policy_new(),
	};

	if (!words_read(&r.w, text, length, read_line, error))
		g_clear_pointer(&r.policy, ports_policy_unref);
	return r.policy;
}

struct ports_policy *ports_policy_load(const struct options *options, GError **error)
{
	const char *file = options->hm_ports_health_policy_file;
	struct ports_policy *policy = NULL;
	g_autofree char *text = NULL;
	gsize length;

	if (!file)
		return policy_new();
	text = file_read(file, FILE_MAX_CONFIG, &length, error);
	if (text)
		policy = ports_policy_parse(file, text, length, error);
	if (!policy)
		g_prefix_error(error, "hm_ports_health_policy_file: ");
	return policy;
}

struct ports_policy *ports_policy_ref(struct ports_policy *policy)
{
	ref_get(&policy->ref);
	return policy;
}

void ports_policy_unref(struct ports_policy *policy)
{
	if (policy && ref_put(&policy->ref))
		g_free(policy);
}
