// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// Where each box of the picture is. A tree has its levels as rows, the roots at the top; what has
// no levels is a ring, or boxes that are close to those they have cables to.
//
// A box is an item: id, kind (switch, group, set, groups, host), level, guid, children (null: it is
// closed) and others that draw.js shows. Places are for a picture of width x height at zoom 1;
// item.space is the width that it has there.

const CLOSED = { switch: 1, host: 1, set: 1.6, groups: 2.2, group: 2.2 };
const HOST_COLUMNS = 6;

const isOwn = (item, child) => child.level === item.level;
const own = (item) => item.children.filter((child) => isOwn(item, child));
const inner = (item) => item.children.filter((child) => !isOwn(item, child));
const sum = (list) => list.reduce((total, item) => total + item.units, 0);

// The width of an item, in those of a closed switch.
function measure(item) {
	if (!item.children) {
		item.units = CLOSED[item.kind];
	} else if (item.kind === 'switch') {
		item.units = Math.max(1, Math.min(item.children.length, HOST_COLUMNS) * 0.55);
	} else {
		item.children.forEach(measure);
		item.units = Math.max(sum(own(item)) * 0.6, sum(inner(item)), 1) + 0.5;
	}
}

function spread(items, left, right, each) {
	const scale = (right - left) / Math.max(sum(items), 0.01);
	for (const item of items) {
		const width = item.units * scale;
		each(item, left, left + width);
		left += width;
	}
}

function placeHosts(item, rows) {
	const n = item.children.length;
	const columns = Math.min(n, HOST_COLUMNS);
	item.children.forEach((host, i) => {
		const column = i % columns,
			inRow = Math.min(columns, n - Math.floor(i / columns) * columns);
		host.space = item.space / columns;
		host.x = item.x + (column - (inRow - 1) / 2) * host.space;
		host.y = rows.ofHosts(item, Math.floor(i / columns), Math.ceil(n / columns));
	});
}

function place(item, left, right, rows) {
	item.x = (left + right) / 2;
	item.space = right - left;
	item.y = rows.at(item.level);
	item.bottom =
		item.kind === 'switch' || item.kind === 'set' ? item.y : rows.at(item.lowest ?? 1);
	if (!item.children) return;
	if (item.kind === 'switch') {
		placeHosts(item, rows);
		return;
	}
	const edge = Math.min((0.25 * (right - left)) / item.units, 12);
	item.left = left + edge / 2;
	item.right = right - edge / 2;
	spread(own(item), left + edge, right - edge, (child, l, r) => place(child, l, r, rows));
	spread(inner(item), left + edge, right - edge, (child, l, r) => place(child, l, r, rows));
}

function deepestHosts(items) {
	let most = 0;
	for (const item of items)
		if (item.children)
			most = Math.max(
				most,
				item.kind === 'switch'
					? Math.ceil(item.children.length / HOST_COLUMNS)
					: deepestHosts(item.children),
			);
	return most;
}

function arrangeLevels(root, width, height) {
	const top = root.level;
	const hosts = deepestHosts(root.children);
	const steps = top - 1 + (root.hosts ? 0.55 : 0) + Math.max(0, hosts - 1) * 0.3;
	const step = Math.min(height / Math.max(steps, 1), 260);
	const first = Math.max(0, (height - step * steps) / 2);
	const rows = {
		at: (level) => first + (top - Math.max(level, 1)) * step,
		hosts: first + (top - 1 + 0.55) * step,
		// Hosts of a switch that has others below it are between the two.
		ofHosts: (item, row, all) =>
			item.level > 1
				? rows.at(item.level) + (0.3 + (0.5 * row) / all) * step
				: rows.hosts + 0.3 * row * step,
	};
	measure(root);
	const most = root.units * 170;
	const from = Math.max(0, (width - most) / 2);
	place(root, from, width - from, rows);
	return { kind: 'levels', rows, top };
}

// ---- without levels ----

function neighboursOf(items, bundles) {
	const at = new Map(items.map((item, i) => [item, i]));
	const neighbours = items.map(() => new Map());
	for (const bundle of bundles) {
		const a = at.get(bundle.a),
			b = at.get(bundle.b);
		if (a === undefined || b === undefined || a === b) continue;
		neighbours[a].set(b, (neighbours[a].get(b) ?? 0) + 1);
		neighbours[b].set(a, (neighbours[b].get(a) ?? 0) + 1);
	}
	return neighbours;
}

// The items along a ring, or null if they are none.
function ringOf(neighbours) {
	const n = neighbours.length;
	if (n < 3 || neighbours.some((list) => list.size !== 2)) return null;
	const order = [0];
	let before = -1;
	while (order.length < n) {
		const now = order.at(-1);
		const next = [...neighbours[now].keys()].find((other) => other !== before);
		if (next === order[0]) return null;
		before = now;
		order.push(next);
	}
	return order;
}

