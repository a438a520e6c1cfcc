// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* osmsim from a raw socket: requests, hostile frames, IsSM, clients that die or do not read. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/run_suite.h"
#include "tests/unit/osmsim_net.h"

static struct osmsim_net *net;

static void setup(void)
{
	net = osmsim_net_new();
}

static void teardown(void)
{
	osmsim_net_free(net);
}

/* ---- requests ---- */

static const struct {
	const char *node;
	uint32_t version;
	int error;
	uint64_t guid;
	uint8_t type, num_ports;
} hellos[] = {
	{"", OSMSIM_VERSION, 0, 0x100, IBA_NODE_CA, 1}, /* the first host */
	{"b", OSMSIM_VERSION, 0, 0x200, IBA_NODE_CA, 1},
	{"sw", OSMSIM_VERSION, 0, 0x1000, IBA_NODE_SWITCH, 4},
	{"0x300", OSMSIM_VERSION, 0, 0x300, IBA_NODE_CA, 1},
	{"0x201", OSMSIM_VERSION, 0, 0x200, IBA_NODE_CA, 1},
	{"d", OSMSIM_VERSION, -ENOENT, 0, 0, 0},
	{"0x999", OSMSIM_VERSION, -ENOENT, 0, 0, 0},
	{"a", OSMSIM_VERSION - 1, -EPROTO, 0, 0, 0},
};

START_TEST(test_hello)
{
	struct osmsim_hello hello = {.version = hellos[_i].version};
	struct osmsim_node node;
	int fd = net_connect(net);

	g_strlcpy(hello.node, hellos[_i].node, sizeof(hello.node));
	net_ask(net, fd, OSMSIM_HELLO, &hello, sizeof(hello), &node, sizeof(node));
	ck_assert_int_eq(node.error, hellos[_i].error);
	ck_assert_uint_eq(node.node_guid, hellos[_i].guid);
	ck_assert_uint_eq(node.type, hellos[_i].type);
	ck_assert_uint_eq(node.num_ports, hellos[_i].num_ports);
	close(fd);
}
END_TEST

START_TEST(test_port)
{
	struct osmsim_port_request request = {.port_num = 1};
	struct osmsim_port port;
	int host = net_hello(net, "b"), sw = net_hello(net, "sw");

	net_ask(net, host, OSMSIM_PORT, &request, sizeof(request), &port, sizeof(port));
	ck_assert_int_eq(port.error, 0);
	ck_assert_uint_eq(port.base_lid, 2);
	ck_assert_uint_eq(port.sm_lid, 1);
	ck_assert_uint_eq(port.state, IBA_PORT_ACTIVE);
	ck_assert_uint_eq(port.phys_state, IBA_PHYS_LINK_UP);
	ck_assert_uint_eq(port.rate, 100);
	ck_assert_uint_eq(port.port_guid, 0x201);
	ck_assert_uint_ge(port.n_p_keys, 1);
	ck_assert_uint_eq(port.p_keys[0], 0xFFFF);
	net_ask(net, sw, OSMSIM_PORT, &request, sizeof(request), &port, sizeof(port));
	ck_assert_int_eq(port.error, -ENODEV);
	request.port_num = 0;
	net_ask(net, sw, OSMSIM_PORT, &request, sizeof(request), &port, sizeof(port));
	ck_assert_int_eq(port.error, 0);
	ck_assert_uint_eq(port.base_lid, 9);
	request.port_num = 2;
	net_ask(net, host, OSMSIM_PORT, &request, sizeof(request), &port, sizeof(port));
	ck_assert_int_eq(port.error, -ENODEV);
	close(host);
	close(sw);
}
END_TEST

static int watch(const char *node, uint32_t version, int error)
{
	struct osmsim_hello hello = {.version = version};
	struct osmsim_result result;
	int fd = net_connect(net);

	g_strlcpy(hello.node, node, sizeof(hello.node));
	net_ask(net, fd, OSMSIM_WATCH, &hello, sizeof(hello), &result, sizeof(result));
	ck_assert_int_eq(result.value, error);
	return fd;
}

