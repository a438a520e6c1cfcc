// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// The picture of the fabric: asks for what is open, and lets people move in it by pointer and keys.
import { Canvas, palette } from './draw.js';
import { whyNoFabric } from './health.js';
import { arrange } from './layout.js';
import {
	addBareHosts,
	addHosts,
	addMissing,
	boxModel,
	judge,
	remember,
	shorten,
	visible,
	wholeModel,
} from './model.js';
import { ask } from './poll.js';
import { byId, count, element, percent, plural, replace } from './words.js';

const WHOLE_MAX = 500;
const HOSTS_OPEN_MAX = 40; // in such a small fabric all leaves are open
const NEAR = 7;
const ZOOM_MAX = 60;
const WAYS_MAX = 40;
const BUSY = 0.8;
const BUSY_SHOWN = 3;

export class Picture {
	constructor(inspect) {
		this.inspect = inspect;
		this.canvas = new Canvas(byId('picture'));
		this.view = { x: 0, y: 0, zoom: 1, tall: 1 };
		this.open = new Set();
		this.closed = new Set(); // groups of a small fabric, which are open unless closed
		this.answers = new Map();
		this.ways = new Map();
		this.known = new Map(); // places of boxes without levels
		this.past = new Map();
		this.selected = null;
		this.pathGuids = [];
		this.listen();
	}

	// ---- data ----

	async refresh(state) {
		this.state = state;
		this.none(whyNoFabric(state));
		if (!state.summary) return this.clear();
		const small = state.summary.totals.switches <= WHOLE_MAX;
		this.small = small;
		const answers = new Map();
		if (small) answers.set('', await ask('whole', {}, { stale: state.stale }));
		else answers.set('', state.summary);
		await this.askForOpen(answers, small, state);
		await this.askForWays(state.missing);
		this.answers = answers;
		this.build();
	}

	// In place of the picture.
	none(why) {
		byId('picture-none').hidden = !why;
		if (byId('picture-none').textContent !== (why ?? ''))
			byId('picture-none').textContent = why ?? '';
	}

	clear() {
		this.model = this.scene = this.selected = null;
		byId('picture-rule').textContent = '';
		this.canvas.context.clearRect(0, 0, this.canvas.width, this.canvas.height);
		byId('picture').setAttribute('aria-label', 'There is no picture of the fabric.');
	}

	async askForOpen(answers, small, state) {
		const { switches, hosts } = state.summary.totals;
		const leaves =
			hosts <= HOSTS_OPEN_MAX && small
				? answers
						.get('')
						.boxes.rows.filter((row) => row[5] > 0)
						.map((row) => row[0])
				: [];
		for (const id of new Set([...this.open, ...leaves])) {
			const [kind, guid] = id.split('=');
			if (this.closed.has(id) || (small && kind !== 'switch')) continue;
			try {
				answers.set(
					id,
					kind === 'switch'
						? await this.hostsOf(guid)
						: await ask('links', { [kind]: guid }),
				);
			} catch {
				this.open.delete(id);
			}
		}
		if (!switches) answers.set('hosts', await this.bareHosts());
	}

	async hostsOf(guid) {
		const [nodes, ports] = await Promise.all([
			ask('nodes', { switch: guid }),
			ask('ports', { node: guid }),
		]);
		return { nodes: nodes.nodes, ports: ports.ports };
	}

	async bareHosts() {
		const [nodes, ports] = await Promise.all([
			ask('nodes', { limit: 100 }),
			ask('ports', { limit: 400 }),
		]);
		return { nodes: nodes.nodes, ports: ports.ports };
	}

	// Where what is missing was, if that is in a closed box.
	async askForWays(missing) {
		if (this.small) return;
		const guids = new Set([
			...missing.nodes.map((node) => node.peer),
			...missing.links.flatMap((link) => [link.guid, link.peer]),
			...this.pathGuids,
		]);
		for (const guid of [...guids].filter((one) => !this.ways.has(one)).slice(0, WAYS_MAX))
			await this.wayTo(guid);
	}

