// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * libosmsim-preload.so's functions, linked into this program in front of libibumad's, with a double
 * of the server: promises of the kernel and libibumad to programs are kept here.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "libvendor/osmsim/protocol.h"
#include "osmsim_double.h"
#include "tests/run_suite.h"

#define CLASS_SA 0x03
#define CLASS_PERF 0x04
#define MAD_BYTES 256
#define MAD_HEADER_BYTES 24
#define WAIT_MS 60000 /* more is a failure */
#define THREADS 8
#define MADS_A_THREAD 200

struct setup {
	struct osmsim_double server;
	int port, agent;
	struct ib_user_mad *umad; /* room for a MAD of DOUBLE_LONG octets */
	uint8_t *data;
};

static void put(uint8_t *data, uint64_t tid)
{
	const uint8_t head[] = {1, CLASS_SA, 2, 1};

	memset(data, 0, MAD_BYTES);
	memcpy(data, head, sizeof(head));
	tid = htobe64(tid);
	memcpy(data + 8, &tid, sizeof(tid));
}

static uint64_t tid_of(const uint8_t *data)
{
	uint64_t tid;

	memcpy(&tid, data + 8, sizeof(tid));
	return be64toh(tid);
}

static void start(struct setup *s)
{
	osmsim_double_start(&s->server);
	ck_assert_int_eq(umad_init(), 0);
	s->port = umad_open_port(NULL, 0);
	ck_assert_int_ge(s->port, 0);
	s->agent = umad_register(s->port, CLASS_SA, 2, 1, NULL);
	ck_assert_int_eq(s->agent, 0);
	s->umad = umad_alloc(1, umad_size() + DOUBLE_LONG);
	s->data = umad_get_mad(s->umad);
}

static void end(struct setup *s)
{
	ck_assert_int_eq(umad_close_port(s->port), 0);
	ck_assert_int_eq(umad_done(), 0);
	osmsim_double_die(&s->server);
	umad_free(s->umad);
}

static int send_to(struct setup *s, enum double_lid lid, uint64_t tid, int timeout_ms, int retries)
{
	put(s->data, tid);
	umad_set_addr(s->umad, lid, 1, 0, 0x80010000);
	return umad_send(s->port, s->agent, s->umad, MAD_BYTES, timeout_ms, retries);
}

static double seconds_since(const struct timespec *from)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec - from->tv_sec + (now.tv_nsec - from->tv_nsec) / 1e9;
}

START_TEST(tells_of_the_ca)
{
	struct setup s;
	char names[3][UMAD_CA_NAME_LEN];
	__be64 guids[DOUBLE_PORTS + 1];
	struct umad_device_node *list;
	umad_ca_t ca;

	start(&s);
	ck_assert_int_eq(umad_get_cas_names(names, 3), 1);
	ck_assert_str_eq(names[0], OSMSIM_DEVICE);
	ck_assert_int_eq(umad_get_ca(NULL, &ca), 0);
	ck_assert_str_eq(ca.ca_name, OSMSIM_DEVICE);
	ck_assert_uint_eq(ca.node_type, 1);
	ck_assert_int_eq(ca.numports, DOUBLE_PORTS);
	ck_assert(be64toh(ca.node_guid) == DOUBLE_GUID);
	ck_assert_ptr_null(ca.ports[0]);
	ck_assert_ptr_null(ca.ports[DOUBLE_PORTS + 1]);
	ck_assert_uint_eq(ca.ports[2]->state, 2);
	ck_assert_int_eq(umad_release_ca(&ca), 0);
	ck_assert_ptr_null(ca.ports[1]);
	ck_assert_int_eq(umad_get_ca_portguids(OSMSIM_DEVICE, guids, 2), -ENOMEM);
	ck_assert_int_eq(umad_get_ca_portguids(OSMSIM_DEVICE, guids, 3), 3);
	ck_assert(guids[0] == 0 && be64toh(guids[2]) == DOUBLE_GUID + 2);
	list = umad_get_ca_device_list();
	ck_assert_str_eq(list->ca_name, OSMSIM_DEVICE);
	ck_assert_int_eq(umad_sort_ca_device_list(&list, 0), 0);
	ck_assert_ptr_null(list->next);
	umad_free_ca_device_list(list);
	end(&s);
}
END_TEST

