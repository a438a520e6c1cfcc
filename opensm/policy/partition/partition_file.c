// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Reads partitions.conf line by line, as the classic daemon does: a definition begins on one line,
 * up to its ':', its members may continue over several lines, and ';' ends it.
 *
 *	FILE   = { DEFINITION | '@' NAME ':' MEMBERS ';' | "include" FILE newline }
 *	DEFINITION = [NAME] ['=' P_KEY] { ',' FLAG ['=' VALUE] } ':' MEMBERS ';'
 *	MEMBERS = { MEMBER ['=' MEMBERSHIP] (',' | newline) |
 *		   "mgid" '=' GID { ',' FLAG '=' VALUE } newline }
 *
 * A wrong member is reported and skipped; after a wrong beginning of a definition everything is
 * skipped up to its ';'. Reading then continues, but nothing of such a file is used.
 *
 * Keywords may be abbreviated at any point, and an empty one is ignored. Members that were added
 * and removed at run time (partition_changes.h) are read after everything else; there members are
 * GUIDs, and may be "none".
 */
#include "policy/partition/partition_file.h"

#include <complib/file.h>
#include <errno.h>
#include <gio/gio.h>
#include <stdarg.h>
#include <string.h>

#include "core/mistakes.h"
#include "policy/partition/partition.h"
#include "policy/partition/partition_changes.h"
#include "policy/partition/partition_sources.h"

#define SHOWN 64 /* characters of a wrong word shown in a message */
#define WARNINGS_MAX 100
#define DEPTH_MAX 8
#define OWN_KEPT 64 /* octets of partitions.state that identify it */
#define FILES_MAX 256
#define MEMBERS_MAX (4u << 20)
#define RULES_MAX 0x7FFF
#define SETS_MAX 65536
#define GROUPS_MAX 16384 /* the number of MLIDs */

GQuark partition_error_quark(void)
{
	return g_quark_from_static_string("partition-error-quark");
}

enum flag { FLAG_MTU, FLAG_RATE, FLAG_SCOPE, FLAG_Q_KEY, FLAG_T_CLASS, FLAG_SL, FLAG_FLOW, FLAGS };

/* Flags of a definition, or of a group in it. */
struct flags {
	uint32_t value[FLAGS];
	bool given[FLAGS];
	uint16_t scopes; /* one bit each */
};

/* A group to be created, whose P_Key may not be known yet. */
struct wish {
	struct partition_rule *rule;
	struct flags flags;
	struct iba_gid mgid;
	bool broadcast;
	uint32_t file, line;
};

struct parser {
	struct partition_rules *rules;
	GHashTable *by_key; /* P_Key -> struct partition_rule */
	GHashTable *sets;   /* name -> GArray of struct partition_member */
	GArray *wishes;	    /* struct wish, in file order */
	GChecksum *checksum;
	uint64_t octets;
	uint32_t n_members, n_warnings, n_definitions, n_groups, n_indx0;
	unsigned int n_said;	     /* pieces of lines other than comments */
	unsigned int depth;
	uint32_t file, line;	     /* current position */
	char *text;		     /* the line, cut into pieces */
	struct partition_rule *rule; /* whose members are being read, */
	GArray *set;		     /* or the set; both NULL between definitions */
	uint32_t rule_line;	     /* line where its definition begins */
	bool skipping;		     /* up to the ';' of a definition with a wrong beginning */
	bool has_skipped;	     /* so some sets may be missing */
	struct mistakes mistakes;
	struct flags flags;		      /* of the current or the last definition */
	uint8_t membership;		      /* default for members */
	struct partition_changes *changes;    /* read after all files; NULL: none */
	const struct partition_sources *kept; /* read instead of the disk; NULL: the disk */
	bool requests;			      /* what is read belongs to changes, or will */
};

/* ---- messages ---- */

static char *shown(const char *word)
{
	g_autofree char *some = g_strndup(word, SHOWN);

	return g_strescape(some, NULL);
}

static const char *file_name(const struct parser *parser)
{
	return parser->rules->files->pdata[parser->file];
}

/* found points into the line. */
static bool refuse(const struct parser *parser, const char *found, const char *expected,
		   GError **error)
{
	g_autofree char *word = shown(found);

	g_set_error(error, PARTITION_ERROR, PARTITION_ERROR_SYNTAX,
		    "%s:%u:%u: found '%s', expected %s", file_name(parser), parser->line,
		    (unsigned int)(found - parser->text) + 1, word, expected);
	return false;
}

/* Takes ownership of wrong. False: stop reading, as there are too many errors. */
static bool go_on_behind(struct parser *parser, GError *wrong)
{
	bool small = !g_error_matches(wrong, PARTITION_ERROR, PARTITION_ERROR_LIMIT);

	mistakes_take(&parser->mistakes, wrong);
	return small;
}

/* fate: what becomes of it; NULL: nothing. A request is refused, so it is not told there. */
G_GNUC_PRINTF(3, 4)
static void warn(struct parser *parser, const char *fate, const char *format, ...)
{
	bool has_fate = fate && !parser->requests;
	g_autofree char *raw = NULL, *escaped = NULL;
	va_list args;

	if (parser->n_warnings++ >= WARNINGS_MAX)
		return;
	va_start(args, format);
	raw = g_strdup_vprintf(format, args);
	va_end(args);
	escaped = g_strescape(raw, "\"");
	g_ptr_array_add(parser->rules->warnings,
			g_strdup_printf("%s:%u: %s%s%s", file_name(parser), parser->line, escaped,
					has_fate ? "; " : "", has_fate ? fate : ""));
}