	async wayTo(guid) {
		try {
			this.ways.set(guid, (await ask('where', { node: guid })).way);
		} catch {
			this.ways.delete(guid);
		}
		return this.ways.get(guid) ?? [];
	}

	build() {
		const { state, answers } = this;
		const model = this.small
			? wholeModel(answers.get(''), this.closed)
			: boxModel(answers, this.open);
		for (const [id, answer] of answers) {
			const leaf = id.startsWith('switch=') && model.items.find((item) => item.id === id);
			if (leaf && visible(leaf) === leaf) addHosts(model, leaf, answer);
		}
		if (answers.has('hosts')) addBareHosts(model, answers.get('hosts'));
		remember(model, this.past);
		addMissing(model, state.missing, this.past, this.ways);
		this.model = model;
		this.measured = state.summary.window > 0;
		this.words = judge(model);
		shorten(model);
		this.selected =
			this.selected &&
			(model.items.find((item) => item.id === this.selected.id) ??
				model.bundles.find(
					(bundle) =>
						bundle.a.id === this.selected.a?.id && bundle.b.id === this.selected.b?.id,
				));
		this.layOut();
	}

	// ---- painting ----

	layOut() {
		if (!this.model) return;
		const box = byId('picture-box').getBoundingClientRect();
		this.narrow = box.width < 560;
		this.gutter = this.narrow ? 10 : 96;
		this.canvas.resize(Math.floor(box.width), Math.floor(box.height));
		const width = box.width - this.gutter - 14,
			height = box.height - 84;
		this.places = arrange(this.model.root, this.model.bundles, width, height, this.known);
		if (this.view.zoom === 1) this.view = this.home();
		for (const bundle of this.model.bundles)
			bundle.flat = this.places.kind !== 'levels' || bundle.a.level === bundle.b.level;
		this.describe();
		this.paint();
	}

	// More than one, by which boxes are arranged.
	hasLevels() {
		return this.places?.kind === 'levels' && this.places.top > 1;
	}

	rowsShown() {
		if (this.places.kind !== 'levels') return null;
		const { rows, top } = this.places,
			list = [];
		const switches = new Map(this.state.summary.levels.rows.map(([level, n]) => [level, n]));
		for (let level = top; level >= 1; level--)
			list.push({
				y: rows.at(level),
				level,
				title:
					top === 1
						? 'Switches'
						: level === 1
							? 'Leaves'
							: level === top
								? 'Roots'
								: `Level ${level}`,
				note: plural(switches.get(level) ?? 0, 'switch', 'switches'),
			});
		if (this.model.root.hosts)
			list.push({ y: rows.hosts, title: 'Hosts', note: this.hostsNote() });
		return list;
	}

	hostsNote() {
		const total = count(this.state.summary.totals.hosts);
		const numbers = new Set(
			this.model.root.children
				.filter((item) => item.kind !== 'set')
				.map((item) => item.hosts),
		);
		return numbers.size === 1 && this.model.root.children.length > 48
			? `${total}: ${[...numbers][0]} each`
			: total;
	}

	calls() {
		const list = this.words
			.filter(({ item }) => item.space)
			.map(({ item, words, kind }) => ({ item, words, kind }));
		for (const bundle of this.model.bundles
			.filter((one) => one.lost && !one.ofGhost)
			.slice(0, 6))
			list.push({
				item: this.middle(bundle),
				words: bundle.lost > 1 ? `${bundle.lost} cables down` : 'cable down',
				kind: 'bad',
			});
		for (const bundle of this.model.bundles.filter((one) => one.slow && !one.lost).slice(0, 3))
			list.push({ item: this.middle(bundle), words: 'slow cable', kind: 'warn' });
		const errors = this.model.bundles.filter((one) => one.errors > 0 && !one.lost);
		for (const bundle of errors.sort((a, b) => b.errors - a.errors).slice(0, 3))
			list.push({ item: this.middle(bundle), words: 'errors', kind: 'error' });
		return list.concat(this.busiest());
	}

