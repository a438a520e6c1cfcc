// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// Settings that leave the subnet open, with advice.
import { byId, element, mark, replace } from './words.js';

export function showSecurity(status) {
	if (!status) return;
	const list = status.insecure ?? [];
	replace(
		byId('security'),
		list.length
			? element(
					'ul',
					{ class: 'list' },
					...list.map((entry) =>
						element(
							'li',
							{ class: 'warning' },
							mark('warning'),
							element(
								'div',
								{},
								element(
									'span',
									{ class: 'what' },
									element('code', { text: entry.key }),
									` ${entry.why}`,
								),
								element('span', { class: 'advice', text: entry.advice }),
							),
						),
					),
				)
			: element('p', {}, mark('good'), ' No setting leaves the subnet open to its hosts.'),
	);
}