START_TEST(tells_of_a_port)
{
	struct setup s;
	umad_port_t port;
	char path[128];

	start(&s);
	ck_assert_int_eq(umad_get_port(OSMSIM_DEVICE, 0, &port), 0);
	ck_assert_int_eq(port.portnum, 1); /* the ACTIVE one */
	ck_assert_uint_eq(port.base_lid, 10);
	ck_assert_uint_eq(port.lmc, 3);
	ck_assert_uint_eq(port.sm_lid, 7);
	ck_assert_uint_eq(port.sm_sl, 2);
	ck_assert_uint_eq(port.rate, 100);
	ck_assert_uint_eq(be32toh(port.capmask), 0x02514868);
	ck_assert(be64toh(port.gid_prefix) == UINT64_C(0xfe80000000000000));
	ck_assert_str_eq(port.link_layer, "InfiniBand");
	ck_assert_uint_eq(port.pkeys_size, 2);
	ck_assert_uint_eq(port.pkeys[1], 0x8001);
	ck_assert_int_eq(umad_release_port(&port), 0);
	ck_assert_int_eq(umad_get_issm_path(OSMSIM_DEVICE, 1, path, sizeof(path)), 0);
	ck_assert_ptr_nonnull(strstr(path, "/issm"));
	ck_assert_int_eq(umad_get_issm_path(OSMSIM_DEVICE, 1, path, 5), -EINVAL);
	end(&s);
}
END_TEST

START_TEST(knows_no_other_device)
{
	struct setup s;
	umad_port_t port;
	umad_ca_t ca;
	char path[128];

	start(&s);
	ck_assert_int_eq(umad_get_ca("mlx5_0", &ca), -ENOENT);
	ck_assert_int_eq(umad_get_port("mlx5_0", 1, &port), -EIO);
	ck_assert_int_eq(umad_get_port(OSMSIM_DEVICE, 3, &port), -EIO);
	ck_assert_int_eq(umad_open_port("mlx5_0", 1), -EINVAL);
	ck_assert_int_eq(umad_open_port(OSMSIM_DEVICE, 3), -EINVAL);
	ck_assert_int_eq(umad_get_issm_path("mlx5_0", 1, path, sizeof(path)), -EINVAL);
	end(&s);
}
END_TEST

START_TEST(gives_an_answer_back)
{
	struct setup s;
	int length = MAD_BYTES;

	start(&s);
	ck_assert_int_eq(send_to(&s, DOUBLE_ECHO_LID, 42, 100, 0), 0);
	ck_assert_int_eq(umad_poll(s.port, WAIT_MS), 0);
	memset(s.umad, 0xee, umad_size() + MAD_BYTES);
	ck_assert_int_eq(umad_recv(s.port, s.umad, &length, -1), s.agent);
	ck_assert_int_eq(length, MAD_BYTES);
	ck_assert_int_eq(umad_status(s.umad), 0);
	ck_assert_uint_eq(s.umad->length, umad_size() + MAD_BYTES); /* as the kernel counts */
	ck_assert_uint_eq(be16toh(s.umad->addr.lid), DOUBLE_ECHO_LID);
	ck_assert_uint_eq(be32toh(s.umad->addr.qpn), 1);
	ck_assert_uint_eq(s.data[3], 0x81);
	ck_assert(tid_of(s.data) == 42);
	end(&s);
}
END_TEST

START_TEST(gives_a_request_back_that_timed_out)
{
	struct setup s;
	struct timespec begin;
	int length = MAD_BYTES;

	start(&s);
	clock_gettime(CLOCK_MONOTONIC, &begin);
	ck_assert_int_eq(send_to(&s, DOUBLE_SILENT_LID, 43, 50, 3), 0);
	ck_assert_int_eq(umad_recv(s.port, s.umad, &length, WAIT_MS), s.agent);
	ck_assert(seconds_since(&begin) > 0.19);
	ck_assert_int_eq(umad_status(s.umad), ETIMEDOUT);
	ck_assert_int_eq(length, MAD_HEADER_BYTES);
	ck_assert(tid_of(s.data) == 43);
	ck_assert_uint_eq(s.data[3], 0x01);
	end(&s);
}
END_TEST