/* ---- words ---- */

/* Whether text is the keyword or an abbreviation of it. */
static bool is_keyword(struct parser *parser, const char *text, const char *keyword)
{
	if (!*text || strncmp(text, keyword, strlen(text)) != 0)
		return false;
	if (strlen(text) < strlen(keyword))
		warn(parser, NULL, "'%s' is taken for %s", text, keyword);
	return true;
}

/* Strips blanks around it; the text is not moved, so that its column can be found. */
static char *strip(char *text)
{
	return g_strchomp(text + strspn(text, " \t\r\f\v"));
}

/* The end of the text up to one of the characters, of which there are 1 or 2, outside quotes. */
static char *find_end(char *at, const char *stops)
{
	char a = stops[0], b = stops[1] ? stops[1] : a;
	bool quoted = false;

	for (; *at && (quoted || (*at != a && *at != b)); at++)
		quoted ^= *at == '"';
	return at;
}

/* Cuts off the piece up to a comma; *at is set after it, or to NULL at the end. */
static char *next_piece(char **at)
{
	char *piece = *at, *end = find_end(piece, ",");

	*at = *end ? end + 1 : NULL;
	*end = '\0';
	return strip(piece);
}

/* Splits NAME=VALUE; NULL if there is no '='. */
static char *split_value(char *piece)
{
	char *end = find_end(piece, "=");

	if (!*end)
		return NULL;
	*end = '\0';
	g_strchomp(piece);
	return strip(end + 1);
}

/* A whole word as a number: hexadecimal after 0x, octal after 0. */
static bool to_number(const char *word, uint64_t max, uint64_t *value)
{
	char *end;

	if (!g_ascii_isdigit(*word))
		return false;
	errno = 0;
	*value = g_ascii_strtoull(word, &end, 0);
	return !errno && !*end && *value <= max;
}

/* ---- flags ---- */

static const struct {
	const char *name;
	uint32_t min, max;
	const char *meaning; /* of the codes; NULL: plain numbers */
} flags_known[FLAGS] = {
	/* the order in which the classic daemon tries them for an abbreviated keyword */
	[FLAG_MTU] = {"mtu", 1, 5, ", a code: 1 is 256 octets, 4 is 2048, 5 is 4096"},
	[FLAG_RATE] = {"rate", 2, 24, ", a code: 3 is 10 Gb/s, 7 is 40, 16 is 100"},
	[FLAG_SCOPE] = {"scope", 0, 15},
	[FLAG_Q_KEY] = {"Q_Key", 0, UINT32_MAX},
	[FLAG_T_CLASS] = {"TClass", 0, 255},
	[FLAG_SL] = {"sl", 0, 15},
	[FLAG_FLOW] = {"FlowLabel", 0, 0xFFFFF},
};

#define FLAG_NAMES "mtu, rate, scope, Q_Key, TClass, sl or FlowLabel"

/* True if it is a flag of groups, even if its value is ignored. */
static bool take_flag(struct parser *parser, const char *name, const char *text,
		      struct flags *flags)
{
	for (unsigned int i = 0; i < FLAGS; i++) {
		uint64_t value;

		if (!is_keyword(parser, name, flags_known[i].name))
			continue;
		if (!text || !to_number(text, flags_known[i].max, &value) ||
		    value < flags_known[i].min) {
			warn(parser, "it is ignored", "%s: found '%s', expected %u to %u%s",
			     flags_known[i].name, text ? text : "", flags_known[i].min,
			     flags_known[i].max,
			     flags_known[i].meaning ? flags_known[i].meaning : "");
			return true;
		}
		flags->given[i] = true;
		flags->value[i] = (uint32_t)value;
		if (i == FLAG_SCOPE)
			flags->scopes |= (uint16_t)(1u << value);
		return true;
	}
	return false;
}

/* 0: not a membership. */
static uint8_t to_membership(struct parser *parser, const char *text)
{
	if (is_keyword(parser, text, "full"))
		return PARTITION_FULL;
	if (is_keyword(parser, text, "both"))
		return PARTITION_BOTH;
	return is_keyword(parser, text, "limited") ? PARTITION_LIMITED : 0;
}

static void take_default_membership(struct parser *parser, const char *text)
{
	uint8_t membership = text ? to_membership(parser, text) : 0;

	if (membership)
		parser->membership = membership;
	else
		warn(parser, "it is ignored",
		     "defmember: found '%s', expected full, limited or both",
		     text ? text : "");
}

static bool is_no(const struct parser *parser, const char *value)
{
	return parser->requests && value && !strcmp(value, "no") &&
	       parser->rule->file >= parser->rules->n_own_files;
}

static void take_definition_flag(struct parser *parser, char *piece, struct flags *flags)
{
	struct partition_rule *rule = parser->rule;
	const char *value = split_value(piece);

	if (!*piece)
		warn(parser, "it is ignored", "a flag is empty");
	else if (take_flag(parser, piece, value, flags))
		;
	else if (is_keyword(parser, piece, "ipoib"))
		rule->ipoib = !is_no(parser, value);
	else if (is_keyword(parser, piece, "defmember"))
		take_default_membership(parser, value);
	else if (!strcmp(piece, "indx0"))
		rule->indx0 = is_no(parser, value) ? 0 : ++parser->n_indx0;
	else if (parser->requests && !strcmp(piece, "stays"))
		rule->stays = !is_no(parser, value);
	else
		warn(parser, "it is ignored",
		     "found '%.*s', expected ipoib, defmember, indx0%s, " FLAG_NAMES, SHOWN, piece,
		     parser->requests ? ", stays" : "");
}

