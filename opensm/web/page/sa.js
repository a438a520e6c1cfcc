// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// Requests to the SA: rates from two answers, and latencies.
import { byId, count, duration, element, perSecond, replace, table } from './words.js';

const RATES = [
	['sa_received', 'Requests'],
	['sa_answered', 'Answered'],
	['sa_errors', 'Answered with an error'],
	['sa_busy', 'Told that it is busy'],
	['sa_rate_dropped', 'Dropped: too many from one host'],
	['sa_quota_refused', 'Refused: quota'],
	['sa_stale', 'Too late'],
	['sa_reports_sent', 'Reports sent'],
	['sa_reports_unanswered', 'Reports without an answer'],
];

let before = null,
	rates = null;

export function takeSa(status) {
	const now = { at: performance.now(), counters: status.counters ?? {} };
	if (before && now.at - before.at < 900) return;
	rates =
		before &&
		Object.fromEntries(
			RATES.map(([name]) => [
				name,
				(Math.max(0, (now.counters[name] ?? 0) - (before.counters[name] ?? 0)) * 1000) /
					(now.at - before.at),
			]),
		);
	before = now;
}

export function showSa(status) {
	if (!status) return;
	const counters = status.counters ?? {};
	const latency = status.sa_latency ?? [];
	replace(
		byId('sa'),
		element('p', {
			class: 'note',
			text: `The SA is ${String(status.sa_state).toLowerCase()}; ${count(
				status.mads?.sa_outstanding ?? 0,
			)} requests wait.`,
		}),
		table(
			'Requests to the SA',
			[
				['What', ''],
				['Now', 'number'],
				['In all', 'number'],
			],
			RATES.map(([name, title]) => [
				title,
				rates ? perSecond(rates[name]) : '…',
				count(counters[name]),
			]),
		),
		element('h3', { text: 'Latency by attribute' }),
		latency.length
			? table(
					'Latency of the SA by attribute',
					[
						['Attribute', ''],
						['Answers', 'number'],
						['Last', 'number'],
						['Mean', 'number'],
						['Longest', 'number'],
					],
					latency.map((row) => [
						row.attribute,
						count(row.times),
						duration(row.last_us),
						duration(row.mean_us),
						duration(row.longest_us),
					]),
				)
			: element('p', { class: 'note', text: 'No request yet.' }),
	);
}