// Vectors that change as little as possible from neighbour to neighbour: power iteration.
function smoothVectors(neighbours, many) {
	const n = neighbours.length,
		vectors = [];
	const degree = neighbours.map((list) => list.size);
	const shift = 2 * Math.max(...degree, 1);
	for (let k = 0; k < many; k++) {
		let v = Float64Array.from({ length: n }, (_, i) => Math.sin((i + 1) * (k + 1) * 12.9898));
		for (let round = 0; round < 120; round++) {
			const next = v.map((value, i) => {
				let around = 0;
				for (const other of neighbours[i].keys()) around += v[other];
				return (shift - degree[i]) * value + around;
			});
			const mean = next.reduce((a, b) => a + b, 0) / n;
			for (let i = 0; i < n; i++) next[i] -= mean;
			for (const earlier of vectors) {
				const dot = next.reduce((a, value, i) => a + value * earlier[i], 0);
				for (let i = 0; i < n; i++) next[i] -= dot * earlier[i];
			}
			const length = Math.hypot(...next) || 1;
			v = next.map((value) => value / length);
		}
		vectors.push(v);
	}
	return vectors;
}

// Items push each other away, and cables draw them together.
function relax(x, y, neighbours, rounds) {
	const n = x.length,
		ideal = Math.sqrt(1 / n);
	for (let round = 0; round < rounds; round++) {
		const dx = new Float64Array(n),
			dy = new Float64Array(n);
		for (let i = 0; i < n; i++) {
			for (let j = i + 1; j < n; j++) {
				const ax = x[i] - x[j],
					ay = y[i] - y[j];
				const force = (ideal * ideal) / (ax * ax + ay * ay + 1e-6);
				dx[i] += ax * force;
				dy[i] += ay * force;
				dx[j] -= ax * force;
				dy[j] -= ay * force;
			}
			for (const j of neighbours[i].keys()) {
				const ax = x[i] - x[j],
					ay = y[i] - y[j];
				const force = Math.hypot(ax, ay) / ideal;
				dx[i] -= ax * force;
				dy[i] -= ay * force;
			}
		}
		const step = 0.06 * (1 - round / rounds) + 0.002;
		for (let i = 0; i < n; i++) {
			const length = Math.hypot(dx[i], dy[i]) || 1;
			x[i] += (dx[i] / length) * Math.min(length, step);
			y[i] += (dy[i] / length) * Math.min(length, step);
		}
	}
}

function fitInto(items, x, y, width, height) {
	const range = (v) => [Math.min(...v), Math.max(...v)];
	const [x0, x1] = range(x),
		[y0, y1] = range(y);
	items.forEach((item, i) => {
		item.x = x1 - x0 < 1e-9 ? width / 2 : ((x[i] - x0) / (x1 - x0)) * width;
		item.y = y1 - y0 < 1e-9 ? height / 2 : ((y[i] - y0) / (y1 - y0)) * height;
		item.bottom = item.y;
	});
}

// Hosts stand beside their switch, away from the middle.
function placeAround(item, middleX, middleY, share) {
	const n = item.children.length,
		space = item.space;
	const out = Math.atan2(item.x - middleX, item.y - middleY);
	item.children.forEach((child, i) => {
		const angle = n > 4 ? (2 * Math.PI * i) / n : out + 0.7 * (i - (n - 1) / 2);
		child.space = space * share;
		child.x = item.x + Math.sin(angle) * space * 0.85;
		child.y = item.y + Math.cos(angle) * Math.min(space * 0.85, 58);
		child.bottom = child.y;
	});
}

function arrangeFlat(root, bundles, width, height, known) {
	const items = root.children,
		n = items.length;
	const neighbours = neighboursOf(items, bundles);
	const ring = ringOf(neighbours);
	let x = new Float64Array(n),
		y = new Float64Array(n);
	if (n === 2) {
		x.set([0, 1]);
	} else if (ring) {
		ring.forEach((item, i) => {
			x[item] = Math.sin((2 * Math.PI * i) / n);
			y[item] = -Math.cos((2 * Math.PI * i) / n);
		});
	} else if (items.every((item) => known.has(item.id))) {
		items.forEach((item, i) => ([x[i], y[i]] = known.get(item.id)));
	} else if (n > 2) {
		const [u, v] = smoothVectors(neighbours, 2);
		x = u.map((value) => (value * Math.sqrt(n)) / 4);
		y = v.map((value) => (value * Math.sqrt(n)) / 4);
		relax(x, y, neighbours, n > 300 ? 60 : 150);
	}
	items.forEach((item, i) => known.set(item.id, [x[i], y[i]]));
	const inset = n === 2 ? width * 0.3 : ring ? Math.max(0, (width - 1.6 * height) / 2) : 24;
	const edge = items.some((item) => item.children) ? 72 : 24;
	const side = edge === 24 ? 24 : 110;
	fitInto(items, x, y, Math.max(width - 2 * inset - 2 * side, width / 4), height - 2 * edge);
	const space = Math.min(130, 0.8 * Math.sqrt((width * height) / Math.max(n, 1)));
	for (const item of items) {
		item.x += Math.min(inset + side, (width * 3) / 8);
		item.y += edge;
		item.space = space;
		if (item.children) placeAround(item, width / 2, height / 2, n > 12 ? 0.33 : 0.8);
	}
	return { kind: ring ? 'ring' : 'flat' };
}

// Most cables lead to the same level.
export function hasLevels(root, bundles) {
	let across = 0,
		along = 0;
	for (const { a, b } of bundles) {
		if (!a || !b || a.kind === 'host' || b.kind === 'host') continue;
		if (a.level === b.level) along++;
		else across++;
	}
	return root.level > 0 && root.children.length > 0 && (along === 0 || across > along);
}

// Gives all items their places; says by which rule.
export function arrange(root, bundles, width, height, known) {
	return hasLevels(root, bundles)
		? arrangeLevels(root, width, height)
		: arrangeFlat(root, bundles, width, height, known);
}