/* ---- definitions ---- */

static void rule_free(gpointer data)
{
	struct partition_rule *rule = data;

	g_array_unref(rule->members);
	g_array_unref(rule->groups);
	g_free(rule);
}

/* The rule with that P_Key; 0: a new one, which gets its P_Key at the end. */
static struct partition_rule *rule_of(struct parser *parser, uint16_t p_key, const char *name)
{
	struct partition_rule *rule = NULL;

	if (p_key)
		rule = g_hash_table_lookup(parser->by_key, GUINT_TO_POINTER(p_key));
	if (rule)
		return rule;
	rule = g_new0(struct partition_rule, 1);
	rule->p_key = p_key;
	rule->name = g_string_chunk_insert(parser->rules->texts, name);
	rule->file = parser->file;
	rule->line = parser->line;
	rule->members = g_array_new(FALSE, FALSE, sizeof(struct partition_member));
	rule->groups = g_array_new(FALSE, FALSE, sizeof(struct partition_group));
	g_ptr_array_add(parser->rules->rules, rule);
	if (p_key)
		g_hash_table_insert(parser->by_key, GUINT_TO_POINTER(p_key), rule);
	return rule;
}

static void add_wish(struct parser *parser, const struct flags *flags, const struct iba_gid *mgid)
{
	struct wish wish = {
		.rule = parser->rule,
		.flags = *flags,
		.broadcast = !mgid,
		.file = parser->file,
		.line = parser->line,
	};

	if (mgid)
		wish.mgid = *mgid;
	g_array_append_val(parser->wishes, wish);
}

/* NAME=P_KEY, or the P_Key alone if that begins with a digit. */
static bool begin_rule(struct parser *parser, char *piece, GError **error)
{
	char *key = split_value(piece);
	uint64_t p_key = 0;

	if (!key && g_ascii_isdigit(*piece)) {
		key = piece;
		piece = "";
	}
	if (key && !to_number(key, 0xFFFF, &p_key))
		return refuse(parser, key, "a P_Key up to 0xffff", error);
	if (!g_utf8_validate(piece, -1, NULL))
		return refuse(parser, piece, "a name in UTF-8", error);
	if (parser->requests && !P_KEY_BASE(p_key))
		return refuse(parser, key ? key : piece, "a P_Key from 1 to 0x7fff", error);
	if (parser->rules->rules->len == RULES_MAX)
		return refuse(parser, piece, "at most as many partitions as there are P_Keys",
			      error);
	parser->n_definitions++;
	parser->rule = rule_of(parser, P_KEY_BASE(p_key), piece);
	parser->membership = PARTITION_LIMITED;
	return true;
}

static bool begin_set(struct parser *parser, char *name, GError **error)
{
	if (!name[1] || !g_utf8_validate(name, -1, NULL))
		return refuse(parser, name, "a name after @", error);
	if (g_hash_table_contains(parser->sets, name))
		return refuse(parser, name, "a name that was not used before", error);
	if (g_hash_table_size(parser->sets) == SETS_MAX)
		return refuse(parser, name, "fewer sets", error);
	parser->set = g_array_new(FALSE, FALSE, sizeof(struct partition_member));
	g_hash_table_insert(parser->sets, g_strdup(name), parser->set);
	return true;
}

/*
 * For requests more than the P_Key is kept, to be written again: flags, until new ones are given.
 */
static void keep_head(struct parser *parser, const char *head)
{
	const char *before = parser->rule->head, *flags = before ? strchr(before, ',') : NULL;
	g_autofree char *text = NULL;

	if (!parser->requests || !strpbrk(head, "=,"))
		return;
	text = g_strconcat(head, strchr(head, ',') ? NULL : flags, NULL);
	parser->rule->head = g_string_chunk_insert(parser->rules->texts, text);
}

/* Reads everything before the ':' of a definition; *at is set after it. */
static bool begin_definition(struct parser *parser, char **at, GError **error)
{
	char *head = *at, *colon = find_end(head, ":;"), *rest;
	struct flags *flags = &parser->flags;
	g_autofree char *copy = NULL;

	parser->rule_line = parser->line;
	if (*colon != ':')
		return refuse(parser, head, "NAME=P_KEY, flags and ':' in one line", error);
	*colon = '\0';
	*at = colon + 1;
	if (*head == '@' && !parser->requests)
		return begin_set(parser, g_strchomp(head), error);
	copy = g_strchomp(g_strdup(head));
	rest = head;
	if (!begin_rule(parser, next_piece(&rest), error))
		return false;
	keep_head(parser, copy);
	*flags = (struct flags){.scopes = 0};
	while (rest)
		take_definition_flag(parser, next_piece(&rest), flags);
	if (flags->given[FLAG_SL])
		parser->rule->sl = (uint8_t)flags->value[FLAG_SL];
	if (flags->given[FLAG_MTU])
		parser->rule->mtu = (uint8_t)flags->value[FLAG_MTU];
	if (flags->given[FLAG_RATE])
		parser->rule->rate = (uint8_t)flags->value[FLAG_RATE];
	if (parser->rule->ipoib)
		add_wish(parser, flags, NULL);
	return true;
}

