// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* libedit handles the terminal; this file only configures it. */
#include "config.h"

#include "opensmctl/editor.h"

#include <fcntl.h>
#include <histedit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#define HISTORY_SIZE 500

struct editor {
	EditLine *line;
	History *history;
	const struct completer *completer;
};

bool editor_is_wanted(void)
{
	return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
}

static const char *prompt(EditLine *line)
{
	(void)line;
	return "opensmctl> ";
}

static void list_words(const GPtrArray *words)
{
	putchar('\n');
	for (guint i = 0; i < words->len; i++)
		printf("%s%s", i ? "  " : "", (char *)words->pdata[i]);
	putchar('\n');
	fflush(stdout);
}

/* Inserts the unambiguous part; lists the choices if there is none. */
static unsigned char on_tab(EditLine *line, int key)
{
	const LineInfo *info = el_line(line);
	g_autofree char *before = g_strndup(info->buffer, (size_t)(info->cursor - info->buffer));
	g_autoptr(GPtrArray) words = NULL;
	g_autofree char *common = NULL;
	struct editor *editor = NULL;
	size_t begin, typed;

	(void)key;
	el_get(line, EL_CLIENTDATA, &editor);
	words = complete(editor->completer, before, &begin);
	common = complete_common(words);
	typed = strlen(before + begin);
	if (!words->len)
		return CC_ERROR;
	if (words->len > 1 && strlen(common) == typed) {
		list_words(words);
		return CC_REDISPLAY;
	}
	if (el_insertstr(line, common + typed) < 0 ||
	    (words->len == 1 && el_insertstr(line, " ") < 0))
		return CC_ERROR;
	return CC_REFRESH;
}

struct editor *editor_new(const struct completer *completer)
{
	struct editor *editor = g_new0(struct editor, 1);
	HistEvent event;

	editor->completer = completer;
	editor->history = history_init();
	history(editor->history, &event, H_SETSIZE, HISTORY_SIZE);
	history(editor->history, &event, H_SETUNIQUE, 1);
	editor->line = el_init("opensmctl", stdin, stdout, stderr);
	el_set(editor->line, EL_CLIENTDATA, editor);
	el_set(editor->line, EL_PROMPT, prompt);
	el_set(editor->line, EL_EDITOR, "emacs");
	el_set(editor->line, EL_SIGNAL, 1);
	el_set(editor->line, EL_HIST, history, editor->history);
	/* el_set() makes copies of the two texts that are never freed. */
	el_wset(editor->line, EL_ADDFN, L"complete", L"complete the word", on_tab);
	el_set(editor->line, EL_BIND, "^I", "complete", NULL);
	el_source(editor->line, NULL); /* ~/.editrc: the user's own keys */
	return editor;
}

void editor_free(struct editor *editor)
{
	el_end(editor->line);
	history_end(editor->history);
	g_free(editor);
}

char *editor_line(struct editor *editor)
{
	int length = 0;
	const char *text = el_gets(editor->line, &length);
	HistEvent event;
	char *line;

	if (!text || length <= 0)
		return NULL;
	line = g_strchomp(g_strndup(text, (size_t)length));
	if (*line)
		history(editor->history, &event, H_ENTER, line);
	return line;
}

char *editor_plain_line(void)
{
	char *text = NULL, *line;
	size_t room = 0;
	ssize_t length = getline(&text, &room, stdin);

	line = length < 0 ? NULL : g_strchomp(g_strndup(text, (size_t)length));
	free(text);
	return line;
}

/* ---- secrets ---- */

static char *read_secret(int fd)
{
	char text[1100];
	ssize_t n = read(fd, text, sizeof(text) - 1);
	char *secret;

	text[n > 0 ? n : 0] = '\0';
	text[strcspn(text, "\r\n")] = '\0';
	secret = g_strdup(text);
	explicit_bzero(text, sizeof(text));
	return secret;
}

char *editor_secret(const char *question)
{
	int fd = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
	struct termios as_it_is, silent;
	char *secret = NULL;

	if (fd < 0)
		return NULL;
	if (tcgetattr(fd, &as_it_is) == 0) {
		silent = as_it_is;
		silent.c_lflag &= ~(tcflag_t)(ECHO | ECHOE | ECHOK | ECHONL);
		tcsetattr(fd, TCSAFLUSH, &silent);
		if (write(fd, question, strlen(question)) > 0)
			secret = read_secret(fd);
		tcsetattr(fd, TCSAFLUSH, &as_it_is);
		if (write(fd, "\n", 1) < 0)
			g_clear_pointer(&secret, g_free);
	}
	close(fd);
	return secret;
}
