// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// The table of all ports. Only rows that can be seen are elements; what follows is asked for when the
// table is scrolled there.
import { history, stateWords } from './inspect.js';
import { ask } from './poll.js';
import { byId, count, element, percent, rate, replace, rowsOf, sparkline } from './words.js';

const ROW = 26;
const PART = 500;
const ROWS_MAX = 100000;
const SPARK_AGE_MS = 20000;

const COLUMNS = [
	{ key: 'node', title: 'Node', text: (port) => port.node },
	{ key: 'port', title: 'Port', kind: 'number', text: (port) => String(port.port) },
	{
		key: 'peer',
		title: 'Other end',
		text: (port) => (port.peer ? `${port.peer} : ${port.peer_port}` : ''),
	},
	{ key: 'state', title: 'State', text: stateWords },
	{
		key: 'rate',
		title: 'Link',
		kind: 'number',
		text: (port) => (port.lanes ? `${port.lanes}x ${rate(port.rate)}` : ''),
	},
	{
		key: 'load',
		title: 'Load',
		kind: 'number',
		server: 'load',
		text: (port) => percent(loadOf(port)),
	},
	{
		key: 'wait',
		title: 'Waits',
		kind: 'number',
		server: 'wait',
		text: (port) => percent(port.wait),
	},
	{
		key: 'errors_minute',
		title: 'Errors/min',
		kind: 'number',
		server: 'errors',
		text: (port) =>
			port.errors_minute === null
				? ''
				: port.errors_minute
					? port.errors_minute.toFixed(1)
					: '0',
	},
	{
		key: 'lid',
		title: 'LID',
		kind: 'number',
		text: (port) => (port.lid ? String(port.lid) : ''),
	},
	{ key: 'hour', title: 'Last hour', fixed: true },
];

const idOf = (port) => `${port.guid}:${port.port}`;

const loadOf = (port) =>
	port.load_sent === null ? null : Math.max(port.load_sent, port.load_received);

export class Ports {
	constructor(go) {
		this.go = go;
		this.rows = [];
		this.next = null;
		this.sort = { key: 'node', down: false };
		this.sparks = new Map();
		this.filter = {};
		this.head();
		byId('ports-scroll').addEventListener('scroll', () => this.fill());
		byId('ports-body').addEventListener('keydown', (event) => this.key(event));
		byId('ports-body').addEventListener('focusin', (event) => this.stopAt(event.target));
		for (const id of ['ports-text', 'ports-state', 'ports-problem'])
			byId(id).addEventListener('input', () => this.changed());
		byId('ports-form').addEventListener('submit', (event) => event.preventDefault());
	}

	head() {
		replace(
			byId('ports-head'),
			...COLUMNS.map((column) =>
				element(
					'th',
					{
						scope: 'col',
						class: column.kind,
						'aria-sort':
							this.sort.key === column.key
								? this.sort.down
									? 'descending'
									: 'ascending'
								: null,
					},
					column.fixed
						? element('span', { text: column.title })
						: element('button', {
								text: column.title,
								onclick: () => this.sortBy(column),
							}),
				),
			),
		);
	}

	changed() {
		clearTimeout(this.timer);
		this.timer = setTimeout(() => this.reload(), 250);
	}

	show(args) {
		byId('ports-text').value = args.node ?? '';
		byId('ports-state').value = '';
		byId('ports-problem').value = args.problem ?? '';
		this.reload();
	}

	showBusiest() {
		this.sort = { key: 'load', down: true };
		this.head();
		this.show({});
	}

	arguments() {
		const text = byId('ports-text').value.trim(),
			args = {};
		if (/^0x[0-9a-f]{1,16}$/i.test(text))
			args.node = `0x${text.slice(2).toLowerCase().padStart(16, '0')}`;
		else if (/^\d+$/.test(text)) args.lid = text;
		else if (text) args.name = text;
		if (byId('ports-state').value) args.state = byId('ports-state').value;
		if (byId('ports-problem').value) args.problem = byId('ports-problem').value;
		const column = COLUMNS.find((one) => one.key === this.sort.key);
		if (column.server && this.sort.down) args.sort = column.server;
		return args;
	}

