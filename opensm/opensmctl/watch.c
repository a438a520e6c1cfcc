// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "opensmctl/watch.h"

#include <json-glib/json-glib.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <unistd.h>

#include "ctl/perfmgr/figures.h"
#include "opensmctl/show.h"

#define PERIOD_MS 2000
#define LOOK_MS 100
/* Columns: of the longest name of a value, of a sparkline, and of a port. They fit into 80. */
#define VALUE 18
#define TREND 16
#define PORT 24

#define BOLD "\033[1m"
#define RED "\033[31m"
#define YELLOW "\033[33m"
#define PLAIN "\033[0m"
#define CLEAR_LINE "\033[K"
#define CLEAR_REST "\033[J"
#define HOME "\033[H"
#define ENTER "\033[?1049h\033[?25l" /* the other screen, without a cursor */
#define LEAVE "\033[?25h\033[?1049l"

static const struct {
	char key;
	const char *value, *title;
} values[] = {
	{'u', "utilization", "load"},
	{'r', "rate", "rate"},
	{'w', "wait", "wait"},
	{'d', "PortXmitDiscards", "discards"},
	{'e', "PortRcvErrors", "errors"},
	{'s', "SymbolErrorCounter", "symbols"},
	{'l', "LinkDownedCounter", "link downs"},
};

const char *watch_value_of_key(char key)
{
	for (size_t i = 0; i < G_N_ELEMENTS(values); i++)
		if (values[i].key == key)
			return values[i].value;
	return NULL;
}

/* ---- reading answers, which may come from any program ---- */

static JsonObject *object_of(JsonParser *parser, const char *text)
{
	JsonNode *root = json_parser_load_from_data(parser, text, -1, NULL)
				 ? json_parser_get_root(parser)
				 : NULL;

	return root && JSON_NODE_HOLDS_OBJECT(root) ? json_node_get_object(root) : NULL;
}

static JsonNode *member(JsonObject *object, const char *key)
{
	JsonNode *node = object ? json_object_get_member(object, key) : NULL;

	return node && JSON_NODE_HOLDS_VALUE(node) ? node : NULL;
}

static char *text_of(JsonObject *object, const char *key)
{
	JsonNode *node = member(object, key);
	const char *text = node ? json_node_get_string(node) : NULL;
	char *harmless = show_harmless(text ? text : "");

	return g_strdelimit(harmless, "\n\t", ' ');
}

static double number_of(JsonObject *object, const char *key)
{
	JsonNode *node = member(object, key);

	return node ? json_node_get_double(node) : 0;
}

static bool flag_of(JsonObject *object, const char *key)
{
	JsonNode *node = member(object, key);

	return node && json_node_get_boolean(node);
}

static JsonArray *list_of(JsonObject *object, const char *key)
{
	JsonNode *node = object ? json_object_get_member(object, key) : NULL;

	return node && JSON_NODE_HOLDS_ARRAY(node) ? json_node_get_array(node) : NULL;
}

/* ---- drawing ---- */

/* Appends text, cut or filled up with blanks to that number of columns. */
static void put_cell(GString *out, const char *text, unsigned int columns)
{
	unsigned int used = 0;

	while (*text) {
		gunichar c = g_utf8_get_char(text);
		unsigned int width = g_unichar_iszerowidth(c) ? 0 : g_unichar_iswide(c) ? 2 : 1;

		if (used + width > columns)
			break;
		used += width;
		g_string_append_unichar(out, c);
		text = g_utf8_next_char(text);
	}
	g_string_append_printf(out, "%*s", (int)(columns - used), "");
}

static char *value_text(JsonObject *row, const char *unit)
{
	double value = number_of(row, "value");
	g_autofree char *text = NULL;

	if (!strcmp(unit, "share"))
		text = g_strdup_printf("%.2f %%", value * 100);
	else if (!strcmp(unit, "octets per second"))
		text = figures_scaled(value, "B/s");
	else
		text = g_strdup_printf("%.0f", value);
	return g_strdup_printf("%s%s", flag_of(row, "at_least") ? ">= " : "", text);
}

static double greatest_of(JsonArray *trend)
{
	double greatest = 0;

	for (guint i = 0; trend && i < json_array_get_length(trend); i++) {
		JsonNode *node = json_array_get_element(trend, i);

		if (JSON_NODE_HOLDS_VALUE(node))
			greatest = MAX(greatest, json_node_get_double(node));
	}
	return greatest;
}

