# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""What must hold of a configured subnet, judged by ibsim's own dump of its nodes."""

DROP = 0xFF


def reachable(nodes, start):
    """Names of the nodes connected to start."""
    seen, todo = {start}, [start]
    while todo:
        for port in nodes[todo.pop()].ports.values():
            if port.peer and port.peer[0] not in seen:
                seen.add(port.peer[0])
                todo.append(port.peer[0])
    return seen


def cabled(nodes, names):
    return [(nodes[name], port) for name in names for port in nodes[name].ports.values()
            if port.num and port.peer]


def end_ports(nodes, names):
    """(node, port) of every port that must have a LID."""
    for name in sorted(names):
        node = nodes[name]
        if node.is_switch:
            yield node, node.ports[0]
        else:
            yield from ((node, port) for port in node.ports.values() if port.peer)


def broken_routes(nodes, names):
    """'switch -> lid: why' of each switch from which a LID is not reached."""
    switches = [nodes[name] for name in names if nodes[name].is_switch]
    for node, port in end_ports(nodes, names):
        good = set()
        for switch in switches:
            trail, at, why = [], switch, None
            while at.name not in good:
                if at.name in trail:
                    why = 'loop'
                    break
                trail.append(at.name)
                out = at.lft.get(port.lid, DROP)
                if out == 0 or out == DROP:
                    why = None if out == 0 and at is node else f'ends at {at.name} by port {out}'
                    break
                peer = at.ports[out].peer if out in at.ports else None
                if not peer:
                    why = f'{at.name} port {out} has no cable'
                    break
                if peer == (node.name, port.num):
                    break
                at = nodes[peer[0]]
                if not at.is_switch:
                    why = f'wrong host {at.name}'
                    break
            if why:
                yield f'{switch.name} -> LID {port.lid} ({node.name}): {why}'
            else:
                good.update(trail)


def walk(nodes, name, source, lid):
    """Names of the nodes from the source LID of name to the owner of lid by the programmed tables;
    the list ends where these end."""
    path, at = [name], nodes[name]
    out = next(port.num for port in at.ports.values() if port.lid == source)
    if at.is_switch:
        out = at.lft.get(lid, DROP)
    while len(path) < 64 and out in at.ports and at.ports[out].peer:
        at = nodes[at.ports[out].peer[0]]
        path.append(at.name)
        if not at.is_switch or at.owns(lid):
            break
        out = at.lft.get(lid, DROP)
    return path


def judge(checks, nodes, names, sm_guid):
    """The state of all ports, the LIDs and the forwarding tables."""
    inactive = [f'{node.name} port {port.num} {port.state}' for node, port in cabled(nodes, names)
                if port.state != 'Active']
    checks.check('all cabled ports are Active', not inactive, inactive[:5])
    ends = list(end_ports(nodes, names))
    without = [node.name for node, port in ends if not 0 < port.lid < 0xC000]
    checks.check('every end port has a LID', not without, without[:5])
    lids = [port.lid for _, port in ends]
    checks.equal('LIDs are unique', len(set(lids)), len(lids))
    checks.check('the SM port exists', any(port.guid == sm_guid for _, port in ends),
                 f'0x{sm_guid:x}')
    broken = []
    for line in broken_routes(nodes, names):
        broken.append(line)
        if len(broken) >= 5:
            break
    checks.check('every LID is reached from every switch', not broken, broken)
