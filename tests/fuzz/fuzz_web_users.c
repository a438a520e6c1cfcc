// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Lines of users, tokens and clients, and the header that they are compared with. */
#include "tests/fuzz/fuzz.h"
#include "web/auth/login.h"

static void *setup(GPtrArray *seeds)
{
	fuzz_add_text(seeds, "Pname:$6$salt$hash:read\n# x\nother:$y$j9T$a$b:write\n");
	fuzz_add_text(seeds, "T0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef:"
			     "read:name\n");
	fuzz_add_text(seeds, "Cread CN=a,O=b\nwrite spiffe://a/b\n");
	fuzz_add_text(seeds, "HBasic dXNlcjpwYXNzd29yZA==");
	return NULL;
}

static void parse_header(const char *text)
{
	char *token, *name, *password;

	if (login_parse(text, &token, &name, &password))
		fuzz_expect(token && !name == !password);
	else
		fuzz_expect(!token && !name && !password);
	g_free(token);
	g_free(name);
	g_free(password);
}

/* The first octet says of what. */
static void run(void *state, const uint8_t *data, size_t size)
{
	g_autofree char *text = g_strndup((const char *)data + !!size, size ? size - 1 : 0);
	g_autoptr(GString) mistakes = g_string_new(NULL);
	struct users *users = users_new();
	const struct user *user;

	(void)state;
	switch (size ? data[0] : 0) {
	case 'T':
		users_parse_tokens(users, "input", text, mistakes);
		break;
	case 'C':
		users_parse_clients(users, "input", text, mistakes);
		break;
	case 'H':
		parse_header(text);
		break;
	default:
		users_parse_passwords(users, "input", text, mistakes);
	}
	user = users_by_name(users, "name");
	fuzz_expect(!user || *user->hash == '$');
	fuzz_expect(!mistakes->len || g_str_has_suffix(mistakes->str, "\n"));
	users_free(users);
}

static void teardown(void *state)
{
	(void)state;
}

const struct fuzz_target fuzz_target = {
	.name = "web_users",
	.max_size = 1 << 11,
	.runs = 30000,
	.setup = setup,
	.run = run,
	.teardown = teardown,
};