/* The last values of a port, from 0 to full as the highest mark; a blank where nothing is known. */
static char *sparkline(JsonArray *trend, double full, bool utf8)
{
	static const char *const blocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
	static const char *const signs[] = {"_", ".", ":", "-", "=", "+", "*", "#"};
	guint n = trend ? json_array_get_length(trend) : 0;
	GString *out = g_string_new(NULL);

	for (guint i = n > TREND ? n - TREND : 0; i < n; i++) {
		JsonNode *node = json_array_get_element(trend, i);
		double value = JSON_NODE_HOLDS_VALUE(node) ? json_node_get_double(node) : -1;
		unsigned int level = 0;

		if (full > 0 && value > 0)
			level = (unsigned int)MIN(7.0, value / full * 8);
		g_string_append(out, !(value >= 0) ? " " : utf8 ? blocks[level] : signs[level]);
	}
	return g_string_free(out, FALSE);
}

static char *port_text(JsonObject *row, const char *node, const char *port)
{
	g_autofree char *name = text_of(row, node);

	return *name ? g_strdup_printf("%s %.0f", name, number_of(row, port)) : g_strdup("-");
}

static const char *colour_of(JsonObject *row, const char *unit)
{
	double value = number_of(row, "value");

	if (strcmp(unit, "share") != 0)
		return "";
	return value >= 0.9 ? RED : value >= 0.5 ? YELLOW : "";
}

static void put_row(GString *out, JsonObject *row, const char *unit, const struct watch_look *look)
{
	g_autofree char *value = value_text(row, unit);
	g_autofree char *port = port_text(row, "node", "port");
	g_autofree char *peer = port_text(row, "peer", "peer_port");
	JsonArray *points = list_of(row, "trend");
	double full = strcmp(unit, "share") != 0 ? greatest_of(points) : 1;
	g_autofree char *trend = sparkline(points, full, look->utf8);
	const char *colour = look->colour ? colour_of(row, unit) : "";
	g_autoptr(GString) line = g_string_new(NULL);

	put_cell(line, value, VALUE);
	g_string_append_c(line, ' ');
	put_cell(line, trend, TREND);
	g_string_append_c(line, ' ');
	put_cell(line, port, PORT);
	g_string_append_c(line, ' ');
	g_string_append(line, peer);
	g_string_append(out, colour);
	put_cell(out, line->str, look->columns);
	g_string_append(out, *colour ? PLAIN : "");
	g_string_append_c(out, '\n');
}

static void put_head(GString *out, JsonObject *state, JsonObject *top,
		     const struct watch_look *look)
{
	g_autofree char *enabled = text_of(state, "state"), *sweep = text_of(state, "sweep_state");
	g_autofree char *of = text_of(top, "of");
	g_autoptr(GString) line = g_string_new(NULL), titles = g_string_new(NULL);

	g_string_printf(
		line, "%s, %s; %.0f of %.0f agents silent; sweeps every %.0f s, last took %.3f s",
		enabled, sweep, number_of(state, "agents_silent"), number_of(state, "agents"),
		number_of(state, "sweep_time"), number_of(state, "last_sweep_us") / 1e6);
	put_cell(out, line->str, look->columns);
	g_string_append_c(out, '\n');
	put_cell(titles, of, VALUE);
	g_string_append_c(titles, ' ');
	put_cell(titles, "LAST IMAGES", TREND);
	g_string_append_printf(titles, " %-*s CONNECTED TO", PORT, "PORT");
	g_string_append(out, look->colour ? BOLD : "");
	put_cell(out, titles->str, look->columns);
	g_string_append(out, look->colour ? PLAIN "\n" : "\n");
}

static void put_keys(GString *out, const struct watch_look *look)
{
	g_autoptr(GString) line = g_string_new("q quit");

	for (size_t i = 0; i < G_N_ELEMENTS(values); i++)
		g_string_append_printf(line, "  %c %s", values[i].key, values[i].title);
	put_cell(out, line->str, look->columns);
}

char *watch_draw(const char *state_text, const char *top_text, const struct watch_look *look)
{
	g_autoptr(JsonParser) state_parser = json_parser_new(), top_parser = json_parser_new();
	JsonObject *state = object_of(state_parser, state_text);
	JsonObject *top = object_of(top_parser, top_text);
	JsonArray *ports = list_of(top, "ports");
	g_autofree char *unit = text_of(top, "unit");
	GString *out = g_string_new(NULL);
	unsigned int room = look->rows > 4 ? look->rows - 4 : 0;
	guint n = ports ? json_array_get_length(ports) : 0;

	put_head(out, state, top, look);
	for (guint i = 0; i < MIN(n, room); i++) {
		JsonNode *row = json_array_get_element(ports, i);

		if (JSON_NODE_HOLDS_OBJECT(row))
			put_row(out, json_node_get_object(row), unit, look);
	}
	if (!n) {
		put_cell(out,
			 number_of(top, "images") < 2 ? "The counters were not read twice yet"
						      : "No port has any",
			 look->columns);
		g_string_append_c(out, '\n');
	}
	g_string_append_c(out, '\n');
	put_keys(out, look);
	return g_string_free(out, FALSE);
}

/* ---- the terminal ---- */

struct watch {
	struct peer *peer;
	struct termios before;
	int signals; /* descriptor */
	sigset_t mask_before;
	char key; /* of the value that is shown */
	bool ends;
	struct watch_look look;
};

