// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "snmp/news.h"

#include <inttypes.h>
#include <string.h>

#include "client/json.h"
#include "client/link.h"

#define WAIT_S 25
#define PATIENCE_MS 5000 /* beyond the wait */
#define PAUSE_MS 1000	 /* after news */
#define RETRY_MS 2000	 /* after an error */

struct news {
	struct link *link;
	news_fn *on_news;
	void *arg;
	uint64_t serial; /* of the last news */
	bool known;	 /* the serial is */
	guint timer;
};

static void ask(struct news *news);

static gboolean on_timer(gpointer data)
{
	struct news *news = data;

	news->timer = 0;
	ask(news);
	return G_SOURCE_REMOVE;
}

static void on_answer(void *arg, struct reply *reply)
{
	struct news *news = arg;
	g_autoptr(JsonParser) parser = json_parser_new();
	g_autoptr(GBytes) text = g_bytes_new_static(reply->output, strlen(reply->output));
	JsonObject *answer = reply->status == CONTROL_DONE ? json_read(parser, text) : NULL;
	JsonArray *events = news->known ? json_list(answer, "events") : NULL;
	unsigned int pause_ms = json_flag(answer, "more") ? 0 : PAUSE_MS;

	news->known = answer != NULL;
	news->serial = (uint64_t)MAX(json_number(answer, "serial"), 0);
	news->timer = g_timeout_add(answer ? pause_ms : RETRY_MS, on_timer, news);
	news->on_news(news->arg, events);
}

static void ask(struct news *news)
{
	g_autofree char *line = NULL;

	if (news->known)
		line = g_strdup_printf("events since %" PRIu64 " wait %d json", news->serial,
				       WAIT_S);
	else
		line = g_strdup("events 1 json");
	link_ask(news->link, line, (news->known ? WAIT_S * 1000 : 0) + PATIENCE_MS, on_answer,
		 news);
}

struct news *news_new(const char *path, news_fn *on_news, void *arg)
{
	struct news *news = g_new0(struct news, 1);

	news->link = link_new(path, 1);
	news->on_news = on_news;
	news->arg = arg;
	ask(news);
	return news;
}

void news_free(struct news *news)
{
	if (!news)
		return;
	if (news->timer)
		g_source_remove(news->timer);
	link_free(news->link);
	g_free(news);
}