/* ---- members ---- */

static bool add_member(struct parser *parser, struct partition_member *member, const char *at,
		       GError **error)
{
	if (parser->n_members++ >= MEMBERS_MAX) {
		g_set_error(error, PARTITION_ERROR, PARTITION_ERROR_LIMIT,
			    "%s:%u: '%.*s' is member number %u: too many", file_name(parser),
			    parser->line, SHOWN, at, MEMBERS_MAX);
		return false;
	}
	member->file = parser->file;
	member->line = parser->line;
	parser->rules->has_patterns |= member->who == PARTITION_NAMES;
	g_array_append_val(parser->set ? parser->set : parser->rule->members, *member);
	return true;
}

static bool add_set(struct parser *parser, const char *name, uint8_t membership, GError **error)
{
	const GArray *set = g_hash_table_lookup(parser->sets, name);

	if (!set && parser->has_skipped)
		return true; /* the reason it is missing may have been reported */
	if (!set || set == parser->set)
		return refuse(parser, name, "the name of a set that is defined before", error);
	for (guint i = 0; i < set->len; i++) {
		struct partition_member member = g_array_index(set, struct partition_member, i);

		member.membership = membership;
		if (!add_member(parser, &member, name, error))
			return false;
	}
	return true;
}

static bool read_guids(char *text, struct partition_member *member)
{
	char *dash = strchr(text, '-');
	bool good;

	member->who = PARTITION_GUIDS;
	if (dash)
		*dash = '\0';
	good = to_number(g_strchomp(text), UINT64_MAX, &member->first) && member->first;
	member->last = member->first;
	if (dash) {
		good = good && to_number(strip(dash + 1), UINT64_MAX, &member->last) &&
		       member->last >= member->first;
		*dash = '-';
	}
	return good;
}

static bool read_pattern(struct parser *parser, char *text, struct partition_member *member)
{
	size_t n = strlen(text);

	if (n < 3 || text[n - 1] != '"' || !g_utf8_validate(text, -1, NULL))
		return false;
	text[n - 1] = '\0';
	member->who = PARTITION_NAMES;
	member->pattern = g_string_chunk_insert_const(parser->rules->texts, text + 1);
	text[n - 1] = '"';
	return true;
}

static bool read_keyword(struct parser *parser, const char *text, struct partition_member *member)
{
	static const struct {
		const char *name;
		uint8_t who;
	} keywords[] = {
		{"ALL", PARTITION_ALL},
		{"ALL_CAS", PARTITION_CAS},
		{"ALL_SWITCHES", PARTITION_SWITCHES},
		{"ALL_ROUTERS", PARTITION_ROUTERS},
		{"SELF", PARTITION_SELF},
	};

	for (unsigned int i = 0; i < G_N_ELEMENTS(keywords); i++)
		if (is_keyword(parser, text, keywords[i].name)) {
			member->who = keywords[i].who;
			return true;
		}
	return false;
}

static uint8_t membership_of(struct parser *parser, const char *text)
{
	uint8_t membership;

	if (!text)
		return parser->membership;
	membership = to_membership(parser, text);
	if (!membership)
		warn(parser, "it counts as limited",
		     "found '%.*s', expected the membership full, limited or both", SHOWN, text);
	return membership ? membership : PARTITION_LIMITED;
}

/* GUID[=MEMBERSHIP]; the membership may be none. */
static bool read_request(struct parser *parser, char *piece, const char *value, GError **error)
{
	struct partition_member member = {.pattern = NULL};

	if (!g_ascii_isdigit(*piece) || !read_guids(piece, &member) ||
	    member.first != member.last)
		return refuse(parser, piece, "the GUID of a port", error);
	if (!value || strcmp(value, "none") != 0)
		member.membership = membership_of(parser, value);
	return add_member(parser, &member, piece, error);
}

/* What looks like the beginning of a definition is among members. */
static bool refuse_end(const struct parser *parser, const char *piece, GError **error)
{
	g_autofree char *expected = g_strdup_printf(
		"a member, or before it ';', which ends the definition that line %u begins",
		parser->rule_line);

	return refuse(parser, piece, expected, error);
}

static bool read_member(struct parser *parser, char *piece, GError **error)
{
	struct partition_member member = {.pattern = NULL};
	char *value = split_value(piece);
	bool good;

	if (value && parser->set)
		return refuse(parser, value,
			      "no membership in a set: write it where the set is used", error);
	if (!*piece || (!parser->requests && is_keyword(parser, piece, "NONE")))
		return true;
	if (parser->requests)
		return read_request(parser, piece, value, error);
	member.membership = membership_of(parser, value);
	if (*piece == '@')
		return add_set(parser, piece, member.membership, error);
	if (*piece == '"')
		good = read_pattern(parser, piece, &member);
	else if (g_ascii_isdigit(*piece))
		good = read_guids(piece, &member);
	else
		good = read_keyword(parser, piece, &member);
	if (!good && value && strchr(value, ':'))
		return refuse_end(parser, piece, error);
	if (!good)
		return refuse(parser, piece,
			      "a port GUID, GUID-GUID, \"NODE*\", @SET, ALL, "
			      "ALL_CAS, ALL_SWITCHES, ALL_ROUTERS, SELF or NONE",
			      error);
	return add_member(parser, &member, piece, error);
}

/* ---- groups ---- */

