// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "web/auth/login.h"

#include <crypt.h>
#include <gio/gio.h>
#include <string.h>
#include <sys/random.h>

#include "web/auth/tries.h"
#include "web/base/exchange.h"
#include "web/base/say.h"

#define RUNNING_MAX 2 /* hashes at once; some methods take much memory each */
#define QUEUE_MAX 64
#define REMEMBERED_MAX 256
#define REMEMBERED_US (300 * G_USEC_PER_SEC)
#define PENALTY_MS 1000
#define SALT_SIZE 32

struct check {
	struct login *login; /* NULL: it is gone */
	char *name, *password, *hash, *address;
	char *key;	    /* in the table of those that are remembered */
	enum web_role role; /* WEB_NOBODY: the file does not have the user */
	bool right;
	guint penalty; /* timer; 0: none */
	login_done_fn *done;
	void *arg;
};

struct login {
	guint8 salt[SALT_SIZE];
	GHashTable *right; /* digest of name, password and hash -> gint64, until when, in us */
	GQueue queue;	   /* of struct check */
	GPtrArray *checks; /* all */
	unsigned int running;
	struct tries *tries;
	struct say_limit lines;
};

static void wipe(char *text)
{
	if (text)
		explicit_bzero(text, strlen(text));
	g_free(text);
}

static void check_free(struct check *check)
{
	wipe(check->password);
	g_free(check->name);
	g_free(check->hash);
	g_free(check->address);
	g_free(check->key);
	g_free(check);
}

struct login *login_new(void)
{
	struct login *login = g_new0(struct login, 1);

	if (getrandom(login->salt, SALT_SIZE, 0) != SALT_SIZE)
		g_error("no random numbers");
	login->right = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	login->checks = g_ptr_array_new();
	login->tries = tries_new();
	g_queue_init(&login->queue);
	return login;
}

void login_free(struct login *login)
{
	if (!login)
		return;
	for (guint i = 0; i < login->checks->len; i++) {
		struct check *check = login->checks->pdata[i];

		if (check->penalty)
			g_source_remove(check->penalty);
		check->login = NULL;
		if (check->penalty || g_queue_find(&login->queue, check))
			check_free(check);
	}
	g_queue_clear(&login->queue);
	g_ptr_array_unref(login->checks);
	g_hash_table_unref(login->right);
	tries_free(login->tries);
	g_free(login);
}

/* ---- the header ---- */

static void split_basic(const char *text, char **name, char **password)
{
	gsize size = 0;
	char *plain = (char *)g_base64_decode(text, &size);
	char *colon = memchr(plain, ':', size);

	if (colon && !memchr(plain, '\0', size) && g_utf8_validate(plain, (gssize)size, NULL)) {
		*name = g_strndup(plain, (gsize)(colon - plain));
		*password = g_strndup(colon + 1, size - (gsize)(colon - plain) - 1);
	}
	explicit_bzero(plain, size);
	g_free(plain);
}

bool login_parse(const char *header, char **token, char **name, char **password)
{
	size_t scheme = strcspn(header, " ");
	const char *text = header + scheme;
	bool basic = scheme == strlen("Basic") && !g_ascii_strncasecmp(header, "Basic", scheme);
	bool bearer = scheme == strlen("Bearer") && !g_ascii_strncasecmp(header, "Bearer", scheme);

	*token = *name = *password = NULL;
	text += strspn(text, " ");
	if ((!basic && !bearer) || !*text)
		return false;
	*token = g_strchomp(g_strdup(text));
	if (basic)
		split_basic(*token, name, password);
	return true;
}

/* ---- what was right a while ago ---- */

static char *key_of(const struct login *login, const struct check *check)
{
	GChecksum *sum = g_checksum_new(G_CHECKSUM_SHA256);
	const char *const texts[] = {check->name, check->password, check->hash};
	char *key;

	g_checksum_update(sum, login->salt, SALT_SIZE);
	for (size_t i = 0; i < G_N_ELEMENTS(texts); i++)
		g_checksum_update(sum, (const guchar *)texts[i], (gssize)strlen(texts[i]) + 1);
	key = g_strdup(g_checksum_get_string(sum));
	g_checksum_free(sum);
	return key;
}

static bool is_remembered(const struct login *login, const char *key)
{
	const gint64 *until_us = g_hash_table_lookup(login->right, key);

	return until_us && g_get_monotonic_time() < *until_us;
}

static void remember(struct login *login, const char *key)
{
	gint64 until_us = g_get_monotonic_time() + REMEMBERED_US;

	if (g_hash_table_size(login->right) >= REMEMBERED_MAX)
		g_hash_table_remove_all(login->right);
	g_hash_table_replace(login->right, g_strdup(key), g_memdup2(&until_us, sizeof(until_us)));
}

/* ---- checks ---- */

static void finish(struct check *check, enum login_result result)
{
	g_ptr_array_remove_fast(check->login->checks, check);
	check->done(check->arg, result, check->role, check->name);
	check_free(check);
}

static gboolean on_penalty(gpointer data)
{
	struct check *check = data;

	check->penalty = 0;
	finish(check, LOGIN_WRONG);
	return G_SOURCE_REMOVE;
}

static void note_try(const struct check *check)
{
	tries_add(check->login->tries, check->address, g_get_monotonic_time());
}