	// All that is loaded, again; quiet: the figures have changed, not the question.
	async reload(quiet = false) {
		const number = (this.number = (this.number ?? 0) + 1);
		const wanted = quiet ? Math.min(this.rows.length, 2 * PART) : PART;
		if (!quiet) byId('ports-scroll').scrollTop = 0;
		try {
			const answer = await ask('ports', {
				...this.arguments(),
				limit: Math.max(PART, Math.min(wanted, 1000)),
			});
			if (number !== this.number) return;
			this.rows = rowsOf(answer.ports);
			this.next = answer.next;
			byId('ports-fault').textContent = '';
		} catch (failure) {
			if (number === this.number) byId('ports-fault').textContent = failure.message;
			return;
		}
		this.order();
		this.fill(true);
	}

	// New figures of the rows about those that are seen, if too many are loaded to ask for all.
	async renew() {
		const number = (this.number = (this.number ?? 0) + 1),
			first = this.first ?? 0;
		const after = first ? { after: idOf(this.rows[first - 1]) } : {};
		let answer;
		try {
			answer = await ask('ports', { ...this.arguments(), limit: PART, ...after });
		} catch (failure) {
			byId('ports-fault').textContent = failure.message;
			return;
		}
		if (number !== this.number) return;
		const fresh = rowsOf(answer.ports),
			last = fresh.length ? idOf(fresh.at(-1)) : null;
		const end = this.rows.findIndex((port, i) => i >= first && idOf(port) === last);
		const rest = end < 0 ? [] : this.rows.slice(end + 1);
		if (!rest.length) this.next = answer.next;
		this.rows = [...this.rows.slice(0, first), ...fresh, ...rest];
		this.fill(true);
	}

	async more() {
		if (!this.next || this.loading || this.rows.length > ROWS_MAX) return;
		this.loading = true;
		const number = this.number;
		try {
			const answer = await ask('ports', {
				...this.arguments(),
				limit: PART,
				after: this.next,
			});
			if (number === this.number) {
				this.rows.push(...rowsOf(answer.ports));
				this.next = answer.next;
				this.fill(true);
			}
		} catch (failure) {
			byId('ports-fault').textContent = failure.message;
		}
		this.loading = false;
	}

	sortBy(column) {
		const same = this.sort.key === column.key;
		if (this.next && column.key !== 'node' && !column.server) {
			byId('ports-fault').textContent =
				`to sort by ${column.title}, filter until all rows are here`;
			return;
		}
		this.sort = {
			key: column.key,
			down: column.server ? !(same && this.sort.down) : same && !this.sort.down,
		};
		this.head();
		this.reload();
	}

	order() {
		const { key, down } = this.sort;
		if (this.next || (key === 'node' && !down)) return;
		const value = (port) =>
			key === 'load'
				? (loadOf(port) ?? -1)
				: key === 'state'
					? stateWords(port)
					: (port[key] ?? '');
		this.rows.sort((a, b) => {
			const x = value(a),
				y = value(b);
			const order =
				typeof x === 'number' && typeof y === 'number'
					? x - y
					: String(x).localeCompare(String(y), undefined, { numeric: true });
			return down ? -order : order;
		});
	}

	// Elements for the rows that can be seen.
	fill(anew = false) {
		const box = byId('ports-scroll');
		const first = Math.max(0, Math.floor(box.scrollTop / ROW) - 5);
		const last = Math.min(
			this.rows.length,
			first + Math.ceil((box.clientHeight || 400) / ROW) + 10,
		);
		if (!anew && first === this.first && last === this.last) return;
		const focused = document.activeElement?.dataset?.row;
		[this.first, this.last] = [first, last];
		const space = (height) =>
			element(
				'tr',
				{ class: 'space', 'aria-hidden': 'true' },
				Object.assign(element('td', { colSpan: COLUMNS.length }), {}),
			);
		const above = space(),
			below = space();
		above.firstChild.style.height = `${first * ROW}px`;
		below.firstChild.style.height = `${(this.rows.length - last) * ROW}px`;
		byId('ports-body').replaceChildren(
			above,
			...this.rows.slice(first, last).map((port, i) => this.row(port, first + i)),
			below,
		);
		byId('ports-table').setAttribute('aria-rowcount', this.next ? -1 : this.rows.length + 1);
		byId('ports-count').textContent =
			`${count(this.rows.length)} ports${this.next ? ', more below' : ''}`;
		byId('ports-none').hidden = this.rows.length > 0;
		this.oneStop();
		if (focused)
			byId('ports-body')
				.querySelector(`[data-row="${focused}"]`)
				?.focus({ preventScroll: true });
		if (this.next && last > this.rows.length - 60) this.more();
		clearTimeout(this.sparkTimer);
		this.sparkTimer = setTimeout(() => this.drawSparks(), 300);
	}

