// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The interface that each back end of the vendor layer implements. */
#ifndef VENDOR_VENDOR_PRIVATE_H
#define VENDOR_VENDOR_PRIVATE_H

#include <stdatomic.h>

#include "vendor/vendor.h"

struct transfers;
struct vendor_watch;

/* Which layer segments and reassembles the messages of a manager of class 0x03. */
enum vendor_rmpp {
	VENDOR_RMPP_NONE,   /* none: a message is sent as far as the back end takes it */
	VENDOR_RMPP_OWN,    /* libvendor: the back end carries single MADs both ways */
	VENDOR_RMPP_KERNEL, /* the back end, which does not report the end of a transfer */
};

struct vendor_ops {
	bool (*bind)(struct vendor *vendor, uint8_t mgmt_class, bool manager,
		     const struct vendor_client *client, GError **error);
	bool (*send)(struct vendor *vendor, const struct vendor_address *to, const uint8_t *data,
		     size_t length, unsigned int timeout_ms);
	/*
	 * Sends n MADs of the same class to one address that expect no response, in order; returns
	 * how many the device took. NULL: they are sent one by one.
	 */
	unsigned int (*send_many)(struct vendor *vendor, const struct vendor_address *to,
				  const uint8_t (*mads)[IBA_MAD_BYTES], unsigned int n);
	bool (*set_is_sm)(struct vendor *vendor, bool on, GError **error);
	void (*close)(struct vendor *vendor);
};

/* First member of each back end's port; the back end zeroes it except for what it sets. */
struct vendor {
	const struct vendor_ops *ops;
	struct tap *tap; /* vendor_capture's, or NULL */
	struct log *log; /* vendor_log_frames()'s, or NULL */
	struct admission *_Atomic admissions[256]; /* by class: vendor_serve's, or NULL */
	enum vendor_rmpp rmpp;		     /* set by the back end before anything is bound */
	struct transfers *_Atomic transfers; /* if class 0x03 is bound as manager; or NULL */
	atomic_bool pressed; /* set by the back end: more arrives than it can read */
	uint64_t port_guid;
	unsigned int max_outstanding;
	const char *_Atomic name;	    /* by vendor_set_name() */
	atomic_bool lost;		    /* by vendor_tell_lost() */
	struct vendor_watch *_Atomic watch; /* receiver of events; or NULL */
};

/*
 * Retries, each after two seconds without an ACK, that the kernel makes for a segmented message. By
 * default it makes none, and one lost packet would end the message.
 */
#define VENDOR_RMPP_RETRIES 5

/* Whether libvendor handles the RMPP transfers of this binding. */
static inline bool vendor_does_rmpp(const struct vendor *vendor, uint8_t mgmt_class, bool manager)
{
	return manager && mgmt_class == IBA_CLASS_SUBN_ADM && vendor->rmpp == VENDOR_RMPP_OWN;
}

/* "mlx5_0 port 1". Strings are never freed, as other threads may still read the previous one. */
void vendor_set_name(struct vendor *vendor, const char *format, ...) G_GNUC_PRINTF(2, 3);

/* ---- watch.c: from the back end, on any thread ---- */
void vendor_tell(struct vendor *vendor, unsigned int events); /* enum vendor_event */
void vendor_tell_lost(struct vendor *vendor, bool lost);
void vendor_unwatch(struct vendor_watch *watch); /* called by vendor_close(); may be NULL */

/* As vendor_send(), for n MADs at once, of a vendor with the operation; how many were taken. */
unsigned int vendor_send_many(struct vendor *vendor, const struct vendor_address *to,
			      const uint8_t (*mads)[IBA_MAD_BYTES], unsigned int n);

/* A MAD with a copy of data (left unset if data is NULL); status VENDOR_RECEIVED, remote zero. */
struct vendor_mad *vendor_mad_new(struct vendor *vendor, const uint8_t *data, size_t length);
/*
 * Delivers a MAD reassembled from segments: to its server if it was admitted, else to the client.
 */
void vendor_mad_hand_on(struct vendor_mad *mad, const struct vendor_client *client);

#endif