bool watch_is_meant(const char *line)
{
	return !strcmp(line, "perfmgr") || !strcmp(line, "pm");
}

bool watch_is_wanted(void)
{
	const char *term = g_getenv("TERM");

	return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && term && *term &&
	       strcmp(term, "dumb") != 0;
}

static void put(const char *text)
{
	fputs(text, stdout);
	fflush(stdout);
}

static void measure(struct watch *watch)
{
	struct winsize size = {0};

	ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
	watch->look.columns = size.ws_col ? size.ws_col : 80;
	watch->look.rows = size.ws_row ? size.ws_row : 24;
}

static void enter(struct watch *watch)
{
	struct termios raw = watch->before;

	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
	put(ENTER);
	measure(watch);
}

static void leave(struct watch *watch)
{
	put(LEAVE);
	tcsetattr(STDIN_FILENO, TCSADRAIN, &watch->before);
}

/* Signals are read from a descriptor, so that the terminal is never left in between. */
static void open_signals(struct watch *watch)
{
	sigset_t mask;

	sigemptyset(&mask);
	sigaddset(&mask, SIGINT);
	sigaddset(&mask, SIGTERM);
	sigaddset(&mask, SIGHUP);
	sigaddset(&mask, SIGQUIT);
	sigaddset(&mask, SIGTSTP);
	sigaddset(&mask, SIGWINCH);
	sigprocmask(SIG_BLOCK, &mask, &watch->mask_before);
	watch->signals = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
}

static void close_signals(struct watch *watch)
{
	close(watch->signals);
	sigprocmask(SIG_SETMASK, &watch->mask_before, NULL);
}

static void take_signal(struct watch *watch)
{
	struct signalfd_siginfo info;

	if (read(watch->signals, &info, sizeof(info)) != sizeof(info))
		return;
	if (info.ssi_signo == SIGWINCH) {
		measure(watch);
	} else if (info.ssi_signo == SIGTSTP) {
		leave(watch);
		raise(SIGSTOP);
		enter(watch);
	} else {
		watch->ends = true;
	}
}

static void take_key(struct watch *watch)
{
	char key = 0;

	if (read(STDIN_FILENO, &key, 1) != 1 || key == 'q' || key == 4)
		watch->ends = true; /* also at the end of input */
	else if (watch_value_of_key(key))
		watch->key = key;
}

/* True: a key was pressed, or a signal arrived. */
static bool look_at_user(struct watch *watch, int ms)
{
	struct pollfd polled[] = {{.fd = STDIN_FILENO, .events = POLLIN},
				  {.fd = watch->signals, .events = POLLIN}};

	if (poll(polled, G_N_ELEMENTS(polled), ms) <= 0)
		return false;
	if (polled[1].revents)
		take_signal(watch);
	else if (polled[0].revents)
		take_key(watch);
	return true;
}

/* The answer, newly allocated; NULL: the user ends the view, or error. */
static char *ask(struct watch *watch, const char *line, GError **error)
{
	struct reply reply = {0};

	peer_send(watch->peer, line);
	while (!peer_has_input(watch->peer)) {
		look_at_user(watch, LOOK_MS);
		if (watch->ends)
			return NULL;
	}
	return peer_receive(watch->peer, &reply, error) ? reply.output : NULL;
}

static void show_picture(const char *picture)
{
	g_auto(GStrv) lines = g_strsplit(picture, "\n", -1);
	g_autofree char *joined = g_strjoinv(CLEAR_LINE "\n", lines);

	fputs(HOME, stdout);
	fputs(joined, stdout);
	put(CLEAR_LINE CLEAR_REST);
}

static bool draw(struct watch *watch, GError **error)
{
	g_autofree char *line =
		g_strdup_printf("perfmgr top %u %s json", CLAMP(watch->look.rows, 1, 1000),
				watch_value_of_key(watch->key));
	g_autofree char *state = ask(watch, "perfmgr json", error);
	g_autofree char *top = state ? ask(watch, line, error) : NULL;
	g_autofree char *picture = top ? watch_draw(state, top, &watch->look) : NULL;

	if (picture)
		show_picture(picture);
	return picture || watch->ends;
}

bool watch_run(struct peer *peer, GError **error)
{
	const char *no_colour = g_getenv("NO_COLOR");
	struct watch watch = {.peer = peer, .key = values[0].key};
	bool good = true;

	setlocale(LC_CTYPE, "");
	watch.look.utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8");
	watch.look.colour = !no_colour || !*no_colour;
	tcgetattr(STDIN_FILENO, &watch.before);
	open_signals(&watch);
	enter(&watch);
	while (!watch.ends && (good = draw(&watch, error)))
		if (!watch.ends)
			look_at_user(&watch, PERIOD_MS);
	leave(&watch);
	close_signals(&watch);
	return good;
}
