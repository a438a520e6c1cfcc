// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The plan for a changed opensm.conf, made while the daemon goes on with the old one. */
#include <string.h>

#include "ctl/command/command_private.h"
#include "client/control.h"
#include "ctl/plan/plan.h"

#define NODES_FEW 20
#define NODES_ALL 2000 /* the answer is limited */

/* Error texts may quote the file, so not every user may name one. */
static bool check_file(const struct command_call *call, const char *file, GError **error)
{
	if (!call->trusted)
		command_failed(error, "only a user that may see keys can name a file");
	else if (!g_path_is_absolute(file))
		command_usage(error, "%s: expected the absolute name of a file", file);
	else
		return true;
	return false;
}

GVariant *command_plan(struct command_call *call, GError **error)
{
	bool all = call->n && !strcmp(call->words[0], "all");
	const char *file = call->words[all];
	g_autoptr(GError) wrong = NULL;

	if (call->n > (unsigned int)all + 1)
		return command_usage(error, "'%s' is not expected", call->words[all + 1]);
	if (file && !check_file(call, file, error))
		return NULL;
	call->later = daemon_plan(call->env->daemon, file, all ? NODES_ALL : NODES_FEW, &wrong);
	if (!call->later)
		return command_failed(error, "%s", wrong->message);
	log_info(call->context->log, "console: asked for a plan");
	return NULL;
}

unsigned int command_plan_status(GVariant *answer)
{
	switch (plan_exit_code(answer)) {
	case PLAN_NOTHING:
		return CONTROL_DONE;
	case PLAN_CHANGES:
		return CONTROL_CHANGES;
	default:
		return CONTROL_FAILED;
	}
}
