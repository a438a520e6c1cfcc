// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Capture files octet by octet, and the tap of a vendor port. */
#include <check.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libvendor/capture_private.h"
#include "tests/run_suite.h"
#include "vendor/vendor_private.h"

#define FILE_HEADER 24
#define RECORD_HEADER 32 /* of pcap and of ERF */
#define PACKET 290	 /* without GRH */
#define MAD_AT 28	 /* in such a packet */
#define NS_PER_S UINT64_C(1000000000)

static char *temporary(const char *name)
{
	g_autofree char *dir = g_dir_make_tmp("capture-XXXXXX", NULL);

	ck_assert_ptr_nonnull(dir);
	return g_build_filename(dir, name, NULL);
}

static void clear(char *file)
{
	g_autofree char *dir = g_path_get_dirname(file);

	g_unlink(file);
	g_rmdir(dir);
	g_free(file);
}

static GBytes *contents(const char *file)
{
	char *data;
	gsize length;

	ck_assert(g_file_get_contents(file, &data, &length, NULL));
	return g_bytes_new_take(data, length);
}

/* Packet i of a file whose packets have no GRH. */
static const uint8_t *packet(GBytes *octets, size_t i)
{
	size_t size, at = FILE_HEADER + i * (RECORD_HEADER + PACKET) + RECORD_HEADER;
	const uint8_t *data = g_bytes_get_data(octets, &size);

	ck_assert_uint_le(at + PACKET, size);
	return data + at;
}

static size_t n_packets(GBytes *octets)
{
	return (g_bytes_get_size(octets) - FILE_HEADER) / (RECORD_HEADER + PACKET);
}

static uint32_t be(const uint8_t *at, unsigned int octets)
{
	uint32_t value = 0;

	while (octets--)
		value = value << 8 | *at++;
	return value;
}

/* The packet that IBA 7.8.3 computes an ICRC for. */
START_TEST(test_icrc_of_the_iba)
{
	static const uint8_t sample[] = {
		0x70, 0x12, 0x37, 0x5C, 0x00, 0x0E, 0x17, 0xD2, 0x0A, 0x20, 0x24, 0x87, 0x00,
		0x87, 0xB1, 0xB3, 0x00, 0x0D, 0xEC, 0x2A, 0x01, 0x71, 0x0A, 0x1C, 0x01, 0x5D,
		0x40, 0x02, 0x38, 0xF2, 0x7A, 0x05, 0x00, 0x00, 0x00, 0x0E, 0xBB, 0x88, 0x4D,
		0x85, 0xFD, 0x5C, 0xFB, 0xA4, 0x72, 0x8B, 0xC0, 0x69, 0x0E, 0xD4, 0x00, 0x00,
	};
	uint8_t other[sizeof(sample)];

	ck_assert_uint_eq(capture_icrc(sample, sizeof(sample)), 0x9625B75A);
	memcpy(other, sample, sizeof(sample));
	other[0] ^= 0x50; /* another VL on the next link */
	ck_assert_uint_eq(capture_icrc(other, sizeof(other)), 0x9625B75A);
	ck_assert_uint_ne(capture_vcrc(other, sizeof(other)), capture_vcrc(sample, sizeof(sample)));
	ck_assert_uint_eq(capture_vcrc((const uint8_t *)"123456789", 9), 0x3D0A);
	other[20] ^= 1;
	ck_assert_uint_ne(capture_icrc(other, sizeof(other)), 0x9625B75A);
}
END_TEST

