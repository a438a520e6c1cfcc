// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What the files of write/ keep of the settings of ports. */
#ifndef SM_WRITE_WRITE_PRIVATE_H
#define SM_WRITE_WRITE_PRIVATE_H

#include "sm/write/write.h"

struct p_keys;	   /* pkey_private.h */
struct vl_tables;  /* qos.c */
struct aliases;	   /* aliases.c */
struct key_update; /* key_update.c */
struct reregister; /* reregister.c */

struct settings {
	struct p_keys *p_keys;
	struct vl_tables *vl_tables;
	struct aliases *aliases;
	struct key_update *key_update;
	struct reregister *reregister;
};

struct p_keys *p_keys_new(struct sm *sm);
void p_keys_free(struct p_keys *p_keys);
struct vl_tables *vl_tables_new(void);
void vl_tables_free(struct vl_tables *tables);
struct aliases *aliases_new(void);
void aliases_free(struct aliases *aliases);
struct key_update *key_update_new(struct sm *sm);
void key_update_free(struct key_update *update);
struct reregister *reregister_new(struct sm *sm);
void reregister_free(struct reregister *reregister);

#endif
