// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// What the picture shows: items (boxes) and bundles of cables between them, made of the answers of
// the API and of what is missing. layout.js gives them places, draw.js paints them.
import { shortNames } from './labels.js';
import { count, plural, rowsOf } from './words.js';

const guidOf = (open) => open.slice(open.indexOf('=') + 1);

function itemOf(box) {
	const guid = guidOf(box.open);
	const more = box.switches - 1;
	return {
		id: box.open,
		guid,
		kind: box.kind,
		name: box.name,
		level: box.level,
		switches: box.switches,
		hosts: box.hosts,
		lost: box.lost,
		slow: box.slow,
		unhealthy: box.unhealthy,
		silent: box.silent,
		alarm: box.alarm,
		errors: box.errors_minute,
		load: box.load,
		loops: box.loops,
		lid: box.kind === 'switch' ? box.lid : 0,
		children: null,
		title: box.kind === 'switch' || !more ? box.name : `${box.name} and ${count(more)} more`,
		note: box.hosts ? plural(box.hosts, 'host') : '',
		gone: false,
		hostsGone: 0,
		switchesGone: 0,
	};
}

function bundleOf(row, a, b) {
	return {
		a,
		b,
		cables: row.cables,
		lost: row.lost,
		slow: row.slow,
		alarm: row.alarm,
		errors: row.errors_minute,
		octets: row.octets_s,
		load: row.load,
	};
}

function addUp(into, from) {
	for (const name of ['cables', 'lost', 'slow', 'errors', 'octets']) into[name] += from[name];
	into.load = Math.max(into.load, from.load);
	into.alarm = Math.max(into.alarm, from.alarm);
}

function newRoot() {
	return { id: '', kind: 'root', level: 0, lowest: 1, hosts: 0, children: [], title: '' };
}

// ---- a small fabric: all its switches ----

function groupItem(group, members) {
	const first = members[0];
	const item = {
		...itemOf({
			open: `group=${group.guid}`,
			kind: 'group',
			name: group.name,
			level: group.level,
			switches: group.switches,
			hosts: 0,
			lost: 0,
			slow: 0,
			unhealthy: 0,
			silent: 0,
			alarm: 0,
			errors_minute: 0,
			load: 0,
			loops: 0,
		}),
		name: first?.name ?? group.name,
	};
	for (const member of members) {
		for (const name of ['hosts', 'lost', 'slow', 'unhealthy', 'silent', 'errors', 'loops'])
			item[name] += member[name];
		item.alarm = Math.max(item.alarm, member.alarm);
		item.load = Math.max(item.load, member.load);
	}
	item.note = item.hosts ? plural(item.hosts, 'host') : '';
	return item;
}

function membersOf(groups, at, items, groupOf) {
	return items.filter((_, i) => {
		let group = groupOf[i];
		while (group !== null && group !== at) group = groups[group].parent;
		return group === at;
	});
}

export function wholeModel(answer, closed) {
	const boxes = rowsOf(answer.boxes),
		groups = rowsOf(answer.groups),
		groupOf = answer.group_of;
	const items = boxes.map(itemOf),
		root = newRoot();
	const tops = groups.filter((group) => group.parent === null);
	const made = groups.map((group, at) => {
		if (tops.length === 1 && group === tops[0]) return root;
		if (group.switches === 1) return null;
		const item = groupItem(group, membersOf(groups, at, items, groupOf));
		item.children = closed.has(item.id) ? null : [];
		return item;
	});
	const parentOf = (at) => (at === null ? root : (made[at] ?? parentOf(groups[at].parent)));
	groups.forEach((group, at) => {
		const parent = made[at] && made[at] !== root ? parentOf(group.parent) : null;
		if (parent) adopt(parent, made[at]);
	});
	const grouped = made.filter((item) => item && item !== root);
	items.forEach((item, i) => adopt(parentOf(groupOf[i]), item));
	root.level = Math.max(0, ...items.map((item) => item.level));
	root.hosts = items.reduce((total, item) => total + item.hosts, 0);
	const bundles = joined(rowsOf(answer.bundles).map((row) => [row, items[row.a], items[row.b]]));
	return { root, items: [...items, ...grouped], bundles };
}

// A closed parent has its children only as `inside`.
function adopt(parent, item) {
	item.parent = parent;
	if (parent.children) parent.children.push(item);
	else (parent.inside ??= []).push(item);
}

// The item itself, or the closed box that it is in.
export function visible(item) {
	let shown = item;
	for (let at = item; at; at = at.parent) if (at.parent && !at.parent.children) shown = at.parent;
	return shown;
}

function joined(rows) {
	const byKey = new Map();
	for (const [row, one, other] of rows) {
		const a = visible(one),
			b = visible(other);
		if (a === b) continue;
		const key = `${a.id} ${b.id}`;
		if (byKey.has(key)) addUp(byKey.get(key), bundleOf(row, a, b));
		else byKey.set(key, bundleOf(row, a, b));
	}
	return [...byKey.values()];
}

// ---- a large fabric: boxes, some of them open ----

