// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Partitions as values: which P_Keys each endport holds. Built by the sweep from a frozen fabric,
 * then immutable; any thread reads them.
 */
#include "policy/partition.h"

#include <glib.h>

static struct partitions *partitions_alloc(const struct fabric *fabric, uint32_t n_p_keys)
{
	struct partitions *partitions = g_new0(struct partitions, 1);

	ref_init(&partitions->ref);
	partitions->n_ports = fabric->n_ports;
	partitions->first = g_new0(uint32_t, fabric->n_ports + 1);
	partitions->p_keys = g_new(uint16_t, n_p_keys + 1);
	return partitions;
}

struct partitions *partitions_default(const struct fabric *fabric)
{
	struct partitions *partitions = partitions_alloc(fabric, fabric->n_ports);
	uint32_t used = 0;

	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		partitions->first[i] = used;
		if (fabric_is_endport(fabric, i))
			partitions->p_keys[used++] = P_KEY_DEFAULT;
	}
	partitions->first[fabric->n_ports] = used;
	partitions->n = 1;
	partitions->all = g_new0(struct partition, 1);
	partitions->all[0] = (struct partition){
		.p_key = P_KEY_BASE(P_KEY_DEFAULT),
		.name = g_strdup("Default"),
		.ipoib = true,
		.mtu = 4,   /* 2048 octets */
		.rate = 3,  /* 10 Gb/s */
		.scope = 2, /* link-local */
		.q_key = 0x0b1b,
	};
	return partitions;
}

struct partitions *partitions_ref(struct partitions *partitions)
{
	ref_get(&partitions->ref);
	return partitions;
}

void partitions_unref(struct partitions *partitions)
{
	if (!partitions || !ref_put(&partitions->ref))
		return;
	for (uint32_t i = 0; i < partitions->n; i++)
		g_free(partitions->all[i].name);
	g_free(partitions->all);
	g_free(partitions->first);
	g_free(partitions->p_keys);
	g_free(partitions);
}

const uint16_t *partitions_of(const struct partitions *partitions, uint32_t port, uint32_t *n)
{
	if (port >= partitions->n_ports) {
		*n = 0;
		return NULL;
	}
	*n = partitions->first[port + 1] - partitions->first[port];
	return *n ? &partitions->p_keys[partitions->first[port]] : NULL;
}

const struct partition *partitions_find(const struct partitions *partitions, uint16_t p_key)
{
	for (uint32_t i = 0; i < partitions->n; i++)
		if (partitions->all[i].p_key == P_KEY_BASE(p_key))
			return &partitions->all[i];
	return NULL;
}

uint16_t partitions_member(const struct partitions *partitions, uint32_t port, uint16_t p_key)
{
	uint32_t n;
	const uint16_t *held = partitions_of(partitions, port, &n);
	uint16_t found = 0;

	for (uint32_t i = 0; i < n; i++)
		if (P_KEY_BASE(held[i]) == P_KEY_BASE(p_key))
			found = found & P_KEY_FULL ? found : held[i];
	return found;
}

uint16_t partitions_shared(const struct partitions *partitions, uint32_t a, uint32_t b)
{
	uint32_t n;
	const uint16_t *held = partitions_of(partitions, a, &n);

	for (uint32_t i = 0; i < n; i++) {
		uint16_t other = partitions_member(partitions, b, held[i]);

		if (other && ((other | held[i]) & P_KEY_FULL))
			return held[i];
	}
	return 0;
}
