// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Users, tokens and clients with certificates, from files, and the role that each has. */
#ifndef WEB_AUTH_USERS_H
#define WEB_AUTH_USERS_H

#include "web/base/config.h"
#include "web/base/request.h"

struct user {
	char *name;
	char *hash; /* of the password, as crypt(3) makes it; "": none fits */
	enum web_role role;
};

struct users;

/* Of the files that the configuration names. NULL and error: a line for each mistake. */
struct users *users_read(const struct config *config, GError **error);
/* NULL is fine. */
void users_free(struct users *users);
/* Whether the configuration names any such file, or clients by tls_ca. */
bool users_are_known(const struct users *users);

/* NULL: no line has this name, token, or one of these names of a certificate. */
const struct user *users_by_name(const struct users *users, const char *name);
const struct user *users_by_token(const struct users *users, const char *token);
const struct user *users_by_certificate(const struct users *users, const char *const *names);
/* A hash like those in the file, for the time that it takes; NULL: the file names none. */
const char *users_any_hash(const struct users *users);

/*
 * The lines of a file: "NAME:HASH:ROLE", "SHA256 OF THE TOKEN:ROLE" or "ROLE NAME". Mistakes are
 * added with the file's name, which stands for it in them.
 */
struct users *users_new(void);
void users_parse_passwords(struct users *users, const char *file, const char *text,
			   GString *mistakes);
void users_parse_tokens(struct users *users, const char *file, const char *text, GString *mistakes);
void users_parse_clients(struct users *users, const char *file, const char *text,
			 GString *mistakes);

#endif
