// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// What is known of the box, the cables or the port that was chosen.
import { ask } from './poll.js';
import {
	bits,
	byId,
	count,
	element,
	percent,
	perSecond,
	plural,
	rate,
	replace,
	rowsOf,
	sparkline,
	table,
} from './words.js';

let asked = 0;

function facts(list) {
	return element(
		'dl',
		{ class: 'facts' },
		...list
			.filter(
				([, value]) =>
					value !== null && value !== '' && value !== undefined && value !== false,
			)
			.flatMap(([name, value]) => [element('dt', { text: name }), element('dd', {}, value)]),
	);
}

function heading(text, kind) {
	return element(
		'h3',
		{},
		element('span', { text }),
		kind ? element('small', { text: kind }) : null,
		element('button', {
			class: 'close',
			text: '×',
			'aria-label': 'Close the details',
			onclick: () => close(),
		}),
	);
}

function close() {
	asked++;
	byId('inspector').hidden = true;
}

function open(...children) {
	byId('inspector').hidden = false;
	replace(byId('inspector'), ...children);
}

const KINDS = {
	switch: 'switch',
	host: 'host',
	group: 'group of switches',
	set: 'switches with equal neighbours',
	groups: 'groups of switches',
};

export function inspect(chosen, go) {
	if (!chosen) return close();
	asked++;
	if (chosen.a) return inspectBundle(chosen, go);
	return inspectBox(chosen, go);
}

function inspectBox(item, go) {
	const one = item.kind === 'switch' || item.kind === 'host';
	open(
		heading(item.title, KINDS[item.kind]),
		item.gone ? element('p', { class: 'bad', text: '✕ It is gone. Events tell when.' }) : null,
		facts([
			['Problem', item.gone ? null : item.words],
			['GUID', one ? item.guid : null],
			['LID', item.lid],
			['Level', go.hasLevels() ? item.level || null : null],
			['Switches', one ? null : count(item.switches)],
			['Hosts', item.hosts ? count(item.hosts) : null],
			['Cables back to itself', item.loops ? count(item.loops) : null],
			['Slow cables', item.slow ? count(item.slow) : null],
			['Errors a minute', item.errors ? item.errors.toFixed(1) : null],
			['Busiest port', item.load ? percent(item.load) : null],
		]),
		item.gone
			? null
			: element(
					'p',
					{ class: 'actions' },
					item.kind === 'host' || (item.kind === 'switch' && !item.hosts)
						? null
						: element('button', {
								text: item.children
									? 'Close'
									: item.kind === 'switch'
										? 'Show hosts'
										: 'Open',
								onclick: () => go.toggle(item),
							}),
					one
						? element('button', { text: 'Ports', onclick: () => go.ports(item.guid) })
						: null,
					one
						? element('button', {
								text: 'Path from here',
								onclick: () => go.path(item.guid, null),
							})
						: null,
					one
						? element('button', {
								text: 'Path to here',
								onclick: () => go.path(null, item.guid),
							})
						: null,
				),
	);
}

async function inspectBundle(bundle, go) {
	const number = asked;
	const single =
		['switch', 'host'].includes(bundle.a.kind) && ['switch', 'host'].includes(bundle.b.kind);
	const about = [
		heading(`${bundle.a.title} – ${bundle.b.title}`, plural(bundle.cables, 'cable')),
		facts([
			['Down', bundle.lost ? `✕ ${count(bundle.lost)}` : null],
			['Slow', bundle.slow ? count(bundle.slow) : null],
			['Busiest', bundle.load ? percent(bundle.load) : null],
			['Both ways', bundle.octets ? bits(bundle.octets) : null],
			['Errors a minute', bundle.errors ? bundle.errors.toFixed(1) : null],
		]),
	];
	open(...about);
	if (!single || bundle.a.gone || bundle.b.gone) return;
	try {
		const answer = await ask('ports', { node: bundle.a.guid });
		const ports = rowsOf(answer.ports).filter((port) => port.peer_guid === bundle.b.guid);
		if (number === asked)
			open(
				...about,
				...ports.map((port) =>
					element(
						'p',
						{ class: 'actions' },
						element('button', {
							text: `port ${port.port} – port ${port.peer_port}`,
							onclick: () => inspectPort(port, go),
						}),
						element('span', { class: 'note', text: stateWords(port) }),
					),
				),
			);
	} catch {
		// the figures above stay
	}
}

