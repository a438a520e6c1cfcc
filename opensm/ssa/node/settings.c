// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "ssa/node/settings.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "client/config_file.h"
#include "complib/file.h"
#include "ssa/store/connect.h"

#define DEFAULT_PREFIX UINT64_C(0xFE80000000000000)
#define KEY_MAX 1024u
#define FAKE_MAX 100000u

static const char *const false_true[] = {"FALSE", "TRUE", NULL};

/* ---- values ---- */

static bool take_role(const char *text, void *into, const void *unused)
{
	unsigned int role = ssa_role_find(text);

	(void)unused;
	*(unsigned int *)into |= role;
	return role != 0;
}

static bool has_password(const char *text)
{
	const char *user = strstr(text, "://"), *at = strrchr(text, '@');

	return user && at > user && memchr(user + 3, ':', (size_t)(at - user) - 3);
}

/* One with a password is refused by check(), which does not show it. */
static bool is_redis(const char *text)
{
	struct ssa_redis redis;
	bool good = ssa_redis_parse(&redis, text, NULL) || has_password(text);

	ssa_redis_clear(&redis);
	return good;
}

static bool take_files(const char *text, void *into, const void *unused)
{
	return g_str_has_prefix(text, "files:/") && config_as_text(text, into, unused);
}

static bool take_redis(const char *text, void *into, const void *unused)
{
	return is_redis(text) && config_as_text(text, into, unused);
}

static bool take_redis_again(const char *text, void *into, const void *unused)
{
	(void)unused;
	if (is_redis(text))
		g_ptr_array_add(*(GPtrArray **)into, g_strdup(text));
	return is_redis(text);
}

static bool take_address(const char *text, void *into, const void *unused)
{
	const char *colon = strrchr(text, ':');
	guint64 port;

	return colon && colon != text &&
	       g_ascii_string_to_unsigned(colon + 1, 10, 1, G_MAXUINT16, &port, NULL) &&
	       !strpbrk(text, " \t/@") && config_as_text(text, into, unused);
}

static bool take_user(const char *text, void *into, const void *unused)
{
	return !strpbrk(text, ":/@?#%[] \t") && config_as_text(text, into, unused);
}

static bool take_guid(const char *text, void *into, const void *unused)
{
	guint64 guid;

	(void)unused;
	if (g_str_has_prefix(text, "0x"))
		text += 2;
	if (!g_ascii_string_to_unsigned(text, 16, 1, G_MAXUINT64, &guid, NULL))
		return false;
	*(uint64_t *)into = guid;
	return true;
}

static bool take_guid_again(const char *text, void *into, const void *unused)
{
	GArray *guids = *(GArray **)into;
	uint64_t guid;

	if (guids->len >= G_N_ELEMENTS(((struct ssa_wanted *)NULL)->guids) ||
	    !take_guid(text, &guid, unused))
		return false;
	g_array_append_val(guids, guid);
	return true;
}

static bool take_number(const char *text, void *into, const void *max)
{
	guint64 number;

	if (!g_ascii_string_to_unsigned(text, 10, 1, *(const uint32_t *)max, &number, NULL))
		return false;
	*(uint32_t *)into = (uint32_t)number;
	return true;
}

/* ---- the table ---- */

static const uint32_t fanout_max = 10000, fake_max = FAKE_MAX;

static const struct config_key keys[] = {
#define OF(member) offsetof(struct ssa_settings, member)
#define FILE_NAME "the name of a file, from the root directory"
#define DIRECTORY "a directory, from the root directory"
#define REDIS "redis://[USER@]HOST[:PORT], or rediss:// for TLS"
#define GUID "a GUID of up to 16 hex digits"
#define FANOUT "a number from 1 to 10000"
	{"role", take_role, OF(roles), NULL, "core, distribution, access or agent", true},
	{"store", take_files, OF(store), NULL, "files: and a directory, from the root directory",
	 false},
	{"server", take_redis, OF(server), NULL, REDIS, false},
	{"address", take_address, OF(address), NULL, "HOST:PORT", false},
	{"core", take_redis_again, OF(cores), NULL, REDIS, true},
	{"core_user", take_user, OF(core_user), NULL, "the name of a user of Redis", false},
	{"announce", config_as_switch, OF(announce), false_true, "TRUE or FALSE", false},
	{"parent", take_redis_again, OF(parents), NULL, REDIS, true},
	{"port_guid", take_guid_again, OF(guids), NULL, GUID ", of at most 8 ports", true},
	{"node_guid", take_guid, OF(node_guid), NULL, GUID, false},
	{"subnet_prefix", take_guid, OF(prefix), NULL, GUID, false},
	{"key_file", config_as_file, OF(key_file), NULL, FILE_NAME, false},
	{"password_file", config_as_file, OF(password_file), NULL, FILE_NAME, false},
	{"server_password_file", config_as_file, OF(server_password_file), NULL, FILE_NAME, false},
	{"tls_ca", config_as_file, OF(ca_file), NULL, FILE_NAME, false},
	{"tls_cert", config_as_file, OF(cert_file), NULL, FILE_NAME, false},
	{"tls_key", config_as_file, OF(tls_key_file), NULL, FILE_NAME, false},
	{"snapshot", config_as_file, OF(snapshot), NULL, FILE_NAME, false},
	{"acm_files", config_as_file, OF(acm_files), NULL, DIRECTORY, false},
	{"addresses", config_as_switch, OF(addresses), false_true, "TRUE or FALSE", false},
	{"fanout_core", take_number, OF(fanout[0]), &fanout_max, FANOUT, false},
	{"fanout_distribution", take_number, OF(fanout[1]), &fanout_max, FANOUT, false},
	{"fanout_access", take_number, OF(fanout[2]), &fanout_max, FANOUT, false},
	{"fake_agents", take_number, OF(fake), &fake_max, "a number from 1 to 100000", false},
#undef OF
};

