// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// What was there and is not: by the events, as the fabric does not have it any more.

import { rowsOf } from './words.js';

const VERIFIED_MAX = 20;
const end = (guid, port) => `${guid}:${port}`;

function typeOf(text) {
	return /^(switch|router|host)/.exec(text)?.[1] ?? 'node';
}

// "switch leaf-0 (0x...) and its 4 hosts are gone": what is between the type and the GUID
function nameOf(text) {
	return /^(?:switch|router|host|node)\s(.*?) \(0x[0-9a-f]{16}\)/.exec(text)?.[1] ?? '';
}

// Those that are gone together.
function numbersOf(event) {
	const type = typeOf(event.text);
	return {
		switches: (type === 'switch' ? 1 : 0) + (event.more_switches ?? 0),
		hosts: (type === 'switch' ? 0 : 1) + (event.more_hosts ?? 0),
	};
}

export class Missing {
	constructor() {
		this.clear();
	}

	clear() {
		this.unsure = true;
		this.byNode = new Map();
		this.byEnd = new Map();
	}

	take(events) {
		for (const event of events) this.takeOne(event);
	}

	takeOne(event) {
		const { change, guid } = event;
		if (change === 'link_down')
			this.byEnd.set(end(guid, event.port), {
				guid,
				peer: event.peer_guid,
				text: event.text,
				ends: [end(guid, event.port), end(event.peer_guid, event.peer_port)],
			});
		else if (change === 'link_up')
			this.restored([end(guid, event.port), end(event.peer_guid, event.peer_port)]);
		else if (change === 'nodes_gone')
			this.byNode.set(guid, {
				guid,
				peer: event.peer_guid,
				text: event.text.split(': link')[0],
				type: typeOf(event.text),
				name: nameOf(event.text),
				...numbersOf(event),
				ends: [end(guid, event.port), end(event.peer_guid, event.peer_port)],
			});
		else if (change === 'nodes_new') this.returned(guid);
		else if (change === 'accepted') this.clear();
		// Nodes that went together may come back behind another one.
		if (change === 'nodes_new' || change === 'link_up') this.unsure = true;
	}

	restored(ends) {
		for (const [key, link] of this.byEnd)
			if (link.ends.some((one) => ends.includes(one))) this.byEnd.delete(key);
	}

	// Its cables are up as well, or have events of their own.
	returned(guid) {
		this.byNode.delete(guid);
		for (const [key, link] of this.byEnd)
			if (link.guid === guid || link.peer === guid) this.byEnd.delete(key);
	}

	// Looks for those that are there all the same. ask: that of poll.js
	async verify(ask) {
		if (!this.unsure) return;
		this.unsure = false;
		for (const { guid } of this.nodes.slice(0, VERIFIED_MAX))
			if ((await ask('ports', { node: guid, limit: 1 })).ports.rows.length)
				this.returned(guid);
		for (const { guid, ends } of this.links.slice(0, VERIFIED_MAX)) {
			const ports = rowsOf((await ask('ports', { node: guid })).ports);
			const port = ports.find((one) => ends.includes(end(guid, one.port)));
			if (port && port.state !== 'down' && port.peer_guid) this.restored(ends);
		}
	}

	get switches() {
		return this.nodes.reduce((total, node) => total + node.switches, 0);
	}

	get hosts() {
		return this.nodes.reduce((total, node) => total + node.hosts, 0);
	}

	get nodes() {
		return [...this.byNode.values()];
	}

	get links() {
		return [...this.byEnd.values()].filter(
			(link) => !this.byNode.has(link.guid) && !this.byNode.has(link.peer),
		);
	}
}