// ---- a port and its cable ----

export function stateWords(port) {
	if (port.lost) return '✕ down, was up';
	if (port.condition) return `✕ ${port.condition}`;
	if (port.silent) return '✕ silent';
	return port.state === 'active' ? (port.slow ? '! slow' : 'active') : (port.state ?? 'unknown');
}

function endFacts(end) {
	if (!end) return ['unknown', '', '', '', '', '', ''];
	return [
		`${end.node} port ${end.port}`,
		stateWords(end),
		end.lanes
			? `${end.lanes}x ${rate(end.rate)}${end.slow ? ` of ${rate(end.best_rate)}` : ''}`
			: '',
		end.load_sent === null ? '' : `${percent(end.load_sent)} (${bits(end.octets_sent_s)})`,
		percent(end.wait),
		end.errors_minute === null ? '' : end.errors_minute.toFixed(1),
		end.packets_sent_s === null ? '' : perSecond(end.packets_sent_s),
	];
}

const EXACT = /^\d{17,}$/;

function counterText(value) {
	return value === null
		? '–'
		: EXACT.test(value)
			? BigInt(value).toLocaleString('en-US')
			: count(value);
}

function cableTable(answer) {
	const [first, second] = rowsOf(answer.ends);
	const names = ['End', 'State', 'Link', 'Sends', 'Waits', 'Errors a minute', 'Packets'];
	const a = endFacts(first),
		b = endFacts(second);
	const counters = rowsOf(answer.counters).map((row) => [
		row.counter,
		counterText(row.first),
		counterText(row.second),
	]);
	return table(
		'Both ends of the cable',
		[
			['What', ''],
			['This end', ''],
			['Other end', ''],
		],
		[
			...names.map((name, i) => [name, a[i], b[i]]),
			...counters.filter(([, x, y]) => x !== '–' || y !== '–'),
		],
	);
}

export async function history(guid, port, value = 'load') {
	const answer = await ask('history', { node: guid, port, value, hours: 1 });
	return answer.points ?? [];
}

export async function inspectPort(port, go) {
	const number = ++asked;
	open(heading(`${port.node} port ${port.port}`, 'cable'), element('p', { text: 'asking …' }));
	let body;
	try {
		const answer = await ask('cable', { node: port.guid, port: port.port });
		body = cableTable(answer);
	} catch (failure) {
		body = element('p', { class: 'bad', text: failure.message });
	}
	if (number !== asked) return;
	const lines = element('div', { class: 'sparks' });
	open(
		heading(`${port.node} port ${port.port}`, 'cable'),
		lines,
		body,
		element(
			'p',
			{ class: 'actions' },
			element('button', {
				text: 'Show in the picture',
				onclick: () => go.picture(port.guid, port.peer_guid),
			}),
		),
	);
	for (const [value, title] of [
		['load', 'Load'],
		['wait', 'Waits'],
		['errors', 'Receive errors'],
	])
		try {
			const points = await history(port.guid, port.port, value);
			if (number === asked && points.length > 1)
				lines.append(
					element(
						'figure',
						{},
						sparkline(
							points.map((point) => point.value),
							`${title}, last hour`,
							value === 'errors' ? 1 : 0.1,
						),
						element('figcaption', {
							text: `${title}: at most ${
								value === 'errors'
									? perSecond(Math.max(...points.map((point) => point.value)))
									: percent(Math.max(...points.map((point) => point.value)))
							}`,
						}),
					),
				);
		} catch {
			return;
		}
}
