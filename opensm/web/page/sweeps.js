// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// The last sweeps in a row: their kind as colour and letter, their duration as height.
import { byId, clock, duration, element, replace, table } from './words.js';

const SHOWN = 50;
const UNITS = { µs: 1, us: 1, ms: 1e3, s: 1e6 };
const KINDS = ['heavy', 'partial', 'reroute', 'multicast', 'policy', 'light'];

// "heavy sweep in 457.3 ms (start), 320 LFT blocks changed"
export function sweepOf(event) {
	const found = /^(\w+) sweep in ([\d.]+) (µs|us|ms|s)\b ?(?:\(([^)]*)\))?,? ?(.*)$/.exec(
		event.text,
	);
	return (
		found && {
			time: event.last ?? event.time,
			kind: found[1],
			us: Number(found[2]) * UNITS[found[3]],
			why: found[4] ?? '',
			changed: found[5],
			failed: /error|fail/.test(event.text),
		}
	);
}

function bar(sweep, longest) {
	const height = 6 + (50 * Math.log(1 + sweep.us)) / Math.log(1 + longest);
	const words = `${clock(sweep.time)} ${sweep.kind} sweep, ${duration(sweep.us)}${sweep.why ? `, ${sweep.why}` : ''}${
		sweep.failed ? ', with errors' : ''
	}`;
	const made = element(
		'li',
		{
			class: `sweep ${KINDS.includes(sweep.kind) ? sweep.kind : 'other'} ${
				sweep.failed ? 'failed' : ''
			}`,
			title: words,
		},
		element('span', { class: 'bar' }),
		element('span', {
			class: 'letter',
			'aria-hidden': 'true',
			text: sweep.failed ? '✕' : sweep.kind[0].toUpperCase(),
		}),
		element('span', { class: 'hidden', text: words }),
	);
	made.firstChild.style.height = `${height}px`;
	return made;
}

function running(status) {
	if (!status?.subnet_flags?.sweep_running) return null;
	return element('p', { text: 'A sweep is running now.' });
}

function steps(status) {
	const list = [...(status?.steps ?? [])]
		.sort((a, b) => b.longest_us - a.longest_us)
		.slice(0, 12);
	return table(
		'Steps of sweeps, the longest first',
		[
			['Step', ''],
			['Times', 'number'],
			['Last', 'number'],
			['Mean', 'number'],
			['Longest', 'number'],
		],
		list.map((step) => [
			step.step,
			String(step.times),
			duration(step.last_us),
			duration(step.mean_us),
			duration(step.longest_us),
		]),
	);
}

export function showSweeps(events, status) {
	const sweeps = events
		.filter((event) => event.kind === 'sweep')
		.map(sweepOf)
		.filter(Boolean);
	const shown = sweeps.slice(-SHOWN);
	const longest = Math.max(1, ...shown.map((sweep) => sweep.us));
	const line = () =>
		element(
			'ol',
			{ class: 'timeline', 'aria-label': `The last ${shown.length} sweeps` },
			...shown.map((sweep) => bar(sweep, longest)),
		);
	replace(
		byId('timeline'),
		shown.length
			? line()
			: element('p', { class: 'note', text: 'No sweep has changed anything yet.' }),
	);
	replace(
		byId('sweeps'),
		running(status),
		table(
			'The last sweeps',
			[
				['Time', ''],
				['Kind', ''],
				['Took', 'number'],
				['Why', ''],
				['Changed', ''],
			],
			[...shown]
				.reverse()
				.map((sweep) => [
					clock(sweep.time),
					sweep.failed ? `✕ ${sweep.kind}` : sweep.kind,
					duration(sweep.us),
					sweep.why,
					sweep.changed || '–',
				]),
		),
		element('h3', { text: 'Steps' }),
		steps(status),
	);
}
