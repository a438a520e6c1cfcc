// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The umad back end when its HCA goes and comes, and what verbs reports. libibumad's and
 * libibverbs' functions are this program's own: a kernel with one HCA of one port, mlx5_N with
 * umadN, that can be taken away.
 */
#include <check.h>
#include <errno.h>
#include <glib/gstdio.h>
#include <infiniband/umad.h>
#include <infiniband/verbs.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "tests/run_suite.h"
#include "vendor/vendor.h"

#define GUID UINT64_C(0x0002c90300001234)
#define WAIT_US (20 * G_USEC_PER_SEC)
#define IDS 32

static struct kernel {
	pthread_mutex_t lock;
	bool there, verbs, poll_tells;
	bool fragile;	       /* reading fails */
	int number;	       /* of the device */
	int opened;	       /* the last descriptor given; earlier ones are dead */
	int open_now, misused; /* misused: uses of a closed one */
	bool closed[100];      /* by descriptor */
	uint8_t taken;	       /* a class that another program has */
	bool has[256];	       /* classes registered with the descriptor */
	int ids[256];
	int last_id;
	GQueue answers; /* struct ib_user_mad * of 256 octets */
	unsigned int sent;
	int async[2];
	unsigned int acked, contexts;
	char directory[64];
} k = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct ibv_device verbs_device;

/* ---- the kernel's MAD devices ---- */

static bool works(int fd)
{
	k.misused += k.closed[fd];
	return k.there && fd == k.opened && !k.closed[fd];
}

static bool reads(int fd)
{
	return works(fd) && !k.fragile;
}

int umad_init(void)
{
	return 0;
}

struct umad_device_node *umad_get_ca_device_list(void)
{
	struct umad_device_node *node = NULL;

	pthread_mutex_lock(&k.lock);
	if (k.there) {
		node = g_new0(struct umad_device_node, 1);
		node->ca_name = g_strdup_printf("mlx5_%d", k.number);
	}
	pthread_mutex_unlock(&k.lock);
	return node;
}

void umad_free_ca_device_list(struct umad_device_node *node)
{
	g_free((char *)node->ca_name);
	g_free(node);
}

int umad_get_ca(const char *name, umad_ca_t *ca)
{
	umad_port_t *port = g_new0(umad_port_t, 1);

	memset(ca, 0, sizeof(*ca));
	g_strlcpy(ca->ca_name, name, sizeof(ca->ca_name));
	g_strlcpy(ca->ca_type, "MT4123", sizeof(ca->ca_type));
	ca->node_type = IBA_NODE_CA;
	ca->numports = 1;
	port->portnum = 1;
	port->state = IBA_PORT_ACTIVE;
	port->port_guid = htobe64(GUID);
	g_strlcpy(port->link_layer, "InfiniBand", sizeof(port->link_layer));
	ca->ports[1] = port;
	return 0;
}

int umad_release_ca(umad_ca_t *ca)
{
	g_clear_pointer(&ca->ports[1], g_free);
	return 0;
}

int umad_get_issm_path(const char *name, int port, char path[], int max)
{
	(void)port;
	g_snprintf(path, (gulong)max, "%s/issm%s", k.directory, name + strlen("mlx5_"));
	return 0;
}

int umad_open_port(const char *name, int port)
{
	int fd = -1;

	(void)port;
	pthread_mutex_lock(&k.lock);
	if (k.there && atoi(name + strlen("mlx5_")) == k.number) {
		fd = ++k.opened;
		k.open_now++;
		memset(k.has, 0, sizeof(k.has));
	}
	pthread_mutex_unlock(&k.lock);
	errno = ENODEV;
	return fd;
}

int umad_close_port(int fd)
{
	pthread_mutex_lock(&k.lock);
	k.misused += k.closed[fd];
	k.closed[fd] = true;
	k.open_now--;
	pthread_mutex_unlock(&k.lock);
	return 0;
}

int umad_register(int fd, int mgmt_class, int version, uint8_t rmpp, long mask[16 / sizeof(long)])
{
	int id = -EPERM;

	(void)version, (void)rmpp, (void)mask;
	pthread_mutex_lock(&k.lock);
	if (works(fd) && mgmt_class != k.taken && !k.has[mgmt_class]) {
		k.has[mgmt_class] = true;
		id = k.ids[mgmt_class] = ++k.last_id % IDS;
	}
	pthread_mutex_unlock(&k.lock);
	errno = EINVAL;
	return id;
}