/* 0 if the text is not a GID. */
static struct iba_gid to_gid(const char *text)
{
	g_autoptr(GInetAddress) address = text ? g_inet_address_new_from_string(text) : NULL;
	struct iba_gid gid = {0};
	const uint8_t *octets;

	if (!address || g_inet_address_get_family(address) != G_SOCKET_FAMILY_IPV6)
		return gid;
	octets = g_inet_address_to_bytes(address);
	for (unsigned int i = 0; i < 8; i++) {
		gid.prefix = gid.prefix << 8 | octets[i];
		gid.guid = gid.guid << 8 | octets[i + 8];
	}
	return gid;
}

/* Why the group cannot exist, or NULL: the SA would not let a client create it either. */
static const char *mgid_fault(struct iba_gid mgid)
{
	if (!iba_gid_is_multicast(mgid))
		return "not a multicast GID";
	if (mgid.prefix >> 53 & 7)
		return "an MGID with flags that are reserved";
	if ((mgid.prefix >> 48 & 0xF) == IBA_SCOPE_LINK_LOCAL &&
	    iba_mgid_signature(mgid) == IBA_MGID_SIGNATURE_SA)
		return "an MGID of the kind that the SA assigns itself";
	return NULL;
}

/* The flags that a group inherits from its definition. */
static struct flags inherited_flags(const struct parser *parser)
{
	struct flags flags = parser->flags;

	flags.scopes = 0; /* given by its GID */
	flags.value[FLAG_T_CLASS] = 0;
	flags.given[FLAG_SL] = false; /* not its own */
	return flags;
}

/* A group with an impossible GID is skipped, as that admits no port. */
static bool read_group(struct parser *parser, const char *text, char *rest, GError **error)
{
	struct flags flags = inherited_flags(parser);
	const struct iba_gid mgid = to_gid(text);
	const char *fault = mgid_fault(mgid);

	if (parser->set || parser->requests)
		return refuse(parser, text, "no group in a set or a request", error);
	while (rest) {
		char *piece = next_piece(&rest);
		const char *value = split_value(piece);

		if (!take_flag(parser, piece, value, &flags))
			warn(parser, "it is ignored",
			     "found '%.*s', expected " FLAG_NAMES, SHOWN, piece);
	}
	if (fault)
		warn(parser, "the group is ignored", "'%.*s' is %s", SHOWN, text, fault);
	else
		add_wish(parser, &flags, &mgid);
	return true;
}

static bool is_group(const char *piece)
{
	size_t n = strcspn(piece, "= \t,");

	return n && n <= 4 && piece[n + strspn(piece + n, " \t")] == '=' &&
	       !strncmp(piece, "mgid", n);
}

/* ---- lines ---- */

/* Reads a member, or a group with all its flags, which takes the rest of the line. */
static bool read_piece(struct parser *parser, char **rest, GError **error)
{
	char *piece, *flags;

	if (!is_group(*rest))
		return read_member(parser, next_piece(rest), error);
	piece = next_piece(rest);
	flags = *rest;
	*rest = NULL;
	return read_group(parser, split_value(piece), flags, error);
}

/* Members up to the end of the line, or to the ';' that ends the definition. */
static bool read_members(struct parser *parser, char **at)
{
	char *rest = *at, *end = find_end(rest, ";");
	bool ends = *end == ';';

	*at = ends ? end + 1 : end;
	*end = '\0';
	while (rest) {
		GError *wrong = NULL;

		rest += strspn(rest, " \t\r\f\v");
		if (!read_piece(parser, &rest, &wrong) && !go_on_behind(parser, wrong))
			return false;
	}
	if (ends) {
		parser->rule = NULL;
		parser->set = NULL;
	}
	return true;
}

static bool read_file(struct parser *parser, const char *file);

/* A name that does not begin with '/' is relative to the directory of the including file. */
static char *included_file(const struct parser *parser, char *at, GError **error)
{
	g_autofree char *dir = g_path_get_dirname(file_name(parser));
	size_t n;

	at = strip(at);
	n = strlen(at);
	if (n > 1 && *at == '"' && at[n - 1] == '"') {
		at[n - 1] = '\0';
		at++;
	}
	if (!*at) {
		refuse(parser, at, "the name of a file", error);
		return NULL;
	}
	if (parser->depth == DEPTH_MAX ||
	    partition_sources_n(parser->rules->sources) >= FILES_MAX) {
		g_set_error(error, PARTITION_ERROR, PARTITION_ERROR_LIMIT,
			    "%s:%u: include: more than %u files, or %u in each other: do they "
			    "include themselves?",
			    file_name(parser), parser->line, FILES_MAX, DEPTH_MAX);
		return NULL;
	}
	return g_path_is_absolute(at) ? g_strdup(at) : g_build_filename(dir, at, NULL);
}

static bool include(struct parser *parser, char *at)
{
	GError *wrong = NULL;
	g_autofree char *file = included_file(parser, at, &wrong);

	return file ? read_file(parser, file) : go_on_behind(parser, wrong);
}

static bool is_include(const char *at)
{
	return g_str_has_prefix(at, "include") && strchr(" \t\"", at[7]) && at[7] &&
	       !strchr(at, ':');
}

static char *skip_definition(struct parser *parser, char *at)
{
	char *end = find_end(at, ";");

	parser->skipping = !*end;
	return *end ? end + 1 : end;
}

