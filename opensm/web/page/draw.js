// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// Paints the picture on a canvas: cables, boxes, and words where something is broken.

import { fitted } from './labels.js';

const FONT = '11px system-ui, sans-serif';
const BOLD = '600 11px system-ui, sans-serif';
const LINES_MAX = 20000;
const CALLOUTS_MAX = 14;

// Colours of the style sheet, read again when the theme has changed.
export function palette() {
	const style = getComputedStyle(document.documentElement);
	const names = [
		'panel',
		'ink',
		'muted',
		'line',
		'cable',
		'box',
		'edge',
		'frame',
		'bad',
		'warn',
		'busy',
		'mid',
		'good',
		'accent',
		'error',
		'on-bad',
	];
	return Object.fromEntries(
		names.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]),
	);
}

// Steps of load: a colour and a width of their own.
export function loadStep(load) {
	return load >= 0.8 ? 3 : load >= 0.4 ? 2 : load >= 0.05 ? 1 : 0;
}

export class Canvas {
	constructor(element) {
		this.element = element;
		this.context = element.getContext('2d');
		this.colours = palette();
	}

	resize(width, height) {
		const ratio = Math.min(window.devicePixelRatio || 1, 2);
		this.width = width;
		this.height = height;
		this.element.width = Math.round(width * ratio);
		this.element.height = Math.round(height * ratio);
		this.ratio = ratio;
	}

	// scene: items, bundles, rows, view (x, y, zoom), selected, path, many
	paint(scene) {
		const c = this.context;
		this.view = scene.view;
		c.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
		c.clearRect(0, 0, this.width, this.height);
		this.frames(scene);
		this.lines(scene);
		this.path(scene);
		for (const item of scene.items) this.box(item, scene);
		this.numbers(scene);
		this.rows(scene);
	}

	x(world) {
		return world * this.view.zoom + this.view.x;
	}

	y(world) {
		return world * this.view.tall + this.view.y;
	}

	// The rectangle of an item on the screen.
	area(item) {
		const zoom = this.view.zoom,
			x = this.x(item.x),
			y = this.y(item.y);
		if (item.kind === 'host') {
			const size = Math.max(4, Math.min(item.space * zoom * 0.7, 16));
			return { x: x - size / 2, y: y - size / 2, w: size, h: size };
		}
		const tall = item.bottom > item.y + 1;
		const w = Math.max(
			2.5,
			Math.min(item.space * zoom * (tall ? 0.84 : 0.74), tall ? 210 : 140),
		);
		const h = Math.max(6, Math.min(w * 0.6, 30));
		return {
			x: x - w / 2,
			y: y - h / 2,
			w,
			h: h + (tall ? (item.bottom - item.y) * this.view.tall : 0),
		};
	}

	isOutside(area) {
		return (
			area.x > this.width ||
			area.y > this.height ||
			area.x + area.w < 0 ||
			area.y + area.h < 0
		);
	}

	// ---- rows and frames ----

	rows(scene) {
		const c = this.context;
		if (scene.narrow || !scene.rows) return;
		c.textAlign = 'left';
		c.textBaseline = 'middle';
		for (const row of scene.rows) {
			const y = this.y(row.y);
			if (this.view.zoom > 1) {
				c.fillStyle = this.colours.panel;
				c.globalAlpha = 0.88;
				c.fillRect(0, y - 17, scene.gutter, 34);
				c.globalAlpha = 1;
			}
			c.font = BOLD;
			c.fillStyle = this.colours.ink;
			c.fillText(row.title, 12, y - 7);
			c.font = FONT;
			c.fillStyle = this.colours.muted;
			c.fillText(row.note, 12, y + 8);
		}
	}

	// Its leaves are so far apart that each has the number of its hosts below it.
	countsHosts(item) {
		const leaf = item.children.find((child) => child.kind === 'switch' && child.hosts);
		return !leaf || leaf.space * this.view.zoom > 12;
	}

