// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// The way of a packet between two nodes, as a table and drawn into the picture.
import { ask } from './poll.js';
import { byId, count, element, replace, table } from './words.js';

export class Path {
	constructor(picture) {
		this.picture = picture;
		byId('path-form').addEventListener('submit', (event) => {
			event.preventDefault();
			this.find();
		});
		byId('path-clear').addEventListener('click', () => this.clear());
	}

	set(from, to) {
		if (from) byId('path-from').value = from;
		if (to) byId('path-to').value = to;
		if (byId('path-from').value && byId('path-to').value) this.find();
		else byId(from ? 'path-to' : 'path-from').focus();
	}

	clear() {
		byId('path-from').value = byId('path-to').value = '';
		replace(byId('path'));
		this.picture.showPath([]);
	}

	async find() {
		const from = byId('path-from').value.trim(),
			to = byId('path-to').value.trim();
		let answer;
		try {
			answer = await ask('path', { from, to });
		} catch (failure) {
			this.picture.showPath([]);
			return replace(
				byId('path'),
				element('p', { class: 'bad', text: `✕ ${failure.message}` }),
			);
		}
		replace(byId('path'), ...this.words(answer));
		return this.picture.showPath(answer.hops.map((hop) => hop.guid));
	}

	words(answer) {
		const by = (name) => (answer[`${name}_by`] ? ` (${answer[`${name}_by`]})` : '');
		return [
			element('p', {
				class: answer.arrives ? '' : 'bad',
				text: answer.arrives
					? `A packet arrives after ${answer.hops.length - 1} links: P_Key ${answer.p_key}${by('p_key')}, SL ${
							answer.sl
						}${by('sl')}, MTU ${count(answer.mtu)}${by('mtu')}, ${answer.rate}${by('rate')}.`
					: `✕ A packet does not arrive. ${answer.why ?? ''}`,
			}),
			table(
				'Hops of the path',
				[
					['Hop', 'number'],
					['Node', ''],
					['LID', 'number'],
					['In', 'number'],
					['Out', 'number'],
					['Link', ''],
				],
				answer.hops.map((hop, i) => [
					String(i + 1),
					hop.node,
					String(hop.lid ?? ''),
					String(hop.in_port ?? ''),
					String(hop.out_port ?? ''),
					hop.rate ?? '',
				]),
			),
		];
	}
}
