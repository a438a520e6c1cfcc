// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The umad back end on ibsim. The program starts an ibsim of its own in a private directory, and
 * then itself again with ibsim's library preloaded; the second process runs the tests.
 */
#define _GNU_SOURCE /* pipe2, nftw */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/run_suite.h"
#include "vendor/vendor.h"

#define IBSIM "/usr/bin/ibsim"
#define PRELOAD "/usr/lib*/{.,*}/umad2sim/libumad2sim.so"
#define NOT_RUN 77   /* what automake calls a skipped test */
#define DEADLINE 300 /* s, for the whole run */
#define WAIT_S 60
#define PORT_INFO_AT 64 /* SMP data */
#define CAPABILITY_MASK_AT 20

static const char net[] = "Switch 8 \"Switch1\"\n"
			  "[1] \"Hca1\"[1]\n"
			  "[2] \"Hca2\"[1]\n\n"
			  "Hca 2 \"Hca1\"\n"
			  "[1] \"Switch1\"[1]\n\n"
			  "Hca 2 \"Hca2\"\n"
			  "[1] \"Switch1\"[2]\n";

/* MADs that arrived, added on the actor's thread and read by the test. */
struct inbox {
	pthread_mutex_t lock;
	pthread_cond_t arrived;
	GPtrArray *mads;
};

struct setup {
	struct runtime *rt;
	struct log *log;
	struct actor *actor;
	struct vendor *vendor;
	struct inbox inbox;
	struct vendor_client client;
};

static void on_receive(void *arg, struct vendor_mad *mad)
{
	struct inbox *inbox = arg;

	pthread_mutex_lock(&inbox->lock);
	g_ptr_array_add(inbox->mads, mad);
	pthread_cond_signal(&inbox->arrived);
	pthread_mutex_unlock(&inbox->lock);
}

static void free_mad(void *mad)
{
	vendor_mad_free(mad);
}

static struct setup *setup_new(void)
{
	struct setup *s = g_new0(struct setup, 1);
	GError *error = NULL;

	s->rt = runtime_new(RUNTIME_REAL);
	s->log = log_new_null();
	s->actor = actor_new(s->rt, "test");
	pthread_mutex_init(&s->inbox.lock, NULL);
	pthread_cond_init(&s->inbox.arrived, NULL);
	s->inbox.mads = g_ptr_array_new_with_free_func(free_mad);
	s->client = (struct vendor_client){s->actor, &s->inbox, on_receive};
	actor_start(s->actor);
	s->vendor = vendor_umad_open(s->rt, s->log, 0, &error);
	ck_assert_msg(s->vendor != NULL, "%s", error ? error->message : "no error");
	return s;
}

static void setup_free(struct setup *s)
{
	vendor_close(s->vendor);
	actor_free(s->actor);
	g_ptr_array_unref(s->inbox.mads);
	log_free(s->log);
	runtime_free(s->rt);
	g_free(s);
}

static void bind_class(struct setup *s, uint8_t mgmt_class)
{
	GError *error = NULL;

	ck_assert_msg(vendor_bind(s->vendor, mgmt_class, true, &s->client, &error), "%s",
		      error ? error->message : "no error");
}

/* Waits until count MADs are there; returns how many there are. */
static unsigned int wait_for(struct inbox *inbox, unsigned int count)
{
	struct timespec until;
	unsigned int have;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += WAIT_S;
	pthread_mutex_lock(&inbox->lock);
	while (inbox->mads->len < count)
		if (pthread_cond_timedwait(&inbox->arrived, &inbox->lock, &until))
			break;
	have = inbox->mads->len;
	pthread_mutex_unlock(&inbox->lock);
	return have;
}

/* A directed-route Get whose path is 1, 1, ... with the given hops (14.2.1.2). */
static void directed_get(uint8_t smp[256], uint16_t attribute, uint8_t hops, uint32_t tid)
{
	memset(smp, 0, 256);
	smp[0] = 1;
	smp[1] = IBA_CLASS_SUBN_DIRECTED;
	smp[2] = 1;
	smp[3] = IBA_METHOD_GET;
	smp[7] = hops;
	for (int i = 0; i < 4; i++)
		smp[12 + i] = tid >> (24 - 8 * i);
	smp[17] = attribute;
	memset(smp + 32, 0xff, 4); /* DrSLID, DrDLID */
	for (int i = 1; i <= hops; i++)
		smp[128 + i] = 1;
}

