// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Alters seeds. Each input depends on its number alone, so that any one of millions can be made
 * again. Bits and octets suit binary formats, copied and dropped ranges, words of another seed and
 * replaced numbers suit text.
 */
#include <string.h>

#include "complib/random.h"
#include "tests/fuzz/fuzz.h"

static size_t below(uint64_t *state, size_t limit)
{
	return limit ? random_next(state) % limit : 0;
}

/* A number from 0 to a, but at most b. */
static size_t up_to(uint64_t *state, size_t a, size_t b)
{
	return below(state, MIN(a, b) + 1);
}

static void insert(GByteArray *input, size_t at, const uint8_t *data, size_t size)
{
	g_autofree uint8_t *copy = g_memdup2(data, size); /* data may point into the input itself */
	size_t old = input->len;

	g_byte_array_set_size(input, old + size);
	memmove(input->data + at + size, input->data + at, old - at);
	if (size)
		memcpy(input->data + at, copy, size);
}

static void remove_range(GByteArray *input, size_t at, size_t size)
{
	if (size)
		g_byte_array_remove_range(input, at, size);
}

static void alter_octet(GByteArray *input, uint64_t *state)
{
	static const uint8_t edges[] = {0, 1, 2, 0x7F, 0x80, 0xFE, 0xFF, '\n', '"', ' ', '-', '%'};
	uint8_t *octet = &input->data[below(state, input->len)];

	switch (below(state, 3)) {
	case 0:
		*octet ^= 1 << below(state, 8);
		break;
	case 1:
		*octet = edges[below(state, sizeof(edges))];
		break;
	default:
		*octet = random_next(state);
	}
}

/* A run of up to 8 octets becomes all ones, zero, or its number plus one. */
static void alter_field(GByteArray *input, uint64_t *state)
{
	size_t wanted = (size_t)1 << below(state, 4);
	size_t size = MIN(wanted, input->len);
	uint8_t *field = input->data + below(state, input->len - size + 1);

	switch (below(state, 3)) {
	case 0:
		memset(field, 0, size);
		break;
	case 1:
		memset(field, 0xFF, size);
		break;
	default:
		field[size - 1]++;
	}
}

static void alter_number(GByteArray *input, uint64_t *state)
{
	static const char *const numbers[] = {
		"0", "-1", "1", "254", "255", "256", "65535", "65536", "4294967296", "1e99",
		"18446744073709551615", "18446744073709551616", "0x", "0xffffffffffffffff", "nan",
		"",
	};
	const char *number = numbers[below(state, G_N_ELEMENTS(numbers))];
	size_t at = below(state, input->len);
	size_t end;

	while (at < input->len && !g_ascii_isdigit(input->data[at]))
		at++;
	for (end = at; end < input->len && g_ascii_isxdigit(input->data[end]);)
		end++;
	remove_range(input, at, end - at);
	insert(input, at, (const uint8_t *)number, strlen(number));
}

static void copy_range(GByteArray *input, const GPtrArray *seeds, uint64_t *state)
{
	size_t other_size;
	GBytes *other = g_ptr_array_index(seeds, below(state, seeds->len));
	const uint8_t *from = g_bytes_get_data(other, &other_size);
	size_t at, size;

	if (below(state, 2)) {
		from = input->data;
		other_size = input->len;
	}
	at = below(state, other_size);
	size = up_to(state, below(state, 256), other_size - at);
	insert(input, below(state, input->len + 1), from + at, size);
}

static void drop_range(GByteArray *input, uint64_t *state)
{
	size_t at = below(state, input->len);
	size_t rest = input->len - at;

	remove_range(input, at, below(state, 8) ? up_to(state, 32, rest) : rest);
}

static void alter(GByteArray *input, const GPtrArray *seeds, uint64_t *state)
{
	switch (input->len ? below(state, 8) : 7) {
	case 0:
	case 1:
	case 2:
		alter_octet(input, state);
		break;
	case 3:
		alter_field(input, state);
		break;
	case 4:
	case 5:
		alter_number(input, state);
		break;
	case 6:
		drop_range(input, state);
		break;
	default:
		copy_range(input, seeds, state);
	}
}

GByteArray *fuzz_mutate(const GPtrArray *seeds, uint64_t series, uint64_t number, size_t max_size)
{
	uint64_t state = series * UINT64_C(0xD1342543DE82EF95) + number;
	GBytes *seed = g_ptr_array_index(seeds, random_next(&state) % seeds->len);
	GByteArray *input = g_byte_array_new();
	size_t size;
	const uint8_t *data = g_bytes_get_data(seed, &size);

	if (size)
		g_byte_array_append(input, data, size);
	for (size_t steps = 1 + below(&state, 1 + below(&state, 12)); steps > 0; steps--)
		alter(input, seeds, &state);
	if (input->len > max_size)
		g_byte_array_set_size(input, max_size);
	return input;
}