START_TEST(waits_as_told)
{
	struct setup s;
	struct timespec begin;
	int length = MAD_BYTES;

	start(&s);
	s.umad->length = 0;
	ck_assert_int_eq(umad_recv(s.port, s.umad, &length, 0), -EAGAIN);
	ck_assert_int_eq(errno, EAGAIN);
	length = MAD_BYTES;
	clock_gettime(CLOCK_MONOTONIC, &begin);
	ck_assert_int_eq(umad_recv(s.port, s.umad, &length, 100), -ETIMEDOUT);
	ck_assert_int_eq(errno, ETIMEDOUT);
	ck_assert_int_eq(length, MAD_BYTES);
	ck_assert_int_eq(umad_poll(s.port, 100), -ETIMEDOUT);
	ck_assert(seconds_since(&begin) > 0.19);
	ck_assert_int_eq(umad_recv(s.port, NULL, &length, 0), -EINVAL);
	/* A descriptor without O_NONBLOCK waits even when told not to, like read() on a device. */
	ck_assert_int_eq(fcntl(umad_get_fd(s.port), F_SETFL, 0), 0);
	clock_gettime(CLOCK_MONOTONIC, &begin);
	ck_assert_int_eq(send_to(&s, DOUBLE_SILENT_LID, 1, 100, 0), 0);
	ck_assert_int_eq(umad_recv(s.port, s.umad, &length, 0), s.agent);
	ck_assert(seconds_since(&begin) > 0.09);
	end(&s);
}
END_TEST

START_TEST(keeps_what_finds_no_room)
{
	struct setup s;
	struct pollfd poll_fd;
	int length = MAD_BYTES;

	start(&s);
	ck_assert_int_eq(send_to(&s, DOUBLE_LONG_LID, 44, 100, 0), 0);
	for (int i = 0; i < 3; i++) {
		length = MAD_BYTES + i;
		memset(s.umad, 0, umad_size() + MAD_BYTES);
		ck_assert_int_eq(umad_recv(s.port, s.umad, &length, WAIT_MS), -ENOSPC);
		ck_assert_int_eq(errno, ENOSPC);
		ck_assert_int_eq(length, DOUBLE_LONG);
		ck_assert(tid_of(s.data) == 44);
		ck_assert_uint_eq(s.data[MAD_BYTES - 1], MAD_BYTES - 1);
	}
	length = MAD_BYTES - 1; /* the kernel requires room for a segment */
	ck_assert_int_eq(umad_recv(s.port, s.umad, &length, WAIT_MS), -EINVAL);
	poll_fd = (struct pollfd){.fd = umad_get_fd(s.port), .events = POLLIN};
	ck_assert_int_eq(poll(&poll_fd, 1, 0), 1);
	length = DOUBLE_LONG;
	ck_assert_int_eq(umad_recv(s.port, s.umad, &length, 0), s.agent);
	ck_assert_int_eq(length, DOUBLE_LONG);
	for (int i = MAD_HEADER_BYTES; i < DOUBLE_LONG; i++)
		ck_assert_uint_eq(s.data[i], i & 0xff);
	ck_assert_int_eq(poll(&poll_fd, 1, 0), 0);
	end(&s);
}
END_TEST

START_TEST(puts_a_frame_in_pieces_together)
{
	struct setup s;
	int length = MAD_BYTES;

	start(&s);
	ck_assert_int_eq(send_to(&s, DOUBLE_TRICKLE_LID, 45, 100, 0), 0);
	ck_assert_int_eq(umad_recv(s.port, s.umad, &length, -1), s.agent);
	ck_assert_int_eq(length, MAD_BYTES);
	ck_assert(tid_of(s.data) == 45);
	end(&s);
}
END_TEST

