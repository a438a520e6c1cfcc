// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// The verdict, the figures under it, and the list of problems with where they are.
import {
	bits,
	brief,
	byId,
	count,
	element,
	mark,
	placesIn,
	plural,
	rate,
	replace,
	span,
} from './words.js';

const ROWS_MAX = 60;
const ORDER = ['bad', 'warning', 'busy', 'error', 'note'];
const isMaster = ({ status }) => status?.sm_state === 'Master';
const verdict = { words: '', kind: '' };

function show(kind, words, reason) {
	byId('verdict').className = `verdict ${kind}`;
	replace(
		byId('verdict'),
		mark(kind),
		element('strong', { text: words }),
		reason ? element('span', { class: 'reason', text: reason }) : null,
	);
	document.title = `${words} · opensm`;
	if (verdict.words && (verdict.words !== words || verdict.kind !== kind))
		byId('said').textContent = reason ? `${words}: ${reason}` : words;
	verdict.words = words;
	verdict.kind = kind;
}

// Why nothing of the fabric is known here; null: it is.
export function whyNoFabric({ health, status, summary }) {
	if (summary) return null;
	if (!health || !status) return 'Not known yet.';
	if (health.master)
		return `This SM is a standby and has no data about the fabric. See the page of the master, SM ${health.master.guid}.`;
	if (status.sm_state !== 'Master')
		return `This SM does not manage the subnet and has no data about the fabric: it is ${health.state}.`;
	return `The first sweep has not ended: ${health.state}.`;
}

function andMore(entries) {
	return (
		brief(entries[0].text) +
		(entries.length > 1 ? `, and ${plural(entries.length - 1, 'more', 'more')}` : '')
	);
}

export function showVerdict(state) {
	const { failure, health, status } = state;
	document.body.classList.toggle('stale', Boolean(failure));
	if (failure?.master)
		return show('unknown', 'Standby', `${failure.message}; the master is ${failure.master}`);
	if (failure) return show('unknown', 'Not connected', `${failure.message}; trying again`);
	if (!health) return show('unknown', 'Asking …', '');
	const wrong = problemsOf(state).filter(({ kind }) => kind === 'bad' || kind === 'warning');
	if (health.problems.length && !isMaster(state))
		return show('bad', health.master ? 'Standby, not healthy' : 'Not healthy', andMore(wrong));
	if (health.master) return show('unknown', 'Standby', `the master is SM ${health.master.guid}`);
	if (!isMaster(state)) return show('unknown', 'Not master', health.state);
	if (!status.has_subnet) return show('unknown', 'Starting', health.state);
	if (health.problems.length) return show('bad', 'Not healthy', andMore(wrong));
	if (!state.summary) return show('unknown', 'Asking …', '');
	if (wrong.length) return show('warning', 'Healthy, with warnings', andMore(wrong));
	return show(
		'good',
		'Healthy',
		state.busy?.length
			? `but busy: ${state.busy[0].words}`
			: 'all switches, hosts and cables are as they were',
	);
}

// ---- figures ----

function figure(title, value, note, kind) {
	return element(
		'div',
		{ class: `figure ${kind ?? ''}` },
		element('dt', { text: title }),
		element(
			'dd',
			{},
			element('b', { text: value }),
			note ? element('span', { class: 'note', text: note }) : null,
		),
	);
}

// 1 of x is broken: mark and word, not the colour alone.
function troubled(n, word) {
	return n ? `✕ ${count(n)} ${word}` : null;
}

export function showFigures(state) {
	const { summary, health, status, missing } = state;
	const totals = summary?.totals;
	if (!totals) return replace(byId('figures'));
	const lost = Math.max(totals.lost, missing.links.length);
	const { hosts, switches } = missing;
	const errors = totals.ports_with_errors;
	const last = health?.last_sweep;
	const sweeping = status?.subnet_flags?.sweep_running;
	replace(
		byId('figures'),
		figure('Hosts', count(totals.hosts), troubled(hosts, 'gone'), hosts ? 'bad' : ''),
		figure(
			'Switches',
			count(totals.switches),
			troubled(switches, 'gone') ?? (totals.silent ? `! ${totals.silent} silent` : null),
			switches ? 'bad' : totals.silent ? 'warning' : '',
		),
		figure(
			'Cables',
			count(totals.cables),
			troubled(lost, 'down') ?? (totals.slow ? `! ${totals.slow} slow` : null),
			lost ? 'bad' : totals.slow ? 'warning' : '',
		),
		figure(
			'Ports with errors',
			summary.counters ? count(errors) : 'not read',
			null,
			errors ? 'warning' : '',
		),
		figure('Hosts send', summary.window ? bits(totals.hosts_send_octets_s) : 'not measured'),
		figure(
			'Last sweep',
			sweeping ? 'running' : last ? `${span(last.seconds_ago)} ago` : '–',
			last ? `${last.kind}${last.errors ? ', with errors' : ''}` : null,
			last?.errors ? 'bad' : '',
		),
	);
}

// ---- problems ----

// Where a problem is: buttons that lead there.
function places(problem, go) {
	const guid = problem.guid;
	if (!guid) return null;
	return element(
		'span',
		{ class: 'places' },
		element('button', {
			class: 'link',
			text: 'Show',
			'aria-label': `Show in the picture: ${problem.text}`,
			onclick: () => go.picture(guid, problem.peer),
		}),
		problem.gone
			? null
			: element('button', {
					class: 'link',
					text: 'Ports',
					'aria-label': `Show the ports: ${problem.text}`,
					onclick: () => (problem.kind === 'busy' ? go.busiest() : go.ports(guid)),
				}),
	);
}