	frames(scene) {
		const c = this.context;
		for (const item of scene.frames) {
			const left = this.x(item.left),
				right = this.x(item.right);
			const top = this.y(item.y) - 24,
				bottom = this.y(item.bottom) + 26;
			c.beginPath();
			c.roundRect(left, top, right - left, bottom - top, 6);
			c.fillStyle = this.colours.frame;
			c.fill();
			c.lineWidth = item === scene.selected ? 2 : 1;
			c.strokeStyle = item === scene.selected ? this.colours.accent : this.colours.line;
			c.stroke();
			this.whole(
				item.title,
				(left + right) / 2,
				top - 8,
				right - left - 4,
				this.colours.muted,
			);
			if (scene.hostsAt !== null && item.note && !this.countsHosts(item))
				this.hostsOf(item, (left + right) / 2, this.y(scene.hostsAt), right - left);
		}
	}

	// ---- cables ----

	styleOf(bundle, scene) {
		const faint = scene.many ? 0.2 : 0.75;
		const thick = scene.many ? 0 : Math.min(2, Math.log2(bundle.cables || 1) * 0.5);
		if (bundle.lost)
			return { colour: this.colours.bad, width: 2, dash: [5, 4], alpha: 1, rank: 9 };
		if (bundle.errors > 0)
			return { colour: this.colours.error, width: 2, dash: [8, 3, 2, 3], alpha: 1, rank: 8 };
		if (bundle.slow)
			return { colour: this.colours.warn, width: 2, dash: [2, 3], alpha: 1, rank: 7 };
		const step = scene.measured ? loadStep(bundle.load) : 0;
		const colour = ['cable', 'mid', 'mid', 'busy'][step];
		return {
			colour: this.colours[colour],
			width: [0.9, 1.2, 2.2, 3.4][step] + thick,
			dash: [],
			alpha: [faint, scene.many ? 0.36 : 0.6, 0.9, 1][step],
			rank: step,
		};
	}

	curve(bundle) {
		const a = this.area(bundle.a),
			b = this.area(bundle.b);
		let ax = a.x + a.w / 2,
			bx = b.x + b.w / 2;
		const spread = (area, other) =>
			area.h > 40 || area.w > 60
				? Math.max(area.x + 4, Math.min(area.x + area.w - 4, other))
				: area.x + area.w / 2;
		const middle = [ax, bx];
		ax = a.w > 60 ? ax + (spread(a, middle[1]) - ax) * 0.4 : ax;
		bx = b.w > 60 ? bx + (spread(b, middle[0]) - bx) * 0.4 : bx;
		if (bundle.b.children && bundle.b.kind !== 'switch')
			return [ax, a.y + a.h, bx, this.y(bundle.b.y) - 24];
		if (bundle.flat) return [ax, a.y + a.h / 2, bx, b.y + b.h / 2];
		return a.y <= b.y ? [ax, a.y + a.h, bx, b.y] : [ax, a.y, bx, b.y + b.h];
	}

	lines(scene) {
		const c = this.context,
			styles = new Map();
		for (const bundle of scene.bundles.slice(0, LINES_MAX)) {
			const style = this.styleOf(bundle, scene);
			const key = `${style.rank}:${style.width.toFixed(1)}`;
			if (!styles.has(key)) styles.set(key, { style, list: [] });
			styles.get(key).list.push(bundle);
		}
		c.lineCap = 'butt';
		this.ownLines(scene);
		for (const { style, list } of [...styles.values()].sort(
			(p, q) => p.style.rank - q.style.rank,
		)) {
			c.beginPath();
			for (const bundle of list) {
				const [x1, y1, x2, y2] = this.curve(bundle);
				bundle.line = [x1, y1, x2, y2];
				c.moveTo(x1, y1);
				c.lineTo(x2, y2);
			}
			c.strokeStyle = style.colour;
			c.lineWidth = style.width;
			c.globalAlpha = style.alpha;
			c.setLineDash(style.dash);
			c.stroke();
		}
		c.globalAlpha = 1;
		c.setLineDash([]);
		for (const bundle of scene.bundles)
			if (bundle.lost && !bundle.ofGhost)
				this.cross(
					(bundle.line[0] + bundle.line[2]) / 2,
					(bundle.line[1] + bundle.line[3]) / 2,
					6,
				);
	}