START_TEST(test_headers)
{
	struct capture_address address = {
		.slid = 0x1234,
		.dlid = 0x5678,
		.sl = 9,
		.src_qp = 1,
		.dest_qp = 0xABCDEF,
		.q_key = IBA_QP1_Q_KEY,
		.p_key = 0x8001,
		.hop_limit = 3,
		.traffic_class = 0x45,
		.flow_label = 0x6789A,
		.sgid = {1, 2},
		.dgid = {3, 4},
	};
	g_autoptr(GByteArray) out = g_byte_array_new();
	uint8_t mad[IBA_MAD_BYTES] = {1, 3};
	const uint8_t *p;

	capture_frame(out, 5 * NS_PER_S + NS_PER_S / 2, &address, mad);
	ck_assert_uint_eq(out->len, RECORD_HEADER + PACKET);
	ck_assert_uint_eq(be(out->data, 4), 5);
	ck_assert_uint_eq(be(out->data + 4, 4), NS_PER_S / 2);
	ck_assert_mem_eq(out->data + 16, "\0\0\0\x80\x05\0\0\0\x15", 9); /* little-endian 5.5 */
	p = out->data + RECORD_HEADER;
	ck_assert_mem_eq(p, "\x00\x92\x56\x78\x00\x48\x12\x34", 8);
	ck_assert_mem_eq(p + 8, "\x64\x00\x80\x01\x00\xAB\xCD\xEF\0\0\0\0", 12);
	ck_assert_mem_eq(p + 20, "\x80\x01\x00\x00\x00\x00\x00\x01", 8);
	ck_assert_mem_eq(p + MAD_AT, mad, sizeof(mad));
	g_byte_array_set_size(out, 0);
	address.has_grh = true;
	address.dest_qp = 0;
	capture_frame(out, 0, &address, mad);
	ck_assert_uint_eq(out->len, RECORD_HEADER + PACKET + 40);
	p = out->data + RECORD_HEADER;
	ck_assert_mem_eq(p, "\xF0\x93", 2); /* VL 15, GRH */
	ck_assert_uint_eq(be(p + 4, 2) * 4 + 2, PACKET + 40);
	ck_assert_mem_eq(p + 8, "\x64\x56\x78\x9A\x01\x18\x1B\x03", 8);
	ck_assert_mem_eq(p + 8 + 15, "\1", 1);
	ck_assert_mem_eq(p + 8 + 39, "\4\x64", 2);
}
END_TEST

static void write_message(const char *file, size_t length)
{
	struct capture_address address = {.slid = 1, .dlid = 2, .dest_qp = 1, .src_qp = 1};
	struct capture *capture = capture_new(file, NULL, NULL);
	g_autofree uint8_t *data = g_malloc0(length);

	ck_assert_ptr_nonnull(capture);
	for (size_t i = IBA_SA_DATA_OFFSET; i < length; i++)
		data[i] = (uint8_t)(i - IBA_SA_DATA_OFFSET);
	data[1] = IBA_CLASS_SUBN_ADM;
	data[26] = IBA_RMPP_ACTIVE;
	capture_write(capture, 1, &address, data, length);
	capture_free(capture);
}

START_TEST(test_messages_travel_in_segments)
{
	char *file = temporary("rmpp.pcap");
	g_autoptr(GBytes) octets = NULL;

	write_message(file, 56 + 200 + 200 + 8);
	octets = contents(file);
	ck_assert_uint_eq(n_packets(octets), 3);
	for (unsigned int i = 0; i < 3; i++) {
		const uint8_t *mad = packet(octets, i) + MAD_AT;

		ck_assert_uint_eq(mad[25], IBA_RMPP_DATA);
		ck_assert_uint_eq(mad[26], i == 0 ? 3 : i == 1 ? 1 : 5);
		ck_assert_uint_eq(be(mad + 28, 4), i + 1);
		ck_assert_uint_eq(be(mad + 32, 4), i == 0 ? 408 + 60 : i == 1 ? 0 : 28);
		ck_assert_uint_eq(mad[56], (uint8_t)(200 * i));
	}
	ck_assert_uint_eq(packet(octets, 2)[MAD_AT + 56 + 8], 0);
	clear(file);
}
END_TEST