static const struct vendor_address neighbourhood = {.lid = IBA_LID_PERMISSIVE};

static bool send_get(struct setup *s, uint16_t attribute, uint8_t hops, uint32_t tid)
{
	uint8_t smp[256];

	directed_get(smp, attribute, hops, tid);
	return vendor_send(s->vendor, &neighbourhood, smp, sizeof(smp), 1000);
}

static uint32_t tid_low(const struct vendor_mad *mad)
{
	return (uint32_t)mad->data[12] << 24 | mad->data[13] << 16 | mad->data[14] << 8 |
	       mad->data[15];
}

static const struct vendor_mad *ask(struct setup *s, uint16_t attribute, uint8_t hops)
{
	unsigned int before = s->inbox.mads->len;
	const struct vendor_mad *mad;

	ck_assert(send_get(s, attribute, hops, 0x1000 + before));
	ck_assert_uint_eq(wait_for(&s->inbox, before + 1), before + 1);
	mad = s->inbox.mads->pdata[before];
	ck_assert_uint_eq(mad->status, VENDOR_RECEIVED);
	ck_assert_uint_eq(tid_low(mad), 0x1000 + before);
	ck_assert_uint_eq(mad->data[3], IBA_METHOD_GET_RESP);
	return mad;
}

START_TEST(test_ports_are_listed)
{
	g_autoptr(GArray) ports = vendor_umad_ports(NULL);
	const struct vendor_port *port;

	ck_assert_ptr_nonnull(ports);
	ck_assert_uint_eq(ports->len, 1);
	port = &g_array_index(ports, struct vendor_port, 0);
	ck_assert_str_eq(port->device, "ibsim0");
	ck_assert_uint_eq(port->port_num, 1);
	ck_assert_uint_ne(port->guid, 0);
	ck_assert(port->infiniband);
	ck_assert_uint_eq(port->state, IBA_PORT_INIT);
}
END_TEST

START_TEST(test_unknown_guid_lists_what_there_is)
{
	struct runtime *rt = runtime_new(RUNTIME_REAL);
	struct log *log = log_new_null();
	GError *error = NULL;

	ck_assert_ptr_null(vendor_umad_open(rt, log, 0x1234, &error));
	ck_assert(g_error_matches(error, VENDOR_ERROR, VENDOR_ERROR_NO_SUCH_PORT));
	ck_assert_ptr_nonnull(strstr(error->message, "0x0000000000001234"));
	ck_assert_ptr_nonnull(strstr(error->message, "ibsim0 port 1, INIT"));
	g_error_free(error);
	log_free(log);
	runtime_free(rt);
}
END_TEST

START_TEST(test_node_info_by_directed_route)
{
	struct setup *s = setup_new();
	const struct vendor_mad *own, *next;

	bind_class(s, IBA_CLASS_SUBN_LID);
	bind_class(s, IBA_CLASS_SUBN_DIRECTED);
	own = ask(s, IBA_ATTR_NODE_INFO, 0);
	ck_assert_uint_eq(own->length, 256);
	ck_assert_uint_eq(own->data[PORT_INFO_AT + 2], IBA_NODE_CA);
	next = ask(s, IBA_ATTR_NODE_INFO, 1);
	ck_assert_uint_eq(next->data[PORT_INFO_AT + 2], IBA_NODE_SWITCH);
	ck_assert_uint_eq(next->data[PORT_INFO_AT + 3], 8);
	ck_assert_uint_eq(next->remote.qpn, 0);
	ck_assert_uint_eq(next->remote.qkey, 0);
	setup_free(s);
}
END_TEST

