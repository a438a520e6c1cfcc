// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// Elements, texts and numbers as people read them. Text from the fabric becomes text nodes only.

export const byId = (id) => document.getElementById(id);

// An element with properties (class, text, on..., data-..., aria-... or a property) and children.
export function element(tag, properties = {}, ...children) {
	const made = document.createElement(tag);
	for (const [name, value] of Object.entries(properties)) {
		if (value === null || value === undefined || value === false) continue;
		if (name === 'class') made.className = value;
		else if (name === 'text') made.textContent = value;
		else if (name.startsWith('on')) made.addEventListener(name.slice(2), value);
		else if (name.includes('-') || name === 'role' || name === 'scope' || name === 'for')
			made.setAttribute(name, value);
		else made[name] = value;
	}
	made.append(...children.filter((child) => child !== null && child !== undefined));
	return made;
}

const FOCUSABLE = 'button, summary, a, input, select, [tabindex]';
const SCROLLED = '.scroll, .troubles';
// What an element is about, which other figures do not change: of a table, also its row.
function labelOf(one) {
	const row = [...(one.closest('tr')?.children ?? [])].slice(0, 2);
	return [one.getAttribute('aria-label'), one, ...row]
		.map((part) => part?.textContent ?? part)
		.join(' ');
}

// Whoever reads there, or is there by the keyboard, stays where they are.
export function replace(parent, ...children) {
	const scrolls = [...parent.querySelectorAll(SCROLLED)].map((one) => [
		one.scrollTop,
		one.scrollLeft,
	]);
	const focused = parent.contains(document.activeElement) ? document.activeElement : null;
	const at = focused ? [...parent.querySelectorAll(FOCUSABLE)].indexOf(focused) : -1;
	parent.replaceChildren(...children.filter((child) => child !== null && child !== undefined));
	parent.querySelectorAll(SCROLLED).forEach((one, i) => {
		if (scrolls[i]) [one.scrollTop, one.scrollLeft] = scrolls[i];
	});
	if (at < 0) return;
	const list = [...parent.querySelectorAll(FOCUSABLE)];
	const same = list.filter((one) => labelOf(one) === labelOf(focused));
	(same.includes(list[at]) ? list[at] : (same[0] ?? list[at]))?.focus({ preventScroll: true });
}

// ---- buttons of a table: one stop of Tab, in which arrows move ----

const buttonsOf = (box) => [...box.querySelectorAll('tbody button')];

function oneStopAt(box, button) {
	for (const one of buttonsOf(box)) one.tabIndex = one === button ? 0 : -1;
}

// To the button that many rows away in the same column, or many buttons away in the row.
function neighbourOf(button, rows, columns) {
	const cell = button.closest('td, th'),
		row = cell.parentElement;
	if (columns) {
		const list = [...row.querySelectorAll('button')];
		return list[list.indexOf(button) + columns];
	}
	const all = [...row.parentElement.children];
	const to = Math.max(0, Math.min(all.length - 1, all.indexOf(row) + rows));
	return all[to].children[cell.cellIndex]?.querySelector('button');
}

const STEPS = {
	ArrowUp: [-1, 0],
	ArrowDown: [1, 0],
	PageUp: [-10, 0],
	PageDown: [10, 0],
	Home: [-Infinity, 0],
	End: [Infinity, 0],
	ArrowLeft: [0, -1],
	ArrowRight: [0, 1],
};

// After the rows have changed; the first call makes the keys work.
export function oneStop(box) {
	if (!box.dataset.rows) {
		box.dataset.rows = 'one stop';
		box.addEventListener(
			'focusin',
			({ target }) => target.closest('tbody button') && oneStopAt(box, target),
		);
		box.addEventListener('keydown', (event) => {
			const step = STEPS[event.key],
				button = event.target.closest('tbody button');
			if (!step || !button || event.ctrlKey || event.metaKey || event.altKey) return;
			event.preventDefault();
			neighbourOf(button, ...step)?.focus();
		});
	}
	oneStopAt(
		box,
		buttonsOf(box).find((one) => one === document.activeElement) ?? buttonsOf(box)[0],
	);
	return box;
}

// A column: [title, class]. A row: list of texts or nodes.
export function table(caption, columns, rows) {
	const box = element(
		'div',
		{ class: 'scroll', tabIndex: 0, role: 'region', 'aria-label': caption },
		element(
			'table',
			{},
			element('caption', { class: 'hidden', text: caption }),
			element(
				'thead',
				{},
				element(
					'tr',
					{},
					...columns.map(([title, kind]) =>
						element('th', { scope: 'col', class: kind, text: title }),
					),
				),
			),
			element(
				'tbody',
				{},
				...rows.map((row) =>
					element(
						'tr',
						{},
						...row.map((cell, i) =>
							element(
								i ? 'td' : 'th',
								{ class: columns[i][1], scope: i ? null : 'row' },
								cell,
							),
						),
					),
				),
			),
		),
	);
	return oneStop(box);
}

