// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What all folders of sm/ need of nodes and ports: names, and the tables that they hold. */
#ifndef SM_BASE_BASE_H
#define SM_BASE_BASE_H

#include "core/about.h"
#include "fabric/builder.h"

struct sm;

/* ---- names.c ---- */
/* "NAME (0xGUID)", or "the SM's own port" before that is identified; returns buffer. */
const char *sm_node_name(const struct builder_node *node, char *buffer, size_t size);
#define SM_NAME_SIZE (NODE_NAME_MAX + 32)
/* What a line of the log is about: that port of the node (0: the node), by its last LID. */
struct sm_about {
	struct about about;
	char name[BUILDER_NAME_SIZE];
};
void sm_about(struct sm_about *out, const char *kind, const struct builder_node *node,
	      unsigned int num);
/* The SM's own port, if it is known. */
void sm_about_own(struct sm_about *out, const char *kind, const struct sm *sm);
/* The builder's port with that index in sm->fabric (FABRIC_NONE: none); or NULL. */
struct builder_port *port_published(const struct sm *sm, uint32_t index);

/* ---- tables.c ---- */
/* AttributeModifier of an MFT block of a switch, by its index in builder_node.mft. */
static inline uint32_t sm_mft_modifier(unsigned int num_ports, uint32_t index)
{
	uint32_t positions = IBA_MFT_POSITIONS_OF(num_ports);

	return index / positions | index % positions << IBA_MFT_MOD_POSITION_SHIFT;
}
/* Tables that are read and written in blocks, by attribute: LFT, MFT, or P_Keys of a port. */
const struct wire_type *sm_table_type(uint16_t attribute);
struct trust_table *sm_table(struct builder_node *node, unsigned int port, uint16_t attribute);
/* AttributeModifier of a block of its QoS tables; its VLHighLimit as it should be */
uint32_t qos_modifier(const struct builder_port *port, uint16_t attribute, uint32_t block);
/* AttributeModifier of a block of the P_KeyTable of a port. */
uint32_t p_keys_modifier(const struct builder_port *port, uint32_t block);

#endif
