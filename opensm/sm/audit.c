// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "sm/sm_private.h"

struct audit {
	int x;
};

struct audit *audit_new(struct sm *sm)
{
	(void)sm;
	return g_new0(struct audit, 1);
}

void audit_free(struct audit *audit)
{
	g_free(audit);
}

void audit_again(struct sm *sm, struct builder_node *node, const struct builder_port *port,
		 uint16_t attribute, uint32_t block)
{
	(void)sm, (void)node, (void)port, (void)attribute, (void)block;
}

void audit_sweep_ended(struct sm *sm)
{
	(void)sm;
}