	// The boxes with the most cables that are nearly full; each such cable counts once.
	busiest() {
		let busy = this.model.bundles.filter((bundle) => this.measured && bundle.load >= BUSY);
		const list = [];
		while (busy.length && list.length < BUSY_SHOWN) {
			const at = new Map();
			for (const { a, b } of busy)
				for (const item of [a, b]) at.set(item, (at.get(item) ?? 0) + 1);
			const [item, n] = [...at].sort((x, y) => y[1] - x[1] || x[0].level - y[0].level)[0];
			const most = Math.max(
				...busy.filter(({ a, b }) => a === item || b === item).map(({ load }) => load),
			);
			list.push({
				item,
				kind: 'busy',
				words:
					n > 1
						? `${item.title}: ${n} cables up to ${percent(most)} busy`
						: `${item.title}: ${percent(most)} busy`,
			});
			busy = busy.filter(({ a, b }) => a !== item && b !== item);
		}
		return list;
	}

	middle(bundle) {
		const [x1, y1, x2, y2] = bundle.line ?? [0, 0, 0, 0];
		return { area: { x: (x1 + x2) / 2 - 3, y: (y1 + y2) / 2 - 6, w: 6, h: 12 } };
	}

	paint() {
		if (!this.model || this.waiting) return;
		this.waiting = requestAnimationFrame(() => {
			this.waiting = 0;
			this.paintNow();
		});
	}

	paintNow() {
		const { model } = this,
			start = performance.now();
		const shown = model.items.filter((item) => visible(item) === item && item.space);
		const bundles = model.bundles.filter((bundle) => bundle.a.space && bundle.b.space);
		const scene = {
			items: shown,
			bundles,
			frames: model.items.filter(
				(item) => item.children && item.kind !== 'switch' && item.space,
			),
			rows: this.rowsShown(),
			view: this.view,
			selected: this.selected,
			narrow: this.narrow,
			gutter: this.gutter,
			many: bundles.length > 400,
			measured: this.measured,
			showsHosts: this.places.kind === 'levels' || shown.length <= 24 || this.view.zoom > 1.8,
			hostsAt: this.places.kind === 'levels' ? this.places.rows.hosts : null,
			path: this.pathGuids
				.map((guid, i) => ({ item: model.find(guid), n: i + 1 }))
				.filter(({ item }) => item)
				.map(({ item, n }) => ({ item: visible(item), n }))
				.filter(({ item }, i, list) => item.space && item !== list[i - 1]?.item),
		};
		for (const bundle of bundles) bundle.line = null;
		scene.callouts = [];
		this.canvas.paint(scene);
		scene.callouts = this.calls();
		this.canvas.callouts(scene);
		this.scene = scene;
		document.body.dataset.ready ??= String(Math.round(performance.now()));
		performance.clearMeasures('picture');
		performance.measure('picture', { start });
	}

	// In words, for those who do not see it.
	describe() {
		const { summary } = this.state;
		const rule = {
			levels: plural(this.places.top, 'level'),
			ring: 'a ring',
			flat: 'no levels',
		}[this.places.kind];
		const wrong = this.words
			.slice(0, 5)
			.map(({ words }) => words)
			.join(', ');
		byId('picture').setAttribute(
			'aria-label',
			`Picture of the fabric: ${plural(
				summary.totals.switches,
				'switch',
				'switches',
			)}, ${plural(summary.totals.hosts, 'host')}, ${rule}. ${
				wrong ? `Wrong: ${wrong}.` : ''
			} Arrow keys choose a box, Enter opens or closes it, plus and minus zoom.`,
		);
		const notes = {
			ring: 'A ring: the switches are shown in their order along it.',
			flat: `No levels here: switches stand near those they have cables to${this.hostsEach()}.`,
		};
		byId('picture-rule').textContent =
			summary.totals.switches > 2 ? (notes[this.places.kind] ?? this.closedNote()) : '';
	}

