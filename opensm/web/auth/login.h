// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Which role a request has, by its Authorization header and by the certificate of its connection.
 * Hashes of passwords are computed by other threads, few at a time, and right ones are remembered
 * for a while.
 */
#ifndef WEB_AUTH_LOGIN_H
#define WEB_AUTH_LOGIN_H

#include "web/auth/users.h"

struct login;

enum login_result {
	LOGIN_RIGHT,
	LOGIN_MISSING,	/* there is neither a header nor a certificate that has a role */
	LOGIN_WRONG,	/* told a second later */
	LOGIN_TOO_MANY, /* wrong ones from there, or passwords to be checked */
};

struct login *login_new(void);
/* done() of checks that are under way will not be called. NULL is fine. */
void login_free(struct login *login);

typedef void login_done_fn(void *arg, enum login_result result, enum web_role role,
			   const char *name);
/* Calls done once, here or later. */
void login_check(struct login *login, const struct users *users, const struct request *request,
		 login_done_fn *done, void *arg);

/*
 * The parts of a header "Basic X": *token is X, *name and *password what is in it, newly allocated,
 * or NULL if it has none. Of "Bearer X" only *token. False: it is neither.
 */
bool login_parse(const char *header, char **token, char **name, char **password);

#endif
