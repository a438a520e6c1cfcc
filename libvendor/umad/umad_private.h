// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What the files of the umad back end share; see the essay in umad.c. */
#ifndef VENDOR_UMAD_PRIVATE_H
#define VENDOR_UMAD_PRIVATE_H

#include <infiniband/umad.h>
#include <pthread.h>
#include <stdatomic.h>

#include "vendor/vendor_private.h"

/* One registration of a management class with the kernel. */
struct umad_agent {
	int id;
	uint8_t mgmt_class;
	bool segments; /* the kernel sends its messages in segments */
	struct vendor_client client;
};

struct umad_device {
	struct vendor vendor; /* first */
	struct log *log;
	char device[64];
	int port_num;
	int port_id;				  /* of libibumad; its file descriptor */
	bool told_einval;			  /* of a segment; the actor's that sends it */
	int issm_fd;				  /* held open while IsSM is set, else -1 */
	pthread_mutex_t lock;			  /* bind and set_is_sm of several actors */
	_Atomic(struct umad_agent *) agents[256]; /* by class; set once, freed at close */
	pthread_t receiver;
	bool receiving; /* the thread runs */
	atomic_bool stop;
	atomic_int in_flight;	 /* requests sent and not returned; simulators lose some */
	_Atomic uint64_t due_ms; /* by umad_now_ms(); later it is lost */
};

/* Milliseconds of a clock that only goes forward. */
uint64_t umad_now_ms(void);

/* The device file of a port, "/dev/infiniband/umad0", or NULL if there is none. */
char *umad_device_file(const char *device, int port_num);
/* "/dev/infiniband/issm0" likewise. */
char *umad_issm_file(const char *device, int port_num);

/* Finds the port that vendor_umad_open promises; false and error if there is none. */
bool umad_choose_port(const GArray *ports, uint64_t port_guid, struct vendor_port *port,
		      GError **error);

/* Hands a MAD to the client of its class, on the client's actor; drops it if there is none. */
void umad_deliver(struct umad_device *device, const struct ib_user_mad *umad, size_t length,
		  enum vendor_status status);

bool umad_receiver_start(struct umad_device *device, GError **error);
void umad_receiver_stop(struct umad_device *device);

#endif
