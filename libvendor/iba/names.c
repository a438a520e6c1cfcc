// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Texts of the named values in iba/constants.def. Constant data; any thread may read it. */
#include <glib.h>
#include <iba/constants.h>

struct named_value {
	uint32_t value;
	const char *text;
};

#define IBA_SET(set) static const struct named_value set##_values[] = {
#define IBA_VALUE(name, value, text) {value, text},
#define IBA_SET_END(set)                                                                           \
	}                                                                                          \
	;
#include <iba/constants.def>

static const struct {
	const struct named_value *values;
	size_t n;
} sets[] = {
#define IBA_SET(set) [IBA_SET_##set] = {set##_values, G_N_ELEMENTS(set##_values)},
#include <iba/constants.def>
};

const char *iba_name(enum iba_set set, uint32_t value)
{
	g_return_val_if_fail((size_t)set < G_N_ELEMENTS(sets), NULL);

	for (size_t i = 0; i < sets[set].n; i++)
		if (sets[set].values[i].value == value)
			return sets[set].values[i].text;
	return NULL;
}
