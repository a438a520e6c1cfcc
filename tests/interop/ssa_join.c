// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Writes the snapshot of the last epoch in a store of files: ssa_join STORE FILE. */
#include <stdio.h>

#include "ssa/store/store.h"
#include "ssa/wire/wire.h"

static GBytes *get(void *store, const char *name, GError **error)
{
	return ssa_store_get(store, name, error);
}

int main(int argc, char **argv)
{
	const struct ssa_wanted wanted = {.whole = true, .addresses = true};
	struct ssa_snapshot *snapshot = NULL;
	struct ssa_manifest manifest = {0};
	struct ssa_store *store = NULL;
	g_autoptr(GError) error = NULL;
	GBytes *bytes = NULL;
	gsize length = 0;
	const char *data;

	if (argc == 3)
		store = ssa_store_open(argv[1], 0, NULL, &error);
	if (store)
		bytes = ssa_store_manifest(store, &error);
	if (bytes && ssa_manifest_parse(bytes, NULL, &manifest, &error))
		snapshot = ssa_wire_join(&manifest, NULL, &wanted, get, store, &error);
	if (snapshot) {
		data = g_bytes_get_data(snapshot->bytes, &length);
		g_file_set_contents(argv[2], data, (gssize)length, &error);
	}
	if (error)
		fprintf(stderr, "ssa_join: %s\n", error->message);
	else
		printf("epoch %" G_GUINT64_FORMAT "\n", manifest.epoch);
	ssa_snapshot_unref(snapshot);
	g_clear_pointer(&bytes, g_bytes_unref);
	ssa_store_close(store);
	return error || !length;
}