/* False: stop reading. */
static bool begin_or_skip(struct parser *parser, char **at)
{
	GError *wrong = NULL;

	if (begin_definition(parser, at, &wrong))
		return true;
	parser->skipping = true;
	parser->has_skipped = true;
	return go_on_behind(parser, wrong);
}

/* text is cut into pieces. */
static bool read_line(struct parser *parser, char *text)
{
	char *at = text;

	*find_end(text, "#") = '\0';
	parser->text = text;
	for (;;) {
		at += strspn(at, " \t\r\f\v");
		if (!*at)
			return true;
	parser->n_said++;
		if (parser->skipping) {
			at = skip_definition(parser, at);
			continue;
		}
		if (!parser->rule && !parser->set) {
			if (is_include(at) && !parser->requests)
				return include(parser, at + 7);
			if (!begin_or_skip(parser, &at))
				return false;
		}
		if (!parser->skipping && !read_members(parser, &at))
			return false;
	}
}

/* In a binary file, more messages would hide this one. */
static bool refuse_nul(struct parser *parser, const char *line)
{
	GError *wrong = NULL;

	refuse(parser, line + strlen(line), "text without NUL octets", &wrong);
	go_on_behind(parser, wrong);
	return false;
}

static bool refuse_length(struct parser *parser)
{
	return go_on_behind(parser, g_error_new(PARTITION_ERROR, PARTITION_ERROR_LIMIT,
						"%s: more than %" G_GUINT64_FORMAT
						" octets with what includes it",
						file_name(parser), FILE_MAX_CONFIG));
}

static bool read_text(struct parser *parser, const char *text, size_t length)
{
	const char *end = text + length;
	uint32_t file = parser->rules->files->len - 1;

	parser->octets += length;
	g_checksum_update(parser->checksum, (const guchar *)text, (gssize)length);
	if (parser->octets > FILE_MAX_CONFIG)
		return refuse_length(parser);
	for (uint32_t line = 1; text < end; line++) {
		const char *stop = memchr(text, '\n', (size_t)(end - text));
		size_t n = (size_t)((stop ? stop : end) - text);
		g_autofree char *copy = g_strndup(text, n);

		parser->file = file;
		parser->line = line;
		parser->text = copy;
		if (memchr(text, '\0', n))
			return refuse_nul(parser, copy);
		if (!read_line(parser, copy))
			return false;
		text += n + 1;
	}
	return true;
}

/* The file of changes at run time may be included; it is read after all others. */
static bool is_own_file(const struct parser *parser, const char *file, GError **error)
{
	const char *own = parser->changes ? parser->changes->file : NULL;

	if (!g_strcmp0(file, own))
		return true;
	g_set_error(error, PARTITION_ERROR, PARTITION_ERROR_FILE,
		    "%s:%u: include: %s holds the changes made at run time, expected %s",
		    file_name(parser), parser->line, file,
		    own ? own : "no such line, as this SM keeps none");
	return false;
}

/*
 * An included file must have contents, as the file that includes it, unless it was accepted before.
 */
static bool is_something_said(const struct parser *parser, const char *file, unsigned int before,
			      GError **error)
{
	if (parser->n_said > before || parser->kept || !strcmp(file, "/dev/null"))
		return true;
	g_set_error(error, PARTITION_ERROR, PARTITION_ERROR_FILE,
		    "%s:%u: include: %s: it is empty; write its contents, or remove this line",
		    file_name(parser), parser->line, file);
	return false;
}

static bool read_file(struct parser *parser, const char *file)
{
	uint32_t from = parser->file, line = parser->line;
	unsigned int said = parser->n_said;
	GError *wrong = NULL;
	const char *text;
	gsize length;
	bool good;

	text = partition_sources_read(parser->rules->sources, parser->kept, file, &length, &wrong);
	if (!text) {
		g_prefix_error(&wrong, "%s:%u: include: ", file_name(parser), line);
		return go_on_behind(parser, wrong);
	}
	if (partition_changes_is(text)) {
		partition_sources_cut_last(parser->rules->sources, OWN_KEPT);
		return is_own_file(parser, file, &wrong) || go_on_behind(parser, wrong);
	}
	g_ptr_array_add(parser->rules->files, g_strdup(file));
	parser->depth++;
	good = read_text(parser, text, length);
	parser->depth--;
	parser->file = from;
	parser->line = line;
	return good &&
	       (is_something_said(parser, file, said, &wrong) || go_on_behind(parser, wrong));
}

/* ---- the end: missing P_Keys, groups ---- */

static bool choose_keys(struct parser *parser, GError **error)
{
	const GPtrArray *rules = parser->rules->rules;
	uint16_t next = 1;

	for (guint i = 0; i < rules->len; i++) {
		struct partition_rule *rule = rules->pdata[i];

		if (rule->p_key)
			continue;
		while (g_hash_table_contains(parser->by_key, GUINT_TO_POINTER(next)))
			next++;
		if (next >= P_KEY_BASE(P_KEY_DEFAULT)) {
			g_set_error(error, PARTITION_ERROR, PARTITION_ERROR_LIMIT,
				    "%s:%u: no P_Key is left for partition '%s'",
				    (char *)parser->rules->files->pdata[rule->file], rule->line,
				    rule->name);
			return false;
		}
		rule->p_key = next;
		g_hash_table_insert(parser->by_key, GUINT_TO_POINTER(next), rule);
	}
	return true;
}