START_TEST(test_retract)
{
	struct capture_address address = {0};
	uint8_t mad[IBA_MAD_BYTES] = {0};
	char *file = temporary("retract.pcap");
	struct capture *capture = capture_new(file, NULL, NULL);
	g_autoptr(GBytes) octets = NULL;
	uint64_t second;

	for (uint8_t i = 0; i < 3; i++) {
		mad[0] = i;
		second = capture_write(capture, 0, &address, mad, sizeof(mad));
		if (i == 1)
			capture_retract(capture, second);
	}
	capture_free(capture);
	octets = contents(file);
	ck_assert_uint_eq(n_packets(octets), 2);
	ck_assert_uint_eq(packet(octets, 1)[MAD_AT], 2);
	clear(file);
}
END_TEST

START_TEST(test_file_that_cannot_be)
{
	g_autoptr(GError) error = NULL;

	ck_assert_ptr_null(capture_new("/nonexistent/x.pcap", NULL, &error));
	ck_assert_ptr_nonnull(strstr(error->message, "/nonexistent/x.pcap"));
	g_clear_error(&error);
	ck_assert_ptr_null(capture_new("/", NULL, &error));
	ck_assert_ptr_nonnull(strstr(error->message, "/: is a directory"));
}
END_TEST

/* The disk appears full: logged once, and no more is recorded. */
START_TEST(test_disk_fails)
{
	struct capture_address address = {0};
	uint8_t mad[IBA_MAD_BYTES] = {0};
	const struct rlimit small = {.rlim_cur = 100, .rlim_max = RLIM_INFINITY};
	char *file = temporary("disk_full.pcap");
	GString *text = g_string_new(NULL);
	struct log *log = log_new_capture(text);
	struct capture *capture = capture_new(file, log, NULL);
	struct rlimit was;
	char *first;

	ck_assert_ptr_nonnull(capture);
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &was);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
	for (int i = 0; i < 3000; i++)
		capture_write(capture, 0, &address, mad, sizeof(mad));
	g_usleep(100000);
	for (int i = 0; i < 3000; i++)
		capture_write(capture, 0, &address, mad, sizeof(mad));
	capture_free(capture);
	setrlimit(RLIMIT_FSIZE, &was);
	first = strstr(text->str, "capturing stops");
	ck_assert_ptr_nonnull(first);
	ck_assert_ptr_null(strstr(first + 1, "capturing stops"));
	log_free(log);
	g_string_free(text, TRUE);
	clear(file);
}
END_TEST

/* ---- a port whose device accepts every other MAD ---- */

struct fake {
	struct vendor base;
	unsigned int sends;
};

static bool fake_send(struct vendor *vendor, const struct vendor_address *to, const uint8_t *data,
		      size_t length, unsigned int timeout_ms)
{
	(void)to, (void)data, (void)length, (void)timeout_ms;
	return ((struct fake *)vendor)->sends++ % 2 == 0;
}

static void fake_close(struct vendor *vendor)
{
	vendor->tap = NULL; /* as if freed */
}

static const struct vendor_ops fake_ops = {.send = fake_send, .close = fake_close};

static void take(void *arg, struct vendor_mad *mad)
{
	(void)arg;
	vendor_mad_free(mad);
}

/* The back end posts a MAD, and the client forwards it. */
static void receive(struct vendor *vendor, struct actor *actor, const struct vendor_address *from,
		    const uint8_t *data, enum vendor_status status)
{
	struct vendor_client client = {.actor = actor, .receive = take};
	struct vendor_mad *mad = vendor_mad_new(vendor, data, IBA_MAD_BYTES);

	mad->remote = *from;
	mad->status = status;
	vendor_mad_post(mad, &client);
}

static void own_port_info(uint8_t *data, uint16_t lid)
{
	struct iba_dr_smp smp = {
		.base_version = 1,
		.mgmt_class = IBA_CLASS_SUBN_DIRECTED,
		.method = IBA_METHOD_GET_RESP,
		.attribute_id = IBA_ATTR_PORT_INFO,
		.dr_slid = IBA_LID_PERMISSIVE,
		.dr_dlid = IBA_LID_PERMISSIVE,
	};
	struct iba_port_info info = {.lid = lid, .lmc = 2, .gid_prefix = 7};

	wire_encode(&iba_port_info_type, &info, smp.data);
	wire_encode(&iba_dr_smp_type, &smp, data);
}

