// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// Modules of the page that need no browser, by themselves. modules.mjs DIRECTORY-OF-THE-MODULES
import { pathToFileURL } from 'node:url';
import { join } from 'node:path';

const load = (name) => import(pathToFileURL(join(process.argv[2], name)).href);
const { Missing } = await load('missing.js');
const { wholeModel, addHosts, addMissing, judge, visible } = await load('model.js');
const { arrange } = await load('layout.js');
const { shortNames, fitted } = await load('labels.js');
const { groupProblems } = await load('partitions.js');
const { smsOf } = await load('sms.js');

let passed = 0,
	failed = 0;

function check(what, ok, detail = '') {
	if (ok) return passed++;
	console.log(`FAIL ${what}: ${JSON.stringify(detail)}`.slice(0, 1500));
	return failed++;
}

const guid = (n) => `0x${n.toString(16).padStart(16, '0')}`;

// ---- what is missing ----

function gone(n, more = {}) {
	return {
		change: 'nodes_gone',
		guid: guid(n),
		port: 1,
		peer_guid: guid(1),
		peer_port: 2,
		text: `switch s${n} (${guid(n)}) and more are gone: link down: x`,
		...more,
	};
}

function missing() {
	const all = new Missing();
	all.take([gone(5, { more_hosts: 8 }), gone(6, { more_switches: 2, more_hosts: 3 })]);
	check('hosts behind dead switches are gone', all.hosts === 11, all.hosts);
	check('and switches behind them', all.switches === 4, all.switches);
	all.take([gone(7, { text: `host h (${guid(7)}) is gone` })]);
	check('a host alone is one', all.hosts === 12 && all.switches === 4, all.hosts);
	all.take([{ ...gone(5), change: 'nodes_new' }]);
	check('what returns is not', all.hosts === 4 && all.switches === 3, all.hosts);
}

async function verified() {
	const all = new Missing();
	const down = { change: 'link_down', guid: guid(9), port: 4, peer_guid: guid(8), peer_port: 1 };
	all.take([gone(5, { more_hosts: 8 }), gone(6), down]);
	all.take([{ ...gone(3), change: 'nodes_new' }]);
	const asked = [];
	await all.verify(async (name, { node }) => {
		asked.push(node);
		const row = node === guid(9) ? [4, 'down', null] : [1, 'active', guid(1)];
		return {
			ports: {
				columns: ['port', 'state', 'peer_guid'],
				rows: node === guid(6) ? [] : [row],
			},
		};
	});
	check('what came back behind another is there', all.nodes.length === 1, all.nodes);
	check('what did not, is not', all.nodes[0].guid === guid(6) && all.links.length === 1);
	await all.verify(() => check('nothing is asked twice', false));
	check('each was looked for', asked.length === 3, asked);
	all.take([{ change: 'accepted', text: 'accepted' }]);
	check('what was accepted is not missing', !all.nodes.length && !all.links.length);
}

// ---- a picture ----

const BOXES = [
	['open', 'kind', 'name', 'level', 'switches', 'hosts', 'lost', 'slow', 'unhealthy', 'silent'],
	['alarm', 'errors_minute', 'load', 'loops', 'lid'],
].flat();
const box = (n, level, hosts, loops = 0) => [
	...[`switch=${guid(n)}`, 'switch', `s${n}`, level, 1, hosts, 0, 0, 0, 0],
	...[0, 0, 0, loops, n],
];
const BUNDLES = ['a', 'b', 'cables', 'lost', 'slow', 'alarm', 'errors_minute', 'octets_s', 'load'];
const bundle = (a, b) => [a, b, 1, 0, 0, 0, 0, 0, 0];

// Two leaves below a switch that has hosts as well: [switches], hosts of each
function tree(hosts) {
	const answer = {
		boxes: {
			columns: BOXES,
			rows: [box(1, 2, hosts[0]), box(2, 1, hosts[1]), box(3, 1, hosts[2])],
		},
		bundles: { columns: BUNDLES, rows: [bundle(0, 1), bundle(0, 2)] },
		groups: {
			columns: ['guid', 'name', 'parent', 'level', 'switches'],
			rows: [
				[guid(2), 's2', 2, 1, 1],
				[guid(3), 's3', 2, 1, 1],
				[guid(1), 's1', null, 2, 3],
			],
		},
		group_of: [2, 0, 1],
	};
	return wholeModel(answer, new Set());
}

function open(model, leaf, many) {
	const nodes = [],
		ports = [];
	for (let i = 0; i < many; i++) {
		const host = guid(0x100 * (leaf + 1) + i);
		nodes.push([host, `h${i}`, false, false, 0, 9]);
		ports.push([host, false, false]);
	}
	addHosts(
		model,
		model.items.find((item) => item.guid === guid(leaf)),
		{
			nodes: {
				columns: ['guid', 'name', 'unhealthy', 'silent', 'alarm', 'lid'],
				rows: nodes,
			},
			ports: { columns: ['peer_guid', 'lost', 'slow'], rows: ports },
		},
	);
}

