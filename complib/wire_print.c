// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Text of a host struct, driven by the print hints of its rows. Any thread. */
#include <arpa/inet.h>
#include <complib/wire.h>
#include <inttypes.h>

#define VALUE_COLUMN 44

static void print_name(const char *prefix, const struct wire_field *field, GString *out)
{
	gsize start = out->len;

	g_string_append_printf(out, "%s%s:", prefix, field->name);
	do
		g_string_append_c(out, '.');
	while (out->len - start < VALUE_COLUMN);
}

static void print_integer(const struct wire_field *field, uint64_t value, GString *out)
{
	switch (field->print) {
	case WIRE_HEX:
		g_string_append_printf(out, "0x%0*" PRIx64, (field->width + 3) / 4, value);
		break;
	case WIRE_GUID:
		g_string_append_printf(out, "0x%016" PRIx64, value);
		break;
	case WIRE_LID: /* unicast LIDs are known by number, multicast ones by pattern */
		g_string_append_printf(out, value < 0xC000 ? "%" PRIu64 : "0x%04" PRIx64, value);
		break;
	default:
		g_string_append_printf(out, "%" PRIu64, value);
	}
}

static void print_integers(const struct wire_field *field, const void *host, GString *out)
{
	for (unsigned int i = 0; i < field->count; i++) {
		if (i > 0)
			g_string_append_c(out, ' ');
		print_integer(field, wire_value(field, host, i), out);
	}
}

static void print_text(const struct wire_field *field, const void *host, GString *out)
{
	for (unsigned int i = 0; i < field->count; i++) {
		unsigned char c = (unsigned char)wire_value(field, host, i);

		if (c == '\0')
			break;
		if (c == '\\' || !g_ascii_isprint(c))
			g_string_append_printf(out, "\\x%02x", c);
		else
			g_string_append_c(out, c);
	}
}

static void print_octets(const struct wire_field *field, const void *host, GString *out)
{
	for (unsigned int i = 0; i < field->count; i++)
		g_string_append_printf(out, "%02x", (unsigned int)wire_value(field, host, i));
}

static void print_hidden(const struct wire_field *field, const void *host, GString *out)
{
	uint64_t any = 0;

	for (unsigned int i = 0; i < field->count; i++)
		any |= wire_value(field, host, i);
	g_string_append(out, any ? "set" : "not set");
}

static void print_gid(const struct wire_field *field, const uint8_t *host, GString *out)
{
	char text[INET6_ADDRSTRLEN];
	uint8_t wire[16];

	wire_encode(field->nested, host + field->offset, wire);
	g_string_append(out, inet_ntop(AF_INET6, wire, text, sizeof(text)));
}

static void print_value(const struct wire_field *field, const void *host, GString *out)
{
	if (field->print == WIRE_HIDE)
		print_hidden(field, host, out);
	else if (field->kind == WIRE_NEST)
		print_gid(field, host, out);
	else if (field->kind == WIRE_UINT)
		print_integers(field, host, out);
	else if (field->print == WIRE_TEXT)
		print_text(field, host, out);
	else
		print_octets(field, host, out);
}

static void print_field(const struct wire_field *field, const char *prefix, const void *host,
			GString *out)
{
	print_name(prefix, field, out);
	print_value(field, host, out);
	g_string_append_c(out, '\n');
}

static bool is_zero(const struct wire_field *field, const uint8_t *host)
{
	uint8_t gid[16];

	if (field->kind == WIRE_NEST) {
		wire_encode(field->nested, host + field->offset, gid);
		for (unsigned int i = 0; i < sizeof(gid); i++)
			if (gid[i])
				return false;
		return true;
	}
	for (unsigned int i = 0; i < field->count; i++)
		if (wire_value(field, host, i))
			return false;
	return true;
}

static void print_word(const struct wire_field *field, const char *prefix, const void *host,
		       GString *out)
{
	if (is_zero(field, host))
		return;
	g_string_append_printf(out, " %s%s=", prefix, field->name);
	print_value(field, host, out);
}

typedef void print_fn(const struct wire_field *field, const char *prefix, const void *host,
		      GString *out);

static void print_fields(const struct wire_type *type, const char *prefix, const uint8_t *host,
			 print_fn *print, GString *out)
{
	for (unsigned int i = 0; i < type->n_fields; i++) {
		const struct wire_field *field = &type->fields[i];

		if (field->kind != WIRE_NEST || field->print == WIRE_GID) {
			print(field, prefix, host, out);
			continue;
		}
		for (unsigned int j = 0; j < field->count; j++) {
			g_autofree char *inner =
				field->count == 1
					? g_strdup(prefix)
					: g_strdup_printf("%s%s[%u].", prefix, field->name, j);

			print_fields(field->nested, inner, host + field->offset + j * field->size,
				     print, out);
		}
	}
}

void wire_print(const struct wire_type *type, const void *host, GString *out)
{
	print_fields(type, "", host, print_field, out);
}

void wire_print_words(const struct wire_type *type, const void *host, GString *out)
{
	print_fields(type, "", host, print_word, out);
}
