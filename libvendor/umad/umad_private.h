// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Shared by the files of the umad back end; see the essay in umad.c. */
#ifndef VENDOR_UMAD_PRIVATE_H
#define VENDOR_UMAD_PRIVATE_H

#include <infiniband/umad.h>
#include <pthread.h>
#include <stdatomic.h>

#include "vendor/vendor_private.h"

/* A bound management class. */
struct umad_agent {
	uint8_t mgmt_class;
	bool manager;
	bool segments; /* the kernel sends its messages in segments */
	struct vendor_client client;
};

struct umad_events;

/* The port while it is open; link.c. */
struct umad_link {
	int port_id;		    /* of libibumad; also its file descriptor */
	_Atomic int ids[256];	    /* of kernel registrations, by class; -1: none */
	struct umad_events *events; /* NULL: there are none */
};

struct umad_device {
	struct vendor vendor; /* first */
	struct log *log;
	char device[64];
	int port_num;
	_Atomic(struct umad_link *) link; /* NULL: the device is gone */
	atomic_int senders;		  /* threads that may hold the link */
	atomic_int broken; /* errno of a sender or events: receiver must close the link */
	char *told;	   /* last reason logged why it cannot be reopened; of the receiver */
	bool told_einval;			  /* logged for a segment; sending actor's */
	bool is_sm;				  /* IsSM is wanted */
	int issm_fd;				  /* held open while IsSM is set, else -1 */
	pthread_mutex_t lock; /* serializes bind, set_is_sm and reopening */
	_Atomic(struct umad_agent *) agents[256]; /* by class; set once, freed at close */
	pthread_t receiver;
	bool receiving; /* the receiver thread runs */
	atomic_bool stop;
	atomic_int in_flight;	 /* requests sent and not returned; simulators lose some */
	_Atomic uint64_t due_ms; /* umad_now_ms() after which they count as lost */
};

/* Milliseconds of a clock that never goes back. */
uint64_t umad_now_ms(void);

/* The device file of a port, "/dev/infiniband/umad0", or NULL if there is none. */
char *umad_device_file(const char *device, int port_num);
/* "/dev/infiniband/issm0", or NULL if there is none. */
char *umad_issm_file(const char *device, int port_num);

/* Finds the port as specified for vendor_umad_open; false and error if there is none. */
bool umad_choose_port(const GArray *ports, uint64_t port_guid, struct vendor_port *port,
		      GError **error);

/* Passes a MAD to the client of its class, on the client's actor; drops it if there is none. */
void umad_deliver(struct umad_device *device, const struct ib_user_mad *umad, size_t length,
		  enum vendor_status status);

/* umad.c; the lock is held. Registers the class with that link. */
bool umad_register_agent(struct umad_device *device, struct umad_link *link,
			 const struct umad_agent *agent, GError **error);
bool umad_open_issm(struct umad_device *device, GError **error);
void umad_close_issm(struct umad_device *device);

/* link.c */
struct umad_link *umad_open_link(struct umad_device *device, const struct vendor_port *port,
				 GError **error);
void umad_close_link(struct umad_link *link);
bool umad_is_gone(int reason); /* the errno means that the device is gone */
void umad_lose(struct umad_device *device, int reason);
bool umad_rebind(struct umad_device *device); /* false: it is still gone */

/* events.c; NULL: there are none. */
struct umad_events *umad_events_start(struct umad_device *device, const struct vendor_port *port);
void umad_events_stop(struct umad_events *events); /* NULL is fine */

bool umad_receiver_start(struct umad_device *device, GError **error);
void umad_receiver_stop(struct umad_device *device);

#endif
