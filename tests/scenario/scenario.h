// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Scenarios: the whole daemon, as main.c assembles it, on a simulated fabric in virtual time.
 * Checks look at the state of the simulated hardware, not at what the daemon reports.
 *
 *	struct scenario *s = scenario_new("fattree:8", seed);
 *	scenario_start(s);
 *	scenario_converge(s, 10);
 *
 * Times are virtual. A function that expects something reports a failure through the hook of the
 * scenario, which by default prints it with the log's end and aborts the program.
 */
#ifndef TESTS_SCENARIO_H
#define TESTS_SCENARIO_H

#include "ctl/daemon.h"
#include "policy/partition/groups.h"
#include "subnet/subnet.h"
#include "vendor/sim.h"

struct scenario {
	char *spec;
	uint64_t seed, random;
	struct runtime *rt;
	GString *text; /* of the log */
	struct log *log;
	struct sim *sim;
	struct daemon *daemon; /* NULL while it is stopped */
	char *directory;       /* holds cache/ and opensm.conf, removed at the end */
	char *cache_dir, *conf;
	GPtrArray *arguments; /* of the command line */
	uint64_t sm_guid;     /* of the port that the daemon is started on; 0: the first host's */
	/* Called between daemon_new and daemon_start, if not NULL. */
	void (*made)(struct scenario *s, void *arg);
	void *made_arg;
	int exit_code;	      /* of EVENT_FINISHED; -1 before that */
	const char *command;  /* how to see this again; NULL: the name of the program */
};

/* spec: as of opensm --sim, or the name of a file beside this one. */
struct scenario *scenario_new(const char *spec, uint64_t seed);
/*
 * As scenario_new() with a fabric other than scenario_config_default's. In real time the daemon and
 * the fabric have threads: functions that run virtual time must not be used then, and those that
 * look at the fabric are called through sim_call.
 */
void scenario_config_default(struct sim_config *config, uint64_t seed);
struct scenario *scenario_new_with(const char *spec, const struct sim_config *config,
				   enum runtime_mode mode);
void scenario_free(struct scenario *s);

/* Options, before scenario_start; and the contents of opensm.conf, at any time. */
void scenario_option(struct scenario *s, const char *flag, const char *value);
void scenario_conf(struct scenario *s, const char *text);
/*
 * Writes any such file: an option that guards the subnet, which the file has and text does not
 * mention, gets its default by name, since a missing line would not reset it.
 */
void scenario_write_conf(const char *file, const char *text);
/* The contents of a file with the time stamp of a minute ago: virtual time is not that of files. */
void scenario_old_file(const char *file, const char *text);
/*
 * Lines of opensm.conf that give each port an M_Key of its own, from a file with that seed; to be
 * freed with g_free.
 */
#define SCENARIO_SEED "0123456789 and no more"
char *scenario_keys_of_ports(const struct scenario *s, unsigned int level);

void scenario_start(struct scenario *s);
void scenario_stop(struct scenario *s);

void scenario_run_ms(struct scenario *s, uint64_t ms);
/*
 * Runs until the fabric is as it should be and stays so for a second; fails if that takes more than
 * the given number of seconds, or if the daemon believes otherwise. Returns the milliseconds until
 * the fabric was so.
 */
uint64_t scenario_converge(struct scenario *s, unsigned int seconds);
/*
 * The base of scenario_converge: runs until nothing has been wrong for a whole second, nor is at
 * its end. Returns UINT64_MAX, and what is wrong, newly allocated, if that takes more than the
 * given number of seconds. While no packet is sent it does not check again.
 */
struct scenario_state {
	char *(*wrong)(void *arg);	   /* newly allocated, or NULL */
	char *(*wrong_at_last)(void *arg); /* or NULL */
	void *arg;
};
uint64_t scenario_until_steady(struct scenario *s, unsigned int seconds,
			       const struct scenario_state *state, char **wrong);
/* Runs until the daemon has finished one more heavy sweep, at most this many seconds. */
void scenario_heavy_sweep(struct scenario *s, unsigned int seconds);

/* The next random number of the scenario, below n. */
unsigned int scenario_random(struct scenario *s, unsigned int n);
unsigned int scenario_random_switch(struct scenario *s);
unsigned int scenario_random_host(struct scenario *s); /* other than the SM's */
/* A cable between two switches, or of a host in a fabric that has none. */
void scenario_random_link(struct scenario *s, unsigned int *node, unsigned int *port);
/* Pulls all cables of a node, or plugs them in again. */
void scenario_set_links(struct scenario *s, unsigned int node, bool up);

unsigned int scenario_switches(const struct scenario *s);
unsigned int scenario_node(const struct scenario *s, const char *description);
/* Node and port number that the daemon runs on. */
unsigned int scenario_sm_node(const struct scenario *s, unsigned int *port);
uint16_t scenario_lid(const struct scenario *s, unsigned int node);
uint16_t *scenario_lids(const struct scenario *s); /* [node]; to be freed with g_free */
/* Address of the SA, as port 1 of a host has it in its PortInfo. */
struct vendor_address scenario_sa(const struct scenario *s, unsigned int node);

/* For each node whether it can be reached from the SM's port; newly allocated. */
bool *scenario_reached(const struct scenario *s);

/*
 * What is wrong with the fabric, newly allocated, or NULL: ports, LIDs, routes, P_Keys, and the
 * trees of all groups with members that the daemon knows of.
 */
char *scenario_violation(const struct scenario *s);
void scenario_check(struct scenario *s);
/*
 * Floods each member's packet through the MFTs: each other member must get it exactly once, and no
 * other port. Returns what is wrong, newly allocated, or NULL.
 */
char *scenario_tree_violation(const struct scenario *s, uint16_t mlid, const uint64_t *guids,
			      unsigned int n);
/* As above while tables change: other ports may get it too. */
char *scenario_tree_loss(const struct scenario *s, uint16_t mlid, const uint64_t *guids,
			 unsigned int n);
void scenario_check_tree(struct scenario *s, uint16_t mlid, const uint64_t *guids, unsigned int n);
/* The log must (not) have this text. */
void scenario_check_log(struct scenario *s, const char *text, bool there);

void scenario_fail(struct scenario *s, const char *format, ...) G_GNUC_PRINTF(2, 3) G_GNUC_NORETURN;
#define scenario_expect(s, condition)                                                              \
	do {                                                                                       \
		if (!(condition))                                                                  \
			scenario_fail((s), "%s:%d: %s", __FILE__, __LINE__, #condition);           \
	} while (0)
#define scenario_expect_at_most(s, value, limit)                                                   \
	do {                                                                                       \
		uint64_t value_ = (value), limit_ = (limit);                                       \
		if (value_ > limit_)                                                               \
			scenario_fail((s),                                                         \
				      "%s:%d: %s is %" G_GUINT64_FORMAT                            \
				      ", at most %" G_GUINT64_FORMAT,                              \
				      __FILE__, __LINE__, #value, value_, limit_);                 \
	} while (0)

/* Whether a MAD that was seen on the wire is an SMP with this method and attribute. */
bool scenario_is_smp(const uint8_t *data, size_t length, uint8_t method, uint16_t attribute);
/* Whether it is a Set(PortInfo); info gets what it sets. */
bool scenario_sets_port_info(const uint8_t *data, size_t length, struct iba_port_info *info);

/* Sets and Gets that SMAs have served so far, and so on. */
struct sim_counters scenario_counters(const struct scenario *s);

#endif
