// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Reads addresses: half of a file would send packets to hosts that had an address before. */
#include "ssa/core/addresses.h"

#include <arpa/inet.h>
#include <complib/container_of.h>
#include <complib/file.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/words.h"

#define P_KEY_FULL_DEFAULT 0xFFFF
#define QPN_MAX 0xFFFFFF

struct reader {
	struct words words;
	struct ssa_addresses *addresses;
	uint16_t p_key;
};

GQuark ssa_addresses_error_quark(void)
{
	return g_quark_from_static_string("ssa-addresses-error");
}

static char *word_of(const struct words *words)
{
	return g_strndup(words->word, words->length);
}

/* A number, decimal or hex with 0x, at most max. */
static bool to_number(const char *word, uint64_t max, uint64_t *value)
{
	bool hex = g_ascii_strncasecmp(word, "0x", 2) == 0;
	char *end;

	if (!g_ascii_isxdigit(hex ? word[2] : word[0]))
		return false;
	errno = 0;
	*value = g_ascii_strtoull(word, &end, hex ? 16 : 10);
	return !errno && !*end && *value <= max;
}

/* [pkey=0x8001] */
static bool read_heading(struct reader *reader, const char *word, GError **error)
{
	g_autofree char *number = NULL;
	uint64_t value;

	if (g_str_has_prefix(word, "[pkey=") && g_str_has_suffix(word, "]"))
		number = g_strndup(word + strlen("[pkey="), strlen(word) - strlen("[pkey=]"));
	if (!number || !to_number(number, 0xFFFF, &value) || !(value & 0x7FFF))
		return words_refuse(&reader->words, error, "[pkey=0x8001] or another P_Key");
	reader->p_key = (uint16_t)value;
	words_next(&reader->words);
	return words_at_end(&reader->words) ||
	       words_refuse(&reader->words, error, "the end of the line");
}

static bool read_gid(struct words *words, uint8_t gid[16], GError **error)
{
	g_autofree char *word = word_of(words);

	if (inet_pton(AF_INET6, word, gid) != 1)
		return words_refuse(words, error, "a GID such as fe80::2:c903:a:1");
	if (gid[0] == 0xFF)
		return words_refuse(words, error, "the GID of a port, not of a multicast group");
	words_next(words);
	return true;
}

/* Reads QPN and FLAGS, if they are there. */
static bool read_interface(struct words *words, struct ssa_address_rest *rest, GError **error)
{
	g_autofree char *qpn = NULL, *flags = NULL;
	uint64_t value;

	if (words_at_end(words))
		return true;
	qpn = word_of(words);
	if (!to_number(qpn, QPN_MAX, &value))
		return words_refuse(words, error, "a QPN of at most 24 bits");
	rest->qpn[0] = (uint8_t)(value >> 16);
	rest->qpn[1] = (uint8_t)(value >> 8);
	rest->qpn[2] = (uint8_t)value;
	rest->flags = SSA_ADDRESS_RC;
	words_next(words);
	if (words_at_end(words))
		return true;
	flags = word_of(words);
	if (!to_number(flags, SSA_ADDRESS_RC | SSA_ADDRESS_UC, &value) ||
	    value & ~(uint64_t)(SSA_ADDRESS_RC | SSA_ADDRESS_UC))
		return words_refuse(words, error, "flags: 0x80, 0x40, both or 0");
	rest->flags = (uint8_t)value;
	words_next(words);
	return words_at_end(words) || words_refuse(words, error, "the end of the line");
}

static void add(struct ssa_addresses *addresses, const char *address,
		const struct ssa_address_rest *rest)
{
	struct ssa_ipv4 ipv4 = {.rest = *rest};
	struct ssa_ipv6 ipv6 = {.rest = *rest};
	struct ssa_name name = {.rest = *rest};

	if (inet_pton(AF_INET, address, ipv4.address) == 1) {
		g_array_append_val(addresses->ipv4, ipv4);
	} else if (inet_pton(AF_INET6, address, ipv6.address) == 1) {
		g_array_append_val(addresses->ipv6, ipv6);
	} else {
		memcpy(name.name, address, strlen(address));
		g_array_append_val(addresses->names, name);
	}
}

static bool read_line(struct words *words, GError **error)
{
	struct reader *reader = container_of(words, struct reader, words);
	g_autofree char *address = word_of(words);
	struct ssa_address_rest rest = {.p_key = GUINT16_TO_LE(reader->p_key)};

	if (*address == '[')
		return read_heading(reader, address, error);
	if (strlen(address) >= sizeof(((struct ssa_name *)NULL)->name))
		return words_refuse(words, error, "a name of at most %zu octets",
				    sizeof(((struct ssa_name *)NULL)->name) - 1);
	words_next(words);
	if (words_at_end(words))
		return words_refuse(words, error, "a GID after the address");
	if (!read_gid(words, rest.gid, error) || !read_interface(words, &rest, error))
		return false;
	add(reader->addresses, address, &rest);
	return true;
}

static int by_octets(const void *a, const void *b, void *size)
{
	return memcmp(a, b, GPOINTER_TO_SIZE(size));
}

/* In the order of the table, without rows that are there twice. */
static void put_in_order(GArray *rows)
{
	size_t size = g_array_get_element_size(rows);
	guint n = 0;

	if (rows->len)
		g_qsort_with_data(rows->data, (gint)rows->len, size, by_octets,
				  GSIZE_TO_POINTER(size));
	for (guint i = 0; i < rows->len; i++)
		if (!n || memcmp(rows->data + (n - 1) * size, rows->data + i * size, size) != 0)
			memmove(rows->data + n++ * size, rows->data + i * size, size);
	g_array_set_size(rows, n);
}

static struct ssa_addresses *addresses_new(void)
{
	struct ssa_addresses *addresses = g_new0(struct ssa_addresses, 1);

	ref_init(&addresses->ref);
	addresses->names = g_array_new(FALSE, FALSE, sizeof(struct ssa_name));
	addresses->ipv4 = g_array_new(FALSE, FALSE, sizeof(struct ssa_ipv4));
	addresses->ipv6 = g_array_new(FALSE, FALSE, sizeof(struct ssa_ipv6));
	return addresses;
}

struct ssa_addresses *ssa_addresses_parse(const char *file, const char *text, size_t length,
					  GError **error)
{
	struct reader reader = {
		.words = {.file = file, .domain = SSA_ADDRESSES_ERROR},
		.addresses = addresses_new(),
		.p_key = P_KEY_FULL_DEFAULT,
	};

	if (!words_read(&reader.words, text, length, read_line, error)) {
		ssa_addresses_unref(reader.addresses);
		return NULL;
	}
	put_in_order(reader.addresses->names);
	put_in_order(reader.addresses->ipv4);
	put_in_order(reader.addresses->ipv6);
	return reader.addresses;
}

struct ssa_addresses *ssa_addresses_load(const char *file, GError **error)
{
	g_autoptr(GError) why = NULL;
	gsize length;
	g_autofree char *text = file_read(file, FILE_MAX_CONFIG, &length, &why);

	if (text)
		return ssa_addresses_parse(file, text, length, error);
	if (g_error_matches(why, G_FILE_ERROR, G_FILE_ERROR_NOENT))
		return addresses_new();
	g_propagate_error(error, g_steal_pointer(&why));
	return NULL;
}

void ssa_addresses_unref(struct ssa_addresses *addresses)
{
	if (!addresses || !ref_put(&addresses->ref))
		return;
	g_array_unref(addresses->names);
	g_array_unref(addresses->ipv4);
	g_array_unref(addresses->ipv6);
	g_free(addresses);
}