START_TEST(test_many_in_flight)
{
	struct setup *s = setup_new();
	unsigned int window = vendor_max_outstanding(s->vendor);
	g_autoptr(GHashTable) tids = g_hash_table_new(NULL, NULL);

	ck_assert_uint_le(window, 128);
	bind_class(s, IBA_CLASS_SUBN_DIRECTED);
	for (unsigned int round = 0; round < 20; round++) {
		for (unsigned int i = 0; i < window; i++)
			ck_assert(send_get(s, IBA_ATTR_NODE_INFO, 1, round * window + i + 1));
		ck_assert_uint_eq(wait_for(&s->inbox, (round + 1) * window), (round + 1) * window);
	}
	for (unsigned int i = 0; i < s->inbox.mads->len; i++)
		g_hash_table_add(tids, GUINT_TO_POINTER(tid_low(s->inbox.mads->pdata[i])));
	ck_assert_uint_eq(g_hash_table_size(tids), 20 * window);
	setup_free(s);
}
END_TEST

START_TEST(test_is_sm)
{
	struct setup *s = setup_new();
	GError *error = NULL;
	const uint8_t *mask;

	bind_class(s, IBA_CLASS_SUBN_DIRECTED);
	mask = ask(s, IBA_ATTR_PORT_INFO, 0)->data + PORT_INFO_AT + CAPABILITY_MASK_AT;
	ck_assert_uint_eq(mask[3] & IBA_PORT_CAP_SM, 0);
	ck_assert_msg(vendor_set_is_sm(s->vendor, true, &error), "%s",
		      error ? error->message : "no error");
	ck_assert(vendor_set_is_sm(s->vendor, true, NULL));
	mask = ask(s, IBA_ATTR_PORT_INFO, 0)->data + PORT_INFO_AT + CAPABILITY_MASK_AT;
	ck_assert_uint_eq(mask[3] & IBA_PORT_CAP_SM, IBA_PORT_CAP_SM);
	ck_assert(vendor_set_is_sm(s->vendor, false, NULL));
	mask = ask(s, IBA_ATTR_PORT_INFO, 0)->data + PORT_INFO_AT + CAPABILITY_MASK_AT;
	ck_assert_uint_eq(mask[3] & IBA_PORT_CAP_SM, 0);
	setup_free(s);
}
END_TEST

START_TEST(test_class_taken)
{
	struct setup *s = setup_new();
	GError *error = NULL;

	bind_class(s, IBA_CLASS_SUBN_ADM);
	ck_assert(!vendor_bind(s->vendor, IBA_CLASS_SUBN_ADM, true, &s->client, &error));
	ck_assert(g_error_matches(error, VENDOR_ERROR, VENDOR_ERROR_BUSY));
	ck_assert_ptr_nonnull(strstr(error->message, "0x03"));
	g_error_free(error);
	setup_free(s);
}
END_TEST

/* Closing with requests in flight: queued MADs may still arrive, and own all they need. */
START_TEST(test_close_in_flight)
{
	for (int i = 0; i < 5; i++) {
		struct setup *s = setup_new();

		bind_class(s, IBA_CLASS_SUBN_DIRECTED);
		for (int tid = 1; tid <= 50; tid++)
			ck_assert(send_get(s, IBA_ATTR_NODE_INFO, 1, tid));
		setup_free(s);
	}
}
END_TEST

static int run_tests(void)
{
	Suite *suite = suite_create("umad");
	TCase *tc = tcase_create("ibsim");

	tcase_add_test(tc, test_ports_are_listed);
	tcase_add_test(tc, test_unknown_guid_lists_what_there_is);
	tcase_add_test(tc, test_node_info_by_directed_route);
	tcase_add_test(tc, test_many_in_flight);
	tcase_add_test(tc, test_is_sm);
	tcase_add_test(tc, test_class_taken);
	tcase_add_test(tc, test_close_in_flight);
	suite_add_tcase(suite, tc);
	/* The preloaded library attaches a process to ibsim with a thread: no forks after that. */
	return run_suite_as(suite, CK_NOFORK);
}

/* A child process that does not outlive this one, in dir, with these ends of a pipe and file. */
static pid_t spawn(const char *dir, char *const argv[], int in, int out)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (chdir(dir) < 0)
		_exit(126);
	if (in >= 0)
		dup2(in, STDIN_FILENO);
	if (out >= 0)
		dup2(out, STDOUT_FILENO), dup2(out, STDERR_FILENO);
	execv(argv[0], argv);
	_exit(127);
}