START_TEST(refuses_what_the_kernel_refuses)
{
	struct setup s;

	start(&s);
	put(s.data, 1);
	ck_assert_int_eq(umad_send(s.port, 5, s.umad, MAD_BYTES, 0, 0), -EIO);
	ck_assert_int_eq(errno, EINVAL);
	ck_assert_int_eq(umad_send(s.port, -1, s.umad, MAD_BYTES, 0, 0), -EIO);
	ck_assert_int_eq(umad_send(s.port, OSMSIM_MAX_AGENTS, s.umad, MAD_BYTES, 0, 0), -EIO);
	ck_assert_int_eq(umad_send(s.port, s.agent, s.umad, 35, 0, 0), -EIO);
	ck_assert_int_eq(umad_send(s.port + 100, 0, s.umad, MAD_BYTES, 0, 0), -EIO);
	ck_assert_int_eq(umad_register(s.port, DOUBLE_REFUSED, 1, 0, NULL), -EPERM);
	ck_assert_int_eq(umad_unregister(s.port, 5), -1);
	ck_assert_int_eq(errno, EINVAL);
	end(&s);
}
END_TEST

START_TEST(registers_agents)
{
	struct setup s;
	const unsigned int bits = 8 * sizeof(long);
	long mask[16 / sizeof(long)] = {0x5};
	uint8_t oui[] = {0x12, 0x34, 0x56};
	struct umad_reg_attr attr = {.mgmt_class = 1, .mgmt_class_version = 1, .flags = 2};
	uint32_t id;

	start(&s);
	mask[126 / bits] |= 1L << 126 % bits;
	ck_assert_int_eq(umad_register(s.port, 0x81, 1, 0, mask), 1);
	ck_assert_uint_eq(s.server.qpn, 0);
	ck_assert(s.server.method_mask[0] == 5 && s.server.method_mask[1] == UINT64_C(1) << 62);
	ck_assert_int_eq(umad_register_oui(s.port, CLASS_SA, 0, oui, NULL), -EINVAL);
	ck_assert_int_eq(umad_register_oui(s.port, 0x32, 1, oui, NULL), 2);
	ck_assert_uint_eq(s.server.oui, 0x123456);
	ck_assert_uint_eq(s.server.qpn, 1);
	ck_assert(s.server.method_mask[0] == 0);
	ck_assert_int_eq(umad_register2(s.port, &attr, &id), EINVAL);
	ck_assert_uint_eq(attr.flags, UMAD_USER_RMPP);
	attr.rmpp_version = 1;
	ck_assert_int_eq(umad_register2(s.port, &attr, &id), 0);
	ck_assert_uint_eq(id, 3);
	ck_assert_uint_eq(s.server.rmpp_version, 0); /* the program does it itself */
	for (int i = 4; i < OSMSIM_MAX_AGENTS; i++)
		ck_assert_int_eq(umad_register(s.port, CLASS_PERF, 1, 0, NULL), i);
	ck_assert_int_eq(umad_register(s.port, CLASS_PERF, 1, 0, NULL), -EPERM);
	ck_assert_int_eq(umad_unregister(s.port, 7), 0);
	ck_assert_int_eq(umad_unregister(s.port, 7), -1);
	ck_assert_int_eq(umad_register(s.port, CLASS_PERF, 1, 0, NULL), 7);
	end(&s);
}
END_TEST

START_TEST(keeps_several_ports_apart)
{
	struct setup s;
	int ports[4], length;

	start(&s);
	for (int i = 0; i < 4; i++) {
		ports[i] = umad_open_port(OSMSIM_DEVICE, i % DOUBLE_PORTS + 1);
		ck_assert_int_ge(ports[i], 0);
		ck_assert_int_eq(umad_register(ports[i], CLASS_SA, 2, 1, NULL), 0);
		put(s.data, 100 + i);
		umad_set_addr(s.umad, DOUBLE_ECHO_LID, 1, 0, 0);
		ck_assert_int_eq(umad_send(ports[i], 0, s.umad, MAD_BYTES, 100, 0), 0);
	}
	for (int i = 3; i >= 0; i--) {
		length = MAD_BYTES;
		ck_assert_int_eq(umad_recv(ports[i], s.umad, &length, WAIT_MS), 0);
		ck_assert(tid_of(s.data) == 100 + (uint64_t)i);
		ck_assert_int_eq(i % 2 ? umad_close_port(ports[i]) : close(ports[i]), 0);
	}
	length = MAD_BYTES;
	ck_assert_int_eq(umad_recv(ports[1], s.umad, &length, 0), -EBADF);
	/* A number that close() ended can be used again. */
	ports[0] = umad_open_port(OSMSIM_DEVICE, 1);
	ck_assert_int_eq(umad_send(ports[0], 0, s.umad, MAD_BYTES, 100, 0), -EIO);
	ck_assert_int_eq(umad_close_port(ports[0]), 0);
	end(&s);
}
END_TEST