struct iba_gid partition_broadcast_mgid(uint16_t p_key, uint8_t scope)
{
	return (struct iba_gid){
		.prefix = UINT64_C(0xFF10) << 48 | (uint64_t)(scope & 0xF) << 48 |
			  (uint64_t)IBA_MGID_SIGNATURE_IPV4 << 32 |
			  (uint64_t)(p_key | P_KEY_FULL) << 16,
		.guid = UINT32_MAX,
	};
}

static bool is_ip(struct iba_gid mgid)
{
	uint16_t signature = iba_mgid_signature(mgid);

	return mgid.prefix >> 52 == 0xFF1 &&
	       (signature == IBA_MGID_SIGNATURE_IPV4 || signature == IBA_MGID_SIGNATURE_IPV6);
}

static const struct partition_group *find_group(const GArray *groups, struct iba_gid mgid)
{
	for (guint i = 0; i < groups->len; i++) {
		const struct partition_group *group =
			&g_array_index(groups, struct partition_group, i);

		if (iba_gid_equal(group->mgid, mgid))
			return group;
	}
	return NULL;
}

static const struct partition_group *broadcast_of(const struct partition_rule *rule)
{
	for (guint i = 0; i < rule->groups->len; i++) {
		const struct partition_group *group =
			&g_array_index(rule->groups, struct partition_group, i);

		if (iba_gid_equal(group->mgid, partition_broadcast_mgid(rule->p_key, group->scope)))
			return group;
	}
	return NULL;
}

/* What is wrong with an IP group, or NULL: it needs the broadcast group of its partition. */
static const char *ip_fault(const struct wish *wish, const struct partition_group *group)
{
	const struct partition_group *broadcast = broadcast_of(wish->rule);
	uint16_t p_key = (uint16_t)(group->mgid.prefix >> 16);

	if (p_key && P_KEY_BASE(p_key) != wish->rule->p_key)
		return "its P_Key is not that of the partition";
	if (!broadcast)
		return NULL;
	if (broadcast->mtu != group->mtu)
		return "its MTU is not that of the broadcast group";
	return broadcast->rate != group->rate ? "its rate is not that of the broadcast group"
					      : NULL;
}

static void add_group(struct parser *parser, const struct wish *wish, uint8_t scope)
{
	const struct flags *flags = &wish->flags;
	const struct partition_rule *rule = wish->rule;
	struct partition_group group = {
		.mgid = wish->broadcast ? partition_broadcast_mgid(rule->p_key, scope) : wish->mgid,
		.mtu = flags->given[FLAG_MTU] ? (uint8_t)flags->value[FLAG_MTU] : 4,
		.rate = flags->given[FLAG_RATE] ? (uint8_t)flags->value[FLAG_RATE] : 3,
		.sl = (uint8_t)flags->value[FLAG_SL],
		.own_sl = flags->given[FLAG_SL] && !wish->broadcast,
		.t_class = (uint8_t)flags->value[FLAG_T_CLASS],
		.flow_label = flags->value[FLAG_FLOW],
		.scope = scope,
	};
	bool ip = is_ip(group.mgid);
	const char *fault = ip && !wish->broadcast ? ip_fault(wish, &group) : NULL;

	group.mgid.prefix = (group.mgid.prefix & ~(UINT64_C(0xF) << 48)) | (uint64_t)scope << 48;
	if (ip)
		group.mgid.prefix |= (uint64_t)(rule->p_key | P_KEY_FULL) << 16;
	group.q_key = flags->given[FLAG_Q_KEY] ? flags->value[FLAG_Q_KEY] : ip ? 0x0b1b : 0;
	if (fault)
		warn(parser, NULL, "the group is ignored: %s", fault);
	else if (parser->n_groups >= GROUPS_MAX)
		warn(parser, NULL, "the group is ignored: there are already %u", GROUPS_MAX);
	else if (!find_group(rule->groups, group.mgid)) {
		g_array_append_val(rule->groups, group);
		parser->n_groups++;
	}
}

static void add_groups(struct parser *parser, const struct wish *wish)
{
	uint16_t scopes = wish->flags.scopes;

	parser->file = wish->file;
	parser->line = wish->line;
	if (wish->broadcast) /* where drivers look for it, regardless of other settings */
		scopes |= 1u << IBA_SCOPE_LINK_LOCAL;
	else if (!scopes)
		scopes = (uint16_t)(1u << (wish->mgid.prefix >> 48 & 0xF ?: IBA_SCOPE_LINK_LOCAL));
	for (uint8_t scope = 0; scope < 16; scope++)
		if (scopes >> scope & 1)
			add_group(parser, wish, scope);
}

/* All ports are in the default partition, the SM as a full member; the file may change that. */
static void begin_default(struct parser *parser, uint8_t membership)
{
	struct partition_member all = {.who = PARTITION_ALL, .membership = membership};
	struct partition_member self = {.who = PARTITION_SELF, .membership = PARTITION_FULL};

	parser->rule = rule_of(parser, P_KEY_BASE(P_KEY_DEFAULT), "Default");
	g_array_append_val(parser->rule->members, all);
	g_array_append_val(parser->rule->members, self);
	parser->rule = NULL;
}

static void be_built_in(struct parser *parser)
{
	struct flags flags = {.scopes = 0};

	parser->rules->built_in = true;
	parser->rule = parser->rules->rules->pdata[0];
	parser->rule->ipoib = true;
	g_array_index(parser->rule->members, struct partition_member, 0).membership =
		PARTITION_FULL;
	add_wish(parser, &flags, NULL);
	parser->rule = NULL;
}