// answers: Map from the argument that opens a box ('': the fabric) to the answer
export function boxModel(answers, open) {
	const root = newRoot(),
		items = [],
		bundles = [];
	const fill = (parent, key) => {
		const answer = answers.get(key);
		const made = rowsOf(answer.boxes).map(itemOf);
		for (const item of made) {
			adopt(parent, item);
			items.push(item);
			if (item.kind !== 'switch' && open.has(item.id) && answers.has(item.id)) {
				item.children = [];
				fill(item, item.id);
			}
		}
		for (const row of rowsOf(answer.bundles))
			if (row.b !== null) bundles.push(bundleOf(row, made[row.a], made[row.b]));
	};
	fill(root, '');
	root.level = Math.max(0, ...root.children.map((item) => item.level));
	root.hosts = root.children.reduce((total, item) => total + item.hosts, 0);
	return { root, items, bundles };
}

// ---- hosts ----

function hostItem(node, parent) {
	return {
		id: `host=${node.guid}`,
		guid: node.guid,
		kind: 'host',
		name: node.name,
		title: node.name,
		level: 0,
		switches: 0,
		hosts: 0,
		lost: 0,
		slow: 0,
		unhealthy: node.unhealthy ? 1 : 0,
		silent: node.silent ? 1 : 0,
		alarm: node.alarm,
		errors: 0,
		load: 0,
		children: null,
		gone: false,
		hostsGone: 0,
		switchesGone: 0,
		lid: node.lid,
		parent,
	};
}

function hostBundle(host, port, leaf) {
	return {
		a: leaf,
		b: host,
		cables: port?.lost ? 0 : 1,
		lost: port?.lost ? 1 : 0,
		slow: port?.slow ? 1 : 0,
		alarm: port?.alarm ?? 0,
		errors: port?.errors_minute ?? 0,
		octets: 0,
		load: Math.max(port?.load_sent ?? 0, port?.load_received ?? 0),
	};
}

// The hosts of a leaf that is open. answer: {nodes, ports}
export function addHosts(model, leaf, answer) {
	const ports = rowsOf(answer.ports);
	leaf.children = [];
	for (const node of rowsOf(answer.nodes)) {
		const host = hostItem(node, leaf);
		const port = ports.find((one) => one.peer_guid === node.guid);
		leaf.children.push(host);
		model.items.push(host);
		const bundle = hostBundle(host, port, leaf);
		host.load = bundle.load;
		model.bundles.push(bundle);
	}
}

// A fabric without a switch: hosts that cables connect.
export function addBareHosts(model, answer) {
	const byGuid = new Map();
	for (const node of rowsOf(answer.nodes)) {
		const host = hostItem(node, model.root);
		byGuid.set(host.guid, host);
		model.root.children.push(host);
		model.items.push(host);
	}
	for (const port of rowsOf(answer.ports)) {
		const a = byGuid.get(port.guid),
			b = byGuid.get(port.peer_guid);
		if (a && b && a !== b && port.guid < port.peer_guid)
			model.bundles.push(hostBundle(b, port, a));
	}
}

// ---- what is missing ----

// past: what is known of switches that were there: Map from GUID to {level, group, neighbours}.
export function addMissing(model, missing, past, ways) {
	const byGuid = new Map(
		model.items
			.filter((item) => item.kind === 'switch' || item.kind === 'host')
			.map((item) => [item.guid, item]),
	);
	const byId = new Map(model.items.map((item) => [item.id, item]));
	// Where a switch is, or the box that it is in.
	const find = (guid) => {
		if (byGuid.has(guid)) return byGuid.get(guid);
		for (const id of [...(ways.get(guid) ?? [])].reverse())
			if (byId.has(id)) return byId.get(id);
		return null;
	};
	model.find = find;
	for (const node of missing.nodes) {
		const peer = find(node.peer);
		if (node.type === 'switch') addGhost(model, node, peer, past.get(node.guid), byGuid);
		else addGone(peer, node);
	}
	for (const link of missing.links) addLost(model, find(link.guid), find(link.peer));
}

// At the box that it was connected to.
function addGone(peer, node) {
	if (!peer) return;
	visible(peer).switchesGone += node.switches;
	visible(peer).hostsGone += node.hosts;
}

// What went with a switch: "and 8 hosts".
function behind(node) {
	const more = [
		node.switches > 1 && plural(node.switches - 1, 'switch', 'switches'),
		node.hosts && plural(node.hosts, 'host'),
	].filter(Boolean);
	return more.length ? ` and ${more.join(' and ')}` : '';
}