/* Each part is a MAD, as for the kernel's device; what follows one that is refused is not sent. */
START_TEST(takes_several_mads_in_one_call)
{
	enum { MADS = 40, BAD = 35 };
	struct ib_user_mad *umads[MADS];
	struct iovec parts[MADS];
	const size_t size = umad_size() + MAD_BYTES;
	struct setup s;
	int length;

	start(&s);
	for (int i = 0; i < MADS; i++) {
		umads[i] = umad_alloc(1, size);
		put(umad_get_mad(umads[i]), i);
		umad_set_addr(umads[i], DOUBLE_ECHO_LID, 1, 0, 0);
		umads[i]->agent_id = s.agent;
		umads[i]->timeout_ms = 100;
		parts[i] = (struct iovec){umads[i], size};
	}
	parts[BAD].iov_len = umad_size() + MAD_HEADER_BYTES;
	ck_assert_int_eq(writev(s.port, parts, MADS), BAD * size);
	for (int i = 0; i < BAD; i++) {
		length = MAD_BYTES;
		ck_assert_int_eq(umad_recv(s.port, s.umad, &length, WAIT_MS), s.agent);
		ck_assert_uint_eq(tid_of(s.data), i);
	}
	length = MAD_BYTES;
	ck_assert_int_lt(umad_recv(s.port, s.umad, &length, 100), 0);
	ck_assert_int_eq(writev(s.port, parts + BAD, 1), -1);
	ck_assert_int_eq(errno, EINVAL);
	for (int i = 0; i < MADS; i++)
		umad_free(umads[i]);
	end(&s);
}
END_TEST

START_TEST(leaves_other_descriptors_alone)
{
	struct iovec parts[] = {{(void *)"ab", 2}, {(void *)"cde", 3}};
	char text[8] = "";
	int ends[2];

	ck_assert_int_eq(pipe(ends), 0);
	ck_assert_int_eq(writev(ends[1], parts, 2), 5);
	ck_assert_int_eq(read(ends[0], text, sizeof(text)), 5);
	ck_assert_str_eq(text, "abcde");
	close(ends[0]);
	close(ends[1]);
	ck_assert_int_eq(writev(ends[1], parts, 2), -1);
	ck_assert_int_eq(errno, EBADF);
}
END_TEST

static void *exchange_many(void *arg)
{
	struct setup *s = arg;
	struct ib_user_mad *umad = umad_alloc(1, umad_size() + MAD_BYTES);
	uintptr_t got = 0;

	for (int i = 0; i < MADS_A_THREAD; i++) {
		int length, id;

		put(umad_get_mad(umad), i);
		umad_set_addr(umad, DOUBLE_ECHO_LID, 1, 0, 0);
		ck_assert_int_eq(umad_send(s->port, s->agent, umad, MAD_BYTES, 100, 0), 0);
		do {
			length = MAD_BYTES;
			id = umad_recv(s->port, umad, &length, WAIT_MS);
			ck_assert(id == s->agent || errno == EAGAIN); /* another got it */
		} while (id != s->agent);
		ck_assert_int_eq(length, MAD_BYTES);
		got += tid_of(umad_get_mad(umad));
	}
	umad_free(umad);
	return (void *)got;
}

START_TEST(serves_many_threads)
{
	struct setup s;
	pthread_t threads[THREADS];
	uintptr_t sum = 0;

	start(&s);
	for (int i = 0; i < THREADS; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, exchange_many, &s), 0);
	for (int i = 0; i < THREADS; i++) {
		void *got;

		pthread_join(threads[i], &got);
		sum += (uintptr_t)got;
	}
	ck_assert_uint_eq(sum, THREADS * (MADS_A_THREAD - 1) * MADS_A_THREAD / 2);
	end(&s);
}
END_TEST

struct receiver {
	struct setup s;
	int length;
	union {
		struct ib_user_mad umad;
		uint8_t room[sizeof(struct ib_user_mad) + MAD_BYTES];
	} buffer;
};