static struct ssa_settings *with_defaults(void)
{
	struct ssa_settings *settings = g_new0(struct ssa_settings, 1);

	settings->cores = g_ptr_array_new_with_free_func(g_free);
	settings->parents = g_ptr_array_new_with_free_func(g_free);
	settings->guids = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	settings->prefix = DEFAULT_PREFIX;
	settings->snapshot = g_strdup("/run/opensm-ssa/snapshot");
	settings->addresses = true;
	settings->announce = true;
	settings->fanout[0] = 10;
	settings->fanout[1] = 20;
	settings->fanout[2] = 200;
	return settings;
}

void ssa_settings_free(struct ssa_settings *settings)
{
	if (!settings)
		return;
	g_free(settings->store);
	g_free(settings->server);
	g_free(settings->address);
	g_ptr_array_unref(settings->cores);
	g_free(settings->core_user);
	g_ptr_array_unref(settings->parents);
	g_array_unref(settings->guids);
	g_free(settings->key_file);
	g_free(settings->password_file);
	g_free(settings->server_password_file);
	g_free(settings->ca_file);
	g_free(settings->cert_file);
	g_free(settings->tls_key_file);
	g_free(settings->snapshot);
	g_free(settings->acm_files);
	g_free(settings);
}

/* ---- what belongs together ---- */

bool ssa_settings_finds_cores(const struct ssa_settings *settings)
{
	bool is_beside = settings->store || settings->server;

	if (settings->cores->len || settings->parents->len || settings->roles & SSA_ROLE_CORE)
		return false;
	return settings->roles & (SSA_ROLE_DISTRIBUTION | SSA_ROLE_ACCESS) ||
	       (settings->roles & SSA_ROLE_AGENT && (settings->fake || !is_beside));
}

/* Any port of the subnet can register a core. */
static void check_found(const struct ssa_settings *settings, const char *name, GString *mistakes)
{
	if (!settings->key_file)
		config_mistake(mistakes, name, 0,
			       "without core, cores are found at the SA: expected key_file, as any "
			       "port of the subnet can register one");
	if (settings->password_file && !settings->ca_file)
		config_mistake(mistakes, name, 0,
			       "without core, cores are found at the SA: expected tls_ca beside "
			       "password_file, or any port of the subnet could be told it");
}

static void check_uri(const char *uri, const char *name, GString *mistakes)
{
	g_autoptr(GError) error = NULL;
	struct ssa_redis redis;

	if (uri && !ssa_redis_parse(&redis, uri, &error))
		config_mistake(mistakes, name, 0, "%s", error->message);
	if (uri)
		ssa_redis_clear(&redis);
}

static void check_uris(const struct ssa_settings *settings, const char *name, GString *mistakes)
{
	check_uri(settings->server, name, mistakes);
	for (guint i = 0; i < settings->cores->len; i++)
		check_uri(settings->cores->pdata[i], name, mistakes);
	for (guint i = 0; i < settings->parents->len; i++)
		check_uri(settings->parents->pdata[i], name, mistakes);
}

static bool check(const struct ssa_settings *settings, const char *name, GError **error)
{
	const unsigned int servers = SSA_ROLE_CORE | SSA_ROLE_DISTRIBUTION | SSA_ROLE_ACCESS;
	const unsigned int below = SSA_ROLE_DISTRIBUTION | SSA_ROLE_ACCESS;
	g_autoptr(GString) mistakes = g_string_new(NULL);
	if (!settings->roles)
		config_mistake(mistakes, name, 0, "role: expected at least one");
	if (settings->roles & SSA_ROLE_CORE && settings->roles & below)
		config_mistake(mistakes, name, 0,
			       "role core: expected no distribution or access beside it, as these "
			       "are replicas of another server; children may use the core's own");
	if (settings->roles & SSA_ROLE_CORE && !settings->store)
		config_mistake(mistakes, name, 0, "role core: expected store, that of the daemon");
	if (settings->roles & servers && !settings->server)
		config_mistake(mistakes, name, 0, "role %s: expected server",
			       settings->roles & SSA_ROLE_CORE		 ? "core"
			       : settings->roles & SSA_ROLE_DISTRIBUTION ? "distribution"
									 : "access");
	if (ssa_settings_finds_cores(settings))
		check_found(settings, name, mistakes);
	check_uris(settings, name, mistakes);
	if (settings->parents->len > 2)
		config_mistake(mistakes, name, 0, "parent: expected at most two");
	if (!settings->cert_file != !settings->tls_key_file)
		config_mistake(mistakes, name, 0, "tls_cert and tls_key: expected both or neither");
	return config_no_mistakes(mistakes, error);
}