	// Those of the box that is selected, or of the cables themselves.
	ownLines(scene) {
		const c = this.context,
			{ selected } = scene;
		if (!selected) return;
		c.beginPath();
		for (const bundle of scene.bundles) {
			if (bundle !== selected && bundle.a !== selected && bundle.b !== selected) continue;
			const [x1, y1, x2, y2] = this.curve(bundle);
			c.moveTo(x1, y1);
			c.lineTo(x2, y2);
		}
		c.strokeStyle = this.colours.accent;
		c.globalAlpha = 0.55;
		c.lineWidth = 6;
		c.stroke();
		c.globalAlpha = 1;
	}

	cross(x, y, size) {
		const c = this.context;
		c.beginPath();
		c.arc(x, y, size, 0, 2 * Math.PI);
		c.fillStyle = this.colours.bad;
		c.fill();
		c.beginPath();
		const s = size * 0.45;
		c.moveTo(x - s, y - s);
		c.lineTo(x + s, y + s);
		c.moveTo(x + s, y - s);
		c.lineTo(x - s, y + s);
		c.strokeStyle = this.colours['on-bad'];
		c.lineWidth = 1.6;
		c.stroke();
	}

	// ---- boxes ----

	box(item, scene) {
		if (item.children && item.kind !== 'switch') return;
		const c = this.context,
			area = this.area(item);
		item.area = area;
		if (this.isOutside(area)) return;
		const tall = area.h > 70;
		const small = area.w < (item.switches > 1 ? 22 : 26) && !tall;
		const trouble = item.gone ? 'bad' : item.trouble;
		c.beginPath();
		c.roundRect(
			area.x,
			area.y,
			area.w,
			area.h,
			item.kind === 'host' ? area.w / 2 : Math.min(5, area.w / 4),
		);
		c.fillStyle = this.fill(item, small, trouble);
		c.fill();
		c.setLineDash(item.gone ? [3, 3] : []);
		c.lineWidth = trouble ? 2 : 1;
		c.strokeStyle = trouble ? this.colours[trouble] : this.colours.edge;
		c.stroke();
		c.setLineDash([]);
		this.stack(item, area);
		if (tall) this.levels(item, area, scene);
		this.loadBar(item, area, scene, small);
		this.loops(item, area);
		this.labels(item, area, small, scene);
		if (item === scene.selected) {
			c.beginPath();
			c.roundRect(area.x - 3, area.y - 3, area.w + 6, area.h + 6, 7);
			c.lineWidth = 2;
			c.strokeStyle = this.colours.accent;
			c.stroke();
		}
	}

	fill(item, small, trouble) {
		if (item.gone) return this.colours.panel;
		if (small) return this.colours[trouble ?? 'edge'];
		return this.colours.box;
	}

	// A group looks like cards that lie on each other.
	stack(item, area) {
		if (item.kind === 'switch' || item.kind === 'host' || area.w < 12) return;
		const c = this.context;
		c.beginPath();
		c.moveTo(area.x + 3, area.y - 3);
		c.lineTo(area.x + area.w + 3, area.y - 3);
		c.lineTo(area.x + area.w + 3, area.y + area.h - 4);
		c.strokeStyle = this.colours.edge;
		c.lineWidth = 1;
		c.stroke();
	}

	// What is in a closed group: switches at each of its levels, as many as there is room for.
	levels(item, area, scene) {
		const c = this.context,
			n = Math.max(1, Math.min(6, Math.floor((area.w - 4) / 8)));
		const step = area.w / (n + 0.5),
			size = Math.min(step * 0.6, 12);
		c.fillStyle = this.colours.edge;
		for (const row of scene.rows ?? [])
			if (row.level <= item.level && row.level >= 1)
				for (let i = 0; i < n; i++)
					c.fillRect(area.x + step * (i + 0.75) - size / 2, this.y(row.y) - 3, size, 6);
	}