/* Has nothing on its stack: AddressSanitizer does not see the end of a cancelled thread. */
static void *receive_for_ever(void *arg)
{
	struct receiver *receiver = arg;

	for (;;) {
		receiver->length = MAD_BYTES;
		umad_recv(receiver->s.port, &receiver->buffer, &receiver->length, -1);
	}
	return NULL;
}

START_TEST(lets_a_receiver_be_cancelled)
{
	struct receiver receiver;
	struct setup *s = &receiver.s;
	pthread_t thread;
	void *result;
	int length;

	start(s);
	for (int i = 0; i < 20; i++) {
		ck_assert_int_eq(pthread_create(&thread, NULL, receive_for_ever, &receiver), 0);
		ck_assert_int_eq(send_to(s, DOUBLE_BURST_LID, 46, 100, 0), 0);
		pthread_cancel(thread);
		ck_assert_int_eq(pthread_join(thread, &result), 0);
		ck_assert_ptr_eq(result, PTHREAD_CANCELED);
	}
	ck_assert_int_eq(send_to(s, DOUBLE_ECHO_LID, 47, 100, 0), 0);
	do {
		length = MAD_BYTES;
		ck_assert_int_eq(umad_recv(s->port, s->umad, &length, WAIT_MS), s->agent);
	} while (tid_of(s->data) != 47);
	end(s);
}
END_TEST

/* The server reads nothing for a second: sending waits, and nothing is lost. */
START_TEST(waits_for_a_slow_server)
{
	struct setup s;
	struct timespec begin;
	int length, sent = 0;

	start(&s);
	clock_gettime(CLOCK_MONOTONIC, &begin);
	ck_assert_int_eq(send_to(&s, DOUBLE_DEAF_LID, 1, 100, 0), 0);
	for (; sent < 1500; sent++)
		ck_assert_int_eq(
			send_to(&s, sent ? DOUBLE_DEAF_LID + 1 : DOUBLE_ECHO_LID, 48, 100, 0), 0);
	ck_assert(seconds_since(&begin) > 0.5);
	length = MAD_BYTES;
	ck_assert_int_eq(umad_recv(s.port, s.umad, &length, WAIT_MS), s.agent);
	end(&s);
}
END_TEST

static void check_dead(struct setup *s)
{
	int length = MAD_BYTES;

	ck_assert_int_eq(umad_poll(s->port, WAIT_MS), 0);
	ck_assert_int_eq(umad_recv(s->port, s->umad, &length, WAIT_MS), -EIO);
	ck_assert_int_eq(umad_recv(s->port, s->umad, &length, 0), -EIO);
	ck_assert_int_eq(send_to(s, DOUBLE_ECHO_LID, 1, 100, 0), -EIO);
}

START_TEST(survives_a_server_without_sense)
{
	struct setup s;

	start(&s);
	ck_assert_int_eq(send_to(&s, _i, 49, 100, 0), 0);
	check_dead(&s);
	end(&s);
}
END_TEST

/* Errors, no SIGPIPE and no waiting; a new server is found. */
START_TEST(survives_the_end_of_the_server)
{
	struct setup s;
	umad_ca_t ca;
	int port;

	start(&s);
	osmsim_double_die(&s.server);
	check_dead(&s);
	ck_assert_int_eq(umad_register(s.port, CLASS_PERF, 1, 0, NULL), -EPERM);
	ck_assert_int_lt(umad_get_ca(NULL, &ca), 0);
	ck_assert_int_lt(umad_open_port(NULL, 1), 0);
	ck_assert_int_eq(umad_init(), -1);
	ck_assert_int_eq(mkdir(s.server.dir, 0700), 0);
	osmsim_double_restart(&s.server);
	ck_assert_int_eq(umad_init(), 0);
	port = umad_open_port(NULL, 1);
	ck_assert_int_ge(port, 0);
	ck_assert_int_eq(umad_close_port(port), 0);
	end(&s);
}
END_TEST

