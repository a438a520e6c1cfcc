// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Checks wire tables, which the codec trusts, once in the tests. Errors in hand-written tables are
 * often off by one bit, so every bit and octet is accounted for.
 */
#include <complib/wire.h>

/* Owner of each bit on the wire and each octet in the host struct: field index plus 1. */
struct claims {
	uint16_t *bits, *bytes;
	uint64_t components;
};

static G_GNUC_PRINTF(4, 5) bool wrong(const struct wire_type *type, const struct wire_field *field,
				      char **why, const char *format, ...)
{
	g_autofree char *text = NULL;
	va_list args;

	va_start(args, format);
	text = g_strdup_vprintf(format, args);
	va_end(args);
	*why = g_strdup_printf("%s%s%s: %s", type->name, field ? "." : "", field ? field->name : "",
			       text);
	return false;
}

static bool check_uint(const struct wire_type *type, const struct wire_field *field, char **why)
{
	if (field->size != 1 && field->size != 2 && field->size != 4 && field->size != 8)
		return wrong(type, field, why, "%u host bytes, expected 1, 2, 4 or 8", field->size);
	if (field->width < 1 || field->width > 8 * field->size)
		return wrong(type, field, why, "%u bits do not fit %u host bytes", field->width,
			     field->size);
	if (field->print == WIRE_TEXT || field->print == WIRE_GID)
		return wrong(type, field, why, "an integer cannot be printed as text or GID");
	return true;
}

static bool check_bytes(const struct wire_type *type, const struct wire_field *field, char **why)
{
	if (field->size != 1 || field->width != 8 || field->bit % 8 != 0)
		return wrong(type, field, why, "octets must be 8 bits wide, aligned, 1 host byte");
	return true;
}

static bool check_nest(const struct wire_type *type, const struct wire_field *field, char **why)
{
	if (!field->nested)
		return wrong(type, field, why, "no nested type");
	if (field->width != field->nested->bits || field->size != field->nested->size)
		return wrong(type, field, why, "%u bits in %u bytes, but %s has %u bits in %u",
			     field->width, field->size, field->nested->name, field->nested->bits,
			     field->nested->size);
	if (field->bit % 8 != 0)
		return wrong(type, field, why, "a nested type must start at an octet");
	if (field->count > 1 && field->component != WIRE_NO_COMPONENT)
		return wrong(type, field, why, "an array of a type cannot have components");
	if (field->print == WIRE_GID && (field->nested->bits != 128 || field->count != 1))
		return wrong(type, field, why, "a GID has 128 bits");
	return wire_check(field->nested, why);
}

static bool check_row(const struct wire_type *type, const struct wire_field *field, char **why)
{
	if (field->count < 1)
		return wrong(type, field, why, "no element");
	if (field->print >= WIRE_PRINTS || field->match >= WIRE_MATCHES)
		return wrong(type, field, why, "unknown print hint or match rule");
	if (field->bit + field->width * field->count > type->bits)
		return wrong(type, field, why, "ends at bit %u of %u",
			     field->bit + field->width * field->count, type->bits);
	if (field->offset + field->size * field->count > type->size)
		return wrong(type, field, why, "ends at host byte %u of %u",
			     field->offset + field->size * field->count, type->size);
	switch (field->kind) {
	case WIRE_UINT:
		return check_uint(type, field, why);
	case WIRE_BYTES:
		return check_bytes(type, field, why);
	case WIRE_NEST:
		return check_nest(type, field, why);
	default:
		return wrong(type, field, why, "unknown kind %u", field->kind);
	}
}

static bool claim(const struct wire_type *type, unsigned int index, uint16_t *owners,
		  unsigned int first, unsigned int n, const char *unit, char **why)
{
	for (unsigned int i = first; i < first + n; i++) {
		if (owners[i])
			return wrong(type, &type->fields[index], why, "%s %u belongs to %s too",
				     unit, i, type->fields[owners[i] - 1].name);
		owners[i] = (uint16_t)(index + 1);
	}
	return true;
}

static bool claim_components(const struct wire_type *type, unsigned int index,
			     struct claims *claims, char **why)
{
	const struct wire_field *field = &type->fields[index];
	const struct wire_type alone = {.fields = field, .n_fields = 1};
	uint64_t components;

	if (field->component < WIRE_NO_COMPONENT || field->component > 63)
		return wrong(type, field, why, "component %d, expected 0..63", field->component);
	if (field->kind == WIRE_UINT && field->component != WIRE_NO_COMPONENT &&
	    field->component + field->count > 64)
		return wrong(type, field, why, "components beyond bit 63");
	components = wire_components(&alone);
	if (components & claims->components)
		return wrong(type, field, why, "also the component of another field");
	claims->components |= components;
	return true;
}

static bool check_claims(const struct wire_type *type, struct claims *claims, char **why)
{
	for (unsigned int i = 0; i < type->n_fields; i++) {
		const struct wire_field *field = &type->fields[i];

		if (!check_row(type, field, why) ||
		    !claim(type, i, claims->bits, field->bit, field->width * field->count, "bit",
			   why) ||
		    !claim(type, i, claims->bytes, field->offset, field->size * field->count,
			   "host byte", why) ||
		    !claim_components(type, i, claims, why))
			return false;
	}
	return true;
}

bool wire_check(const struct wire_type *type, char **why)
{
	g_autofree uint16_t *bits = g_new0(uint16_t, type->bits);
	g_autofree uint16_t *bytes = g_new0(uint16_t, type->size);
	struct claims claims = {.bits = bits, .bytes = bytes};

	if (type->bits == 0 || type->bits % 8 != 0)
		return wrong(type, NULL, why, "%u bits, expected a multiple of 8", type->bits);
	return check_claims(type, &claims, why);
}
