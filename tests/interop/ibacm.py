# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Debian's ibacm on a node of osmsim, with the provider of the build: a service with sockets of its
own, which it takes over as from systemd, so that it needs no root and no file in /run."""

import os
import random
import re
import shutil
import socket
import struct
import subprocess

import ibsim
import osmsim

SECONDS = 60
RUN = ('libvendor', 'preload', 'osmsim-run')
PROVIDER = ('opensm', 'ssa', 'acm', 'libibacmssa.so')
RESOLVE, PERF, ENDPOINT, ACK = 1, 2, 3, 0x80
SOURCE, DESTINATION, ASK_SA = 1, 2, 1 << 31
NAME, IPV4, IPV6, PATH = 1, 2, 3, 16
HEADER = struct.Struct('=BBB3sHQ')
ENTRY = struct.Struct('=IHH64s')
RECORD = struct.Struct('>Q16s16sHHIBBHHBBBB6x')
COUNTERS = ('error', 'resolve', 'no data', 'address query', 'address cache', 'route query',
            'route cache')
KERNEL_GROUP = 4  # a mask: group 3, of kernels' requests


def missing():
    """Why this host cannot run the tests, or None."""
    if not os.path.exists(osmsim.built(*PROVIDER)):
        return 'libibacmssa.so is not built (Debian: ibacm)'
    lacking = [tool for tool in ('ibacm', 'ib_acme') if not shutil.which(tool, path=path())]
    return f'{", ".join(lacking)} not installed (Debian: ibacm)' if lacking else None


def path():
    return ibsim.tool_path() + ':/usr/sbin:/sbin'


def gid(guid, prefix=0xfe80 << 48):
    return struct.pack('>QQ', prefix, guid)


def record(sgid=bytes(16), dgid=bytes(16), slid=0, dlid=0, service=0, p_key=0, reversible=True,
           qos=0):
    return RECORD.pack(service, dgid, sgid, dlid, slid, 0, 0, 0x80 * reversible | 1, p_key, qos,
                       0, 0, 0, 0)


def address(kind, flags, data):
    return ENTRY.pack(flags, kind, 0, data.ljust(64, b'\0'))


class Answer:
    def __init__(self, octets):
        self.octets = octets
        self.version, self.opcode, self.status, self.data, self.length, self.tid = \
            HEADER.unpack_from(octets)
        self.entries = [ENTRY.unpack_from(octets, at) for at in
                        range(HEADER.size, len(octets) - ENTRY.size + 1, ENTRY.size)]

    @property
    def record(self):
        return self.entries[0][3] if self.entries else None


class Client:
    """One connection; each request has another TID."""

    def __init__(self, service):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.settimeout(SECONDS)
        self.socket.connect(service.socket_path)
        self.tid = 0x1122334455667700

    def ask(self, *entries):
        self.tid += 1
        body = b''.join(entries)
        self.socket.sendall(HEADER.pack(1, RESOLVE, 0, bytes(3), HEADER.size + len(body),
                                        self.tid) + body)
        return Answer(self.socket.recv(4096))

    def path(self, octets, flags=0):
        return self.ask(ENTRY.pack(flags, PATH, 0, octets))

    def counters(self, endpoint=0):
        """{name: value} of an endpoint; 0: of the whole service."""
        self.socket.sendall(HEADER.pack(1, PERF, 0, bytes((0, endpoint, 0)),
                                        socket.htons(HEADER.size), 1))
        octets = self.socket.recv(4096)
        return dict(zip(COUNTERS, struct.unpack_from('>7Q', octets, HEADER.size)))


def kernel_socket(groups):
    """Of a family that any kernel has."""
    made = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_USERSOCK)
    made.bind((0, groups))
    made.settimeout(SECONDS)
    return made


class Service:
    """ibacm on a host of a fabric. addresses: {name or IP address: P_Key}. kernel: it gets a socket
    on which it takes requests as a kernel's, which the other side sends from self.kernel. shim: a
    library to preload before that of osmsim-run."""

    def __init__(self, fabric, host, addresses, options='', kernel=False, name='acm',
                 provider='ibacmssa', library=None, shim=None):
        self.fabric, self.name, self.host, self.shim = fabric, name, host, shim
        self.dir = fabric.path(name)
        os.makedirs(os.path.join(self.dir, 'lib'))
        self.socket_path = os.path.join(self.dir, 'socket')
        shutil.copy(library or osmsim.built(*PROVIDER), os.path.join(self.dir, 'lib'))
        self.write('options', f'''log_file stdout
log_level 2
lock_file {self.dir}/lock
provider_lib_path {self.dir}/lib
support_ips_in_addr_cfg 1
provider {provider} default
{options}''')
        self.write('addresses', ''.join(f'{name} osmsim0 1 {p_key}\n'
                                        for name, p_key in addresses.items()))
        self.start(kernel)

    def write(self, name, text):
        with open(os.path.join(self.dir, name), 'w') as file:
            file.write(text)

    def start(self, kernel):
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listener.bind(self.socket_path)
        listener.listen(64)
        handed = [listener]
        if kernel:
            # Requests go to ibacm's own port: in the group, it would hear other tests' answers.
            self.kernel = kernel_socket(KERNEL_GROUP)
            handed.append(kernel_socket(0))
            self.port_id = handed[1].getsockname()[0]
        moves = ' '.join(f'{3 + i}<&{fd.fileno()}' for i, fd in enumerate(handed))
        under = f"sh -c 'LD_PRELOAD={self.shim}:$LD_PRELOAD exec \"$@\"' sh" if self.shim else ''
        command = (f'exec {moves}; LISTEN_FDS={len(handed)} LISTEN_PID=$$ exec '
                   f'{osmsim.built(*RUN)} -n {self.host} --verbs {under} ibacm --systemd '
                   f'-O {self.dir}/options -A {self.dir}/addresses')
        # Whatever the provider lacks is found when it is loaded.
        self.child = self.fabric.spawn(['sh', '-c', command], f'{self.name}.log',
                                       env=dict(self.fabric.env, PATH=path(), LD_BIND_NOW='1'),
                                       pass_fds=[fd.fileno() for fd in handed],
                                       stdin=subprocess.DEVNULL)
        for fd in handed:
            fd.close()
        self.wait('acm_server: started')

    def log(self, since=0):
        return self.fabric.read(f'{self.name}.log', since)

    def mark(self):
        return len(self.log())

    def wait(self, text, since=0):
        self.fabric.wait(lambda: re.search(text, self.log(since)), SECONDS, f'"{text}"',
                         alive=self.child)

    def acme(self, *argv):
        """(exit code, output)"""
        run = subprocess.run(['ib_acme', '-S', self.socket_path, *argv], capture_output=True,
                             text=True, timeout=SECONDS, env=dict(os.environ, PATH=path()))
        return run.returncode, run.stdout + run.stderr


def attribute(kind, data):
    octets = struct.pack('=HH', 4 + len(data), kind | 1 << 13) + data
    return octets + bytes(-len(octets) % 4)


class Kernel:
    """Requests as ib_core's SA client multicasts them, and what comes back to the group."""

    RESOLVE, IP_RESOLVE = 4 << 10, 4 << 10 | 2
    ALL, ONE_WAY, GMP = 0, 1, 2

    def __init__(self, service):
        self.service = service
        # The group is one of the host: another test that runs now has other numbers.
        self.sequence = random.randrange(1 << 31)

    def ask(self, sgid, dgid, use=ALL, p_key=0xffff, service_id=0, kind=RESOLVE):
        """(type, flags, sequence, octets after the header)"""
        self.sequence += 1
        body = struct.pack('=64sBBH', b'osmsim0', 1, use, 0)
        if service_id:
            body += attribute(3, struct.pack('=Q', service_id))
        body += attribute(4, dgid) + attribute(5, sgid) + attribute(7, struct.pack('=H', p_key))
        header = struct.pack('=IHHII', 16 + len(body), kind, 1, self.sequence, 0)
        self.service.kernel.sendto(header + body, (self.service.port_id, 0))
        sequence = None
        while sequence != self.sequence:
            octets = self.service.kernel.recv(4096)
            _, kind, flags, sequence, _ = struct.unpack_from('=IHHII', octets)
        return kind, flags, sequence, octets[16:]
