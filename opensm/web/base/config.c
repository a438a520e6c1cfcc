// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The options of opensm-web.conf, and which of them go together. */
#include "web/base/config.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "web/base/address.h"
#include "web/base/request.h"

#define REST_PKEY_MAX 0x7ffe

static const char *const metrics_words[] = {
	[CONFIG_METRICS_OFF] = "off",	    [CONFIG_METRICS_DAEMON] = "daemon",
	[CONFIG_METRICS_ERRORS] = "errors", [CONFIG_METRICS_TRAFFIC] = "traffic",
	[CONFIG_METRICS_ALL] = "all",	    NULL,
};
static const char *const metrics_auth_words[] = {
	[CONFIG_METRICS_AUTO] = "auto",
	[CONFIG_METRICS_NONE] = "none",
	[CONFIG_METRICS_READ] = "read",
	NULL,
};
static const char *const rest_words[] = {
	[CONFIG_REST_OFF] = "off",
	[CONFIG_REST_READ] = "read",
	[CONFIG_REST_WRITE] = "write",
	NULL,
};
static const char *const role_words[] = {
	[WEB_NOBODY] = "none", [WEB_READER] = "read", [WEB_WRITER] = "write", NULL};
static const char *const off_on[] = {"off", "on", NULL};
static const char *const false_true[] = {"FALSE", "TRUE", NULL};

/* ---- values ---- */

static bool take_address(const char *text, void *into, const void *unused)
{
	GPtrArray *list = *(GPtrArray **)into;
	struct address address;

	(void)unused;
	if (!address_parse(&address, text))
		return false;
	g_ptr_array_add(list, g_strdup(text));
	return true;
}

static bool take_hosts(const char *text, void *into, const void *unused)
{
	GPtrArray *list = *(GPtrArray **)into;
	g_auto(GStrv) names = g_strsplit(text, ",", -1);

	(void)unused;
	for (unsigned int i = 0; names[i]; i++) {
		g_strstrip(names[i]);
		if (!*names[i] || strpbrk(names[i], " \t:/[]"))
			return false;
		g_ptr_array_add(list, g_ascii_strdown(names[i], -1));
	}
	return true;
}

static bool take_connections(const char *text, void *into, const void *unused)
{
	guint64 number;

	(void)unused;
	if (!g_ascii_string_to_unsigned(text, 10, 1, 10000, &number, NULL))
		return false;
	*(uint32_t *)into = (uint32_t)number;
	return true;
}

static bool take_mode(const char *text, void *into, const void *unused)
{
	guint64 mode;

	(void)unused;
	if (!g_ascii_string_to_unsigned(text, 8, 0600, 0777, &mode, NULL) || (mode & 0600) != 0600)
		return false;
	*(uint32_t *)into = (uint32_t)mode;
	return true;
}

static bool take_pkey(const char *text, uint16_t *pkey)
{
	bool hex = g_str_has_prefix(text, "0x");
	guint64 number;

	if (!g_ascii_string_to_unsigned(hex ? text + 2 : text, hex ? 16 : 10, 1, REST_PKEY_MAX,
					&number, NULL))
		return false;
	*pkey = (uint16_t)number;
	return true;
}

static bool take_pkeys(const char *text, void *into, const void *unused)
{
	uint16_t *range = into;
	g_auto(GStrv) ends = g_strsplit(text, "-", 3);

	(void)unused;
	return g_strv_length(ends) == 2 && take_pkey(ends[0], &range[0]) &&
	       take_pkey(ends[1], &range[1]) && range[0] <= range[1];
}

/* ---- the table ---- */

static const struct config_key keys[] = {
#define OF(member) offsetof(struct config, member)
#define FILE_NAME "the name of a file, from the root directory"
	{"listen", take_address, OF(listen), NULL,
	 "ADDRESS:PORT, [ADDRESS]:PORT or unix:/PATH, with an IPv4 or IPv6 address", true},
	{"listen_mode", take_mode, OF(listen_mode), NULL,
	 "a mode in octal digits, from 0600 to 0777", false},
	{"insecure_listen", config_as_switch, OF(insecure_listen), false_true, "TRUE or FALSE",
	 false},
	{"control_socket", config_as_file, OF(control_socket), NULL, FILE_NAME, false},
	{"tls_cert", config_as_file, OF(tls_cert), NULL, FILE_NAME, false},
	{"tls_key", config_as_file, OF(tls_key), NULL, FILE_NAME, false},
	{"tls_ca", config_as_file, OF(tls_ca), NULL, FILE_NAME, false},
	{"tls_clients_file", config_as_file, OF(tls_clients_file), NULL, FILE_NAME, false},
	{"tls_client_role", config_as_word, OF(tls_client_role), role_words, "none, read or write",
	 false},
	{"auth_file", config_as_file, OF(auth_file), NULL, FILE_NAME, false},
	{"tokens_file", config_as_file, OF(tokens_file), NULL, FILE_NAME, false},
	{"metrics", config_as_word, OF(metrics), metrics_words,
	 "off, daemon, errors, traffic or all", false},
	{"metrics_auth", config_as_word, OF(metrics_auth), metrics_auth_words, "auto, none or read",
	 false},
	{"page", config_as_switch, OF(page), off_on, "on or off", false},
	{"rest", config_as_word, OF(rest), rest_words, "off, read or write", false},
	{"rest_pkeys", take_pkeys, OF(rest_pkeys), NULL,
	 "FIRST-LAST, two P_Keys from 0x0001 to 0x7ffe", false},
	{"ufm_version", config_as_text, OF(ufm_version), NULL, "a version", false},
	{"max_connections", take_connections, OF(max_connections), NULL, "a number from 1 to 10000",
	 false},
	{"max_connections_per_address", take_connections, OF(max_connections_per_address), NULL,
	 "a number from 1 to 10000", false},
	{"trusted_hosts", take_hosts, OF(trusted_hosts), NULL,
	 "names of hosts without ports, separated by commas", true},
#undef OF
};

