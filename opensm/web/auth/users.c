// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* No message repeats a hash. */
#include "web/auth/users.h"

#include <string.h>

#define HASH_MAX 384
#define NAME_MAX_LENGTH 256
#define TOKEN_DIGITS 64

struct users {
	GHashTable *by_name, *by_token, *by_certificate; /* of struct user */
	const char *any_hash;
	struct user *other_client; /* a certificate that no line names; NULL: refused */
	bool known;
};

/* Methods of crypt(3) that are slow to guess. */
static const char *const methods[] = {"$y$", "$gy$", "$7$", "$2b$", "$2y$", "$6$", "$5$"};

static void user_free(gpointer data)
{
	struct user *user = data;

	g_free(user->name);
	g_free(user->hash);
	g_free(user);
}

static struct user *user_new(const char *name, const char *hash, enum web_role role)
{
	struct user *user = g_new(struct user, 1);

	*user = (struct user){g_strdup(name), g_strdup(hash), role};
	return user;
}

static GHashTable *new_table(void)
{
	return g_hash_table_new_full(g_str_hash, g_str_equal, g_free, user_free);
}

struct users *users_new(void)
{
	struct users *users = g_new0(struct users, 1);

	users->by_name = new_table();
	users->by_token = new_table();
	users->by_certificate = new_table();
	return users;
}

void users_free(struct users *users)
{
	if (!users)
		return;
	g_hash_table_unref(users->by_name);
	g_hash_table_unref(users->by_token);
	g_hash_table_unref(users->by_certificate);
	if (users->other_client)
		user_free(users->other_client);
	g_free(users);
}

/* ---- lines ---- */

struct place {
	const char *file;
	unsigned int line;
	GString *mistakes;
};

typedef void take_line_fn(struct users *users, const struct place *place, char *line);

static void parse_lines(struct users *users, const char *file, const char *text, GString *mistakes,
			take_line_fn *take)
{
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
	struct place place = {file, 0, mistakes};

	if (!g_utf8_validate(text, -1, NULL)) {
		config_mistake(mistakes, file, 0, "expected text in UTF-8");
		return;
	}
	for (; lines[place.line];) {
		char *line = g_strstrip(lines[place.line++]);

		if (*line && *line != '#')
			take(users, &place, line);
	}
}

/* WEB_NOBODY: a mistake, which is noted. */
static enum web_role role_of(const struct place *place, const char *word)
{
	if (!strcmp(word, "read"))
		return WEB_READER;
	if (!strcmp(word, "write"))
		return WEB_WRITER;
	config_mistake(place->mistakes, place->file, place->line,
		       "expected read or write as the role");
	return WEB_NOBODY;
}

static void insert(GHashTable *table, const struct place *place, const char *key, struct user *user)
{
	if (g_hash_table_contains(table, key))
		config_mistake(place->mistakes, place->file, place->line, "'%s' has a line already",
			       user->name);
	g_hash_table_replace(table, g_strdup(key), user);
}

static bool is_hash(const char *text)
{
	for (size_t i = 0; i < G_N_ELEMENTS(methods); i++)
		if (g_str_has_prefix(text, methods[i]))
			return strlen(text) <= HASH_MAX;
	return false;
}

static bool is_name(const char *text)
{
	return *text && strlen(text) <= NAME_MAX_LENGTH;
}

static void take_password(struct users *users, const struct place *place, char *line)
{
	g_auto(GStrv) parts = g_strsplit(line, ":", 4);
	enum web_role role;
	struct user *user;

	if (g_strv_length(parts) != 3 || !is_name(parts[0])) {
		config_mistake(place->mistakes, place->file, place->line,
			       "expected NAME:HASH:ROLE");
		return;
	}
	if (!is_hash(parts[1])) {
		config_mistake(place->mistakes, place->file, place->line,
			       "the hash of '%s': expected one of crypt(5) that begins with $y$, "
			       "$6$, $5$, $7$, $gy$, $2b$ or $2y$",
			       parts[0]);
		return;
	}
	role = role_of(place, parts[2]);
	user = user_new(parts[0], parts[1], role);
	insert(users->by_name, place, parts[0], user);
	users->any_hash = user->hash;
}