	row(port, i) {
		const bad = port.lost || port.condition || port.silent || port.alarm >= 3;
		const warn = port.slow || port.errors_minute > 0 || port.alarm === 2;
		const id = idOf(port);
		return element(
			'tr',
			{ class: bad ? 'bad' : warn ? 'warning' : '', 'aria-rowindex': String(i + 2) },
			...COLUMNS.map((column, at) => {
				if (column.fixed) return element('td', { class: 'hour', 'data-spark': id });
				const text = column.text(port);
				if (!at)
					return element(
						'th',
						{ scope: 'row' },
						element('button', {
							class: 'link',
							text,
							'data-row': id,
							'aria-label': `${text} port ${port.port}: both ends of the cable`,
							onclick: () => this.go.port(port),
						}),
					);
				return element('td', {
					class: column.kind,
					text,
					title: column.key === 'peer' ? text : '',
				});
			}),
		);
	}

	// ---- the keyboard: the rows are one stop of Tab, in which arrows move ----

	stopAt(button) {
		const { row } = button.dataset;
		if (!row) return;
		this.stop = row;
		for (const one of byId('ports-body').querySelectorAll('[data-row]'))
			one.tabIndex = one === button ? 0 : -1;
	}

	// At the row where the keyboard was, or at the first one to be seen.
	oneStop() {
		const buttons = [...byId('ports-body').querySelectorAll('[data-row]')];
		const stop = buttons.find((one) => one.dataset.row === this.stop) ?? buttons[0];
		for (const one of buttons) one.tabIndex = one === stop ? 0 : -1;
	}

	key(event) {
		const box = byId('ports-scroll');
		const page = Math.max(1, Math.floor(box.clientHeight / ROW) - 2);
		const step = {
			ArrowUp: -1,
			ArrowDown: 1,
			PageUp: -page,
			PageDown: page,
			Home: -Infinity,
			End: Infinity,
		}[event.key];
		const now = this.rows.findIndex((port) => idOf(port) === event.target.dataset.row);
		if (!step || now < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
		event.preventDefault();
		const to = Math.max(0, Math.min(this.rows.length - 1, now + step));
		const top = to * ROW;
		if (top < box.scrollTop) box.scrollTop = top;
		else if (top + 2 * ROW > box.scrollTop + box.clientHeight)
			box.scrollTop = top + 2 * ROW - box.clientHeight;
		this.fill();
		byId('ports-body')
			.querySelector(`[data-row="${idOf(this.rows[to])}"]`)
			?.focus({ preventScroll: true });
	}

	async drawSparks() {
		if (
			!this.measured ||
			document.hidden ||
			byId('tab-ports').getAttribute('aria-selected') !== 'true'
		)
			return;
		for (const cell of byId('ports-body').querySelectorAll('[data-spark]')) {
			const [guid, port] = cell.dataset.spark.split(':');
			const known = this.sparks.get(cell.dataset.spark);
			if (known) cell.replaceChildren(known.svg.cloneNode(true));
			if ((known && performance.now() - known.at < SPARK_AGE_MS) || !cell.isConnected)
				continue;
			try {
				const points = await history(guid, port);
				const most = Math.max(0, ...points.map((point) => point.value));
				const svg = sparkline(
					points.map((point) => point.value),
					`load of the last hour, at most ${percent(most)}`,
					0.1,
				);
				this.sparks.set(cell.dataset.spark, { svg, at: performance.now() });
				cell.replaceChildren(svg.cloneNode(true));
			} catch {
				return;
			}
		}
	}

	refresh(measured) {
		this.measured = measured;
		if (byId('tab-ports').getAttribute('aria-selected') !== 'true') return;
		if (this.rows.length > 2 * PART && !this.arguments().sort) this.renew();
		else this.reload(true);
	}
}
