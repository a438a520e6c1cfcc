// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// Events as they come, the newest first.
import { byId, clock, element, oneStop, placesIn, replace } from './words.js';

const KEPT = 2000;
const SHOWN = 200;

export class Events {
	constructor(go) {
		this.go = go;
		this.byKey = new Map(); // in the order of their serials
		this.kinds = new Set();
		byId('events-kind').addEventListener('change', () => this.show());
		byId('events-text').addEventListener('input', () => this.show());
	}

	clear() {
		this.byKey.clear();
	}

	get all() {
		return [...this.byKey.values()];
	}

	// One that was repeated comes again with another serial.
	take(events) {
		for (const event of events) {
			const key = `${event.time} ${event.text}`;
			this.byKey.delete(key);
			this.byKey.set(key, event);
			this.kinds.add(event.kind);
			if (this.byKey.size > KEPT) this.byKey.delete(this.byKey.keys().next().value);
		}
	}

	show() {
		const select = byId('events-kind');
		for (const kind of [...this.kinds].sort())
			if (![...select.options].some((option) => option.value === kind))
				select.append(element('option', { value: kind, text: kind }));
		const text = byId('events-text').value.toLowerCase();
		const wanted = this.all.filter(
			(event) =>
				(!select.value || event.kind === select.value) &&
				(!text || event.text.toLowerCase().includes(text)),
		);
		byId('events-none').hidden = wanted.length > 0;
		replace(
			byId('events-body'),
			...wanted
				.slice(-SHOWN)
				.reverse()
				.map((event) => this.row(event)),
		);
		oneStop(byId('events-body').closest('.scroll'));
	}

	row(event) {
		const guid = event.guid ?? placesIn(event.text)[0];
		return element(
			'tr',
			{ class: /^(link_down|nodes_gone)$/.test(event.change ?? '') ? 'bad' : '' },
			element(
				'td',
				{ class: 'time' },
				element('time', { dateTime: event.time, text: clock(event.last ?? event.time) }),
			),
			element('td', { text: event.kind }),
			element(
				'td',
				{ class: 'wide' },
				element('span', { text: event.text }),
				event.times > 1
					? element('span', { class: 'note', text: ` ${event.times} times` })
					: null,
			),
			element(
				'td',
				{},
				guid
					? element('button', {
							class: 'link',
							text: 'Show',
							'aria-label': `Show in the picture: ${event.text}`,
							onclick: () => this.go.picture(guid, event.peer_guid),
						})
					: null,
			),
		);
	}
}