// {columns, rows} of the API as objects.
export function rowsOf(list) {
	if (!list) return [];
	return list.rows.map((row) =>
		Object.fromEntries(list.columns.map((name, i) => [name, row[i]])),
	);
}

export const count = (n) => Number(n ?? 0).toLocaleString('en-US');

export function plural(n, word, many = `${word}s`) {
	return `${count(n)} ${Number(n) === 1 ? word : many}`;
}

const scaled = (value, unit) => {
	const steps = ['', 'k', 'M', 'G', 'T', 'P'];
	let i = 0;
	while (value >= 999.5 && i < steps.length - 1) {
		value /= 1000;
		i++;
	}
	const digits = value >= 100 || (i === 0 && Number.isInteger(value)) ? 0 : value >= 10 ? 1 : 2;
	return `${value.toFixed(digits)} ${steps[i]}${unit}`;
};

export const bits = (octets) => scaled(octets * 8, 'b/s');
export const perSecond = (n) => scaled(n, '/s');
// Mb/s as the speed of a link.
export const rate = (megabits) => (megabits ? `${Number((megabits / 1000).toFixed(1))} Gb/s` : '');

export function percent(share) {
	if (share === null || share === undefined) return '';
	const value = share * 100;
	return value === 0 ? '0 %' : value < 0.1 ? '<0.1 %' : `${value.toFixed(value < 10 ? 1 : 0)} %`;
}

export function duration(us) {
	if (us < 1000) return `${Math.round(us)} µs`;
	if (us < 1e6) return `${(us / 1000).toFixed(us < 1e4 ? 1 : 0)} ms`;
	return span(us / 1e6);
}

export function span(seconds) {
	if (seconds < 60)
		return `${seconds < 10 && !Number.isInteger(seconds) ? seconds.toFixed(1) : Math.floor(seconds)} s`;
	if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
	if (seconds < 172800)
		return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
	return `${Math.floor(seconds / 86400)} d`;
}

// "2026-11-28T22:19:52.510761" as the daemon writes it
export const clock = (time) => (time ?? '').slice(11, 19);

// A text for one glance: names without their GUIDs.
export const brief = (text) => text.replace(/ \(0x[0-9a-f]{16}\)/g, '');

// The GUIDs in a text.
export function placesIn(text) {
	const guid = /0x[0-9a-f]{16}/g;
	return [...new Set(text.match(guid) ?? [])];
}

const MARKS = { good: '✓', bad: '✕', warning: '!', note: 'i', busy: '▲', error: '~', unknown: '?' };

// A mark beside a word: never the colour alone.
export function mark(kind) {
	return element('span', { class: `mark ${kind}`, 'aria-hidden': 'true', text: MARKS[kind] });
}

// A line chart of numbers, for one glance.
// least: what at least reaches the top, so that next to nothing does not look like much.
export function sparkline(points, label, least = 0) {
	const NS = 'http://www.w3.org/2000/svg';
	const make = (tag, attributes) => {
		const made = document.createElementNS(NS, tag);
		for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
		return made;
	};
	const width = 120,
		height = 22;
	const svg = make('svg', {
		viewBox: `0 0 ${width} ${height}`,
		class: 'spark',
		role: 'img',
		'aria-label': label,
		preserveAspectRatio: 'none',
	});
	const most = Math.max(...points, least, 1e-12);
	const at = points.map((value, i) => [
		points.length > 1 ? (i * width) / (points.length - 1) : 0,
		height - 2 - ((height - 4) * value) / most,
	]);
	if (at.length > 1) {
		const line = at.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(' ');
		svg.append(
			make('polygon', { points: `0,${height} ${line} ${width},${height}` }),
			make('polyline', { points: line }),
		);
	}
	return svg;
}

// Runs it at once, and later calls within ms together at the end of that time.
export function throttled(run, ms) {
	let last = -Infinity,
		timer = 0;
	return () => {
		const wait = last + (typeof ms === 'function' ? ms() : ms) - performance.now();
		if (timer) return;
		timer = setTimeout(
			() => {
				timer = 0;
				last = performance.now();
				run();
			},
			Math.max(0, wait),
		);
	};
}