struct ssa_settings *ssa_settings_parse(const char *name, const char *text, size_t size,
					GError **error)
{
	struct ssa_settings *settings = with_defaults();

	if (config_take_text(keys, G_N_ELEMENTS(keys), "ssa.conf(5)", name, text, size, settings,
			     error) &&
	    check(settings, name, error))
		return settings;
	ssa_settings_free(settings);
	return NULL;
}

struct ssa_settings *ssa_settings_read(const char *path, GError **error)
{
	size_t size = 0;
	g_autofree char *text = config_read_file(path, false, &size, error);

	return text ? ssa_settings_parse(path, text, size, error) : NULL;
}

struct ssa_store_options ssa_settings_store(const struct ssa_settings *settings, bool writes)
{
	return (struct ssa_store_options){
		.more = &ssa_store_redis,
		.password_file = settings->password_file,
		.ca_file = settings->ca_file,
		.cert_file = settings->cert_file,
		.key_file = settings->tls_key_file,
		.timeout_ms = 2000,
		.writes = writes,
	};
}

struct ssa_store_options ssa_settings_server(const struct ssa_settings *settings, bool writes)
{
	struct ssa_store_options options = ssa_settings_store(settings, writes);

	if (settings->server_password_file)
		options.password_file = settings->server_password_file;
	return options;
}

/* ---- other files ---- */

GBytes *ssa_key_read(const char *file, GError **error)
{
	int fd = file_open_secret(file, error);
	char text[KEY_MAX + 2] = "";
	GBytes *key = NULL;
	size_t length;
	ssize_t n;

	if (fd < 0)
		return NULL;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[MAX(n, 0)] = '\0';
	length = strcspn(text, "\r\n");
	if (length >= SSA_KEY_MIN && length <= KEY_MAX)
		key = g_bytes_new(text, length);
	else
		g_set_error(error, CONFIG_ERROR, 0, "%s:1: expected a line of %u to %u octets",
			    file, SSA_KEY_MIN, KEY_MAX);
	explicit_bzero(text, sizeof(text));
	return key;
}

/* "fe80:0000:0000:0000:0002:c903:0000:0001": the lower half is the GUID; 0: there is none. */
static uint64_t guid_of_gid(const char *text)
{
	unsigned int g[8];

	if (sscanf(text, "%4x:%4x:%4x:%4x:%4x:%4x:%4x:%4x", &g[0], &g[1], &g[2], &g[3], &g[4],
		   &g[5], &g[6], &g[7]) != 8)
		return 0;
	return (uint64_t)g[4] << 48 | (uint64_t)g[5] << 32 | (uint64_t)g[6] << 16 | g[7];
}

static bool is_infiniband(const char *port)
{
	g_autofree char *file = g_build_filename(port, "link_layer", NULL), *text = NULL;

	return !g_file_get_contents(file, &text, NULL, NULL) ||
	       g_str_has_prefix(text, "InfiniBand");
}

static void add_port(GArray *guids, const char *port)
{
	g_autofree char *file = g_build_filename(port, "gids", "0", NULL), *text = NULL;
	uint64_t guid;

	if (!is_infiniband(port) || !g_file_get_contents(file, &text, NULL, NULL))
		return;
	guid = guid_of_gid(text);
	if (guid && guids->len < G_N_ELEMENTS(((struct ssa_wanted *)NULL)->guids))
		g_array_append_val(guids, guid);
}

static void add_ports(GArray *guids, const char *device)
{
	g_autofree char *ports = g_build_filename(device, "ports", NULL);
	g_autoptr(GDir) directory = g_dir_open(ports, 0, NULL);
	const char *name;

	while (directory && (name = g_dir_read_name(directory))) {
		g_autofree char *port = g_build_filename(ports, name, NULL);

		add_port(guids, port);
	}
}

static int by_guid(gconstpointer a, gconstpointer b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

GArray *ssa_host_guids(const char *directory)
{
	GArray *guids = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	g_autoptr(GDir) devices = g_dir_open(directory, 0, NULL);
	const char *name;

	while (devices && (name = g_dir_read_name(devices))) {
		g_autofree char *device = g_build_filename(directory, name, NULL);

		add_ports(guids, device);
	}
	g_array_sort(guids, by_guid);
	return guids;
}
