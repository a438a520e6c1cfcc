// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The provider for ibacm, with doubles of the functions that ibacm exports: each request gets
 * exactly one answer, whatever becomes of the SA, the snapshot and the endpoint.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ssa/acm/acm_private.h"
#include "tests/run_suite.h"

#define PREFIX UINT64_C(0xFE80000000000000)
#define GUID UINT64_C(0x100)  /* of the port that asks */
#define OTHER UINT64_C(0x200) /* of the port that is asked for */
#define LID 7
#define OTHER_LID 9
#define WAIT_MS 20000 /* more is a failure */

/* ---- ibacm ---- */

static struct {
	pthread_mutex_t lock; /* of the log */
	GString *log;
	char *options;
	bool refuse_alloc, refuse_send;
	struct acm_sa_mad *sent; /* the last query that waits for its answer */
	void (*on_answer)(struct acm_sa_mad *mad);
	unsigned int answers, mads;
	uint64_t id;
	atomic_uint totals[ACM_MAX_COUNTER];
	struct acm_msg answer;
} acm = {.lock = PTHREAD_MUTEX_INITIALIZER};

void acm_write(int level, const char *format, ...)
{
	va_list arguments;

	(void)level;
	va_start(arguments, format);
	pthread_mutex_lock(&acm.lock);
	g_string_append_vprintf(acm.log, format, arguments);
	pthread_mutex_unlock(&acm.lock);
	va_end(arguments);
}

const char *acm_get_opts_file(void)
{
	return acm.options;
}

void acm_increment_counter(int type)
{
	acm.totals[type]++;
}

int acm_get_gid(struct acm_port *port, int index, union ibv_gid *gid)
{
	(void)port;
	gid->global.subnet_prefix = htobe64(PREFIX);
	gid->global.interface_id = htobe64(GUID);
	return index;
}

int ib_any_gid(union ibv_gid *gid)
{
	return !gid->global.subnet_prefix && !gid->global.interface_id;
}

/* As in ibacm, as far as these tests ask. */
__be64 acm_path_comp_mask(struct ibv_path_record *path)
{
	uint64_t mask = 0;

	if (!ib_any_gid(&path->dgid))
		mask |= IBA_COMPONENT(path_record, dgid);
	if (!ib_any_gid(&path->sgid))
		mask |= IBA_COMPONENT(path_record, sgid);
	if (path->dlid)
		mask |= IBA_COMPONENT(path_record, dlid);
	if (path->slid)
		mask |= IBA_COMPONENT(path_record, slid);
	if (path->pkey)
		mask |= IBA_COMPONENT(path_record, p_key);
	return htobe64(mask);
}

int acm_resolve_response(uint64_t id, struct acm_msg *msg)
{
	acm.answers++;
	acm.answer = *msg;
	acm.id = id;
	return 0;
}

int acm_query_response(uint64_t id, struct acm_msg *msg)
{
	return acm_resolve_response(id, msg);
}

struct acm_sa_mad *acm_alloc_sa_mad(const struct acm_endpoint *endpoint, void *context,
				    void (*handler)(struct acm_sa_mad *mad))
{
	struct acm_sa_mad *mad = acm.refuse_alloc ? NULL : calloc(1, sizeof(*mad));

	(void)endpoint;
	if (!mad)
		return NULL;
	mad->context = context;
	acm.on_answer = handler;
	acm.mads++;
	return mad;
}

void acm_free_sa_mad(struct acm_sa_mad *mad)
{
	acm.mads--;
	free(mad);
}

int acm_send_sa_mad(struct acm_sa_mad *mad)
{
	if (acm.refuse_send)
		return -1;
	acm.sent = mad;
	return 0;
}

/* ---- a snapshot: two ports on one switch ---- */

static GBytes *rows_of(const void *data, size_t length)
{
	return g_bytes_new(data, length);
}

static void put(struct ssa_made *made, enum ssa_table_id id, const void *data, size_t length,
		uint32_t row_size)
{
	made->rows[id] = (struct ssa_rows){
		.bytes = rows_of(data, length),
		.row_size = row_size,
		.rows = length / row_size,
	};
}

static uint32_t qpn; /* of the address; 0: unknown */

