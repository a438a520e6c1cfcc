// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Linked into every program of the build with mutants. MUTANT is the number of the active one.
 * MUTANT_REACHED names a file: its octet n becomes 1 when the place of mutant n is reached.
 * MUTANT_TEST names the one test function that runs; if empty, none does and all are listed, each
 * with its file.
 */
#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "switch.h"

int mutant_active;
static volatile char *reached;

int mutant_reached(int number)
{
	reached[number] = 1;
	return 0;
}

static void map_reached(const char *path)
{
	struct stat status;
	int fd = open(path, O_RDWR);

	if (fd < 0 || fstat(fd, &status))
		abort();
	reached = mmap(NULL, status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (reached == MAP_FAILED)
		abort();
	close(fd);
	mutant_active = -1;
}

__attribute__((constructor)) static void read_environment(void)
{
	const char *number = getenv("MUTANT"), *path = getenv("MUTANT_REACHED");

	if (number)
		mutant_active = atoi(number);
	if (path)
		map_reached(path);
}

/* The linker sends calls of _tcase_add_test() here; weak for programs without libcheck. */
__attribute__((weak)) void __real__tcase_add_test(TCase *tcase, const TTest *test, int signal,
						  int exit_value, int start, int end);

void __wrap__tcase_add_test(TCase *tcase, const TTest *test, int signal, int exit_value, int start,
			    int end)
{
	const char *only = getenv("MUTANT_TEST");

	if (only && !*only)
		printf("test function: %s %s\n", test->name, test->file);
	if (!only || !strcmp(only, test->name))
		__real__tcase_add_test(tcase, test, signal, exit_value, start, end);
}
