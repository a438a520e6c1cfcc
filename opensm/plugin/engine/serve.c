// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "plugin/engine/serve.h"

#include <string.h>
#include <unistd.h>

#include "plugin/base/block.h"
#include "plugin/base/link.h"
#include "plugin/base/route_sections.h"

#define CANNOT_READ 1 /* as result, if the blocks are not those of a call */

static int is_cancelled(const struct osm_route_input *input)
{
	const struct route_output_head *head = input->data;

	return __atomic_load_n(&head->cancelled, __ATOMIC_RELAXED) != 0;
}

static struct osm_list list_of(const struct block *block, unsigned int section, uint32_t least)
{
	struct osm_list list = {0};
	uint64_t n;

	list.first = block_section(block, section, least, &n, &list.size);
	list.n = (uint32_t)n;
	return list;
}

static void *table_of(const struct block *block, unsigned int section)
{
	uint64_t n;

	return block_section(block, section, 1, &n, NULL);
}

static bool read_input(const struct block *block, struct osm_route_input *input)
{
	uint64_t n;
	const struct route_input_head *head =
		block_section(block, ROUTE_IN_HEAD, sizeof(*head), &n, NULL);

	if (!head || !n)
		return false;
	input->sm_switch = head->sm_switch;
	input->generation = head->generation;
	input->top = head->top;
	input->stride = head->stride;
	input->vls = head->vls;
	input->n_classes = head->n_classes;
	input->sends = table_of(block, ROUTE_IN_SENDS);
	input->old = table_of(block, ROUTE_IN_OLD);
	input->names = table_of(block, ROUTE_IN_NAMES);
	input->links = table_of(block, ROUTE_IN_LINKS);
	input->switches = list_of(block, ROUTE_IN_SWITCHES, sizeof(struct osm_route_switch));
	input->ports = list_of(block, ROUTE_IN_PORTS, sizeof(struct osm_route_port));
	input->first_edge = list_of(block, ROUTE_IN_FIRST_EDGE, sizeof(uint32_t));
	input->edges = list_of(block, ROUTE_IN_EDGES, sizeof(struct osm_route_edge));
	input->endports = list_of(block, ROUTE_IN_ENDPORTS, sizeof(struct osm_route_endport));
	return true;
}

static struct route_output_head *read_output(const struct block *block,
					     struct osm_route_output *output)
{
	uint64_t n;
	struct route_output_head *head =
		block_section(block, ROUTE_OUT_HEAD, sizeof(*head), &n, NULL);

	if (!head || !n)
		return NULL;
	output->lft = table_of(block, ROUTE_OUT_LFT);
	output->sl = table_of(block, ROUTE_OUT_SL);
	output->turns = table_of(block, ROUTE_OUT_TURNS);
	output->order = table_of(block, ROUTE_OUT_ORDER);
	memcpy(output->vl, head->vl, sizeof(output->vl));
	return head;
}

static void write_head(struct route_output_head *head, const struct osm_route_output *output)
{
	head->promises = output->promises;
	head->has_sls = output->has_sls;
	head->has_turns = output->has_turns;
	head->has_order = output->has_order;
	memcpy(head->vl, output->vl, sizeof(head->vl));
	memcpy(head->note, output->note, sizeof(head->note));
}

/* Takes the files over. */
static int run_call(const struct osm_engine *engine, void *context, const char *options,
		    const int files[LINK_FILES])
{
	struct osm_route_input input = {.size = sizeof(input),
					.options = options ? options : "",
					.is_cancelled = is_cancelled};
	struct osm_route_output output = {.size = sizeof(output)};
	struct block in, out;
	bool good = block_map(&in, files[0], false, NULL);
	int result = CANNOT_READ;

	good &= block_map(&out, files[1], true, NULL);
	if (good && read_input(&in, &input) && (input.data = read_output(&out, &output))) {
		output.stride = input.stride;
		result = engine->route(context, &input, &output);
		write_head(input.data, &output);
	}
	block_clear(&in);
	block_clear(&out);
	return result;
}

/* False: the other end is closed, or what came is not a call. */
static bool serve_one(int end, const struct osm_engine *engine, void *context, const char *options,
		      void *octets)
{
	struct link_head head = {0}, answer = {.type = ROUTE_RETURN};
	int files[LINK_FILES];
	enum link_outcome outcome = link_receive(end, &head, octets, files);

	if (outcome == LINK_AGAIN)
		return link_wait(end, false, -1);
	if (outcome != LINK_DONE)
		return false;
	if (head.type != ROUTE_CALL || head.n_files != LINK_FILES) {
		for (unsigned int i = 0; i < head.n_files; i++)
			close(files[i]);
		return false;
	}
	answer.value = (uint32_t)run_call(engine, context, options, files);
	answer.id = head.id;
	while ((outcome = link_send(end, &answer, NULL, NULL)) == LINK_AGAIN)
		link_wait(end, true, -1);
	return outcome == LINK_DONE;
}

void engine_serve(int end, const struct osm_engine *engine, void *context, const char *options)
{
	g_autofree void *octets = g_malloc(LINK_MESSAGE_MAX);

	while (serve_one(end, engine, context, options, octets))
		continue;
}