function fromHealth(entry, kind) {
	const split = entry.text.lastIndexOf('; ');
	return {
		kind,
		subject: entry.subject,
		text: split > 0 ? entry.text.slice(0, split) : entry.text,
		advice:
			split > 0 && entry.subject !== 'security'
				? entry.text
						.slice(split + 2)
						.replace('"health accept"', '"opensmctl health accept"')
				: null,
		guid: placesIn(entry.text)[0],
	};
}

function portText(port) {
	const peer = port.peer ? ` to ${port.peer} port ${port.peer_port}` : '';
	return `${port.node} port ${port.port}${peer}`;
}

function fromPort(port) {
	const at = { guid: port.guid, peer: port.peer_guid };
	if (port.lost)
		return {
			...at,
			kind: 'bad',
			subject: 'cable',
			text: `down: ${portText(port)}`,
			advice: 'check the cable and both ends',
		};
	if (port.condition)
		return {
			...at,
			kind: 'bad',
			subject: 'port',
			text: `${portText(port)}: ${port.condition}`,
			advice: 'replace the cable, then release it: unhealthy release',
		};
	if (port.silent)
		return {
			...at,
			kind: 'bad',
			subject: 'silent',
			text: `nothing answers behind ${portText(port)}`,
			advice: 'the link is up; check the device at its end',
		};
	if (port.alarm < 2 && port.errors_minute > 0 && !port.slow)
		return {
			...at,
			kind: 'error',
			subject: 'errors',
			text: `${portText(port)}: ${port.errors_minute.toFixed(1)} errors a minute`,
			advice: 'clean or replace the cable if they go on',
		};
	if (port.slow)
		return {
			...at,
			kind: 'warning',
			subject: 'slow',
			text: `${portText(port)}: ${rate(port.rate)} instead of ${rate(port.best_rate)}`,
			advice: 'clean or replace the cable',
		};
	return null;
}

// Each cable has two ends with the same problem.
function bothEndsOnce(ports) {
	const seen = new Set();
	return ports.filter((port) => {
		const ends = [`${port.guid}:${port.port}`, `${port.peer_guid}:${port.peer_port}`];
		const key = port.peer_guid && !port.condition ? ends.sort().join() : ends[0];
		return !seen.has(key) && seen.add(key);
	});
}

function ofFabric(state) {
	const { missing, ports = [], nodes = [] } = state,
		list = [];
	for (const node of missing.nodes)
		list.push({
			kind: 'bad',
			subject: node.type,
			text: node.text,
			guid: node.guid,
			peer: node.peer,
			gone: true,
			advice: 'check its power and its cables',
		});
	for (const link of missing.links)
		list.push({
			kind: 'bad',
			subject: 'cable',
			text: link.text,
			guid: link.guid,
			peer: link.peer,
			advice: 'check the cable and both ends',
		});
	for (const node of nodes.filter((one) => one.silent))
		list.push({
			kind: 'bad',
			subject: 'silent',
			text: `${node.name} does not answer`,
			guid: node.guid,
			advice: 'its routes are kept; look at its agent',
		});
	const known = new Set(missing.links.flatMap((link) => link.ends));
	const gone = new Set(missing.nodes.flatMap((node) => node.ends));
	for (const port of bothEndsOnce(ports)) {
		const end = `${port.guid}:${port.port}`;
		const told = known.has(end) || gone.has(end) || (missing.nodes.length && !port.peer_guid);
		const problem = port.lost && told ? null : fromPort(port);
		if (problem) list.push(problem);
	}
	for (const { item, words } of state.busy ?? [])
		list.push({
			kind: 'busy',
			subject: 'busy',
			text: words,
			guid: item.guid,
			advice: 'more is sent there than the links carry',
		});
	return list;
}

export function problemsOf(state) {
	const { health } = state;
	const list = state.summary ? ofFabric(state) : [];
	list.push(...(health?.problems ?? []).map((entry) => fromHealth(entry, 'bad')));
	for (const entry of health?.warnings ?? [])
		list.push(fromHealth(entry, entry.subject === 'security' ? 'note' : 'warning'));
	return list.sort((a, b) => ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind));
}

export function showProblems(state, go) {
	const problems = problemsOf(state);
	const shown = problems.slice(0, ROWS_MAX);
	const n = problems.filter((problem) => ['bad', 'warning'].includes(problem.kind)).length;
	byId('problem-count').textContent = n ? count(n) : '';
	byId('problem-count').classList.toggle(
		'warning',
		!problems.some((problem) => problem.kind === 'bad'),
	);
	if (!problems.length)
		return replace(
			byId('problems'),
			element(
				'li',
				{ class: 'none' },
				mark('good'),
				element('span', { text: state.health ? 'Nothing is wrong.' : 'Not known yet.' }),
			),
		);
	replace(
		byId('problems'),
		...shown.map((problem) =>
			element(
				'li',
				{ class: problem.kind },
				mark(problem.kind),
				element(
					'div',
					{},
					element('span', {
						class: 'what',
						title: problem.text,
						text: brief(problem.text),
					}),
					problem.advice
						? element('span', { class: 'advice', text: problem.advice })
						: null,
				),
				problem.subject === 'security'
					? element(
							'span',
							{ class: 'places' },
							element('button', {
								class: 'link',
								text: 'List',
								'aria-label': 'Show the security list',
								onclick: () => go.tab('security'),
							}),
						)
					: places(problem, go),
			),
		),
		problems.length > shown.length
			? element('li', {
					class: 'note',
					text: `and ${count(problems.length - shown.length)} more: see Ports`,
				})
			: null,
	);
}