static bool wait_for_text(const char *file, const char *text)
{
	for (int tries = 0; tries < 100 * WAIT_S; tries++) {
		g_autofree char *seen = NULL;

		if (g_file_get_contents(file, &seen, NULL, NULL) && strstr(seen, text))
			return true;
		g_usleep(10000);
	}
	return false;
}

/* ibsim reads commands from its standard input and ends with it: commands[1] stays open. */
static pid_t start_ibsim(const char *dir, int commands[2])
{
	g_autofree char *net_file = g_build_filename(dir, "net", NULL);
	g_autofree char *out_file = g_build_filename(dir, "ibsim.out", NULL);
	char *argv[] = {(char *)IBSIM, (char *)"-s", net_file, NULL};
	pid_t pid;
	int out;

	if (!g_file_set_contents(net_file, net, -1, NULL) || pipe2(commands, O_CLOEXEC) < 0)
		return -1;
	out = open(out_file, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	pid = spawn(dir, argv, commands[0], out);
	close(out);
	if (wait_for_text(out_file, "ready"))
		return pid;
	fprintf(stderr, "ibsim did not start, see %s\n", out_file);
	kill(pid, SIGKILL);
	return -1;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st, (void)type, (void)ftw;
	return remove(path);
}

/* Adds options to those of a sanitizer, and a file of suppressions with this one line. */
static void add_sanitizer_options(const char *dir, const char *variable, const char *options,
				  const char *suppression)
{
	const char *given = getenv(variable);
	g_autofree char *file = g_build_filename(dir, variable, NULL);
	g_autofree char *all = g_strdup_printf("%s:%s:suppressions=%s", given ? given : "", options,
					       file);

	g_file_set_contents(file, suppression, -1, NULL);
	setenv(variable, all, 1);
}

/*
 * AddressSanitizer wants to be the first library, but works as the second. ibsim's own library
 * reads beyond what it received, whenever a MAD is read from it, and finds freed memory of others
 * there: these are not our errors.
 */
static void setenv_sanitizers(const char *dir)
{
	add_sanitizer_options(dir, "ASAN_OPTIONS", "verify_asan_link_order=0:detect_leaks=0",
			      "interceptor_via_lib:libumad2sim.so\n");
	add_sanitizer_options(dir, "TSAN_OPTIONS", "", "race:libumad2sim.so\n");
}

static int run_under_ibsim(const char *preload)
{
	char dir[] = "/tmp/test_umad.XXXXXX";
	g_autofree char *self = g_file_read_link("/proc/self/exe", NULL);
	char *argv[] = {self, (char *)"--tests", NULL};
	int commands[2], status = 1;
	pid_t ibsim, tests;

	if (!mkdtemp(dir))
		return EXIT_FAILURE;
	setenv("IBSIM_SOCKNAME", dir + 5, 1); /* unique, as the directory is */
	ibsim = start_ibsim(dir, commands);
	if (ibsim < 0)
		return EXIT_FAILURE;
	setenv("LD_PRELOAD", preload, 1);
	setenv("SIM_HOST", "Hca1", 1);
	setenv_sanitizers(dir);
	tests = spawn(dir, argv, -1, -1);
	if (tests < 0 || waitpid(tests, &status, 0) < 0)
		status = 1;
	kill(ibsim, SIGKILL);
	waitpid(ibsim, NULL, 0);
	nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILURE;
}

int main(int argc, char **argv)
{
	glob_t found;

	alarm(DEADLINE);
	if (argc > 1 && strcmp(argv[1], "--tests") == 0)
		return run_tests();
	if (access(IBSIM, X_OK) < 0 || glob(PRELOAD, GLOB_BRACE, NULL, &found) != 0) {
		printf("SKIP: ibsim is not installed (Debian: ibsim-utils, libumad2sim0)\n");
		return NOT_RUN;
	}
	argc = run_under_ibsim(found.gl_pathv[0]);
	globfree(&found);
	return argc;
}