const char *config_name(unsigned int number)
{
	return number < G_N_ELEMENTS(keys) ? keys[number].name : NULL;
}

const char *config_metrics_word(enum config_metrics level)
{
	return metrics_words[level];
}

static struct config *with_defaults(void)
{
	struct config *config = g_new0(struct config, 1);

	config->listen = g_ptr_array_new_with_free_func(g_free);
	config->trusted_hosts = g_ptr_array_new_with_free_func(g_free);
	config->listen_mode = 0660;
	config->metrics = CONFIG_METRICS_ERRORS;
	config->page = true;
	config->rest_pkeys[0] = 1;
	config->rest_pkeys[1] = REST_PKEY_MAX;
	config->ufm_version = g_strdup("6.19.0");
	config->max_connections = 256;
	config->max_connections_per_address = 32;
	return config;
}

void config_free(struct config *config)
{
	if (!config)
		return;
	g_ptr_array_unref(config->listen);
	g_ptr_array_unref(config->trusted_hosts);
	g_free(config->control_socket);
	g_free(config->tls_cert);
	g_free(config->tls_key);
	g_free(config->tls_ca);
	g_free(config->tls_clients_file);
	g_free(config->auth_file);
	g_free(config->tokens_file);
	g_free(config->ufm_version);
	g_free(config);
}

static bool differ(const GPtrArray *a, const GPtrArray *b)
{
	bool differ = a->len != b->len;

	for (guint i = 0; !differ && i < a->len; i++)
		differ = strcmp(a->pdata[i], b->pdata[i]) != 0;
	return differ;
}

char *config_later(const struct config *started, const struct config *now)
{
	const struct {
		const char *name;
		bool differs;
	} later[] = {
		{"listen", differ(started->listen, now->listen)},
		{"listen_mode", started->listen_mode != now->listen_mode},
		{"control_socket", g_strcmp0(started->control_socket, now->control_socket) != 0},
		{"max_connections", started->max_connections != now->max_connections},
		{"max_connections_per_address",
		 started->max_connections_per_address != now->max_connections_per_address},
	};
	g_autoptr(GString) names = g_string_new(NULL);

	for (size_t i = 0; i < G_N_ELEMENTS(later); i++)
		if (later[i].differs)
			g_string_append_printf(names, "%s%s", names->len ? ", " : "",
					       later[i].name);
	return names->len ? g_string_free(g_steal_pointer(&names), FALSE) : NULL;
}

struct config *config_parse(const char *name, const char *text, size_t size, GError **error)
{
	struct config *config = with_defaults();

	if (config_take_text(keys, G_N_ELEMENTS(keys), "opensm-web.conf(5)", name, text, size,
			     config, error))
		return config;
	config_free(config);
	return NULL;
}

/* ---- files ---- */

struct config *config_read(const char *path, bool needed, GError **error)
{
	g_autofree char *text = NULL;
	size_t size = 0;

	if (!needed && access(path, F_OK) < 0 && errno == ENOENT)
		return with_defaults();
	text = config_read_file(path, false, &size, error);
	return text ? config_parse(path, text, size, error) : NULL;
}

/* ---- what belongs together ---- */

static bool is_local(const char *text)
{
	struct address address;

	return address_parse(&address, text) &&
	       address_is_local((const struct sockaddr *)&address.storage);
}

bool config_check(const struct config *config, const char *path, GError **error)
{
	g_autoptr(GString) mistakes = g_string_new(NULL);

	for (guint i = 0; i < config->listen->len; i++)
		if (!is_local(config->listen->pdata[i]) && !config->tls_cert &&
		    !config->insecure_listen)
			config_mistake(mistakes, path, 0,
				       "listen %s: expected tls_cert and tls_key, as other hosts "
				       "reach this address; or insecure_listen TRUE",
				       (const char *)config->listen->pdata[i]);
	if (!config->tls_cert != !config->tls_key)
		config_mistake(mistakes, path, 0, "tls_cert and tls_key: expected both or neither");
	if (config->tls_ca && !config->tls_cert)
		config_mistake(mistakes, path, 0, "tls_ca: expected tls_cert beside it");
	if (config->tls_clients_file && !config->tls_ca)
		config_mistake(mistakes, path, 0, "tls_clients_file: expected tls_ca beside it");
	if (config->tls_ca && !config->tls_clients_file && config->tls_client_role == WEB_NOBODY)
		config_mistake(mistakes, path, 0,
			       "tls_ca: expected tls_clients_file, or tls_client_role with read or "
			       "write");
	if (config->rest == CONFIG_REST_WRITE && !config->auth_file && !config->tokens_file &&
	    !config->tls_ca)
		config_mistake(mistakes, path, 0,
			       "rest write: expected auth_file, tokens_file or tls_ca");
	return config_no_mistakes(mistakes, error);
}
