// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A whole daemon comes up on a small simulated fabric while the answers of SMAs are altered,
 * replaced, cut short or lost. It neither crashes nor hangs, and once answers are honest again
 * heavy sweeps find the true fabric.
 *
 * The input: an octet for each MAD that comes back, and what it needs. At its end all answers are
 * honest.
 */
#include "fabric/fabric.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/proxy.h"

#define DISHONEST_MS 2000
#define HONEST_MS 60000
#define STEP_MS 1000

struct input {
	struct fuzz_bytes bytes;
};

/* Values that are seldom tested in a field. */
static void alter_field(struct fuzz_bytes *bytes, struct vendor_mad *mad)
{
	static const uint8_t edges[] = {0, 1, 0x7F, 0x80, 0xFE, 0xFF, 64, 0xBF};
	uint8_t at = fuzz_octet(bytes) % 64, how = fuzz_octet(bytes);

	for (unsigned int n = 0; n <= how >> 5 && at + n < 64; n++)
		mad->data[SMP_DATA + at + n] = edges[how % G_N_ELEMENTS(edges)];
}

static void alter_octets(struct fuzz_bytes *bytes, struct vendor_mad *mad)
{
	for (unsigned int n = fuzz_octet(bytes) % 8; n > 0; n--) {
		uint8_t at = fuzz_octet(bytes);

		mad->data[at] = fuzz_octet(bytes);
	}
}

static bool falsify(struct bed *bed, struct vendor_mad *mad)
{
	struct fuzz_bytes *bytes = &((struct input *)(uintptr_t)bed->n)->bytes;

	if (mad->status != VENDOR_RECEIVED || mad->length < IBA_MAD_BYTES)
		return true;
	switch (fuzz_octet(bytes) % 16) {
	case 1: /* any attribute */
		fuzz_take(bytes, mad->data + SMP_DATA, 64);
		break;
	case 2:
	case 3:
	case 4:
		alter_field(bytes, mad);
		break;
	case 5:
		alter_octets(bytes, mad);
		break;
	case 6: /* a status */
		fuzz_take(bytes, mad->data + 4, 2);
		break;
	case 7:
		mad->length = fuzz_octet(bytes);
		break;
	case 8:
		return false; /* lost */
	default:
		break;
	}
	return true;
}

static bool is_right(struct bed *bed)
{
	struct subnet *subnet = bed_subnet(bed);
	bool right = subnet && subnet->fabric->n_nodes == sim_nodes(bed->sim);

	if (subnet)
		subnet_unref(subnet);
	return right;
}

static void *setup(GPtrArray *seeds)
{
	static const uint8_t honest[] = {0};
	static const uint8_t octets[] = {5, 2, 64, 1, 66, 2, 0, 2, 4, 0x21, 8, 6, 0, 4};
	uint8_t fields[128];

	for (unsigned int i = 0; i < sizeof(fields); i++)
		fields[i] = i % 3 ? i * 5 : 2;
	g_ptr_array_add(seeds, g_bytes_new(honest, sizeof(honest)));
	g_ptr_array_add(seeds, g_bytes_new(octets, sizeof(octets)));
	g_ptr_array_add(seeds, g_bytes_new(fields, sizeof(fields)));
	return NULL;
}

static void run(void *state, const uint8_t *data, size_t size)
{
	struct input input = {{data, size}};
	struct bed *bed = bed_new("mesh:2");

	(void)state;
	bed->n = (uintptr_t)&input;
	bed->falsify = falsify;
	bed->options->transaction_timeout = 50;
	bed->options->transaction_retries = 1;
	bed_start(bed);
	bed_run_ms(bed, DISHONEST_MS);
	bed->falsify = NULL;
	/* A consistent lie is believed until everything is read again. */
	for (unsigned int ms = 0; ms < HONEST_MS && !is_right(bed); ms += STEP_MS) {
		daemon_sweep(bed->daemon, SWEEP_HEAVY);
		bed_run_ms(bed, STEP_MS);
	}
	if (!is_right(bed))
		g_error("the fabric is not known after all; the daemon's log:\n%s", bed->text->str);
	bed_free(bed);
}

static void teardown(void *state)
{
	(void)state;
}

const struct fuzz_target fuzz_target = {
	.name = "sm_discover",
	.max_size = 1024,
	.runs = 300,
	.setup = setup,
	.run = run,
	.teardown = teardown,
};
