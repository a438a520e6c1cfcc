// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "plugin/base/link.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define FILES_OCTETS (LINK_FILES * sizeof(int))

/* Room for the descriptors of a message, aligned as the kernel's macros want it. */
union control {
	struct cmsghdr head;
	char octets[CMSG_SPACE(FILES_OCTETS)];
};

GByteArray *link_hello(const char *name, const char *options, const char *own_options,
		       const char *version)
{
	const char *const texts[] = {name, options, own_options, version};
	GByteArray *all = g_byte_array_new();

	for (unsigned int i = 0; i < G_N_ELEMENTS(texts); i++)
		g_byte_array_append(all, (const guint8 *)texts[i], (guint)strlen(texts[i]) + 1);
	return all;
}

bool link_pair(int ends[2], GError **error)
{
	int code;

	if (!socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends))
		return true;
	code = errno;
	g_set_error(error, G_FILE_ERROR, (gint)g_file_error_from_errno(code), "socketpair: %s",
		    g_strerror(code));
	return false;
}

static void add_files(struct msghdr *message, union control *control, const int *files,
		      uint32_t n_files)
{
	size_t octets = n_files * sizeof(int);
	struct cmsghdr *at;

	message->msg_control = control->octets;
	message->msg_controllen = CMSG_SPACE(octets);
	at = CMSG_FIRSTHDR(message);
	at->cmsg_level = SOL_SOCKET;
	at->cmsg_type = SCM_RIGHTS;
	at->cmsg_len = CMSG_LEN(octets);
	memcpy(CMSG_DATA(at), files, octets);
}

enum link_outcome link_send(int end, const struct link_head *head, const void *octets,
			    const int *files)
{
	struct iovec parts[2] = {{(void *)head, sizeof(*head)}, {(void *)octets, head->length}};
	struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
	union control control = {0};
	ssize_t sent;

	if (head->length > LINK_MESSAGE_MAX || head->n_files > LINK_FILES)
		return LINK_ENDED;
	if (head->n_files)
		add_files(&message, &control, files, head->n_files);
	do
		sent = sendmsg(end, &message, MSG_NOSIGNAL);
	while (sent < 0 && errno == EINTR);
	if (sent >= 0)
		return LINK_DONE;
	return errno == EAGAIN || errno == EWOULDBLOCK ? LINK_AGAIN : LINK_ENDED;
}

/* The descriptors that came; what is more than LINK_FILES has been closed by the kernel. */
static uint32_t take_files(struct msghdr *message, int files[LINK_FILES])
{
	uint32_t n = 0;

	for (struct cmsghdr *at = CMSG_FIRSTHDR(message); at; at = CMSG_NXTHDR(message, at)) {
		size_t octets = at->cmsg_len - CMSG_LEN(0);

		if (at->cmsg_level != SOL_SOCKET || at->cmsg_type != SCM_RIGHTS)
			continue;
		octets = MIN(octets, (LINK_FILES - n) * sizeof(int));
		memcpy(&files[n], CMSG_DATA(at), octets);
		n += octets / sizeof(int);
	}
	return n;
}

enum link_outcome link_receive(int end, struct link_head *head, void *octets, int files[LINK_FILES])
{
	struct iovec parts[2] = {{head, sizeof(*head)}, {octets, LINK_MESSAGE_MAX}};
	union control control = {0};
	struct msghdr message = {.msg_iov = parts,
				 .msg_iovlen = 2,
				 .msg_control = control.octets,
				 .msg_controllen = sizeof(control.octets)};
	bool is_whole, lacks_files;
	uint32_t n_files;
	ssize_t came;

	for (unsigned int i = 0; i < LINK_FILES; i++)
		files[i] = -1;
	do
		came = recvmsg(end, &message, MSG_CMSG_CLOEXEC);
	while (came < 0 && errno == EINTR);
	if (came < 0)
		return errno == EAGAIN || errno == EWOULDBLOCK ? LINK_AGAIN : LINK_ENDED;
	n_files = take_files(&message, files);
	is_whole = (size_t)came >= sizeof(*head) && !(message.msg_flags & MSG_TRUNC) &&
		   head->length == (size_t)came - sizeof(*head);
	lacks_files = (message.msg_flags & MSG_CTRUNC) != 0;
	if (is_whole && !lacks_files && head->n_files == n_files)
		return LINK_DONE;
	for (unsigned int i = 0; i < LINK_FILES; i++) {
		if (files[i] >= 0)
			close(files[i]);
		files[i] = -1;
	}
	/* If there is room for them, it is the descriptors that do not suffice. */
	return is_whole && lacks_files && n_files < head->n_files && head->n_files <= LINK_FILES
		       ? LINK_DONE
		       : LINK_ENDED;
}

bool link_wait(int end, bool writes, int timeout_ms)
{
	struct pollfd poll_end = {.fd = end, .events = writes ? POLLOUT : POLLIN};
	int64_t until = g_get_monotonic_time() + (int64_t)timeout_ms * 1000;
	int n;

	do {
		int64_t left = (until - g_get_monotonic_time() + 999) / 1000;

		n = poll(&poll_end, 1, timeout_ms < 0 ? -1 : (int)MAX(left, 0));
	} while (n < 0 && errno == EINTR);
	return n != 0;
}
