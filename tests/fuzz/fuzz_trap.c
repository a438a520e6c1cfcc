// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Any unsolicited SMPs to a daemon that has brought its fabric up: traps with any notice, SMInfo
 * with any method, and SMPs that no manager expects. It answers what it must, sweeps what traps
 * report, and afterwards still sees the fabric as it is.
 *
 * The input: sender, class, method and attribute of each SMP, then its data. The daemon is that of
 * the previous run; between runs it has time to settle.
 */
#include "fabric/fabric.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/proxy.h"
#include "vendor/vendor_private.h"

#define BRING_UP_MS 2000
#define SETTLE_MS 2000
#define SMPS_MAX 8

static void send_smp(struct bed *bed, struct fuzz_bytes *bytes)
{
	static const uint8_t methods[] = {IBA_METHOD_TRAP, IBA_METHOD_GET, IBA_METHOD_SET,
					  IBA_METHOD_TRAP_REPRESS, IBA_METHOD_REPORT};
	uint8_t head[4];
	struct vendor_mad *mad;

	fuzz_take(bytes, head, sizeof(head));
	mad = vendor_mad_new(NULL, NULL, head[0] == 0xFF ? head[2] : IBA_MAD_BYTES);
	memset(mad->data, 0, mad->length);
	if (mad->length == IBA_MAD_BYTES) {
		mad->data[0] = 1;
		mad->data[1] = head[1] & 1 ? IBA_CLASS_SUBN_DIRECTED : IBA_CLASS_SUBN_LID;
		mad->data[2] = 1;
		mad->data[3] = head[2] & 0x80 ? head[2] & 0x7F : methods[head[2] % 5];
		mad->data[17] = head[3] ? head[3] : IBA_ATTR_NOTICE;
		fuzz_take(bytes, mad->data + SMP_DATA, 64);
	} else {
		fuzz_take(bytes, mad->data, mad->length);
	}
	mad->remote.lid = head[0];
	bed_inject(bed, mad);
}

static void *setup(GPtrArray *seeds)
{
	static const uint16_t traps[] = {64, 65, 66, 67, 128, 129, 130, 144, 145, 256, 257, 259};
	struct bed *bed = bed_new("mesh:2");

	for (size_t i = 0; i < G_N_ELEMENTS(traps); i++) {
		const uint8_t head[] = {1 + i % 4, i % 2, 0, 0};
		const uint8_t notice[] = {0x80, 0, 0, 1, traps[i] >> 8, traps[i], 0, 1, 0, 0, 0, 2};
		GByteArray *input = g_byte_array_new();

		g_byte_array_append(input, head, sizeof(head));
		g_byte_array_append(input, notice, sizeof(notice));
		g_ptr_array_add(seeds, g_byte_array_free_to_bytes(input));
	}
	bed_start(bed);
	bed_run_ms(bed, BRING_UP_MS);
	return bed;
}

static void run(void *state, const uint8_t *data, size_t size)
{
	struct fuzz_bytes bytes = {data, size};
	struct bed *bed = state;
	struct subnet *subnet;

	for (unsigned int i = 0; i < SMPS_MAX && bytes.left; i++)
		send_smp(bed, &bytes);
	bed_run_ms(bed, SETTLE_MS);
	subnet = bed_subnet(bed);
	fuzz_expect(subnet && subnet->fabric->n_nodes == sim_nodes(bed->sim));
	subnet_unref(subnet);
	g_string_truncate(bed->text, 0);
}

static void teardown(void *state)
{
	bed_free(state);
}

const struct fuzz_target fuzz_target = {
	.name = "trap",
	.max_size = 1024,
	.runs = 1000,
	.setup = setup,
	.run = run,
	.teardown = teardown,
};