int umad_unregister(int fd, int id)
{
	(void)id;
	pthread_mutex_lock(&k.lock);
	works(fd);
	pthread_mutex_unlock(&k.lock);
	return 0;
}

size_t umad_size(void)
{
	return sizeof(struct ib_user_mad);
}

int umad_poll(int fd, int timeout_ms)
{
	for (int waited = 0; waited <= timeout_ms; waited += 5) {
		bool ready;

		pthread_mutex_lock(&k.lock);
		ready = reads(fd) ? k.answers.length > 0 : k.poll_tells;
		pthread_mutex_unlock(&k.lock);
		if (ready)
			return 0;
		g_usleep(5000);
	}
	return -ETIMEDOUT;
}

int umad_recv(int fd, void *umad, int *length, int timeout_ms)
{
	struct ib_user_mad *answer = NULL;
	int id = -1;

	(void)timeout_ms;
	pthread_mutex_lock(&k.lock);
	errno = EIO;
	if (reads(fd)) {
		errno = EAGAIN;
		answer = g_queue_pop_head(&k.answers);
	}
	if (answer) {
		memcpy(umad, answer, sizeof(*answer) + IBA_MAD_BYTES);
		*length = IBA_MAD_BYTES;
		id = (int)answer->agent_id;
		g_free(answer);
	}
	pthread_mutex_unlock(&k.lock);
	return id;
}

/* A request is answered at once; the id must be one that this descriptor gave. */
int umad_send(int fd, int id, void *umad, int length, int timeout_ms, int retries)
{
	struct ib_user_mad *mad = umad, *answer;
	bool ok;

	(void)retries;
	pthread_mutex_lock(&k.lock);
	ok = works(fd);
	if (ok) {
		k.misused += !k.has[mad->data[1]] || k.ids[mad->data[1]] != id;
		k.sent++;
	}
	if (ok && timeout_ms) {
		answer = g_malloc0(sizeof(*answer) + IBA_MAD_BYTES);
		memcpy(answer->data, mad->data, (size_t)length);
		answer->data[3] |= IBA_METHOD_RESPONSE;
		answer->agent_id = (uint32_t)id;
		g_queue_push_tail(&k.answers, answer);
	}
	pthread_mutex_unlock(&k.lock);
	errno = EIO;
	return ok ? 0 : -EIO;
}

/* ---- verbs ---- */

struct ibv_device **ibv_get_device_list(int *n)
{
	struct ibv_device **list = g_new0(struct ibv_device *, 2);

	(void)n;
	list[0] = k.verbs ? &verbs_device : NULL;
	return list;
}

void ibv_free_device_list(struct ibv_device **list)
{
	g_free(list);
}

const char *ibv_get_device_name(struct ibv_device *device)
{
	g_snprintf(device->name, sizeof(device->name), "mlx5_%d", k.number);
	return device->name;
}

struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	struct ibv_context *context = g_new0(struct ibv_context, 1);

	context->device = device;
	context->async_fd = k.async[0];
	k.contexts++;
	return context;
}

int ibv_close_device(struct ibv_context *context)
{
	k.contexts--;
	g_free(context);
	return 0;
}

int ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event)
{
	return read(context->async_fd, event, sizeof(*event)) == sizeof(*event) ? 0 : -1;
}

void ibv_ack_async_event(struct ibv_async_event *event)
{
	(void)event;
	__atomic_add_fetch(&k.acked, 1, __ATOMIC_SEQ_CST);
}

static void happen(enum ibv_event_type type, int port)
{
	const struct ibv_async_event event = {.event_type = type, .element.port_num = port};

	ck_assert_int_eq(write(k.async[1], &event, sizeof(event)), sizeof(event));
}

/* ---- the test ---- */

static struct runtime *rt;
static struct log *lg;
static struct actor *actor;
static struct vendor *vendor;
static atomic_uint seen, calls, answered, failed;

static void on_event(void *arg, unsigned int events)
{
	(void)arg;
	atomic_fetch_or(&seen, events);
	atomic_fetch_add(&calls, 1);
}

static void on_receive(void *arg, struct vendor_mad *mad)
{
	(void)arg;
	atomic_fetch_add(mad->status == VENDOR_RECEIVED ? &answered : &failed, 1);
	vendor_mad_free(mad);
}

static void make_issm(int number)
{
	g_autofree char *path = g_strdup_printf("%s/issm%d", k.directory, number);

	ck_assert(g_file_set_contents(path, "", 0, NULL));
}