	loadBar(item, area, scene, small) {
		const step = scene.measured ? loadStep(item.load ?? 0) : 0;
		if (!step || item.gone) return;
		const c = this.context;
		c.fillStyle = this.colours[['', 'mid', 'mid', 'busy'][step]];
		if (small) c.fillRect(area.x, area.y + area.h - 3, area.w, 3);
		else c.fillRect(area.x + 3, area.y + area.h - 4, (area.w - 6) * Math.min(item.load, 1), 3);
	}

	// Cables that lead back to the switch: a bow at its side.
	loops(item, area) {
		if (!item.loops || item.gone) return;
		const c = this.context,
			size = Math.max(3, Math.min(11, area.h / 2.6));
		c.beginPath();
		c.arc(area.x + area.w, area.y + area.h / 2, size, -Math.PI / 2, Math.PI / 2);
		c.strokeStyle = this.colours.cable;
		c.lineWidth = 1.6;
		c.stroke();
	}

	labels(item, area, small, scene) {
		const x = area.x + area.w / 2;
		const tall = area.h > 70;
		const ink = item.gone ? this.colours.bad : this.colours.ink;
		if (item.kind === 'host') {
			if (this.view.zoom * item.space > 36)
				this.text(
					item.name,
					x,
					area.y + area.h + 9,
					item.space * this.view.zoom - 4,
					this.colours.muted,
					item.forms,
				);
			return;
		}
		if (tall && area.w < 92 && area.w >= 11) {
			this.upright(item, area, ink);
			this.hosts(item, area, x, scene);
			return;
		}
		if (!small) {
			this.text(
				this.title(item, area.w - 6),
				x,
				area.y + area.h / 2,
				area.w - 6,
				ink,
				item.forms,
			);
		}
		if (item.hosts && !item.children && scene.showsHosts) this.hosts(item, area, x, scene);
	}

	// Of several switches, only their number if there is no room for more.
	title(item, width) {
		this.context.font = FONT;
		return item.switches > 1 && this.context.measureText(item.title).width > width
			? `×${item.switches}`
			: item.title;
	}

	// How many hosts it has: in the row of hosts, or below it if there are switches between.
	hosts(item, area, x, scene) {
		const frame = item.parent;
		if (frame?.kind !== 'root' && frame?.children && !this.countsHosts(frame)) return;
		const room = item.space * this.view.zoom;
		const c = this.context;
		const inRow = scene.hostsAt !== null && (area.h > 70 || item.level <= 1);
		const y = inRow ? this.y(scene.hostsAt) : area.y + area.h + 9;
		if (inRow) {
			c.beginPath();
			c.moveTo(x, area.y + area.h);
			c.lineTo(x, y - (room > 12 ? 8 : 10));
			c.strokeStyle = this.colours.cable;
			c.globalAlpha = 0.6;
			c.lineWidth = 1;
			c.stroke();
			c.globalAlpha = 1;
		}
		this.hostsOf(item, x, y, room);
	}

	// In words, or as a number alone if there is no room.
	hostsOf(item, x, y, room) {
		const words = item.hosts === 1 ? '1 host' : `${item.hosts} hosts`;
		this.context.font = FONT;
		for (const shown of [words, String(item.hosts)])
			if (this.context.measureText(shown).width <= room - 1) {
				this.text(shown, x, y, room, this.colours.muted);
				return;
			}
	}

	// forms: of a name; words that are not the name come first, if they fit
	text(words, x, y, width, colour, forms) {
		const c = this.context;
		c.font = FONT;
		c.textAlign = 'center';
		c.textBaseline = 'middle';
		const measure = (one) => c.measureText(one).width;
		const isName = !forms?.length || forms[0].text === words;
		const shown =
			!isName && measure(words) <= width ? words : fitted(words ?? '', forms, width, measure);
		if (!shown) return;
		c.fillStyle = colour;
		c.fillText(shown, x, y);
	}