/* After the choice of P_Keys, so that a request cannot change one. */
static bool read_changes(struct parser *parser)
{
	const struct partition_changes *changes = parser->changes;

	parser->rules->n_own_files = parser->rules->files->len;
	if (!changes || !changes->serial)
		return true;
	g_ptr_array_add(parser->rules->files, g_strdup(changes->file ? changes->file : "requests"));
	parser->requests = true;
	return read_text(parser, changes->text, strlen(changes->text));
}

/* Completes the rules of a file without errors. */
static void finish(struct parser *parser)
{
	GError *wrong = NULL;

	if (parser->rule || parser->set)
		warn(parser, NULL, "the last definition has no ';' at its end");
	parser->rule = NULL;
	parser->set = NULL;
	if (!parser->n_definitions)
		be_built_in(parser);
	if (!choose_keys(parser, &wrong))
		go_on_behind(parser, wrong);
	else
		read_changes(parser);
	if (parser->mistakes.n)
		return;
	for (guint i = 0; i < parser->wishes->len; i++)
		add_groups(parser, &g_array_index(parser->wishes, struct wish, i));
	if (parser->n_warnings > WARNINGS_MAX)
		g_ptr_array_add(
			parser->rules->warnings,
			g_strdup_printf("%u more warnings", parser->n_warnings - WARNINGS_MAX));
	parser->rules->digest = g_strdup(g_checksum_get_string(parser->checksum));
}

/* ---- life ---- */

static struct partition_rules *rules_new(void)
{
	struct partition_rules *rules = g_new0(struct partition_rules, 1);

	ref_init(&rules->ref);
	rules->rules = g_ptr_array_new_with_free_func(rule_free);
	rules->files = g_ptr_array_new_with_free_func(g_free);
	rules->warnings = g_ptr_array_new_with_free_func(g_free);
	rules->texts = g_string_chunk_new(1024);
	rules->sources = partition_sources_new();
	return rules;
}

static void parser_begin(struct parser *parser, const char *file)
{
	*parser = (struct parser){
		.rules = rules_new(),
		.by_key = g_hash_table_new(NULL, NULL),
		.sets = g_hash_table_new_full(g_str_hash, g_str_equal, g_free,
					      (GDestroyNotify)g_array_unref),
		.wishes = g_array_new(FALSE, FALSE, sizeof(struct wish)),
		.checksum = g_checksum_new(G_CHECKSUM_SHA256),
	};
	g_ptr_array_add(parser->rules->files, g_strdup(file));
}

/* Returns the rules; NULL and an error: there were errors. */
static struct partition_rules *parser_end(struct parser *parser, GError **error)
{
	bool good = mistakes_end(&parser->mistakes, parser->rules->files->pdata[0], PARTITION_ERROR,
				 PARTITION_ERROR_SYNTAX, error);

	g_hash_table_unref(parser->by_key);
	g_hash_table_unref(parser->sets);
	g_array_unref(parser->wishes);
	g_checksum_free(parser->checksum);
	if (good)
		return parser->rules;
	partition_rules_unref(parser->rules);
	return NULL;
}

static struct partition_rules *parse_with(struct parser *parser, const char *text, size_t length,
					  struct partition_changes *changes, GError **error)
{
	parser->changes = changes;
	parser->rules->changes = changes ? partition_changes_ref(changes) : NULL;
	begin_default(parser, PARTITION_LIMITED);
	if (read_text(parser, text, length) && !parser->mistakes.n)
		finish(parser);
	return parser_end(parser, error);
}

struct partition_rules *partition_rules_parse(const char *file, const char *text, size_t length,
					      GError **error)
{
	struct parser parser;

	parser_begin(&parser, file);
	return parse_with(&parser, text, length, NULL, error);
}

struct partition_rules *partition_rules_parse_requests(const char *file, const char *text,
						       size_t length, GError **error)
{
	struct parser parser;

	parser_begin(&parser, file);
	parser.requests = true;
	read_text(&parser, text, length);
	for (guint i = 0; i < parser.rules->warnings->len; i++)
		mistakes_add(&parser.mistakes, parser.rules->warnings->pdata[i]);
	return parser_end(&parser, error);
}

struct partition_rules *partition_rules_load_with(const char *file,
						  struct partition_changes *changes, GError **error)
{
	GError *failure = NULL;
	struct parser parser;
	const char *text = NULL;
	gsize length = 0;

	parser_begin(&parser, file ? file : "");
	if (file)
		text = partition_sources_read(parser.rules->sources, NULL, file, &length, &failure);
	if (failure && !g_error_matches(failure, G_FILE_ERROR, G_FILE_ERROR_NOENT)) {
		mistakes_take(&parser.mistakes, failure);
		return parser_end(&parser, error);
	}
	g_clear_error(&failure);
	return parse_with(&parser, text ? text : "", length, changes, error);
}

struct partition_rules *partition_rules_remake(const char *file,
					       const struct partition_sources *sources,
					       struct partition_changes *changes, GError **error)
{
	const char *first =
		partition_sources_n(sources) ? partition_sources_name(sources, 0) : NULL;
	struct parser parser;
	const char *text = NULL;
	gsize length = 0;

	parser_begin(&parser, first ? first : file ? file : "");
	parser.kept = sources;
	if (first)
		text = partition_sources_read(parser.rules->sources, sources, first, &length, NULL);
	return parse_with(&parser, text ? text : "", length, changes, error);
}