/* Whether this process has the issm device of that number open. */
static bool is_sm(int number)
{
	g_autofree char *path = g_strdup_printf("%s/issm%d", k.directory, number);
	GDir *fds = g_dir_open("/proc/self/fd", 0, NULL);
	bool found = false;
	const char *name;

	while (!found && (name = g_dir_read_name(fds))) {
		g_autofree char *file = g_build_filename("/proc/self/fd", name, NULL);
		g_autofree char *target = g_file_read_link(file, NULL);

		found = g_strcmp0(target, path) == 0;
	}
	g_dir_close(fds);
	return found;
}

static void bind_class(uint8_t mgmt_class)
{
	const struct vendor_client client = {actor, NULL, on_receive};

	ck_assert(vendor_bind(vendor, mgmt_class, true, &client, NULL));
}

static void setup_with(bool verbs, bool started)
{
	seen = calls = answered = failed = 0;
	k.there = k.poll_tells = true;
	k.fragile = false;
	k.verbs = verbs;
	k.number = k.opened = k.open_now = k.misused = k.taken = k.last_id = 0;
	k.acked = k.contexts = k.sent = 0;
	memset(k.closed, 0, sizeof(k.closed));
	ck_assert_int_eq(pipe(k.async), 0);
	g_strlcpy(k.directory, "/tmp/test_hca_lost.XXXXXX", sizeof(k.directory));
	ck_assert_ptr_nonnull(g_mkdtemp(k.directory));
	make_issm(0);
	rt = runtime_new(RUNTIME_REAL);
	lg = log_new_null();
	actor = actor_new(rt, "test");
	vendor = vendor_umad_open(rt, lg, 0, NULL);
	ck_assert_ptr_nonnull(vendor);
	vendor_watch(vendor, actor, on_event, NULL);
	bind_class(IBA_CLASS_SUBN_DIRECTED);
	bind_class(IBA_CLASS_SUBN_ADM);
	if (started)
		actor_start(actor);
}

static void setup(void)
{
	setup_with(true, true);
}

static void remove_directory(void)
{
	for (int number = 0; number < 10; number++) {
		g_autofree char *path = g_strdup_printf("%s/issm%d", k.directory, number);

		g_remove(path);
	}
	g_rmdir(k.directory);
}

static void teardown(void)
{
	vendor_close(vendor);
	actor_free(actor);
	log_free(lg);
	runtime_free(rt);
	close(k.async[0]);
	close(k.async[1]);
	g_queue_clear_full(&k.answers, g_free);
	remove_directory();
	ck_assert_int_eq(k.misused, 0);
	ck_assert_int_eq(k.open_now, 0);
	ck_assert_uint_eq(k.contexts, 0);
}

static void wait_until(const atomic_uint *value, unsigned int bits)
{
	gint64 until = g_get_monotonic_time() + WAIT_US;

	while ((atomic_load(value) & bits) != bits && g_get_monotonic_time() < until)
		g_usleep(1000);
	ck_assert_uint_eq(atomic_load(value) & bits, bits);
}

static void wait_for(const atomic_uint *value, unsigned int n)
{
	gint64 until = g_get_monotonic_time() + WAIT_US;

	while (atomic_load(value) < n && g_get_monotonic_time() < until)
		g_usleep(1000);
	ck_assert_uint_ge(atomic_load(value), n);
}

static bool send_mad(uint8_t mgmt_class, unsigned int timeout_ms)
{
	static const struct vendor_address to = {.lid = 1};
	const uint8_t mad[IBA_MAD_BYTES] = {1, mgmt_class, 1, IBA_METHOD_GET};

	return vendor_send(vendor, &to, mad, sizeof(mad), timeout_ms);
}

static void take_away(void)
{
	pthread_mutex_lock(&k.lock);
	k.there = false;
	pthread_mutex_unlock(&k.lock);
}

static void give_back(int number)
{
	make_issm(number);
	pthread_mutex_lock(&k.lock);
	g_queue_clear_full(&k.answers, g_free);
	k.number = number;
	k.there = true;
	pthread_mutex_unlock(&k.lock);
}