	// All of it or nothing.
	whole(words, x, y, width, colour) {
		this.context.font = FONT;
		if (this.context.measureText(words).width <= width) this.text(words, x, y, width, colour);
	}

	upright(item, area, colour) {
		const c = this.context;
		c.save();
		c.translate(area.x + area.w / 2, area.y + area.h / 2);
		c.rotate(-Math.PI / 2);
		this.text(item.name, 0, 0, area.h - 10, colour, item.forms);
		c.restore();
	}

	// ---- what is broken, in words ----

	callouts(scene) {
		const taken = [];
		let n = 0;
		for (const { item, words, kind } of scene.callouts) {
			const area = item.area;
			if (!area || this.isOutside(area)) continue;
			if (n < CALLOUTS_MAX && this.callout(words, area, kind, taken, scene)) n++;
			else if (kind === 'bad') this.cross(area.x + area.w / 2, area.y, 5);
		}
	}

	callout(words, area, kind, taken, scene) {
		const c = this.context;
		c.font = BOLD;
		const text = `${kind === 'bad' ? '✕' : '!'} ${words}`;
		const w = c.measureText(text).width + 14,
			h = 19;
		const least = scene.rows && !scene.narrow && area.x > scene.gutter ? scene.gutter - 8 : 4;
		const x = Math.max(least, Math.min(area.x + area.w / 2 - w / 2, this.width - w - 4));
		const places = [
			area.y + Math.min(area.h, 40) + 8,
			area.y - h - 8,
			area.y + area.h + 30,
			area.y - h - 30,
			area.y + area.h + 52,
		];
		const y = places.find(
			(one) =>
				one > 2 &&
				one + h < this.height &&
				!taken.some(
					(other) =>
						x < other.x + other.w + 3 &&
						other.x < x + w + 3 &&
						one < other.y + h + 3 &&
						other.y < one + h + 3,
				),
		);
		if (y === undefined) return false;
		taken.push({ x, y, w });
		const from = area.x + area.w / 2;
		c.beginPath();
		c.moveTo(from, y > area.y ? area.y + Math.min(area.h, 40) : area.y);
		c.lineTo(from, y > area.y ? y : y + h);
		c.strokeStyle = this.colours[kind];
		c.lineWidth = 1.5;
		c.stroke();
		c.beginPath();
		c.roundRect(x, y, w, h, 4);
		c.fillStyle = this.colours[kind];
		c.fill();
		c.fillStyle = this.colours['on-bad'];
		c.textAlign = 'left';
		c.textBaseline = 'middle';
		c.fillText(text, x + 7, y + h / 2 + 0.5);
		return true;
	}

	// ---- a path ----

	path(scene) {
		if (scene.path.length < 2) return;
		const c = this.context;
		c.beginPath();
		scene.path.forEach(({ item }, i) => {
			const area = this.area(item);
			const x = area.x + area.w / 2,
				y = area.y + Math.min(area.h, 30) / 2;
			if (i) c.lineTo(x, y);
			else c.moveTo(x, y);
		});
		c.lineJoin = 'round';
		for (const [colour, width] of [
			['panel', 9],
			['accent', 4],
		]) {
			c.strokeStyle = this.colours[colour];
			c.lineWidth = width;
			c.stroke();
		}
	}

	// Of the hops, at their boxes, as in the table.
	numbers(scene) {
		const c = this.context;
		for (const { item, n } of scene.path) {
			const { x, y, w, h } = this.area(item);
			c.beginPath();
			c.roundRect(x - 1, y - 1, w + 2, h + 2, 5);
			c.strokeStyle = this.colours.accent;
			c.lineWidth = 2;
			c.stroke();
			c.beginPath();
			c.arc(x, y - 3, 8, 0, 2 * Math.PI);
			c.fillStyle = this.colours.accent;
			c.fill();
			c.font = BOLD;
			c.textAlign = 'center';
			c.textBaseline = 'middle';
			c.fillStyle = this.colours['on-bad'];
			c.fillText(String(n), x, y - 2.5);
		}
	}
}