static GBytes *make_snapshot(uint64_t epoch)
{
	const uint8_t way = ssa_way(5, 1);
	const struct ssa_subnet subnet = {
		.prefix = GUINT64_TO_LE(PREFIX),
		.n_classes = GUINT32_TO_LE(1),
		.max_lid = GUINT16_TO_LE(OTHER_LID),
		.rank_rate = {0, 16},
	};
	const struct ssa_endport endports[] = {
		{.guid = GUINT64_TO_LE(GUID),
		 .peer = SSA_NONE,
		 .lid = GUINT16_TO_LE(LID),
		 .kind = SSA_CA,
		 .own = way,
		 .inside = way},
		{.guid = GUINT64_TO_LE(OTHER),
		 .peer = SSA_NONE,
		 .lid = GUINT16_TO_LE(OTHER_LID),
		 .kind = SSA_CA,
		 .own = way,
		 .inside = way},
	};
	const uint8_t descriptions[2 * 72] = {0};
	const struct ssa_switch sw = {.guid = GUINT64_TO_LE(1)};
	const struct ssa_verdict verdicts[] = {
		{.p_key = GUINT16_TO_LE(0xFFFF), .flags = SSA_VERDICT_KNOWN, .life = 18},
		{.asked = GUINT16_TO_LE(0x7FFF),
		 .flags = SSA_VERDICT_KNOWN | SSA_VERDICT_LAST,
		 .life = 18},
	};
	struct ssa_ipv4 address = {.address = {10, 0, 0, 9}};
	struct ssa_made made = {.prefix = PREFIX, .term = 1, .epoch = epoch};
	uint8_t rates[64], paths[OTHER_LID + 1], reach[OTHER_LID + 1];
	const union ibv_gid gid = {.global = {htobe64(PREFIX), htobe64(OTHER)}};
	GBytes *bytes;

	memset(paths, way, sizeof(paths));
	memset(reach, 1, sizeof(reach));
	memcpy(address.rest.gid, &gid, sizeof(gid));
	memcpy(address.rest.qpn, (const uint8_t[]){qpn >> 16, qpn >> 8, qpn}, 3);
	address.rest.flags = SSA_ADDRESS_RC;
	for (unsigned int i = 0; i < sizeof(rates); i++)
		rates[i] = (uint8_t)i;
	put(&made, SSA_SUBNET, &subnet, sizeof(subnet), sizeof(subnet));
	put(&made, SSA_ENDPORTS, endports, sizeof(endports), sizeof(endports[0]));
	put(&made, SSA_SWITCHES, &sw, sizeof(sw), sizeof(sw));
	put(&made, SSA_RATES, rates, sizeof(rates), sizeof(rates));
	put(&made, SSA_PATHS, paths, sizeof(paths), sizeof(paths));
	put(&made, SSA_REACH, reach, sizeof(reach), 1);
	put(&made, SSA_PAIRS, &(uint32_t){0}, sizeof(uint32_t), sizeof(uint32_t));
	put(&made, SSA_VERDICTS, verdicts, sizeof(verdicts), sizeof(verdicts[0]));
	put(&made, SSA_IPV4, &address, sizeof(address), sizeof(address));
	put(&made, SSA_DESCRIPTIONS, descriptions, sizeof(descriptions), sizeof(descriptions) / 2);
	bytes = ssa_made_bytes(&made);
	ssa_made_clear(&made);
	return bytes;
}

/* ---- the bed ---- */

static struct {
	char *directory, *file;
	struct acm_options options;
	struct sources *sources;
	struct acm_port port;
	struct acm_endpoint acm;
	struct endpoint *endpoint;
} bed;

static void write_file(GBytes *bytes)
{
	g_autofree char *other = g_strconcat(bed.file, ".new", NULL);
	gsize length;
	const char *data = g_bytes_get_data(bytes, &length);

	ck_assert(g_file_set_contents(other, data, (gssize)length, NULL));
	ck_assert_int_eq(rename(other, bed.file), 0);
	g_bytes_unref(bytes);
}

static bool said(const char *text)
{
	bool found;

	pthread_mutex_lock(&acm.lock);
	found = strstr(acm.log->str, text) != NULL;
	pthread_mutex_unlock(&acm.lock);
	return found;
}

static void wait_for(const char *text)
{
	for (unsigned int ms = 0; !said(text); ms++) {
		ck_assert_msg(ms < WAIT_MS, "\"%s\" is not in the log:\n%s", text, acm.log->str);
		g_usleep(1000);
	}
}

static void forget_log(void)
{
	pthread_mutex_lock(&acm.lock);
	g_string_truncate(acm.log, 0);
	pthread_mutex_unlock(&acm.lock);
}

static void set_mtime(int64_t seconds_from_now)
{
	const struct timespec times[] = {{.tv_nsec = UTIME_OMIT},
					 {.tv_sec = time(NULL) + seconds_from_now}};

	ck_assert_int_eq(utimensat(AT_FDCWD, bed.file, times, 0), 0);
}