START_TEST(test_events)
{
	static const struct {
		enum ibv_event_type type;
		unsigned int event;
	} rows[] = {
		{IBV_EVENT_PORT_ERR, VENDOR_PORT_DOWN},
		{IBV_EVENT_PORT_ACTIVE, VENDOR_PORT_UP},
		{IBV_EVENT_LID_CHANGE, VENDOR_LID_CHANGED},
		{IBV_EVENT_SM_CHANGE, VENDOR_SM_CHANGED},
		{IBV_EVENT_CLIENT_REREGISTER, VENDOR_REREGISTER},
		{IBV_EVENT_PKEY_CHANGE, VENDOR_P_KEYS_CHANGED},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		atomic_store(&seen, 0);
		happen(rows[i].type, 2); /* of another port */
		happen(IBV_EVENT_GID_CHANGE, 1);
		happen(rows[i].type, 1);
		wait_until(&seen, rows[i].event);
		ck_assert_uint_eq(atomic_load(&seen), rows[i].event);
	}
	ck_assert_uint_ge(__atomic_load_n(&k.acked, __ATOMIC_SEQ_CST), 3 * 6 - 1);
	ck_assert(!vendor_is_lost(vendor));
}
END_TEST

/* No thread listens for a while: one message reports everything. */
START_TEST(test_storm)
{
	for (int i = 0; i < 1000; i++)
		happen(i % 2 ? IBV_EVENT_LID_CHANGE : IBV_EVENT_SM_CHANGE, 1);
	for (int i = 0; i < 20000 && __atomic_load_n(&k.acked, __ATOMIC_SEQ_CST) < 1000; i++)
		g_usleep(1000);
	actor_start(actor);
	wait_for(&calls, 1);
	ck_assert_uint_eq(atomic_load(&seen), VENDOR_LID_CHANGED | VENDOR_SM_CHANGED);
	g_usleep(20000);
	ck_assert_uint_eq(atomic_load(&calls), 1);
}
END_TEST

static void check_works(unsigned int number, bool issm)
{
	unsigned int before = atomic_load(&answered);
	g_autofree char *name = g_strdup_printf("mlx5_%u port 1", number);

	ck_assert_str_eq(vendor_name(vendor), name);
	ck_assert(!vendor_is_lost(vendor));
	ck_assert(send_mad(IBA_CLASS_SUBN_DIRECTED, 1000));
	ck_assert(send_mad(IBA_CLASS_SUBN_ADM, 1000));
	wait_for(&answered, before + 2);
	ck_assert(is_sm((int)number) == issm);
}

/* It fails, is away, and comes back as another device; IsSM with it. */
START_TEST(test_lost_and_back)
{
	ck_assert(vendor_set_is_sm(vendor, true, NULL));
	check_works(0, true);
	take_away();
	wait_until(&seen, VENDOR_LOST);
	ck_assert(vendor_is_lost(vendor));
	ck_assert(!is_sm(0));
	ck_assert(send_mad(IBA_CLASS_SUBN_DIRECTED, 1000)); /* comes back at once */
	wait_for(&failed, 1);
	ck_assert(send_mad(IBA_CLASS_SUBN_ADM, 0)); /* no one waits for the answer */
	give_back(3);
	wait_until(&seen, VENDOR_BACK);
	check_works(3, true);
	ck_assert_uint_eq(atomic_load(&failed), 1);
}
END_TEST

/* IsSM that was cleared meanwhile stays cleared; if it was set meanwhile it is set. */
START_TEST(test_is_sm_meanwhile)
{
	ck_assert(vendor_set_is_sm(vendor, !_i, NULL));
	take_away();
	wait_until(&seen, VENDOR_LOST);
	ck_assert(vendor_set_is_sm(vendor, _i, NULL));
	give_back(0);
	wait_until(&seen, VENDOR_BACK);
	check_works(0, _i);
}
END_TEST

/* A kernel before 5.12 leaves poll() asleep: a send finds out, or verbs reports it. */
START_TEST(test_silent_poll)
{
	pthread_mutex_lock(&k.lock);
	k.poll_tells = false;
	pthread_mutex_unlock(&k.lock);
	take_away();
	g_usleep(300000);
	ck_assert_uint_eq(atomic_load(&seen), 0);
	if (_i)
		happen(IBV_EVENT_DEVICE_FATAL, 0);
	else
		ck_assert(send_mad(IBA_CLASS_SUBN_DIRECTED, 1000));
	wait_until(&seen, VENDOR_LOST);
	ck_assert_uint_eq(atomic_load(&failed), !_i);
	give_back(1);
	wait_until(&seen, VENDOR_BACK);
	check_works(1, false);
}
END_TEST

