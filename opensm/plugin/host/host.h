// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The host of a plug-in: it loads the shared object, runs its threads, and talks to the daemon by
 * one socket (base/link.h). It has no pointer to the daemon, so it may be threads of the daemon or
 * a process of its own, and may outlive the daemon's interest in it.
 */
#ifndef PLUGIN_HOST_HOST_H
#define PLUGIN_HOST_HOST_H

/*
 * The whole life of a host, on the calling thread, which reads the socket: from HELLO until the
 * plug-in is unloaded after STOP, or because the other end is closed. Takes the end over. Returns 0
 * if the plug-in was loaded, and could be unloaded.
 */
int plugin_host_run(int end);

#define PLUGIN_HOST_FLAG "--plugin-host" /* opensm --plugin-host NAME FD */
#define PLUGIN_HOST_FD 3

/*
 * main() of a process that is a host. It ends soon after the daemon's end is closed, whatever the
 * plug-in does.
 */
int plugin_host_main(int argc, char **argv);

#endif