function addGhost(model, node, peer, known, byGuid) {
	if (!peer || byGuid.has(node.guid)) return;
	if (peer.kind !== 'switch' || visible(peer) !== peer) {
		addGone(peer, node);
		return;
	}
	const level = known?.level ?? (peer.level > 1 ? peer.level - 1 : model.root.level > 1 ? 2 : 1);
	const parent =
		(peer.level >= level && peer.level > 1) ||
		peer.parent.kind === 'root' ||
		level === peer.parent.level
			? peer.parent
			: (peer.parent.parent ?? model.root);
	const ghost = {
		...hostItem({ guid: node.guid, name: node.name, alarm: 0 }, parent),
		id: `switch=${node.guid}`,
		kind: 'switch',
		level,
		gone: true,
		title: node.name || 'gone',
		note: '',
		behind: behind(node),
	};
	const children = parent.children;
	const at = children.findIndex((child) => child.level === level && child.guid > node.guid);
	children.splice(at < 0 ? children.length : at, 0, ghost);
	model.items.push(ghost);
	byGuid.set(ghost.guid, ghost);
	const neighbours = (known?.neighbours ?? [node.peer])
		.map((guid) => byGuid.get(guid))
		.filter(Boolean);
	for (const neighbour of neighbours) {
		const shown = visible(neighbour);
		model.bundles.push({
			a: shown,
			b: ghost,
			cables: 0,
			lost: 1,
			slow: 0,
			alarm: 0,
			errors: 0,
			octets: 0,
			load: 0,
			ofGhost: true,
		});
	}
}

function addLost(model, one, other) {
	if (!one || !other) return;
	const a = visible(one),
		b = visible(other);
	if (a === b) {
		a.lost ||= 1;
		return;
	}
	const there = model.bundles.find(
		(bundle) => (bundle.a === a && bundle.b === b) || (bundle.a === b && bundle.b === a),
	);
	if (there) there.lost ||= 1;
	else
		model.bundles.push({
			a,
			b,
			cables: 0,
			lost: 1,
			slow: 0,
			alarm: 0,
			errors: 0,
			octets: 0,
			load: 0,
		});
}

// Gives each item the shorter forms of its name, among those beside it.
export function shorten(model) {
	const rows = new Map();
	for (const item of model.items) {
		const row = `${item.kind === 'host'} ${item.level}`;
		if (rows.has(row)) rows.get(row).push(item);
		else rows.set(row, [item]);
	}
	for (const items of rows.values()) {
		const forms = shortNames(items.map((item) => item.name));
		for (const item of items) item.forms = forms.get(item.name);
	}
}

// The switches and their neighbours, for the time when one of them is gone.
export function remember(model, past) {
	const neighbours = new Map();
	for (const { a, b } of model.bundles) {
		if (a.kind !== 'switch' || b.kind !== 'switch' || a.gone || b.gone) continue;
		for (const [one, other] of [
			[a, b],
			[b, a],
		])
			neighbours.set(one.guid, [...(neighbours.get(one.guid) ?? []), other.guid]);
	}
	for (const item of model.items)
		if (
			item.kind === 'switch' &&
			!item.gone &&
			neighbours.has(item.guid) &&
			neighbours.get(item.guid).length >= (past.get(item.guid)?.neighbours.length ?? 0)
		)
			past.set(item.guid, { level: item.level, neighbours: neighbours.get(item.guid) });
}

// ---- what is wrong with an item, in a word ----

// Each end of a cable counts in its box; those that are drawn as a line of their own do not.
function hiddenLost(item, model) {
	let drawn = 0;
	for (const bundle of model.bundles)
		if (bundle.lost && (bundle.a === item || bundle.b === item)) drawn += bundle.lost;
	return Math.max(0, item.lost - drawn - item.hostsGone - item.switchesGone);
}

function wordsFor(item, model) {
	if (item.gone) return [`${item.title}${item.behind} ${item.behind ? 'are' : 'is'} gone`, 'bad'];
	const gone = [
		item.switchesGone && plural(item.switchesGone, 'switch', 'switches'),
		item.hostsGone && plural(item.hostsGone, 'host'),
	].filter(Boolean);
	if (gone.length) return [`${gone.join(' and ')} gone`, 'bad'];
	if (item.silent)
		return [item.switches === 1 ? `${item.name} is silent` : 'silent device', 'bad'];
	if (item.unhealthy) return [plural(item.unhealthy, 'unhealthy port'), 'bad'];
	const lost = item.lost ? hiddenLost(item, model) : 0;
	if (lost)
		return [
			`${plural(item.kind === 'switch' ? lost : Math.ceil(lost / 2), 'cable')} down`,
			'bad',
		];
	if (item.alarm >= 3) return ['alarm', 'bad'];
	if (item.slow && item.kind !== 'switch')
		return [`${plural(Math.ceil(item.slow / 2), 'slow cable')}`, 'warn'];
	return [null, item.alarm === 2 || item.slow ? 'warn' : null];
}

// Marks each item and gives the words for what is worst, most severe first.
export function judge(model) {
	const words = [];
	for (const item of model.items) {
		if (item.kind !== 'switch' && item.children) continue;
		if (visible(item) !== item) continue;
		const [text, kind] = wordsFor(item, model);
		item.trouble = kind;
		item.words = text;
		if (text) words.push({ item, words: text, kind });
	}
	return words.sort((a, b) => b.item.gone - a.item.gone || (a.kind > b.kind) - (a.kind < b.kind));
}