static void expect_event(int fd, enum osmsim_event_kind kind)
{
	const struct osmsim_event expected = {.port_num = 1, .kind = kind};
	struct frame frame = net_get(net, fd);

	ck_assert_uint_eq(frame.type, OSMSIM_EVENT);
	ck_assert_int_eq(frame.length, sizeof(expected));
	ck_assert_mem_eq(frame.data, &expected, sizeof(expected));
	g_free(frame.data);
}

/* Each client hears of its own node, and of the end of its CA. */
START_TEST(test_events)
{
	int a = watch("a", OSMSIM_VERSION, 0), b = watch("b", OSMSIM_VERSION, 0);
	int other_version = watch("a", OSMSIM_VERSION + 1, -EPROTO);
	int unknown = watch("d", OSMSIM_VERSION, -ENOENT);

	sim_vendors_tell(net->sim, &net->sim->nodes[0].ports[1],
			 VENDOR_PORT_UP | VENDOR_LID_CHANGED | SIM_GID_CHANGED);
	sim_link_set(net->sim, 1, 1, false);
	expect_event(a, OSMSIM_LID_CHANGED); /* before what programs wait for to use it */
	expect_event(a, OSMSIM_GID_CHANGED);
	expect_event(a, OSMSIM_PORT_UP);
	expect_event(b, OSMSIM_PORT_DOWN);
	server_lose_ports(net->server, &net->sim->nodes[1]);
	ck_assert(net_is_closed(net, b));
	sim_device_set(net->sim, 1, false);
	close(watch("b", OSMSIM_VERSION, -ENODEV));
	/* A client that watches has nothing to say. */
	net_put(net, a, OSMSIM_PORT, &(struct osmsim_port_request){.port_num = 1},
		sizeof(struct osmsim_port_request));
	ck_assert(net_is_closed(net, a));
	close(a);
	close(b);
	close(other_version);
	close(unknown);
}
END_TEST

/* What a client does not read is dropped beyond a limit. */
START_TEST(test_events_unread)
{
	int fd = watch("a", OSMSIM_VERSION, 0);
	const struct connection *connection = NULL;
	GHashTableIter iter;

	for (unsigned int i = 0; i < 100000; i++)
		sim_vendors_tell(net->sim, &net->sim->nodes[0].ports[1], VENDOR_SM_CHANGED);
	g_hash_table_iter_init(&iter, net->server->connections);
	ck_assert(g_hash_table_iter_next(&iter, (gpointer *)&connection, NULL));
	ck_assert_uint_le(connection->out.tail - connection->out.head, 70000);
	expect_event(fd, OSMSIM_SM_CHANGED);
	close(fd);
}
END_TEST

/* A handle that a client does not know cannot be found by counting. */
START_TEST(test_handles_not_guessed)
{
	struct program program[8];
	uint32_t near = 0;

	for (unsigned int i = 0; i < G_N_ELEMENTS(program); i++) {
		program_start(&program[i], net, "a");
		near += program[i].handle < 1000;
		near += i && program[i].handle - program[i - 1].handle < 1000;
	}
	ck_assert_uint_lt(near, 2);
	for (unsigned int i = 0; i < G_N_ELEMENTS(program); i++)
		program_end(&program[i]);
}
END_TEST

START_TEST(test_handles)
{
	struct osmsim_unregister unregister = {.agent = 0};
	struct osmsim_register request = {.handle = 4711, .qpn = 1, .mgmt_class = 4};
	struct osmsim_result result;
	struct program program;
	int other;

	program_start(&program, net, "a");
	net_ask(net, program.control, OSMSIM_REGISTER, &request, sizeof(request), &result,
		sizeof(result));
	ck_assert_int_eq(result.value, -EBADF);
	for (int i = 0; i < OSMSIM_MAX_AGENTS; i++)
		ck_assert_int_eq(program_agent(&program, 4, 0, 0), i);
	ck_assert_int_eq(program_agent(&program, 4, 0, 0), -ENOMEM);
	/* A handle is good on every control connection, except for agents of another open one. */
	other = net_hello(net, "b");
	unregister.handle = program.handle;
	unregister.agent = 7;
	net_ask(net, other, OSMSIM_UNREGISTER, &unregister, sizeof(unregister), &result,
		sizeof(result));
	ck_assert_int_eq(result.value, -EPERM);
	ck_assert_int_eq(program_agent(&program, 4, 0, 0), -ENOMEM);
	close(program.control);
	osmsim_net_run_ms(net, 10);
	net_ask(net, other, OSMSIM_UNREGISTER, &unregister, sizeof(unregister), &result,
		sizeof(result));
	ck_assert_int_eq(result.value, 0);
	program.control = net_hello(net, "a");
	net_ask(net, other, OSMSIM_UNREGISTER, &unregister, sizeof(unregister), &result,
		sizeof(result));
	ck_assert_int_eq(result.value, -EINVAL);
	ck_assert_int_eq(program_agent(&program, 4, 0, 0), 7);
	close(other);
	program_end(&program);
	ck_assert_uint_eq(g_hash_table_size(net->sim->agents), 0);
}
END_TEST

