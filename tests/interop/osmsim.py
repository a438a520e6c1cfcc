# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""A private osmsim with daemons and tools on it: as ibsim.Fabric, with real RMPP, several SMs and
programs on several nodes."""

import os
import subprocess

import ibsim

LIBRARY = 'libosmsim-preload.so'


def built(*path):
    return os.path.abspath(os.path.join(os.environ.get('top_builddir', '.'), *path))


def missing(tools):
    """Why this host cannot run the tests, or None."""
    lacking = [tool for tool in tools if not ibsim.shutil.which(tool, path=ibsim.tool_path())]
    if lacking:
        return f'{", ".join(lacking)} not installed (Debian: infiniband-diags, opensm, ibutils)'
    return None


class Fabric(ibsim.Fabric):
    """osmsim on one net; with Fabric(text) as fabric: ..."""

    def start_ibsim(self):
        with open(self.path('net'), 'w') as file:
            file.write(self.net_text)
        self.env = dict(os.environ, PATH=ibsim.tool_path(), OSMSIM_SOCKET=self.path('socket'))
        self.env.pop('LD_PRELOAD', None)
        server = self.spawn([built('libvendor', 'osmsim', 'osmsim'), '-s', 'socket', 'net'],
                            'osmsim.out', stdin=subprocess.DEVNULL, env=self.env)
        self.wait(lambda: os.path.exists(self.path('socket')), ibsim.START_SECONDS,
                  'osmsim to listen', alive=server)

    def on(self, host, preload=(), **more):
        library = built('libvendor', 'preload', LIBRARY)
        return dict(self.env, LD_PRELOAD=':'.join([*preload, library]), OSMSIM_NODE=host,
                    ASAN_OPTIONS='verify_asan_link_order=0:detect_leaks=0', **more)