static void setup(void)
{
	acm.log = g_string_new(NULL);
	bed.directory = g_dir_make_tmp("acm-XXXXXX", NULL);
	bed.file = g_build_filename(bed.directory, "snapshot", NULL);
	acm_options_read(&bed.options, NULL);
	g_ptr_array_set_size(bed.options.snapshots, 0);
	g_ptr_array_add(bed.options.snapshots, g_strdup(bed.file));
	acm.refuse_alloc = acm.refuse_send = false;
	acm.answers = acm.mads = 0;
	acm.sent = NULL;
	for (int i = 0; i < ACM_MAX_COUNTER; i++)
		acm.totals[i] = 0;
	bed.acm = (struct acm_endpoint){.port = &bed.port, .pkey = 0xFFFF};
}

static void start(void)
{
	bed.sources = sources_start(&bed.options);
	bed.endpoint = g_new0(struct endpoint, 1);
	ref_init(&bed.endpoint->ref);
	bed.endpoint->sources = bed.sources;
	bed.endpoint->endpoint = &bed.acm;
	acm_get_gid(NULL, 0, &bed.endpoint->gid);
}

static void teardown(void)
{
	if (bed.endpoint)
		endpoint_unref(bed.endpoint);
	bed.endpoint = NULL;
	g_clear_pointer(&bed.sources, sources_stop);
	acm_options_clear(&bed.options);
	unlink(bed.file);
	ck_assert_int_eq(rmdir(bed.directory), 0);
	g_free(bed.directory);
	g_free(bed.file);
	g_string_free(acm.log, TRUE);
	ck_assert_uint_eq(acm.mads, 0);
}

static struct acm_ep_addr_data *entry(struct acm_msg *msg, unsigned int i)
{
	return (struct acm_ep_addr_data *)msg->data + i;
}

static struct acm_msg path_request(void)
{
	struct acm_msg msg = {.hdr = {.version = 1,
				      .opcode = ACM_OP_RESOLVE,
				      .length = ACM_MSG_HDR_LENGTH + ACM_MSG_EP_LENGTH,
				      .tid = UINT64_C(0x123456789ABCDEF0)}};

	entry(&msg, 0)->type = ACM_EP_INFO_PATH;
	entry(&msg, 0)->info.path.slid = htobe16(LID);
	entry(&msg, 0)->info.path.dlid = htobe16(OTHER_LID);
	return msg;
}

static struct acm_msg address_request(uint8_t last)
{
	struct acm_msg msg = path_request();

	msg.hdr.length += ACM_MSG_EP_LENGTH;
	msg.hdr.src_index = 0;
	msg.hdr.dst_index = 1;
	memset(msg.data, 0, sizeof(msg.data));
	entry(&msg, 0)->type = entry(&msg, 1)->type = ACM_EP_INFO_ADDRESS_IP;
	memcpy(entry(&msg, 1)->info.addr, (const uint8_t[]){10, 0, 0, last}, 4);
	return msg;
}

static void expect_answer(uint8_t status)
{
	ck_assert_uint_eq(acm.answers, 1);
	ck_assert_uint_eq(acm.answer.hdr.status, status);
	ck_assert_uint_eq(acm.answer.hdr.opcode, ACM_OP_RESOLVE | ACM_OP_ACK);
	ck_assert(acm.answer.hdr.tid == UINT64_C(0x123456789ABCDEF0));
	acm.answers = 0;
}

static void expect_resolved(struct acm_msg msg, uint8_t status)
{
	answer_resolve(bed.endpoint, &msg, 0);
	expect_answer(status);
	ck_assert_uint_eq(acm.answer.hdr.length,
			  status ? ACM_MSG_HDR_LENGTH : ACM_MSG_HDR_LENGTH + ACM_MSG_EP_LENGTH);
}

/* ---- requests ---- */

/* Of an SA that answers, that says no, and that says nothing. */
static const struct outcome {
	uint32_t umad_status;
	uint16_t mad_status;
	uint8_t resolve, query; /* statuses */
} outcomes[] = {
	{0, 0, ACM_STATUS_SUCCESS, 0},
	{0, 0x0300, ACM_STATUS_ENODATA, 3},
	{ETIMEDOUT, 0, ACM_STATUS_ETIMEDOUT, ACM_STATUS_ETIMEDOUT},
};