	closedNote() {
		const isClosed = (item) => visible(item) === item && !item.children && item.switches > 1;
		return this.model.items.some(isClosed) ? 'A box of several switches opens by a click.' : '';
	}

	hostsEach() {
		const numbers = new Set(this.model.root.children.map((item) => item.hosts));
		return numbers.size === 1 && !numbers.has(0)
			? `; each has ${plural([...numbers][0], 'host')}`
			: '';
	}

	theme() {
		this.canvas.colours = palette();
		this.paint();
	}

	// ---- what people do ----

	listen() {
		const canvas = byId('picture');
		new ResizeObserver(() => this.layOut()).observe(byId('picture-box'));
		canvas.addEventListener('pointerdown', (event) => this.grab(event));
		canvas.addEventListener('pointermove', (event) => this.move(event));
		canvas.addEventListener('pointerup', (event) => this.release(event));
		canvas.addEventListener('pointercancel', () => {
			this.held = null;
		});
		canvas.addEventListener('pointerleave', () => (byId('tip').hidden = true));
		canvas.addEventListener(
			'wheel',
			(event) => {
				if (!event.ctrlKey && document.activeElement !== canvas) return;
				event.preventDefault();
				this.zoomBy(Math.exp(-event.deltaY * 0.002), event.offsetX, event.offsetY);
			},
			{ passive: false },
		);
		canvas.addEventListener('keydown', (event) => this.key(event));
		byId('zoom-in').addEventListener('click', () => this.zoomBy(1.6));
		byId('zoom-out').addEventListener('click', () => this.zoomBy(1 / 1.6));
		byId('zoom-reset').addEventListener('click', () => this.reset());
		byId('find').addEventListener('submit', (event) => {
			event.preventDefault();
			this.search(byId('find-text').value.trim());
		});
	}

	zoomBy(factor, x = this.canvas.width / 2, y = this.canvas.height / 2) {
		const zoom = Math.max(1, Math.min(ZOOM_MAX, this.view.zoom * factor));
		const tall = this.tallAt(zoom);
		const wide = zoom / this.view.zoom,
			high = tall / this.view.tall;
		this.view =
			zoom === 1
				? this.home()
				: { x: x - (x - this.view.x) * wide, y: y - (y - this.view.y) * high, zoom, tall };
		this.paint();
	}

	home() {
		return { x: this.gutter, y: 42, zoom: 1, tall: 1 };
	}

	// Levels stay near each other, so that a leaf and its hosts can be seen together.
	tallAt(zoom) {
		return this.places.kind === 'levels' ? zoom ** 0.25 : zoom;
	}

	reset() {
		this.view = this.home();
		this.paint();
	}

	grab(event) {
		this.held = { x: event.offsetX, y: event.offsetY, view: this.view, moved: false };
		byId('picture').setPointerCapture(event.pointerId);
	}

	move(event) {
		const { held } = this;
		if (!held) return this.hover(event);
		const dx = event.offsetX - held.x,
			dy = event.offsetY - held.y;
		held.moved ||= Math.hypot(dx, dy) > 4;
		if (!held.moved || this.view.zoom === 1) return;
		this.view = { ...held.view, x: held.view.x + dx, y: held.view.y + dy };
		this.paint();
	}

	release(event) {
		const { held } = this;
		this.held = null;
		if (!held || held.moved) return;
		const hit = this.hit(event.offsetX, event.offsetY);
		this.select(hit);
		if (hit?.children === null && hit.kind !== 'switch' && hit.kind !== 'host')
			this.toggle(hit);
		else if (hit?.isFrame) this.toggle(hit.frame);
	}

