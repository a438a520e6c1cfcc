// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What libibverbs says of the first device: prints it and port 1, then each event and what port 1
 * is then, until the last one.
 */
#include <endian.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void print_port(struct ibv_context *context)
{
	struct ibv_port_attr attr;
	union ibv_gid gid;
	__be16 p_key;

	if (ibv_query_port(context, 1, &attr) != 0 || ibv_query_gid(context, 1, 0, &gid) != 0) {
		printf("port 1 cannot be asked\n");
		return;
	}
	printf("port 1 %s lid %u lmc %u sm %u mtu %u of %u width %u speed %u gid "
	       "%016" PRIx64 ":%016" PRIx64 " p_keys",
	       ibv_port_state_str(attr.state), attr.lid, attr.lmc, attr.sm_lid, attr.active_mtu,
	       attr.max_mtu, attr.active_width, attr.active_speed,
	       (uint64_t)be64toh(gid.global.subnet_prefix),
	       (uint64_t)be64toh(gid.global.interface_id));
	for (int i = 0; i < attr.pkey_tbl_len && ibv_query_pkey(context, 1, i, &p_key) == 0; i++)
		if (p_key)
			printf(" %04x", be16toh(p_key));
	printf("\n");
}

int main(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context;
	struct ibv_async_event event;
	struct ibv_device_attr attr;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (!list || !list[0]) {
		printf("no device\n");
		return 1;
	}
	context = ibv_open_device(list[0]);
	if (!context) {
		printf("cannot open %s: %s\n", ibv_get_device_name(list[0]), strerror(errno));
		return 1;
	}
	ibv_free_device_list(list);
	if (ibv_query_device(context, &attr) == 0)
		printf("device %s guid %016" PRIx64 " ports %u\n", context->device->name,
		       (uint64_t)be64toh(attr.node_guid), attr.phys_port_cnt);
	printf("protection domain %s\n", ibv_alloc_pd(context) ? "given" : strerror(errno));
	print_port(context);
	while (ibv_get_async_event(context, &event) == 0) {
		printf("event %s port %d\n", ibv_event_type_str(event.event_type),
		       event.element.port_num);
		ibv_ack_async_event(&event);
		print_port(context);
	}
	printf("the end: %s\n", strerror(errno));
	return ibv_close_device(context);
}
