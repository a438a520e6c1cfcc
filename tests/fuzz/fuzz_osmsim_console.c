// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Commands of osmsim's console to a small fabric, in virtual time: they are executed or refused
 * with a line, and whatever they break, time goes on and the fabric can be freed.
 *
 * The input: pieces of text that zeros separate, a second of time between them.
 */
#include <glib/gstdio.h>

#include "libvendor/osmsim/console.h"
#include "libvendor/osmsim/issm.h"
#include "tests/fuzz/fuzz.h"

#define PIECES_MAX 8
#define EVENTS_MAX 20000 /* of the simulation after a piece: a flap may be arbitrarily fast */

struct bed {
	struct runtime *rt, *virtual;
	struct log *log;
	struct topology *topology;
	char *directory;
	struct server *server;
};

static void *setup(GPtrArray *seeds)
{
	static const char *const texts[] = {
		"help; help link\nnodes\nnodes s*;ports switch-0;port host-0 1\n",
		"dump switch-0;dump lft switch-0;dump mft switch-1;dump ports host-1",
		"clients;counters;counters host-0 1;count host-0 1 port_xmit_data 5",
		"unlink switch-0 1;link switch-0 1;link \"switch-0\"[1] \"host-0\"[1]",
		"unlink host-1 1;move switch-0 2 host-1 1;degrade host-0 1 4 2500",
		"flap host-0 1 10 20 3;blackhole host-0 1;blackhole host-0 1 off",
		"down switch-0;up switch-0;mute host-0;unmute host-0;stubborn host-0 on",
		"guid host-0 0x0200000000000200;describe host-1 'new name';trap host-0 1 144",
		"sim traffic add host-0 host-1 1G size 100 sl 3;sim traffic random 9 50%",
		"sim traffic list;sim traffic discard 0.5;sim traffic clear;sim counters host-0 1",
		"sim errors switch-0 1 cable 1K;sim errors host-0 1 PortVLXmitWait[3] 2.5",
		"sim errors list;sim errors clear;sim agent list;sim agent hosts no-extended",
		"sim agent switch-0 status 0x1c silent;sim agent host-0 redirect 2 0x123 1 2",
		"sim cc list;sim cc hosts old-form info 1 3;sim cc switch-0 answer 0x14 set ignore",
		"sim cc event switch-0 1 1 2 3 times 9;sim cc show;sim cc requests switch-0",
		"sim cc event host-0 1 0 2 3 qp 1 2 service 1;sim cc time host-0 9",
		"sim cc restart host-0;sim cc list",
		"loss 0.5;duplicate 0.1;corrupt 1e-3;delay 100 20;attached;pull host-0[1]",
	};
	struct bed *bed = g_new0(struct bed, 1);
	g_autofree char *path = NULL;

	for (size_t i = 0; i < G_N_ELEMENTS(texts); i++)
		fuzz_add_text(seeds, texts[i]);
	bed->rt = runtime_new(RUNTIME_REAL);
	bed->virtual = runtime_new(RUNTIME_VIRTUAL);
	bed->log = log_new_null();
	bed->topology = topology_load("mesh:2", NULL);
	bed->directory = g_dir_make_tmp("osmsim-fuzz-XXXXXX", NULL);
	fuzz_expect(bed->topology && bed->directory);
	path = g_build_filename(bed->directory, "socket", NULL);
	bed->server = server_new(bed->rt, bed->log, NULL, path, NULL);
	fuzz_expect(bed->server);
	return bed;
}

static bool enough(void *arg)
{
	unsigned int *left = arg;

	return (*left)-- == 0;
}

static void run_piece(struct bed *bed, const char *text)
{
	g_autoptr(GString) out = g_string_new(NULL);
	unsigned int left = EVENTS_MAX;

	if (!console_run(bed->server, text, out))
		fuzz_expect(out->len && out->str[out->len - 1] == '\n');
	runtime_run(bed->virtual, enough, &left, runtime_now(bed->virtual) + NS_PER_S);
}

static void run(void *state, const uint8_t *data, size_t size)
{
	struct fuzz_bytes bytes = {data, size};
	struct bed *bed = state;
	struct sim_config config;

	sim_config_default(&config);
	bed->server->sim = sim_new(bed->virtual, bed->log, bed->topology, &config);
	bed->server->quit = false;
	issm_free(bed->server->issm); /* it uses the ports */
	bed->server->issm = issm_new(bed->server);
	for (unsigned int i = 0; i < PIECES_MAX && bytes.left; i++) {
		g_autofree char *text = g_strndup((const char *)bytes.at, bytes.left);
		size_t used = MIN(strlen(text) + 1, bytes.left);

		run_piece(bed, text);
		bytes.at += used;
		bytes.left -= used;
	}
	sim_free(bed->server->sim);
}

static void teardown(void *state)
{
	struct bed *bed = state;

	server_free(bed->server);
	topology_free(bed->topology);
	log_free(bed->log);
	runtime_free(bed->rt);
	runtime_free(bed->virtual);
	g_rmdir(bed->directory);
	g_free(bed->directory);
	g_free(bed);
}

const struct fuzz_target fuzz_target = {
	.name = "osmsim_console",
	.max_size = 1024,
	.runs = 2000,
	.setup = setup,
	.run = run,
	.teardown = teardown,
};
