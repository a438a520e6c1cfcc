// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// Answers as opensm-web gives them for a fat tree of 54-port switches: 39,366 hosts, 3,645 switches.

const K = 54,
	HALF = K / 2;
const guid = (n) => `0x${n.toString(16).padStart(16, '0')}`;
const BOXES = [
	'open',
	'kind',
	'name',
	'level',
	'switches',
	'hosts',
	'lost',
	'slow',
	'unhealthy',
	'silent',
	'alarm',
	'errors_minute',
	'load',
];
const BUNDLES = ['a', 'b', 'cables', 'lost', 'slow', 'alarm', 'errors_minute', 'octets_s', 'load'];

function summary(real) {
	const boxes = [],
		bundles = [];
	for (let i = 0; i < HALF; i++)
		boxes.push([
			`set=${guid(0x1000 + i)}`,
			'set',
			`core-${i}-0`,
			3,
			HALF,
			0,
			0,
			0,
			0,
			0,
			0,
			0,
			0.3,
		]);
	for (let pod = 0; pod < K; pod++)
		boxes.push([
			`group=${guid(0x2000 + pod)}`,
			'group',
			`spine-${pod}-0`,
			2,
			K,
			HALF * HALF,
			pod === 20 ? 2 : 0,
			pod === 33 ? 2 : 0,
			pod === 41 ? 1 : 0,
			0,
			pod === 41 ? 3 : 0,
			0,
			pod === 7 ? 0.96 : 0.2,
		]);
	for (let i = 0; i < HALF; i++)
		for (let pod = 0; pod < K; pod++)
			bundles.push([
				i,
				HALF + pod,
				HALF,
				0,
				0,
				0,
				i === 3 && pod === 12 ? 14 : 0,
				1e9,
				pod === 7 ? 0.9 : 0.02 + ((i * pod) % 10) / 100,
			]);
	const hosts = K * HALF * HALF,
		switches = K * K + HALF * HALF;
	return {
		...real,
		window: 10,
		counters: 7,
		counters_read: Math.floor(Date.now() / 1000) - 4,
		totals: {
			...real.totals,
			hosts,
			switches,
			routers: 0,
			silent: 0,
			cables: 3 * hosts - 1,
			lost: 1,
			slow: 1,
			unhealthy: 1,
			ports_with_errors: 2,
			hosts_send_octets_s: 9e13,
			ports: { unknown: 0, down: 2, initialize: 0, armed: 0, active: 6 * hosts - 2 },
		},
		levels: {
			columns: ['level', 'switches', 'groups'],
			rows: [
				[1, K * HALF, K * HALF],
				[2, K * HALF, K],
				[3, HALF * HALF, 1],
			],
		},
		boxes: { columns: BOXES, rows: boxes },
		boxes_left_out: 0,
		bundles: { columns: BUNDLES, rows: bundles },
		bundles_left_out: 0,
	};
}

// What is wrong in it: a cable that is down, a slow one, and a port that was taken out of use.
function wrong(real) {
	const at = (pod, of) => ({
		guid: guid(0x30000 + 100 * pod),
		node: `leaf-${pod}-4`,
		port: 31,
		state: 'active',
		lanes: 4,
		rate: 103124,
		best_rate: 103124,
		peer_guid: guid(0x40000 + 100 * pod),
		peer: `spine-${pod}-3`,
		peer_port: 5,
		alarm: 0,
		...of,
	});
	const ports = [
		at(20, { state: 'down', lost: true }),
		at(33, { slow: true, lanes: 1, rate: 25781 }),
		at(41, { condition: 'flapping', alarm: 3 }),
	];
	const { columns } = real.ports;
	const rows = ports.map((port) => columns.map((name) => port[name] ?? null));
	return { ...real, ports: { columns, rows } };
}

export function large() {
	return [
		[
			'**/api/v1/summary',
			async (route) => {
				const answer = await route.fetch();
				await route.fulfill({ json: summary(await answer.json()) });
			},
		],
		[
			'**/api/v1/ports?problem=any*',
			async (route) => {
				const answer = await route.fetch();
				await route.fulfill({ json: wrong(await answer.json()) });
			},
		],
		['**/api/v1/history?*', (route) => route.fulfill({ json: { points: [] } })],
	];
}