/* ---- malformed frames ---- */

static const struct osmsim_header bad_headers[] = {
	{.type = OSMSIM_HELLO, .length = 3},
	{.type = OSMSIM_HELLO, .length = UINT32_MAX},
	{.type = OSMSIM_HELLO, .length = OSMSIM_MAX_CONTROL + 1},
	{.type = OSMSIM_PORT, .length = 8}, /* before a hello */
	{.type = OSMSIM_MAD, .length = 320},
	{.type = 0, .length = 0},
	{.type = 99, .length = 0},
};

START_TEST(test_bad_headers)
{
	static const uint8_t zeros[320];
	int fd = net_connect(net);

	net_send(net, fd, &bad_headers[_i], sizeof(bad_headers[_i]));
	net_send(net, fd, zeros, MIN(bad_headers[_i].length, sizeof(zeros)));
	ck_assert(net_is_closed(net, fd));
	ck_assert_uint_eq(net->server->refused, 1);
	ck_assert_ptr_nonnull(strstr(net->log_text->str, "is disconnected"));
	close(fd);
}
END_TEST

static const struct osmsim_header bad_port_headers[] = {
	{.type = OSMSIM_MAD, .length = 0},
	{.type = OSMSIM_MAD, .length = sizeof(struct ib_user_mad) + 23},
	{.type = OSMSIM_MAD, .length = sizeof(struct ib_user_mad) + OSMSIM_MAX_MAD + 1},
	{.type = OSMSIM_REGISTER, .length = sizeof(struct osmsim_register)},
};

START_TEST(test_bad_port_headers)
{
	static const uint8_t zeros[512];
	struct program program;

	program_start(&program, net, "a");
	net_send(net, program.port, &bad_port_headers[_i], sizeof(bad_port_headers[_i]));
	net_send(net, program.port, zeros, MIN(bad_port_headers[_i].length, sizeof(zeros)));
	ck_assert(net_is_closed(net, program.port));
	ck_assert_uint_eq(net->server->refused, 1);
	program_end(&program);
}
END_TEST

/* Whatever arrives, in pieces, of any kind: the server lives and others are served. */
START_TEST(test_random_frames)
{
	GRand *random = g_rand_new_with_seed(_i);
	struct program program;
	uint8_t noise[2048];

	program_start(&program, net, "a");
	for (unsigned int round = 0; round < 50; round++) {
		int fd = round % 2 ? net_connect(net) : net_hello(net, "c");
		struct osmsim_header header = {.type = g_rand_int_range(random, 0, 10)};

		header.length = g_rand_int_range(random, 0, sizeof(noise));
		for (unsigned int i = 0; i < sizeof(noise); i++)
			noise[i] = g_rand_int(random);
		memcpy(noise, &header, sizeof(header));
		if (send(fd, noise, g_rand_int_range(random, 1, sizeof(noise)), MSG_NOSIGNAL) > 0)
			server_turn(net->server, 0);
		close(fd);
		server_turn(net->server, 0);
	}
	ck_assert_int_eq(program_agent(&program, 4, 0, 0), 0);
	program_end(&program);
	g_rand_free(random);
}
END_TEST