static void own_p_keys(uint8_t *data, unsigned int block)
{
	struct iba_dr_smp smp = {
		.base_version = 1,
		.mgmt_class = IBA_CLASS_SUBN_DIRECTED,
		.method = IBA_METHOD_GET_RESP,
		.attribute_id = IBA_ATTR_P_KEY_TABLE,
		.attribute_modifier = block,
		.dr_slid = IBA_LID_PERMISSIVE,
		.dr_dlid = IBA_LID_PERMISSIVE,
	};
	struct iba_p_key_table table = {.p_key = {0x8000, 0x8002}};

	wire_encode(&iba_p_key_table_type, &table, smp.data);
	wire_encode(&iba_dr_smp_type, &smp, data);
}

static void exchange(struct vendor *vendor, struct actor *actor)
{
	static const struct vendor_address directed = {.lid = IBA_LID_PERMISSIVE};
	static const struct vendor_address client = {
		.lid = 99, .sl = 5, .path_bits = 3, .qpn = 17, .qkey = 0x1111, .p_key_index = 33};
	uint8_t gmp[IBA_MAD_BYTES] = {1, IBA_CLASS_PERF, 1, IBA_METHOD_GET}, smp[IBA_MAD_BYTES];

	own_port_info(smp, 0x40);
	receive(vendor, actor, &directed, smp, VENDOR_RECEIVED);
	own_p_keys(smp, 1);
	receive(vendor, actor, &directed, smp, VENDOR_RECEIVED);
	ck_assert(vendor_send(vendor, &client, gmp, sizeof(gmp), 0));
	ck_assert(!vendor_send(vendor, &client, gmp, sizeof(gmp), 0));
	receive(vendor, actor, &client, gmp, VENDOR_RECEIVED);
	receive(vendor, actor, &client, gmp, VENDOR_TIMED_OUT);
}

START_TEST(test_tap)
{
	struct runtime *rt = runtime_new(RUNTIME_VIRTUAL);
	struct actor *actor = actor_new(rt, "client");
	struct fake fake = {.base = {.ops = &fake_ops, .port_guid = 0x1234}};
	char *file = temporary("tap.pcap");
	g_autoptr(GBytes) octets = NULL;

	ck_assert(vendor_capture(&fake.base, file, NULL, NULL));
	exchange(&fake.base, actor);
	vendor_close(&fake.base);
	octets = contents(file);
	ck_assert_uint_eq(n_packets(octets), 4);
	ck_assert_mem_eq(packet(octets, 0), "\xF0\x02\xFF\xFF\x00\x48\xFF\xFF", 8);
	ck_assert_mem_eq(packet(octets, 2), "\x00\x52\x00\x63\x00\x48\x00\x43", 8);
	ck_assert_mem_eq(packet(octets, 2) + 8,
			 "\x64\0\x80\x02\0\0\0\x11\0\0\0\0\0\0\x11\x11\0\0\0\1", 20);
	ck_assert_mem_eq(packet(octets, 3), "\x00\x52\x00\x43\x00\x48\x00\x63", 8);
	ck_assert_mem_eq(packet(octets, 3) + 8,
			 "\x64\0\x80\x02\0\0\0\1\0\0\0\0\0\0\x11\x11\0\0\0\x11", 20);
	actor_free(actor);
	runtime_free(rt);
	clear(file);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("capture");
	TCase *tcase = tcase_create("capture");

	tcase_add_test(tcase, test_icrc_of_the_iba);
	tcase_add_test(tcase, test_headers);
	tcase_add_test(tcase, test_messages_travel_in_segments);
	tcase_add_test(tcase, test_retract);
	tcase_add_test(tcase, test_file_that_cannot_be);
	tcase_add_test(tcase, test_disk_fails);
	tcase_add_test(tcase, test_tap);
	suite_add_tcase(suite, tcase);
	return suite;
}
