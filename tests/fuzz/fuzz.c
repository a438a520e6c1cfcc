// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Runs a fuzz target: first on its seeds and the files of tests/fuzz/corpus/NAME as they are, then
 * on altered ones.
 *
 *	usage: fuzz_NAME [FILE...]	with files: on these and nothing else; -: standard input
 *	FUZZ_RUNS	altered inputs; by default as many as the target says
 *	FUZZ_SERIES	which ones; 1 by default
 *
 * The runs are in a child, which counts them in shared memory: after a crash or a hang the parent
 * knows the input's number, makes it again and writes it to a file.
 */
#include "tests/fuzz/fuzz.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define HANG_SECONDS 60

struct fuzz {
	GPtrArray *seeds; /* GBytes */
	void *state;
	uint64_t series, runs;
	_Atomic uint64_t *number; /* of the input being run: seeds first, then altered ones */
};

static void add_file(GPtrArray *seeds, const char *name)
{
	g_autoptr(GError) error = NULL;
	char *data;
	gsize size;

	if (!g_file_get_contents(strcmp(name, "-") ? name : "/dev/stdin", &data, &size, &error))
		g_error("%s", error->message);
	g_ptr_array_add(seeds, g_bytes_new_take(data, size));
}

static int compare_names(gconstpointer a, gconstpointer b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The files of the corpus in the order of their names. */
static void add_corpus(GPtrArray *seeds)
{
	const char *top = g_getenv("top_srcdir");
	g_autofree char *path = g_build_filename(top ? top : ".", "tests/fuzz/corpus",
						 fuzz_target.name, NULL);
	g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
	g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
	const char *name;

	while (dir && (name = g_dir_read_name(dir)))
		g_ptr_array_add(names, g_build_filename(path, name, NULL));
	g_ptr_array_sort(names, compare_names);
	for (guint i = 0; i < names->len; i++)
		add_file(seeds, g_ptr_array_index(names, i));
}

static GByteArray *input(const struct fuzz *fuzz, uint64_t number)
{
	GByteArray *copy;
	size_t size;
	const void *data;

	if (number >= fuzz->seeds->len)
		return fuzz_mutate(fuzz->seeds, fuzz->series, number, fuzz_target.max_size);
	data = g_bytes_get_data(g_ptr_array_index(fuzz->seeds, number), &size);
	copy = g_byte_array_new();
	if (size)
		g_byte_array_append(copy, data, size);
	return copy;
}

static void run_one(struct fuzz *fuzz, uint64_t number)
{
	g_autoptr(GByteArray) made = input(fuzz, number);
	/* A copy of exactly this size, so that a sanitizer sees a read of one octet beyond it. */
	g_autofree uint8_t *data = g_malloc(MAX(made->len, 1));

	if (made->len)
		memcpy(data, made->data, made->len);
	atomic_store(fuzz->number, number);
	fuzz_target.run(fuzz->state, data, made->len);
}

static _Noreturn void run_child(struct fuzz *fuzz)
{
	for (uint64_t number = 0; number < fuzz->seeds->len + fuzz->runs; number++)
		run_one(fuzz, number);
	fuzz_target.teardown(fuzz->state);
	g_ptr_array_unref(fuzz->seeds);
	exit(0);
}

/* Status of the child, which is killed if it makes no progress for a minute. */
static int watch(const struct fuzz *fuzz, pid_t child)
{
	uint64_t last = 0;
	unsigned int idle = 0;
	int status = 0;

	while (waitpid(child, &status, WNOHANG) == 0) {
		g_usleep(10000);
		idle = atomic_load(fuzz->number) == last ? idle + 1 : 0;
		last = atomic_load(fuzz->number);
		if (idle == HANG_SECONDS * 100) {
			printf("no end in %d seconds\n", HANG_SECONDS);
			kill(child, SIGABRT);
			waitpid(child, &status, 0);
			break;
		}
	}
	return status;
}

static void report(const struct fuzz *fuzz, int status)
{
	uint64_t number = atomic_load(fuzz->number);
	g_autoptr(GByteArray) bad = input(fuzz, number);
	g_autofree char *file = g_strdup_printf("fuzz-%s-%" PRIu64 "-%" PRIu64 ".input",
						fuzz_target.name, fuzz->series, number);

	printf("%s: input %" PRIu64 " of series %" PRIu64 ": %s %d\n", fuzz_target.name, number,
	       fuzz->series, WIFSIGNALED(status) ? "signal" : "exit status",
	       WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	if (g_file_set_contents(file, (const char *)bad->data, bad->len, NULL))
		printf("%s: written to %s\n", fuzz_target.name, file);
}

static uint64_t number_of(const char *variable, uint64_t otherwise)
{
	const char *text = g_getenv(variable);
	uint64_t number = otherwise;

	if (text && !g_ascii_string_to_unsigned(text, 10, 0, UINT64_MAX, &number, NULL))
		g_error("%s=%s: expected a number", variable, text);
	return number;
}

int main(int argc, char **argv)
{
	struct fuzz fuzz = {
		.seeds = g_ptr_array_new_with_free_func((GDestroyNotify)g_bytes_unref),
		.series = number_of("FUZZ_SERIES", 1),
		.runs = argc > 1 ? 0 : number_of("FUZZ_RUNS", fuzz_target.runs),
	};
	int status;
	pid_t child;

	fuzz.number = mmap(NULL, sizeof(*fuzz.number), PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	g_assert(fuzz.number != MAP_FAILED);
	fuzz.state = fuzz_target.setup(fuzz.seeds);
	if (argc > 1)
		g_ptr_array_set_size(fuzz.seeds, 0);
	else
		add_corpus(fuzz.seeds);
	for (int i = 1; i < argc; i++)
		add_file(fuzz.seeds, argv[i]);
	child = fork();
	g_assert(child >= 0);
	if (child == 0)
		run_child(&fuzz);
	status = watch(&fuzz, child);
	if (status)
		report(&fuzz, status);
	else
		printf("%s: %" PRIu64 " inputs, %u of them seeds\n", fuzz_target.name,
		       fuzz.seeds->len + fuzz.runs, fuzz.seeds->len);
	fuzz_target.teardown(fuzz.state);
	g_ptr_array_unref(fuzz.seeds);
	return status ? 1 : 0;
}