/* A long frame that is only announced takes no memory. */
START_TEST(test_promise)
{
	const struct osmsim_header header = {
		.type = OSMSIM_MAD,
		.length = sizeof(struct ib_user_mad) + OSMSIM_MAX_MAD,
	};
	struct program program;
	struct connection *connection;

	program_start(&program, net, "a");
	net_send(net, program.port, &header, sizeof(header));
	osmsim_net_run_ms(net, 5);
	connection = g_hash_table_lookup(net->server->handles, GUINT_TO_POINTER(program.handle));
	ck_assert_uint_lt(connection->in.room, 1 << 20);
	program_end(&program);
}
END_TEST

/* ---- IsSM ---- */

static bool is_sm(unsigned int node)
{
	osmsim_net_run_ms(net, 5);
	return net->sim->nodes[node].ports[1].info.capability_mask & IBA_PORT_CAP_SM;
}

START_TEST(test_is_sm)
{
	const struct osmsim_port_request request = {.port_num = 1};
	struct osmsim_path path, again;
	int control = net_hello(net, "b"), first, second;

	net_ask(net, control, OSMSIM_ISSM, &request, sizeof(request), &path, sizeof(path));
	ck_assert_int_eq(path.error, 0);
	net_ask(net, control, OSMSIM_ISSM, &request, sizeof(request), &again, sizeof(again));
	ck_assert_str_eq(again.path, path.path);
	ck_assert(!is_sm(1));
	first = open(path.path, O_RDONLY | O_NONBLOCK);
	ck_assert_int_ge(first, 0);
	ck_assert(is_sm(1));
	ck_assert(!is_sm(0));
	second = open(path.path, O_RDONLY | O_NONBLOCK);
	close(first);
	ck_assert(is_sm(1));
	close(second);
	ck_assert(!is_sm(1));
	close(control);
}
END_TEST

/* ---- clients that die or sleep ---- */

START_TEST(test_death)
{
	struct program program, other;
	uint8_t mad[256];

	program_start(&program, net, "a");
	program_start(&other, net, "a");
	ck_assert_int_eq(program_agent(&program, IBA_CLASS_PERF, 0, IBA_METHOD_SET), 0);
	ck_assert_int_eq(program_agent(&other, IBA_CLASS_PERF, 0, IBA_METHOD_SET), -EINVAL);
	for (unsigned int i = 0; i < 10; i++) {
		mad_make(mad, IBA_CLASS_PERF, IBA_METHOD_SEND, i);
		program_send(&program, 0, 7, mad, 256, 100000, 0); /* to an unused LID: they wait */
	}
	osmsim_net_run_ms(net, 5);
	program_end(&program);
	ck_assert_uint_eq(g_hash_table_size(net->sim->agents), 0);
	ck_assert_uint_eq(g_hash_table_size(net->server->handles), 1);
	ck_assert_int_eq(program_agent(&other, IBA_CLASS_PERF, 0, IBA_METHOD_SET), 0);
	program_end(&other);
}
END_TEST

/* Data that it does not read is kept up to a limit, and other clients do not suffer. */
START_TEST(test_sleeper)
{
	const unsigned int n = 230000;
	struct program sleeper, other;
	struct connection *connection;
	struct ib_user_mad umad;
	uint8_t mad[256], *answer;

	program_start(&sleeper, net, "a");
	program_start(&other, net, "b");
	ck_assert_int_eq(program_agent(&sleeper, IBA_CLASS_SUBN_DIRECTED, 0, 0), 0);
	ck_assert_int_eq(program_agent(&other, IBA_CLASS_SUBN_DIRECTED, 0, 0), 0);
	mad_make(mad, IBA_CLASS_SUBN_DIRECTED, IBA_METHOD_GET, 1);
	mad[17] = IBA_ATTR_NODE_INFO;
	memset(mad + 32, 0xFF, 4);
	for (unsigned int i = 0; i < n; i++)
		program_send(&sleeper, 0, IBA_LID_PERMISSIVE, mad, 256, 100, 0);
	program_send(&other, 0, IBA_LID_PERMISSIVE, mad, 256, 100, 0);
	ck_assert_uint_eq(program_receive(&other, &umad, &answer), 256);
	g_free(answer);
	osmsim_net_run_ms(net, 5);
	connection = g_hash_table_lookup(net->server->handles, GUINT_TO_POINTER(sleeper.handle));
	ck_assert_uint_eq(connection->received + connection->dropped, n);
	ck_assert_uint_gt(connection->dropped, 1000);
	program_end(&sleeper);
	program_end(&other);
}
END_TEST

