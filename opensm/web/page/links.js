// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// The picture as a table: what it shows of cables, the worst first.
import { bits, byId, count, element, percent, plural, replace, table } from './words.js';

const ROWS_MAX = 500;

function worst(a, b) {
	return (
		b.lost - a.lost ||
		b.errors - a.errors ||
		b.slow - a.slow ||
		Math.round(100 * b.load) - Math.round(100 * a.load) || // less is noise
		a.a.title.localeCompare(b.a.title, undefined, { numeric: true }) ||
		a.b.title.localeCompare(b.b.title, undefined, { numeric: true })
	);
}

function state(bundle) {
	return (
		[
			bundle.lost && `✕ ${count(bundle.lost)} down`,
			bundle.errors && `! ${bundle.errors.toFixed(1)} errors/min`,
			bundle.slow && `! ${count(bundle.slow)} slow`,
		]
			.filter(Boolean)
			.join(', ') || 'well'
	);
}

export function showLinks(picture, go) {
	if (!picture.model) return;
	const bundles = [...picture.model.bundles].sort(worst);
	const end = (item) =>
		element('button', { class: 'link', text: item.title, onclick: () => go.item(item) });
	replace(
		byId('links'),
		element('p', {
			class: 'note',
			text: `What the picture shows now: ${plural(bundles.length, 'bundle')} of cables${
				bundles.length > ROWS_MAX ? `, the worst ${ROWS_MAX} of them here` : ''
			}.`,
		}),
		table(
			'Cables between the boxes of the picture',
			[
				['From', ''],
				['To', ''],
				['Cables', 'number'],
				['State', ''],
				['Busiest', 'number'],
				['Both ways', 'number'],
			],
			bundles
				.slice(0, ROWS_MAX)
				.map((bundle) => [
					end(bundle.a),
					end(bundle.b),
					count(bundle.cables),
					state(bundle),
					percent(bundle.load),
					bits(bundle.octets),
				]),
		),
	);
}