static void answer_of_sa(const struct outcome *outcome)
{
	struct acm_sa_mad *mad = acm.sent;

	ck_assert_ptr_nonnull(mad);
	ck_assert_uint_eq(acm.answers, 0);
	acm.sent = NULL;
	mad->umad.status = outcome->umad_status;
	mad->sa_mad.mad_hdr.status = htobe16(outcome->mad_status);
	acm.on_answer(mad);
}

START_TEST(asks_the_sa)
{
	const struct outcome *outcome = &outcomes[_i];
	struct acm_msg msg = path_request();

	start();
	answer_resolve(bed.endpoint, &msg, 0);
	ck_assert_uint_eq(acm.sent->sa_mad.mad_hdr.mgmt_class, 3);
	ck_assert_uint_eq(be16toh(acm.sent->sa_mad.mad_hdr.attr_id), 0x35);
	ck_assert_mem_eq(acm.sent->sa_mad.data, &entry(&msg, 0)->info.path, 64);
	answer_of_sa(outcome);
	expect_answer(outcome->resolve);
	answer_query(bed.endpoint, &msg, 5);
	answer_of_sa(outcome);
	expect_answer(outcome->query);
	ck_assert_uint_eq(acm.id, 5);
	ck_assert_uint_eq(acm.totals[ACM_CNTR_ROUTE_QUERY],
			  bed.endpoint->counters[ACM_CNTR_ROUTE_QUERY]);
}
END_TEST

/* The endpoint goes while the SA is asked. */
START_TEST(endpoint_closed_meanwhile)
{
	struct acm_msg msg = path_request();

	start();
	answer_resolve(bed.endpoint, &msg, 0);
	g_clear_pointer(&bed.endpoint, endpoint_unref);
	answer_of_sa(&outcomes[2]);
	expect_answer(ACM_STATUS_ETIMEDOUT);
}
END_TEST

START_TEST(cannot_ask_the_sa)
{
	struct acm_msg msg = path_request();

	acm.refuse_alloc = _i == 0;
	acm.refuse_send = _i == 1;
	start();
	expect_resolved(msg, ACM_STATUS_ENODATA);
	answer_query(bed.endpoint, &msg, 0);
	expect_answer(ACM_STATUS_ENODATA);
	expect_resolved(address_request(9), ACM_STATUS_ENODATA);
}
END_TEST

START_TEST(answers_from_the_snapshot)
{
	const struct ibv_path_record *path = &entry(&acm.answer, 0)->info.path;
	struct acm_msg msg;

	write_file(make_snapshot(1));
	start();
	expect_resolved(path_request(), ACM_STATUS_SUCCESS);
	ck_assert_uint_eq(be16toh(path->dlid), OTHER_LID);
	ck_assert_uint_eq(path->mtu, IBA_SELECTOR_EXACTLY << 6 | 5);
	ck_assert_uint_eq(path->rate, IBA_SELECTOR_EXACTLY << 6 | 16);
	expect_resolved(address_request(9), ACM_STATUS_SUCCESS);
	ck_assert_uint_eq(be16toh(path->dlid), OTHER_LID);
	expect_resolved(address_request(8), ACM_STATUS_EDESTADDR);
	msg = path_request();
	entry(&msg, 0)->info.path.dlid = htobe16(8);
	expect_resolved(msg, ACM_STATUS_ENODATA);
	/* The source that ibacm has chosen is told. */
	msg = address_request(9);
	msg.hdr.src_out = 1;
	answer_resolve(bed.endpoint, &msg, 0);
	expect_answer(ACM_STATUS_SUCCESS);
	ck_assert_uint_eq(acm.answer.hdr.length, ACM_MSG_HDR_LENGTH + 2 * ACM_MSG_EP_LENGTH);
	ck_assert_mem_eq(entry(&acm.answer, 1), entry(&msg, 0), ACM_MSG_EP_LENGTH);
	ck_assert_ptr_null(acm.sent);
}
END_TEST

/* What ibacm lets through in an hour of need: nothing is read outside of the message. */
START_TEST(odd_requests)
{
	struct acm_msg msg = address_request(9);

	write_file(make_snapshot(1));
	start();
	msg.hdr.dst_index = 2;
	expect_resolved(msg, ACM_STATUS_EINVAL);
	msg.hdr.dst_index = 255;
	msg.hdr.length = UINT16_MAX;
	expect_resolved(msg, ACM_STATUS_EINVAL);
	msg.hdr.length = 0;
	expect_resolved(msg, ACM_STATUS_EINVAL);
	msg.hdr.length = ACM_MSG_HDR_LENGTH + ACM_MSG_EP_LENGTH - 1;
	expect_resolved(msg, ACM_STATUS_EINVAL);
	msg = address_request(9);
	entry(&msg, 1)->type = ACM_EP_INFO_NAME;
	memset(entry(&msg, 1)->info.name, 'x', ACM_MAX_ADDRESS);
	expect_resolved(msg, ACM_STATUS_EDESTADDR);
	entry(&msg, 1)->type = 77;
	expect_resolved(msg, ACM_STATUS_EDESTADDR);
	answer_query(bed.endpoint, &msg, 0);
	expect_answer(ACM_STATUS_EINVAL);
}
END_TEST