static void take_token(struct users *users, const struct place *place, char *line)
{
	g_auto(GStrv) parts = g_strsplit(line, ":", 4);
	unsigned int n = g_strv_length(parts);
	g_autofree char *digest = n ? g_ascii_strdown(parts[0], -1) : NULL;
	g_autofree char *name = NULL;

	if ((n != 2 && n != 3) || strlen(digest) != TOKEN_DIGITS ||
	    strspn(digest, "0123456789abcdef") != TOKEN_DIGITS) {
		config_mistake(
			place->mistakes, place->file, place->line,
			"expected SHA256:ROLE or SHA256:ROLE:NAME, with the %d digits of the "
			"token's SHA-256",
			TOKEN_DIGITS);
		return;
	}
	/* As much of it as is needed to find the line. */
	name = n == 3 ? g_strdup(parts[2]) : g_strdup_printf("token %.8s", digest);
	insert(users->by_token, place, digest, user_new(name, "", role_of(place, parts[1])));
}

static void take_client(struct users *users, const struct place *place, char *line)
{
	size_t length = strcspn(line, " \t");
	char *name = g_strchug(line + length + (line[length] != '\0'));

	line[length] = '\0';
	if (!is_name(name))
		config_mistake(
			place->mistakes, place->file, place->line,
			"expected ROLE NAME: the subject of a certificate as in RFC 4514, or "
			"a URI among its alternative names");
	else
		insert(users->by_certificate, place, name,
		       user_new(name, "", role_of(place, line)));
}

void users_parse_passwords(struct users *users, const char *file, const char *text,
			   GString *mistakes)
{
	parse_lines(users, file, text, mistakes, take_password);
}

void users_parse_tokens(struct users *users, const char *file, const char *text, GString *mistakes)
{
	parse_lines(users, file, text, mistakes, take_token);
}

void users_parse_clients(struct users *users, const char *file, const char *text, GString *mistakes)
{
	parse_lines(users, file, text, mistakes, take_client);
}

/* ---- files ---- */

static void read_one(struct users *users, const char *file, bool secret, take_line_fn *take,
		     GString *mistakes)
{
	g_autoptr(GError) error = NULL;
	size_t size = 0;
	char *text;

	if (!file)
		return;
	text = config_read_file(file, secret, &size, &error);
	if (!text) {
		g_string_append_printf(mistakes, "%s\n", error->message);
		return;
	}
	if (memchr(text, '\0', size))
		config_mistake(mistakes, file, 0, "expected text in UTF-8");
	else
		parse_lines(users, file, text, mistakes, take);
	explicit_bzero(text, size);
	g_free(text);
}

struct users *users_read(const struct config *config, GError **error)
{
	struct users *users = users_new();
	g_autoptr(GString) mistakes = g_string_new(NULL);

	users->known = config->auth_file || config->tokens_file || config->tls_ca;
	read_one(users, config->auth_file, true, take_password, mistakes);
	read_one(users, config->tokens_file, true, take_token, mistakes);
	read_one(users, config->tls_clients_file, false, take_client, mistakes);
	if (config->tls_client_role != WEB_NOBODY)
		users->other_client = user_new("a client certificate", "", config->tls_client_role);
	if (config_no_mistakes(mistakes, error))
		return users;
	users_free(users);
	return NULL;
}

/* ---- looking up ---- */

bool users_are_known(const struct users *users)
{
	return users->known;
}

const struct user *users_by_name(const struct users *users, const char *name)
{
	return g_hash_table_lookup(users->by_name, name);
}

const struct user *users_by_token(const struct users *users, const char *token)
{
	g_autofree char *digest = g_compute_checksum_for_string(G_CHECKSUM_SHA256, token, -1);

	return g_hash_table_lookup(users->by_token, digest);
}

const struct user *users_by_certificate(const struct users *users, const char *const *names)
{
	const struct user *found = NULL;

	for (unsigned int i = 0; !found && names[i]; i++)
		found = g_hash_table_lookup(users->by_certificate, names[i]);
	return found || !names[0] ? found : users->other_client;
}

const char *users_any_hash(const struct users *users)
{
	return users->any_hash;
}