	// The box there; or the title of a frame; or the cables.
	hit(x, y) {
		const inside = ({ x: left, y: top, w, h }) => {
			const more = Math.max(0, (12 - Math.min(w, h)) / 2);
			return (
				x >= left - more && x <= left + w + more && y >= top - more && y <= top + h + more
			);
		};
		const scene = this.scene ?? { items: [], frames: [], bundles: [] };
		const box = [...scene.items]
			.reverse()
			.find(
				(item) =>
					item.area && !(item.children && item.kind !== 'switch') && inside(item.area),
			);
		if (box) return box;
		const frame = scene.frames.find((item) =>
			inside({
				x: this.canvas.x(item.left),
				y: this.canvas.y(item.y) - 42,
				w: this.canvas.x(item.right) - this.canvas.x(item.left),
				h: 18,
			}),
		);
		if (frame) return { isFrame: true, frame };
		let best = null,
			least = NEAR;
		for (const bundle of scene.bundles) {
			const away = bundle.line
				? distance(bundle.line, x, y) - (bundle.lost ? 4 : 0)
				: Infinity;
			if (away < least) [best, least] = [bundle, away];
		}
		return best;
	}

	hover(event) {
		const tip = byId('tip');
		const hit = event.pointerType === 'touch' ? null : this.hit(event.offsetX, event.offsetY);
		byId('picture').style.cursor = hit ? 'pointer' : this.view.zoom > 1 ? 'grab' : 'default';
		tip.hidden = !hit;
		if (!hit) return;
		tip.textContent = hit.isFrame ? `close ${hit.frame.title}` : this.inWords(hit);
		tip.style.left = `${Math.min(event.offsetX + 14, this.canvas.width - tip.offsetWidth - 6)}px`;
		tip.style.top = `${Math.max(4, event.offsetY - tip.offsetHeight - 8)}px`;
	}

	inWords(hit) {
		if (hit.a)
			return [
				`${hit.a.title} – ${hit.b.title}`,
				plural(hit.cables, 'cable'),
				hit.lost && `✕ ${hit.lost} down`,
				hit.slow && `${hit.slow} slow`,
				this.measured && `${percent(hit.load)} busy`,
				hit.errors && `${hit.errors.toFixed(1)} errors a minute`,
			]
				.filter(Boolean)
				.join(' · ');
		return [
			hit.title,
			hit.kind !== 'switch' && hit.switches && plural(hit.switches, 'switch', 'switches'),
			hit.hosts && plural(hit.hosts, 'host'),
			hit.loops && plural(hit.loops, 'loop'),
			hit.words && `✕ ${hit.words}`,
			this.measured && hit.load > 0 && `${percent(hit.load)} busy`,
		]
			.filter(Boolean)
			.join(' · ');
	}

	select(hit) {
		this.selected = hit?.isFrame ? null : hit;
		this.paint();
		this.inspect(this.selected);
		if (this.selected) byId('picture-said').textContent = this.inWords(this.selected);
	}

	async toggle(item) {
		if (item.gone || item.kind === 'host') return;
		const isOpen = Boolean(item.children);
		this.closed[isOpen ? 'add' : 'delete'](item.id);
		if (!this.small || item.kind === 'switch') this.open[isOpen ? 'delete' : 'add'](item.id);
		await this.refresh(this.state);
	}

	async search(text) {
		if (!text) return replace(byId('found'));
		const args = /^0x[0-9a-f]{1,16}$/i.test(text)
			? null
			: /^\d+$/.test(text)
				? { lid: text }
				: { name: text };
		let rows = [];
		try {
			rows = args
				? (await ask('nodes', { ...args, limit: 8 })).nodes.rows
				: await this.byGuid(`0x${text.slice(2).toLowerCase().padStart(16, '0')}`);
		} catch (failure) {
			return replace(byId('found'), element('li', { text: failure.message }));
		}
		if (rows.length === 1) return this.show(rows[0][0]);
		replace(
			byId('found'),
			...(rows.length
				? rows.map(([guid, name]) =>
						element(
							'li',
							{},
							element('button', {
								class: 'link',
								text: name,
								onclick: () => this.show(guid),
							}),
						),
					)
				: [element('li', { text: `no node has “${text}”` })]),
		);
	}