function places() {
	const model = tree([2, 2, 2]);
	for (const leaf of [1, 2, 3]) open(model, leaf, 2);
	arrange(model.root, model.bundles, 900, 400, new Map());
	const hosts = model.items.filter((item) => item.kind === 'host');
	check('each host has a place', hosts.length === 6 && hosts.every((host) => host.space > 0));
	const at = new Set(hosts.map((host) => `${Math.round(host.x)},${Math.round(host.y)}`));
	check('of its own', at.size === 6, [...at]);
	const top = model.items.find((item) => item.guid === guid(1));
	check(
		'hosts of an upper switch are between it and the level below',
		hosts
			.filter((host) => host.parent === top)
			.every((host) => host.y > top.y && host.y < model.items.find((s) => s.level === 1).y),
		hosts.map((host) => host.y),
	);
	addMissing(model, { nodes: [], links: [] }, new Map(), new Map());
	check('nothing is wrong with them', judge(model).length === 0);
	check(
		'and all are to be seen',
		hosts.every((host) => visible(host) === host),
	);
}

// ---- names that do not fit ----

function labels() {
	const width = (words) => 6 * words.length;
	const fit = (names, room) => {
		const short = shortNames(names);
		return names.map((name) => fitted(name, short.get(name), room, width));
	};
	check('a name that fits is whole', fit(['leaf-0-1', 'leaf-1-1'], 60)[0] === 'leaf-0-1');
	check(
		'what all begin with goes first',
		fit(['leaf-0-1', 'leaf-1-0'], 30).join() === '0-1,1-0',
		fit(['leaf-0-1', 'leaf-1-0'], 30),
	);
	check(
		'and what all end with',
		fit(['node1/mlx5_0', 'node2/mlx5_0'], 42).join() === 'node1,node2',
		fit(['node1/mlx5_0', 'node2/mlx5_0'], 42),
	);
	check(
		'names of two racks stay different',
		new Set(fit(['r1/leaf-1', 'r1/leaf-2', 'r2/leaf-1', 'r2/leaf-2'], 48)).size === 4,
		fit(['r1/leaf-1', 'r1/leaf-2', 'r2/leaf-1', 'r2/leaf-2'], 48),
	);
	check(
		'what else is cut has a sign of it',
		fit(['rack-a/unit-b', 'rack-c/unit-d'], 36).every((one) => one === '' || one.includes('…')),
		fit(['rack-a/unit-b', 'rack-c/unit-d'], 36),
	);
	check(
		'names side by side are cut alike',
		fit(['core-8-0', 'core-9-0', 'core-10-0'], 20).join() === '8,9,10',
		fit(['core-8-0', 'core-9-0', 'core-10-0'], 20),
	);
	check('one name alone is cut', fit(['a-very-long-name'], 36)[0].includes('…'));
	check('no room, no letters', fit(['leaf-0-1', 'leaf-1-0'], 3).join('') === '');
}

// ---- partitions ----

function partitions() {
	const problem = (text, line = 0) => ({
		file: line ? '/etc/partitions.conf' : '',
		line,
		column: 0,
		severity: 'warning',
		text,
	});
	const { absent, others } = groupProblems([
		problem(`partition 'A' (0x0001): GUID ${guid(1)} is not in the subnet`, 4),
		problem(`partition 'A' (0x0001): GUID ${guid(2)} is not in the subnet`, 6),
		problem(`partition 0x0010: GUID ${guid(1)} is not in the subnet`),
		problem(`partition 0x0010: it has no member in the subnet`),
		problem("partition 'x: GUID 0x0000000000000001 is not in the subnet' (0x0003): odd", 9),
	]);
	check('absent members are one line a partition', absent.length === 2, absent);
	check(
		'with its name, their number and lines',
		absent[0].partition === "'A' (0x0001)" &&
			absent[0].members.length === 2 &&
			absent[0].where === '/etc/partitions.conf:4, 6',
		absent[0],
	);
	check(
		'one without a name by its P_Key',
		absent[1].partition === '0x0010' && absent[1].where === '',
		absent[1],
	);
	check(
		'other problems have file and line',
		others.length === 2 && others[1].where === '/etc/partitions.conf:9' && !others[0].where,
		others,
	);
}

// ---- SMs ----

function sms() {
	const sm = (n, state, more) => ({ guid: guid(n), state, ...more });
	const standby = {
		status: { sm_priority: 3, known_sms: [] },
		health: {
			master: { guid: guid(1) },
			sms: [sm(2, 'STANDBY', { self: true, tells: true }), sm(1, 'MASTER', {})],
		},
	};
	const list = smsOf(standby);
	check('a standby knows two', list.length === 2 && list[0].state === 'Master', list);
	check('its own priority', list[1].priority === 3 && list[1].state === 'Standby', list);
	delete standby.health.sms;
	check('or at least its master', smsOf(standby)[0].guid === guid(1));
}

missing();
await verified();
places();
labels();
partitions();
sms();
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed ? 1 : 0;