/* It was noted. */
static void punish(struct check *check)
{
	/* A name that is not known may be a password in the wrong place. */
	if (!say_may(&check->login->lines, g_get_monotonic_time()))
		;
	else if (check->role != WEB_NOBODY)
		say(LOG_WARNING, "wrong password for '%s' from %s", check->name, check->address);
	else
		say(LOG_WARNING, "wrong user or token from %s", check->address);
	check->penalty = g_timeout_add(PENALTY_MS, on_penalty, check);
}

/* It is wrong, as can be said at once. */
static void refuse(struct check *check)
{
	if (tries_too_many(check->login->tries, check->address, g_get_monotonic_time())) {
		finish(check, LOGIN_TOO_MANY);
	} else {
		note_try(check);
		punish(check);
	}
}

/* In another thread. */
static void hash(GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
	struct check *check = data;
	struct crypt_data *scratch = g_new0(struct crypt_data, 1);
	const char *made = crypt_r(check->password, check->hash, scratch);
	size_t n = strlen(check->hash);
	unsigned char differs = !made || strlen(made) != n;

	(void)source;
	(void)cancellable;
	for (size_t i = 0; !differs && i < n; i++)
		differs |= (unsigned char)(made[i] ^ check->hash[i]);
	check->right = !differs;
	explicit_bzero(scratch, sizeof(*scratch));
	g_free(scratch);
	g_task_return_boolean(task, TRUE);
}

static void run_next(struct login *login);

static void on_hashed(GObject *source, GAsyncResult *result, gpointer data)
{
	struct check *check = data;
	struct login *login = check->login;

	(void)source;
	(void)result;
	if (!login) {
		check_free(check);
		return;
	}
	login->running--;
	if (check->right && check->role != WEB_NOBODY) {
		tries_take_back(login->tries, check->address, g_get_monotonic_time());
		remember(login, check->key);
		finish(check, LOGIN_RIGHT);
	} else {
		punish(check);
	}
	run_next(login);
}

static void run_next(struct login *login)
{
	while (login->running < RUNNING_MAX && login->queue.length) {
		struct check *check = g_queue_pop_head(&login->queue);
		g_autoptr(GTask) task = NULL;

		if (is_remembered(login, check->key)) {
			finish(check, LOGIN_RIGHT);
			continue;
		}
		/* Those before it may have been too many meanwhile. */
		if (tries_too_many(login->tries, check->address, g_get_monotonic_time())) {
			finish(check, LOGIN_TOO_MANY);
			continue;
		}
		note_try(check);
		login->running++;
		task = g_task_new(NULL, NULL, on_hashed, check);
		g_task_set_task_data(task, check, NULL);
		g_task_run_in_thread(task, hash);
	}
}

static struct check *check_new(struct login *login, const struct request *request,
			       login_done_fn *done, void *arg)
{
	struct check *check = g_new0(struct check, 1);

	check->login = login;
	check->address = g_strdup(request_caller(request)->address);
	check->done = done;
	check->arg = arg;
	g_ptr_array_add(login->checks, check);
	return check;
}

/* Takes over the texts. */
static void check_password(struct check *check, const struct users *users, char *name,
			   char *password)
{
	struct login *login = check->login;
	const struct user *user = users_by_name(users, name);
	const char *like = user ? user->hash : users_any_hash(users);

	check->name = name;
	check->password = password;
	check->role = user ? user->role : WEB_NOBODY;
	check->hash = g_strdup(like);
	check->key = like ? key_of(login, check) : NULL;
	if (user && is_remembered(login, check->key)) {
		finish(check, LOGIN_RIGHT);
	} else if (tries_too_many(login->tries, check->address, g_get_monotonic_time()) ||
		   login->queue.length >= QUEUE_MAX) {
		finish(check, LOGIN_TOO_MANY);
	} else if (!like) {
		refuse(check);
	} else {
		g_queue_push_tail(&login->queue, check);
		run_next(login);
	}
}

/* A header that is not empty, and is to be right then. */
static void check_header(struct check *check, const struct users *users, const char *header)
{
	char *token = NULL, *name = NULL, *password = NULL;
	const struct user *user = NULL;

	if (login_parse(header, &token, &name, &password))
		user = users_by_token(users, token);
	/* As clients send a token that they are given as a user or as a password. */
	if (!user && name)
		user = users_by_token(users, *password ? password : name);
	if (!user && name) {
		check_password(check, users, g_steal_pointer(&name), g_steal_pointer(&password));
	} else if (user) {
		check->name = g_strdup(user->name);
		check->role = user->role;
		finish(check, LOGIN_RIGHT);
	} else {
		check->name = g_strdup("");
		refuse(check);
	}
	wipe(token);
	wipe(password);
	g_free(name);
}

void login_check(struct login *login, const struct users *users, const struct request *request,
		 login_done_fn *done, void *arg)
{
	const char *header = request_header(request, "Authorization");
	const struct user *client = users_by_certificate(users, request_caller(request)->names);

	if (header && *header)
		check_header(check_new(login, request, done, arg), users, header);
	else if (client)
		done(arg, LOGIN_RIGHT, client->role, client->name);
	else
		done(arg, LOGIN_MISSING, WEB_NOBODY, NULL);
}