START_TEST(says_what_is_missing)
{
	struct osmsim_double server;
	char line[512] = "";
	int pipe_fds[2], saved = dup(2);

	ck_assert_int_eq(pipe(pipe_fds), 0);
	dup2(pipe_fds[1], 2);
	osmsim_double_start(&server);
	setenv(OSMSIM_ENV_NODE, "nobody", 1);
	ck_assert_int_eq(umad_init(), -1);
	dup2(saved, 2);
	ck_assert_int_gt(read(pipe_fds[0], line, sizeof(line) - 1), 0);
	ck_assert_ptr_nonnull(strstr(line, "has no node \"nobody\""));
	ck_assert_ptr_eq(strchr(line, '\n'), line + strlen(line) - 1);
	osmsim_double_die(&server);
}
END_TEST

static int run_child(struct setup *s)
{
	int length = MAD_BYTES, agent = umad_register(s->port, CLASS_PERF, 1, 0, NULL);
	umad_port_t port;

	put(s->data, 50);
	umad_set_addr(s->umad, DOUBLE_ECHO_LID, 1, 0, 0);
	if (agent != 1 || umad_send(s->port, agent, s->umad, MAD_BYTES, 100, 0) ||
	    umad_recv(s->port, s->umad, &length, WAIT_MS) != agent)
		return 1;
	for (int i = 0; i < 200; i++)
		if (umad_get_port(NULL, 2, &port) || port.portnum != 2 || umad_release_port(&port))
			return 2;
	return 0;
}

/* A daemon opens its port and forks; both continue to send requests at once. */
START_TEST(lives_on_in_a_child)
{
	struct setup s;
	umad_port_t port;
	pid_t child;
	int status;

	start(&s);
	child = fork();
	if (child == 0)
		_exit(run_child(&s));
	for (int i = 0; i < 200; i++) {
		ck_assert_int_eq(umad_get_port(NULL, 1, &port), 0);
		ck_assert_int_eq(port.portnum, 1);
		umad_release_port(&port);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	end(&s);
}
END_TEST

/* A daemon that closes all descriptors it does not know, and opens others. */
START_TEST(survives_closed_descriptors)
{
	struct setup s;
	umad_port_t port;

	start(&s);
	for (int fd = 3; fd < s.port; fd++)
		if (fd != s.server.listener)
			ck_assert_int_ge(dup2(0, fd), 0);
	ck_assert_int_eq(umad_get_port(NULL, 1, &port), 0);
	ck_assert_int_eq(port.portnum, 1);
	umad_release_port(&port);
	end(&s);
}
END_TEST

static Suite *suite(void)
{
	Suite *s = suite_create("preload");
	TCase *devices = tcase_create("devices"), *mads = tcase_create("MADs"),
	      *trouble = tcase_create("trouble");

	tcase_add_test(devices, tells_of_the_ca);
	tcase_add_test(devices, tells_of_a_port);
	tcase_add_test(devices, knows_no_other_device);
	tcase_add_test(devices, registers_agents);
	tcase_add_test(mads, gives_an_answer_back);
	tcase_add_test(mads, takes_several_mads_in_one_call);
	tcase_add_test(mads, leaves_other_descriptors_alone);
	tcase_add_test(mads, gives_a_request_back_that_timed_out);
	tcase_add_test(mads, waits_as_told);
	tcase_add_test(mads, keeps_what_finds_no_room);
	tcase_add_test(mads, puts_a_frame_in_pieces_together);
	tcase_add_test(mads, refuses_what_the_kernel_refuses);
	tcase_add_test(mads, keeps_several_ports_apart);
	tcase_add_test(mads, serves_many_threads);
	tcase_add_test(mads, lets_a_receiver_be_cancelled);
	tcase_add_test(mads, waits_for_a_slow_server);
	tcase_add_loop_test(trouble, survives_a_server_without_sense, DOUBLE_NONSENSE_LID,
			    DOUBLE_HALF_LID + 1);
	tcase_add_test(trouble, survives_the_end_of_the_server);
	tcase_add_test(trouble, says_what_is_missing);
	tcase_add_test(trouble, lives_on_in_a_child);
	tcase_add_test(trouble, survives_closed_descriptors);
	tcase_set_timeout(mads, 30);
	tcase_set_timeout(trouble, 30);
	suite_add_tcase(s, devices);
	suite_add_tcase(s, mads);
	suite_add_tcase(s, trouble);
	return s;
}

int main(void)
{
	/* A library that is preloaded into a process stays there, with its simulator. */
	return run_suite_as(suite(), CK_FORK);
}
