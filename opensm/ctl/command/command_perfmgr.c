// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The command of the performance manager, whose words are in ctl/perfmgr/. */
#include "core/options.h"
#include "ctl/command/command_private.h"
#include "ctl/console/control.h"
#include "ctl/perfmgr/word.h"

static GVariant *fail(GError **error, const GError *why)
{
	if (why->code == PERFMGR_ERROR_USAGE)
		return command_usage(error, "%s", why->message);
	if (why->code == PERFMGR_ERROR_UNKNOWN)
		return command_unknown(error, "%s", why->message);
	return command_failed(error, "%s", why->message);
}

GVariant *command_perfmgr(struct command_call *call, GError **error)
{
	struct perf_images *images = slot_take(&call->context->perf_images);
	struct options *options = slot_take(&call->context->options);
	g_autoptr(GError) why = NULL;
	struct perfmgr_call perfmgr = {
		.context = call->context,
		.perf = daemon_perf(call->env->daemon),
		.options = options,
		.images = images,
		.image = perf_images_last(images),
		.words = call->words + (call->n ? 1 : 0),
		.n = call->n ? call->n - 1 : 0,
	};
	GVariant *answer = perfmgr_run(&perfmgr, call->words[0], &why);

	if (perfmgr.failed)
		call->status = CONTROL_FAILED;
	perf_images_unref(images);
	options_unref(options);
	return answer ? answer : fail(error, why);
}

void print_perfmgr(GVariant *answer, GString *out)
{
	perfmgr_print(answer, out);
}