/* ---- files ---- */

START_TEST(a_file_of_unknown_age)
{
	write_file(make_snapshot(1));
	set_mtime(1000); /* the clock was set back, or the file is from elsewhere */
	start();
	acm.refuse_send = true;
	expect_resolved(path_request(), ACM_STATUS_ENODATA);
	wait_for("older than ssa_max_age");
	set_mtime(2000); /* but a change that is seen is new, whatever the clock says */
	wait_for("current again");
	expect_resolved(path_request(), ACM_STATUS_SUCCESS);
}
END_TEST

START_TEST(an_old_file)
{
	write_file(make_snapshot(1));
	set_mtime(-4000);
	start();
	acm.refuse_send = true;
	wait_for("older than ssa_max_age");
	expect_resolved(path_request(), ACM_STATUS_ENODATA);
	set_mtime(-3000);
	wait_for("current again");
	expect_resolved(path_request(), ACM_STATUS_SUCCESS);
}
END_TEST

/* The directory is made later, goes, and comes back. */
START_TEST(directories)
{
	g_autofree char *away = g_strconcat(bed.directory, ".away", NULL);

	ck_assert_int_eq(rmdir(bed.directory), 0);
	start();
	wait_for("No such file");
	ck_assert_int_eq(mkdir(bed.directory, 0700), 0);
	write_file(make_snapshot(1));
	wait_for("epoch 1, 2 ports");
	ck_assert_int_eq(rename(bed.directory, away), 0);
	wait_for("what it said is used");
	ck_assert_int_eq(mkdir(bed.directory, 0700), 0);
	write_file(make_snapshot(2));
	wait_for("epoch 2, 2 ports");
	expect_resolved(path_request(), ACM_STATUS_SUCCESS);
	unlink(bed.file);
	ck_assert_int_eq(rmdir(bed.directory), 0);
	ck_assert_int_eq(rename(away, bed.directory), 0);
}
END_TEST

/* A file that is written in place is refused while it is torn. */
START_TEST(written_in_place)
{
	g_autofree char *other = g_strconcat(bed.file, ".other", NULL);
	g_autoptr(GBytes) bytes = make_snapshot(2);
	gsize length;
	const char *data = g_bytes_get_data(bytes, &length);
	int fd;

	write_file(make_snapshot(1));
	start();
	fd = open(bed.file, O_WRONLY | O_TRUNC);
	ck_assert_int_eq(write(fd, data, length / 2), (ssize_t)(length / 2));
	ck_assert_int_eq(fsync(fd), 0);
	set_mtime(0); /* wakes the reader */
	wait_for("refused");
	expect_resolved(path_request(), ACM_STATUS_SUCCESS);
	ck_assert_int_eq(write(fd, data + length / 2, length - length / 2),
			 (ssize_t)(length - length / 2));
	close(fd);
	wait_for("epoch 2, 2 ports");
	/* Nor is a directory taken for one. */
	forget_log();
	unlink(bed.file);
	ck_assert_int_eq(mkdir(other, 0700), 0);
	ck_assert_int_eq(rename(other, bed.file), 0);
	wait_for("not a regular file");
	expect_resolved(path_request(), ACM_STATUS_SUCCESS);
	ck_assert_int_eq(rmdir(bed.file), 0);
}
END_TEST

static atomic_bool replaced;

static void *replace(void *arg)
{
	(void)arg;
	for (unsigned int i = 2; i < 200; i++)
		write_file(make_snapshot(i));
	atomic_store(&replaced, true);
	return NULL;
}

/* Requests while the snapshot is replaced. */
START_TEST(replaced_meanwhile)
{
	pthread_t thread;
	unsigned int n = 0;

	write_file(make_snapshot(1));
	start();
	acm.refuse_send = true;
	atomic_store(&replaced, false);
	ck_assert_int_eq(pthread_create(&thread, NULL, replace, NULL), 0);
	while (!atomic_load(&replaced) || n < 100) {
		expect_resolved(path_request(), ACM_STATUS_SUCCESS);
		n++;
	}
	pthread_join(thread, NULL);
	wait_for("epoch 199, 2 ports");
}
END_TEST