/* Another program was faster: the HCA is not back before that one has gone. */
START_TEST(test_class_taken)
{
	take_away();
	wait_until(&seen, VENDOR_LOST);
	pthread_mutex_lock(&k.lock);
	k.taken = IBA_CLASS_SUBN_ADM;
	pthread_mutex_unlock(&k.lock);
	give_back(0);
	g_usleep(2500000);
	ck_assert(vendor_is_lost(vendor));
	pthread_mutex_lock(&k.lock);
	k.taken = 0;
	pthread_mutex_unlock(&k.lock);
	wait_until(&seen, VENDOR_BACK);
	check_works(0, false);
}
END_TEST

static void set_fragile(bool fragile)
{
	pthread_mutex_lock(&k.lock);
	k.fragile = fragile;
	pthread_mutex_unlock(&k.lock);
}

/* It can be opened, and fails when it is read: tried again after 2 and 6 s, not each second. */
START_TEST(test_fails_again)
{
	set_fragile(true);
	g_usleep(5000000);
	pthread_mutex_lock(&k.lock);
	ck_assert_int_ge(k.opened, 2);
	ck_assert_int_le(k.opened, 3);
	pthread_mutex_unlock(&k.lock);
	set_fragile(false);
	atomic_store(&seen, 0);
	wait_until(&seen, VENDOR_BACK);
	check_works(0, false);
}
END_TEST

START_TEST(test_no_verbs)
{
	setup_with(false, true);
	check_works(0, false);
	take_away();
	wait_until(&seen, VENDOR_LOST);
	give_back(2);
	wait_until(&seen, VENDOR_BACK);
	check_works(2, false);
	teardown();
}
END_TEST

static atomic_bool enough;

static void *hammer(void *arg)
{
	uint8_t mgmt_class = (uint8_t)GPOINTER_TO_UINT(arg);

	while (!atomic_load(&enough)) {
		send_mad(mgmt_class, mgmt_class == IBA_CLASS_SUBN_ADM ? 0 : 1000);
		if (!*vendor_name(vendor))
			break;
		g_usleep(20); /* other programs of the machine have work, too */
	}
	return NULL;
}

/* Sending continues on other threads: none of them uses a descriptor that was closed. */
START_TEST(test_senders)
{
	pthread_t threads[2];

	atomic_store(&enough, false);
	pthread_create(&threads[0], NULL, hammer, GUINT_TO_POINTER(IBA_CLASS_SUBN_DIRECTED));
	pthread_create(&threads[1], NULL, hammer, GUINT_TO_POINTER(IBA_CLASS_SUBN_ADM));
	for (int i = 1; i <= 3; i++) {
		atomic_store(&seen, 0);
		take_away();
		wait_until(&seen, VENDOR_LOST);
		give_back(i);
		wait_until(&seen, VENDOR_BACK);
	}
	atomic_store(&enough, true);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	check_works(3, false);
}
END_TEST

/* Requests in flight are not waited for. */
START_TEST(test_close_while_lost)
{
	gint64 start;

	pthread_mutex_lock(&k.lock);
	k.poll_tells = false;
	pthread_mutex_unlock(&k.lock);
	ck_assert(send_mad(IBA_CLASS_SUBN_DIRECTED, 60000));
	take_away();
	happen(IBV_EVENT_DEVICE_FATAL, 0);
	wait_until(&seen, VENDOR_LOST);
	start = g_get_monotonic_time();
	vendor_close(g_steal_pointer(&vendor));
	ck_assert_int_lt(g_get_monotonic_time() - start, 500000);
}
END_TEST

static void setup_deaf(void)
{
	setup_with(true, false);
}

static Suite *make_suite(void)
{
	Suite *suite = suite_create("hca_lost");
	TCase *tcase = tcase_create("lost"), *storm = tcase_create("storm"),
	      *plain = tcase_create("plain");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 120);
	tcase_add_test(tcase, test_events);
	tcase_add_test(tcase, test_lost_and_back);
	tcase_add_loop_test(tcase, test_is_sm_meanwhile, 0, 2);
	tcase_add_loop_test(tcase, test_silent_poll, 0, 2);
	tcase_add_test(tcase, test_class_taken);
	tcase_add_test(tcase, test_fails_again);
	tcase_add_test(tcase, test_senders);
	tcase_add_test(tcase, test_close_while_lost);
	suite_add_tcase(suite, tcase);
	tcase_add_checked_fixture(storm, setup_deaf, teardown);
	tcase_set_timeout(storm, 120);
	tcase_add_test(storm, test_storm);
	suite_add_tcase(suite, storm);
	tcase_set_timeout(plain, 120);
	tcase_add_test(plain, test_no_verbs);
	suite_add_tcase(suite, plain);
	return suite;
}

int main(void)
{
	return run_suite(make_suite());
}
