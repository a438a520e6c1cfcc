// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A library to preload into ibutils' programs, so that two faults that have nothing to do with the
 * subnet do not end them with SIGSEGV. It does not change their verdicts.
 *
 * ibis, which runs ibdiagnet, sends directed routed SMPs (class 0x81) through the agent that it
 * registered for class 0x01, and never registers 0x81. The kernel accepts that, since it gives a
 * response to the agent that its transaction ID names. ibsim's libumad2sim finds the agent so too,
 * but the open file to queue the response for by the management class alone. That is -1 for a class
 * that no agent registered; its receiver thread uses it as an index, and locks a mutex in what a
 * null pointer points to. So a program that registers 0x01 gets an agent for 0x81 on the same file
 * as well.
 *
 * libibdm's CrdLoopCleanup() frees what the search for credit loops built, after the verdict. It
 * lacks the return statement that it promises, and all that is left of it in Debian's build is a
 * read through a null pointer. Here it frees nothing: the programs end soon after.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <infiniband/umad.h>

#define CLASS_LID_ROUTED 0x01
#define CLASS_DIRECTED 0x81

typedef int register_fn(int port_id, int mgmt_class, int mgmt_version, uint8_t rmpp_version,
			long method_mask[16 / sizeof(long)]);

int umad_register(int port_id, int mgmt_class, int mgmt_version, uint8_t rmpp_version,
		  long method_mask[16 / sizeof(long)])
{
	register_fn *next = (register_fn *)dlsym(RTLD_NEXT, "umad_register");
	int agent;

	if (mgmt_class == CLASS_LID_ROUTED) {
		agent = next(port_id, CLASS_DIRECTED, mgmt_version, rmpp_version, NULL);
		if (agent < 0)
			return agent;
	}
	return next(port_id, mgmt_class, mgmt_version, rmpp_version, method_mask);
}

int credit_loop_cleanup(void *fabric) __asm__("_Z14CrdLoopCleanupP8IBFabric");

int credit_loop_cleanup(void *fabric)
{
	(void)fabric;
	return 0;
}