/* ---- neighbours ---- */

#define OWN_PROTOCOL 0x5A
#define KERNEL_MAX 8

/* What the kernel knows, and its end of the socket. */
static struct kernel {
	pthread_mutex_t lock;
	pthread_t thread;
	int fd, ours;
	struct entry {
		uint32_t index, protocol;
		uint8_t address[4], lladdr[20];
	} entries[KERNEL_MAX];
	unsigned int n;
} kernel = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void kernel_send(const struct nlmsghdr *to, uint16_t type, const void *data, size_t length)
{
	uint8_t message[512] = {0};
	struct nlmsghdr header = {
		.nlmsg_len = NLMSG_LENGTH(length), .nlmsg_type = type, .nlmsg_seq = to->nlmsg_seq};

	memcpy(message, &header, sizeof(header));
	memcpy(message + NLMSG_HDRLEN, data, length);
	ck_assert_int_eq(send(kernel.fd, message, header.nlmsg_len, 0), header.nlmsg_len);
}

static void kernel_list(const struct nlmsghdr *to)
{
	for (unsigned int i = 0; i < kernel.n; i++) {
		const struct entry *entry = &kernel.entries[i];
		struct {
			struct ndmsg neighbour;
			struct rtattr dst;
			uint8_t address[4];
			struct rtattr link;
			uint8_t lladdr[20];
			struct rtattr by;
			uint32_t protocol;
		} message = {
			.neighbour = {.ndm_family = AF_INET, .ndm_ifindex = (int)entry->index},
			.dst = {RTA_LENGTH(4), NDA_DST},
			.link = {RTA_LENGTH(20), NDA_LLADDR},
			.by = {RTA_LENGTH(1), NDA_PROTOCOL},
			.protocol = entry->protocol,
		};

		memcpy(message.address, entry->address, 4);
		memcpy(message.lladdr, entry->lladdr, 20);
		kernel_send(to, RTM_NEWNEIGH, &message, sizeof(message));
	}
	kernel_send(to, NLMSG_DONE, &(int){0}, sizeof(int));
}

static struct entry *kernel_find(const struct entry *wanted)
{
	for (unsigned int i = 0; i < kernel.n; i++)
		if (kernel.entries[i].index == wanted->index &&
		    memcmp(kernel.entries[i].address, wanted->address, 4) == 0)
			return &kernel.entries[i];
	return NULL;
}

static struct entry entry_of(const struct nlmsghdr *message)
{
	const struct ndmsg *neighbour = NLMSG_DATA(message);
	int length = (int)message->nlmsg_len - (int)NLMSG_LENGTH(sizeof(*neighbour));
	const struct rtattr *at = (const void *)(neighbour + 1);
	struct entry entry = {.index = (uint32_t)neighbour->ndm_ifindex};

	ck_assert_uint_eq(neighbour->ndm_family, AF_INET);
	for (; RTA_OK(at, length); at = RTA_NEXT(at, length)) {
		if (at->rta_type == NDA_DST)
			memcpy(entry.address, RTA_DATA(at), 4);
		else if (at->rta_type == NDA_LLADDR)
			memcpy(entry.lladdr, RTA_DATA(at), 20);
		else if (at->rta_type == NDA_PROTOCOL)
			entry.protocol = *(uint8_t *)RTA_DATA(at);
	}
	return entry;
}

static void kernel_change(const struct nlmsghdr *message)
{
	struct nlmsgerr result = {.msg = *message};
	struct entry entry = entry_of(message), *old;

	pthread_mutex_lock(&kernel.lock);
	old = kernel_find(&entry);
	if (message->nlmsg_type == RTM_NEWNEIGH)
		*(old ? old : &kernel.entries[kernel.n++]) = entry;
	else if (old)
		*old = kernel.entries[--kernel.n];
	else
		result.error = -ENOENT;
	pthread_mutex_unlock(&kernel.lock);
	kernel_send(message, NLMSG_ERROR, &result, sizeof(result));
}

static void *kernel_main(void *arg)
{
	uint8_t buffer[4096] __attribute__((aligned(NLMSG_ALIGNTO)));
	const struct nlmsghdr *message = (const void *)buffer;

	while (recv(kernel.fd, buffer, sizeof(buffer), 0) > 0) {
		if (message->nlmsg_type == RTM_GETNEIGH)
			kernel_list(message);
		else
			kernel_change(message);
	}
	return arg;
}