	// Of a node, or of one of its ports.
	async byGuid(guid) {
		const { ports } = await ask('ports', { node: guid, limit: 1 });
		return ports.rows.length || this.model?.find(guid)
			? [[ports.rows[0]?.[0] ?? guid, guid]]
			: [];
	}

	// Opens what hides a node, and moves there.
	async show(guid, peer) {
		replace(byId('found'));
		let item = this.model?.find(guid);
		if (!item || item.id.split('=')[1] !== guid) {
			const way = await this.wayTo(guid);
			for (const id of way.slice(0, -1))
				(this.small ? this.closed : this.open)[this.small ? 'delete' : 'add'](id);
			await this.refresh(this.state);
			item = this.model.find(guid);
		}
		if (!item && !this.ways.get(guid)?.length && peer) return this.show(peer);
		if (!item) {
			byId('picture-said').textContent = 'not in the fabric now';
			replace(byId('found'), element('li', { text: 'It is not in the fabric now.' }));
			return;
		}
		for (let at = item.parent; at; at = at.parent) this.closed.delete(at.id);
		if (visible(item) !== item) await this.refresh(this.state);
		item = visible(this.model.find(guid) ?? item);
		this.moveTo(item);
		this.select(item);
		byId('picture-box').scrollIntoView({ block: 'nearest' });
	}

	moveTo(item) {
		const zoom = Math.max(1, Math.min(ZOOM_MAX, 92 / (item.space || 92)));
		const tall = this.tallAt(zoom);
		this.view =
			zoom === 1
				? this.home()
				: {
						x: this.canvas.width / 2 - item.x * zoom,
						y: this.canvas.height / 2 - item.y * tall,
						zoom,
						tall,
					};
	}

	async showPath(guids) {
		this.pathGuids = guids;
		if (this.state?.summary) await this.refresh(this.state);
		if (guids.length) this.reset();
	}

	key(event) {
		const moves = {
			ArrowLeft: [-1, 0],
			ArrowRight: [1, 0],
			ArrowUp: [0, -1],
			ArrowDown: [0, 1],
		};
		const keys = {
			'+': () => this.zoomBy(1.6),
			'=': () => this.zoomBy(1.6),
			'-': () => this.zoomBy(1 / 1.6),
			0: () => this.reset(),
			Escape: () => this.select(null),
			Enter: () => this.selected?.id && this.toggle(this.selected),
		};
		if (moves[event.key]) this.step(...moves[event.key]);
		else if (keys[event.key] && !event.ctrlKey && !event.metaKey) keys[event.key]();
		else return;
		event.preventDefault();
	}

	// To the nearest box in that direction.
	step(dx, dy) {
		const boxes = (this.scene?.items ?? []).filter(
			(item) => item.area && !(item.children && item.kind !== 'switch'),
		);
		const from = this.selected?.area;
		if (!from) return this.select(this.words[0]?.item ?? boxes[0]);
		let best = null,
			least = Infinity;
		const cx = from.x + from.w / 2,
			cy = from.y + Math.min(from.h, 30) / 2;
		for (const item of boxes) {
			const x = item.area.x + item.area.w / 2 - cx,
				y = item.area.y + Math.min(item.area.h, 30) / 2 - cy;
			const along = x * dx + y * dy,
				aside = Math.abs(x * dy) + Math.abs(y * dx);
			if (item === this.selected || along <= 2 || (dx && aside > 20 + along)) continue;
			const far = along + aside * (dx ? 8 : 2);
			if (far < least) [best, least] = [item, far];
		}
		if (best) {
			this.select(best);
			if (this.canvas.isOutside(best.area)) this.moveTo(best);
		}
	}
}

function distance([x1, y1, x2, y2], x, y) {
	const length = (x2 - x1) ** 2 + (y2 - y1) ** 2 || 1;
	const t = Math.max(0, Math.min(1, ((x - x1) * (x2 - x1) + (y - y1) * (y2 - y1)) / length));
	return Math.hypot(x - x1 - t * (x2 - x1), y - y1 - t * (y2 - y1));
}
