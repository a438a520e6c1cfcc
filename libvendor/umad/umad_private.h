// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What the files of the umad back end share; see the essay in umad.c. */
#ifndef VENDOR_UMAD_PRIVATE_H
#define VENDOR_UMAD_PRIVATE_H

#include <infiniband/umad.h>
#include <pthread.h>
#include <stdatomic.h>

#include "vendor/vendor_private.h"

/* A management class that was bound. */
struct umad_agent {
	uint8_t mgmt_class;
	bool manager;
	bool segments; /* the kernel sends its messages in segments */
	struct vendor_client client;
};

struct umad_events;

/* An opening of the port; link.c. */
struct umad_link {
	int port_id;		    /* of libibumad; its file descriptor */
	_Atomic int ids[256];	    /* of registrations with the kernel, by class; -1: none */
	struct umad_events *events; /* NULL: there are none */
};

struct umad_device {
	struct vendor vendor; /* first */
	struct log *log;
	char device[64];
	int port_num;
	_Atomic(struct umad_link *) link; /* NULL: the device is gone */
	atomic_int senders;		  /* threads that may hold the link */
	atomic_int broken; /* errno of a sender, or of events: the receiver is to give it up */
	char *told;	   /* why it cannot be opened again; the receiver's */
	bool told_einval;			  /* of a segment; the actor's that sends it */
	bool is_sm;				  /* IsSM is wanted */
	int issm_fd;				  /* held open while IsSM is set, else -1 */
	pthread_mutex_t lock; /* bind and set_is_sm of several actors, and another opening */
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

/* umad.c; the lock is held. The class is registered with that opening. */
bool umad_register_agent(struct umad_device *device, struct umad_link *link,
			 const struct umad_agent *agent, GError **error);
bool umad_open_issm(struct umad_device *device, GError **error);
void umad_close_issm(struct umad_device *device);

/* link.c */
struct umad_link *umad_open_link(struct umad_device *device, const struct vendor_port *port,
				 GError **error);
void umad_close_link(struct umad_link *link);
bool umad_is_gone(int reason); /* an errno that means so */
void umad_lose(struct umad_device *device, int reason);
bool umad_rebind(struct umad_device *device); /* false: it is still gone */

/* events.c; NULL: there are none. */
struct umad_events *umad_events_start(struct umad_device *device, const struct vendor_port *port);
void umad_events_stop(struct umad_events *events); /* NULL is fine */

bool umad_receiver_start(struct umad_device *device, GError **error);
void umad_receiver_stop(struct umad_device *device);

#endif