/* With an entry of the administrator, and one that is left of an earlier process. */
static void kernel_start(void)
{
	int fds[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fds), 0);
	kernel.fd = fds[0];
	bed.options.netlink = fds[1];
	kernel.entries[0] = (struct entry){.index = 5, .protocol = 2, .address = {10, 0, 0, 1}};
	kernel.entries[1] =
		(struct entry){.index = 5, .protocol = OWN_PROTOCOL, .address = {10, 0, 0, 2}};
	kernel.n = 2;
	ck_assert_int_eq(pthread_create(&kernel.thread, NULL, kernel_main, NULL), 0);
}

static void kernel_end(void)
{
	g_clear_pointer(&bed.sources, sources_stop);
	pthread_join(kernel.thread, NULL);
	close(kernel.fd);
	/* The administrator's is left alone, and the only one. */
	ck_assert_uint_eq(kernel.n, 1);
	ck_assert_uint_eq(kernel.entries[0].protocol, 2);
}

static void wait_for_entry(uint32_t wanted_qpn, unsigned int n)
{
	const struct entry wanted = {.index = 7, .address = {10, 0, 0, 9}};

	for (unsigned int ms = 0;; ms++) {
		const struct entry *entry;
		bool done;

		pthread_mutex_lock(&kernel.lock);
		entry = kernel_find(&wanted);
		done = kernel.n == n &&
		       (wanted_qpn ? entry && entry->lladdr[1] == wanted_qpn >> 16 &&
					     entry->lladdr[3] == (wanted_qpn & 0xFF)
				   : !entry);
		if (done && entry) {
			ck_assert_uint_eq(entry->lladdr[0], SSA_ADDRESS_RC);
			ck_assert_uint_eq(entry->lladdr[4], 0xFE);
			ck_assert_uint_eq(entry->lladdr[18], OTHER >> 8);
			ck_assert_uint_eq(entry->protocol, OWN_PROTOCOL);
		}
		pthread_mutex_unlock(&kernel.lock);
		if (done)
			return;
		ck_assert_uint_lt(ms, WAIT_MS);
		g_usleep(1000);
	}
}

static void make_interface(const char *sysfs, const char *name, const char *const *values)
{
	static const char *const files[] = {"type", "ifindex", "pkey", "address"};
	g_autofree char *directory = g_build_filename(sysfs, name, NULL);

	ck_assert_int_eq(g_mkdir_with_parents(directory, 0700), 0);
	for (unsigned int i = 0; i < G_N_ELEMENTS(files); i++) {
		g_autofree char *file = g_build_filename(directory, files[i], NULL);

		ck_assert(g_file_set_contents(file, values[i], -1, NULL));
	}
}

static void remove_tree(const char *directory)
{
	g_autoptr(GDir) list = g_dir_open(directory, 0, NULL);
	const char *name;

	while (list && (name = g_dir_read_name(list))) {
		g_autofree char *path = g_build_filename(directory, name, NULL);

		if (unlink(path) != 0)
			remove_tree(path);
	}
	rmdir(directory);
}

/* One per address, on the interface of its partition only; ours go, those of others stay. */
START_TEST(neighbours)
{
	g_autofree char *sysfs = g_build_filename(bed.directory, "net", NULL);
	const char *const lladdr = "80:00:00:48:fe:80:00:00:00:00:00:00:00:00:00:00:00:00:01:00\n";

	make_interface(sysfs, "eth0", (const char *const[]){"1\n", "6\n", "", "02:00\n"});
	make_interface(sysfs, "ib0", (const char *const[]){"32\n", "7\n", "0xffff\n", lladdr});
	make_interface(sysfs, "ib0.8011", (const char *const[]){"32\n", "8\n", "0x8011\n", lladdr});
	make_interface(sysfs, "ib1", (const char *const[]){"32\n", "9\n", "0xffff\n", "00:x\n"});
	bed.options.sysfs = sysfs;
	bed.options.neighbours = NEIGHBOURS_BOTH;
	kernel_start();
	qpn = 0x123456;
	write_file(make_snapshot(1));
	start();
	wait_for_entry(0x123456, 2);
	qpn = 0x77;
	write_file(make_snapshot(2));
	wait_for_entry(0x77, 2);
	qpn = 0;
	write_file(make_snapshot(3));
	wait_for_entry(0, 1);
	qpn = 0x88;
	write_file(make_snapshot(4));
	wait_for_entry(0x88, 2);
	kernel_end();
	qpn = 0;
	remove_tree(sysfs);
}
END_TEST