/* One that sends requests without reading waits; they are answered once it reads. */
START_TEST(test_deaf_asker)
{
	static const char text[] = "help;help;help;help;help;help;help;help";
	const unsigned int n = 2000;
	int control = net_hello(net, "a");
	unsigned int sent = 0, answers = 0;
	struct connection *connection = NULL;
	GHashTableIter iter;
	void *key;

	for (unsigned int i = 0; i < n && sent == i; i++) {
		const struct osmsim_header header = {
			.length = sizeof(text) - 1,
			.type = OSMSIM_COMMAND,
		};
		uint8_t frame[sizeof(header) + sizeof(text) - 1];

		memcpy(frame, &header, sizeof(header));
		memcpy(frame + sizeof(header), text, sizeof(text) - 1);
		sent += send(control, frame, sizeof(frame), MSG_NOSIGNAL) == sizeof(frame);
		server_turn(net->server, 0);
	}
	g_hash_table_iter_init(&iter, net->server->connections);
	ck_assert(g_hash_table_iter_next(&iter, &key, NULL));
	connection = key;
	ck_assert_uint_lt(connection->out.tail - connection->out.head, 16U << 20);
	ck_assert(!(connection->events & EPOLLIN));
	while (answers < sent) {
		struct frame frame = net_get(net, control);

		ck_assert_uint_eq(frame.type, OSMSIM_COMMAND);
		g_free(frame.data);
		answers++;
	}
	ck_assert(connection->events & EPOLLIN);
	close(control);
}
END_TEST

/* ---- the socket ---- */

START_TEST(test_socket)
{
	g_autofree char *stale = g_strconcat(net->path, "2", NULL);
	g_autofree char *file = g_strconcat(net->path, "3", NULL);
	g_autoptr(GError) error = NULL;
	struct server *server;

	/* A live one is not taken over. */
	ck_assert_ptr_null(server_new(net->rt, net->log, net->sim, net->path, &error));
	ck_assert_ptr_nonnull(strstr(error->message, "another server answers"));
	g_clear_error(&error);
	/* A socket without a listener is. */
	server = server_new(net->rt, net->log, net->sim, stale, NULL);
	ck_assert_ptr_nonnull(server);
	close(server->listener.fd);
	server->listener.fd = -1; /* as if it had died */
	server_free(server);
	ck_assert_int_eq(access(stale, F_OK), 0);
	server = server_new(net->rt, net->log, net->sim, stale, NULL);
	ck_assert_ptr_nonnull(server);
	server_free(server);
	ck_assert_int_ne(access(stale, F_OK), 0);
	/* A file that is not a socket stays. */
	ck_assert(g_file_set_contents(file, "x", 1, NULL));
	ck_assert_ptr_null(server_new(net->rt, net->log, net->sim, file, &error));
	ck_assert_ptr_nonnull(error);
	ck_assert_int_eq(unlink(file), 0);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("osmsim");
	TCase *tcase = tcase_create("all");

	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_loop_test(tcase, test_hello, 0, G_N_ELEMENTS(hellos));
	tcase_add_test(tcase, test_port);
	tcase_add_test(tcase, test_events);
	tcase_add_test(tcase, test_events_unread);
	tcase_add_test(tcase, test_handles);
	tcase_add_test(tcase, test_handles_not_guessed);
	tcase_add_loop_test(tcase, test_bad_headers, 0, G_N_ELEMENTS(bad_headers));
	tcase_add_loop_test(tcase, test_bad_port_headers, 0, G_N_ELEMENTS(bad_port_headers));
	tcase_add_loop_test(tcase, test_random_frames, 0, 20);
	tcase_add_test(tcase, test_promise);
	tcase_add_test(tcase, test_is_sm);
	tcase_add_test(tcase, test_death);
	tcase_add_test(tcase, test_sleeper);
	tcase_add_test(tcase, test_deaf_asker);
	tcase_add_test(tcase, test_socket);
	suite_add_tcase(suite, tcase);
	return suite;
}
