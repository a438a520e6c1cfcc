// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * partitions.conf: rules whose P_Keys differ and members that can be looked up, or a message; and
 * the same text as a request of members at run time.
 */
#include <string.h>

#include "policy/partition/partition.h"
#include "policy/partition/partition_changes.h"
#include "tests/fuzz/fuzz.h"

static void *setup(GPtrArray *seeds)
{
	fuzz_add_text(seeds, "Default=0x7fff, ipoib: ALL=full;\n");
	fuzz_add_text(seeds, "# nothing\n\n  \t\n");
	fuzz_add_text(seeds, "A=1,indx0,defmember=full,rate=6,mtu=5,scope=2,scope=5,sl=3:\n"
			     " SELF, ALL_CAS=both, 0x1-0x5=limited\n 0x2;B:ALL_SWITCHES;\n");
	fuzz_add_text(seeds, "@set: 0x1, \"node-*\";\n0x10,ipoib,Q_Key=0x80,TClass=3,FlowLabel=9:\n"
			     "mgid=ff12:401b::5,sl=1\nmgid=ff15::1,scope=14\n@set=full, NONE;");
	fuzz_add_text(seeds, "N=0x10,ipoib: 0x1=full, 0x2=none; 0x11: 0x3=both, 0x3=none, 0x4");
	fuzz_add_text(seeds, "include \"/nonexistent\"\nA:ALL_ROUTERS=f,A,S=l");
	return NULL;
}

static void check_rules(const struct partition_rules *rules)
{
	bool seen[0x8000] = {false};

	fuzz_expect(rules->rules->len > 0);
	for (guint i = 0; i < rules->rules->len; i++) {
		const struct partition_rule *rule = rules->rules->pdata[i];

		fuzz_expect(rule->p_key && rule->p_key < 0x8000 && !seen[rule->p_key]);
		fuzz_expect(rule->file < rules->files->len);
		seen[rule->p_key] = true;
		for (guint k = 0; k < rule->members->len; k++) {
			const struct partition_member *member =
				&g_array_index(rule->members, struct partition_member, k);

			fuzz_expect(member->membership <= PARTITION_BOTH);
			fuzz_expect(member->membership || member->file >= rules->n_own_files);
			fuzz_expect((member->who == PARTITION_NAMES) == (member->pattern != NULL));
			fuzz_expect(member->first <= member->last);
		}
		for (guint k = 0; k < rule->groups->len; k++)
			fuzz_expect(g_array_index(rule->groups, struct partition_group, k)
						    .mgid.prefix >>
					    56 ==
				    0xFF);
	}
	fuzz_expect(seen[0x7FFF]);
}

/* Accepted rules are kept as a text with the same meaning; requesting it again changes nothing. */
static void check_changes(const struct partition_rules *rules, struct partition_changes *changes,
			  const char *request)
{
	struct partition_rules *with = partition_rules_parse_requests("changes", changes->text,
								      strlen(changes->text), NULL);
	struct partition_changes *again = partition_changes_edit(changes, rules, request, 8, NULL);

	fuzz_expect(with && again == changes);
	partition_rules_unref(with);
	partition_changes_unref(again);
	with = partition_rules_load_with(NULL, changes, NULL);
	fuzz_expect(with != NULL);
	check_rules(with);
	partition_rules_unref(with);
}

static void run_request(const char *request)
{
	struct partition_changes *changes = partition_changes_load(NULL, NULL), *new;
	struct partition_rules *rules = partition_rules_load_with(NULL, changes, NULL);
	g_autoptr(GError) error = NULL;

	new = partition_changes_edit(changes, rules, request, 7, &error);
	fuzz_expect(!new == (error != NULL));
	if (new)
		check_changes(rules, new, request);
	partition_changes_unref(new);
	partition_changes_unref(changes);
	partition_rules_unref(rules);
}

static void run(void *state, const uint8_t *data, size_t size)
{
	g_autofree char *request = g_strndup((const char *)data, size);
	g_autoptr(GError) error = NULL;
	struct partition_rules *rules =
		partition_rules_parse("fuzz", (const char *)data, size, &error);

	(void)state;
	fuzz_expect(!rules == (error != NULL) && (!error || *error->message));
	if (rules)
		check_rules(rules);
	partition_rules_unref(rules);
	run_request(request);
}

static void teardown(void *state)
{
	(void)state;
}

const struct fuzz_target fuzz_target = {
	.name = "partition_file",
	.max_size = 1 << 14,
	.runs = 20000,
	.setup = setup,
	.run = run,
	.teardown = teardown,
};