/* Those that an earlier process has left go even if none are wanted. */
START_TEST(no_neighbours)
{
	kernel_start();
	qpn = 0x123456;
	write_file(make_snapshot(1));
	start();
	wait_for_entry(0, 1);
	kernel_end();
	qpn = 0;
}
END_TEST

/* ---- options, and the table that ibacm gets ---- */

START_TEST(options)
{
	g_autofree char *file = g_build_filename(bed.directory, "options", NULL);
	struct acm_options read;
	const char *const text = "# ssa_max_age 7\nlog_level 1\nssa_snapshot /a\n"
				 "ssa_snapshot b\nssa_max_age 86400\nssa_max_age 1x\nssa_snapshot\n"
				 "ssa_snapshot /c\nssa_\n";

	ck_assert(g_file_set_contents(file, text, -1, NULL));
	acm_options_read(&read, file);
	ck_assert_uint_eq(read.snapshots->len, 2);
	ck_assert_str_eq(read.snapshots->pdata[0], "/a");
	ck_assert_str_eq(read.snapshots->pdata[1], "/c");
	ck_assert_uint_eq(read.max_age_s, 86400);
	ck_assert(said("options:4: ssa_snapshot b: expected an absolute path; it is ignored"));
	ck_assert(said("options:6: ssa_max_age 1x: expected seconds, from 1 to 31536000"));
	ck_assert(said("options:7: ssa_snapshot : expected an absolute path"));
	ck_assert(said("options:9: ssa_ is unknown"));
	acm_options_clear(&read);
	unlink(file);
	acm_options_read(&read, file);
	ck_assert_uint_eq(read.snapshots->len, 1);
	ck_assert_str_eq(read.snapshots->pdata[0], "/run/opensm-ssa/snapshot");
	ck_assert_uint_eq(read.max_age_s, 3600);
	acm_options_clear(&read);
}
END_TEST

/* As ibacm goes through it. */
START_TEST(provider_table)
{
	struct acm_provider *provider = NULL;
	uint64_t values[ACM_MAX_COUNTER] = {1};
	struct acm_msg msg = address_request(9);
	void *device, *port, *endpoint, *address;
	const struct acm_address own = {};
	uint32_t version = 0;
	uint8_t n = 0;

	ck_assert_int_eq(provider_query(&provider, &version), 0);
	ck_assert_uint_eq(version, 1);
	ck_assert_uint_eq(provider->size, sizeof(*provider));
	ck_assert_int_eq(provider->open_device(&(struct acm_device){}, &device), 0);
	ck_assert_int_eq(provider->open_port(&bed.port, device, &port), 0);
	ck_assert_int_eq(provider->open_endpoint(&bed.acm, port, &endpoint), 0);
	ck_assert_int_eq(provider->add_address(&own, endpoint, &address), 0);
	ck_assert_int_eq(provider->handle_event(port, IBV_EVENT_CLIENT_REREGISTER), 0);
	ck_assert_int_eq(provider->resolve(address, &msg, 0), 0);
	expect_answer(ACM_STATUS_ENODATA);
	provider->query_perf(endpoint, values, &n);
	ck_assert_uint_eq(n, ACM_MAX_COUNTER);
	ck_assert(values[ACM_CNTR_ERROR] == 0 && be64toh(values[ACM_CNTR_NODATA]) == 1);
	provider->remove_address(address);
	provider->close_endpoint(endpoint);
	provider->close_port(port);
	provider->close_device(device);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("ssa_acm");
	TCase *tcase = tcase_create("all");

	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_loop_test(tcase, asks_the_sa, 0, G_N_ELEMENTS(outcomes));
	tcase_add_loop_test(tcase, cannot_ask_the_sa, 0, 2);
	tcase_add_test(tcase, endpoint_closed_meanwhile);
	tcase_add_test(tcase, answers_from_the_snapshot);
	tcase_add_test(tcase, odd_requests);
	tcase_add_test(tcase, a_file_of_unknown_age);
	tcase_add_test(tcase, an_old_file);
	tcase_add_test(tcase, directories);
	tcase_add_test(tcase, written_in_place);
	tcase_add_test(tcase, replaced_meanwhile);
	tcase_add_test(tcase, neighbours);
	tcase_add_test(tcase, no_neighbours);
	tcase_add_test(tcase, options);
	tcase_add_test(tcase, provider_table);
	suite_add_tcase(suite, tcase);
	return suite;
}
