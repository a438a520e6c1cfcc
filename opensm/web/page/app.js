// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// Puts the parts together: what is news, what is asked again then, and which parts show it.
import { Events } from './events.js';
import { showFigures, showProblems, showVerdict, whyNoFabric } from './health.js';
import { inspect, inspectPort } from './inspect.js';
import { showLinks } from './links.js';
import { Missing } from './missing.js';
import { showGroups, showPartitions } from './partitions.js';
import { Path } from './path.js';
import { Picture } from './picture.js';
import { Failure, ask, follow } from './poll.js';
import { Ports } from './ports.js';
import { showSa, takeSa } from './sa.js';
import { showSecurity } from './security.js';
import { ownGuid, showSms } from './sms.js';
import { showSweeps } from './sweeps.js';
import { byId, element, rowsOf, span, throttled } from './words.js';

const SOON_MS = 150;
const QUIET_MS = 10000; // between two looks at all, when there is no news
const LARGE_PORTS = 20000;
const LARGE_MS = 5000; // between two looks at the fabric, if it is large

const state = {
	missing: new Missing(),
	health: null,
	status: null,
	summary: null,
	failure: null,
	at: 0,
};

const go = {
	picture: (guid, peer) => picture.show(guid, peer),
	ports: (guid) => {
		tabs.show('ports');
		ports.show({ node: guid });
	},
	busiest: () => {
		tabs.show('ports');
		ports.showBusiest();
	},
	port: (port) => inspectPort(port, go),
	tab: (name) => tabs.show(name),
	hasLevels: () => picture.hasLevels(),
	toggle: (item) => picture.toggle(item).then(() => inspect(picture.selected, go)),
	item: (item) => {
		picture.moveTo(item);
		picture.select(item);
	},
	path: (from, to) => {
		tabs.show('path');
		path.set(from, to);
	},
};

const picture = new Picture((chosen) => inspect(chosen, go));
const ports = new Ports(go);
const events = new Events(go);
const path = new Path(picture);

// ---- tabs ----

const tabs = {
	all: [...document.querySelectorAll('[role=tab]')],
	now: 'ports',
	named(name) {
		return this.all.some((tab) => tab.id === `tab-${name}`) ? name : null;
	},
	show(name) {
		// The same table after the page is loaded again, or by a link to it.
		if (name !== this.now) history.replaceState(null, '', `#${name}`);
		this.now = name;
		for (const tab of this.all) {
			const chosen = tab.id === `tab-${name}`;
			tab.setAttribute('aria-selected', String(chosen));
			tab.tabIndex = chosen ? 0 : -1;
			byId(tab.getAttribute('aria-controls')).hidden = !chosen;
			if (chosen) tab.scrollIntoView({ block: 'nearest', inline: 'nearest' });
		}
		showTab();
	},
	key(event) {
		const at = this.all.indexOf(event.target);
		const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: this.all.length - 1 }[
			event.key
		];
		if (to === undefined) return;
		event.preventDefault();
		const tab = this.all[(to + this.all.length) % this.all.length];
		this.show(tab.id.slice(4));
		tab.focus();
	},
};
for (const tab of tabs.all) {
	tab.addEventListener('click', () => tabs.show(tab.id.slice(4)));
	tab.addEventListener('keydown', (event) => tabs.key(event));
}

const failed = (id) => (failure) => {
	if (!(failure instanceof Failure)) throw failure;
	byId(id).textContent = failure.message;
};

const TABS = {
	ports: () => ports.refresh(state.summary?.window > 0),
	links: () => showLinks(picture, go),
	events: () => events.show(),
	sweeps: () => showSweeps(events.all, state.status),
	partitions: () => showPartitions().catch(failed('partitions')),
	multicast: () => showGroups().catch(failed('mgroups')),
	sa: () => showSa(state.status),
	sms: () => showSms(state),
	path: () => {},
	security: () => showSecurity(state.status),
};

const OF_FABRIC = ['ports', 'links', 'partitions', 'multicast', 'path'];

// Says why the table of the fabric is not there, in its place.
function sayWhy(name) {
	const panel = byId(`panel-${name}`),
		why = OF_FABRIC.includes(name) ? whyNoFabric(state) : null;
	panel.querySelector('.why')?.remove();
	panel.classList.toggle('without', Boolean(why));
	if (why) panel.prepend(element('p', { class: 'none why', text: why }));
	return why;
}

const showTab = throttled(() => {
	// First the picture, then tables.
	if (sayWhy(tabs.now) || state.failure || document.hidden) return;
	TABS[tabs.now]();
}, SOON_MS);

// ---- looking ----

function showState() {
	const { health, status } = state;
	showVerdict(state);
	showFigures(state);
	showProblems(state, go);
	byId('sm').textContent = health ? health.state.split(/[ ,:]/)[0] : '';
	byId('sm-name').textContent = status
		? [ownGuid(state), `priority ${status.sm_priority}`].filter(Boolean).join(', ')
		: '';
	byId('version').textContent = status?.version ?? '';
}

function lost(failure) {
	state.failure = failure;
	showState();
	showTab();
}

// A standby has answers of its own, but none about the fabric.
async function look() {
	const [health, status] = await Promise.all([ask('health'), ask('status')]);
	Object.assign(state, { health, status, failure: null, at: Date.now() });
	takeSa(status);
	showState();
	if (!OF_FABRIC.includes(tabs.now) || !state.summary) showTab();
}

async function lookAtFabric() {
	if (state.status?.sm_state !== 'Master' || !state.status.has_subnet) {
		Object.assign(state, { summary: null, ports: [], nodes: [], busy: [] });
		await picture.refresh(state);
		showState();
		showTab();
		return;
	}
	const stale = !state.summary; // for the first picture
	state.stale = stale;
	const [summary, wrong, nodes] = await Promise.all([
		ask('summary', {}, { stale }),
		ask('ports', { problem: 'any', limit: 200 }, { stale }),
		ask('nodes', { problem: 'silent', limit: 50 }, { stale }),
	]);
	Object.assign(state, { summary, ports: rowsOf(wrong.ports), nodes: rowsOf(nodes.nodes) });
	await state.missing.verify(ask);
	await picture.refresh(state);
	state.busy = picture.busiest();
	showState();
	showTab();
	if (stale) lookAtCountersSoon();
}

const guarded = (run) => async () => {
	try {
		await run();
	} catch (failure) {
		if (!(failure instanceof Failure)) throw failure;
		if (failure.status === 0) lost(failure);
	}
};
const isLarge = () => (state.summary?.totals.ports.active ?? 0) > LARGE_PORTS;
const lookSoon = throttled(guarded(look), SOON_MS);
const again = guarded(async () => {
	if (!state.health) await look();
	await lookAtFabric();
});
const lookAtFabricSoon = throttled(again, SOON_MS);
const lookAtCountersSoon = throttled(again, () => (isLarge() ? LARGE_MS : SOON_MS));

let image = null;

function news(answer, restarted) {
	if (restarted) {
		events.clear();
		state.missing.clear();
		image = null;
	}
	events.take(answer.events);
	state.missing.take(answer.events);
	state.failure = null;
	lookSoon();
	if (answer.events.length) lookAtFabricSoon();
	else if (answer.image !== image) lookAtCountersSoon();
	image = answer.image;
	showSweeps(events.all, state.status);
	if (tabs.now === 'events') showTab();
}

function age() {
	const seconds = (Date.now() - state.at) / 1000;
	byId('age').textContent = !state.at
		? ''
		: seconds < 2
			? 'now'
			: `${span(Math.floor(seconds))} ago`;
	byId('counters-age').textContent = !state.summary
		? ''
		: state.summary.counters_read
			? `counters ${span(Math.max(0, Math.floor(Date.now() / 1000 - state.summary.counters_read)))} old`
			: 'counters are not read';
}

// ---- theme ----

// A browser may refuse to keep anything.
function kept(wanted) {
	try {
		if (wanted) localStorage.setItem('theme', wanted);
		return localStorage.getItem('theme');
	} catch {
		return null;
	}
}

function theme(wanted) {
	const chosen = kept(wanted) ?? wanted;
	if (['light', 'dark'].includes(chosen)) document.documentElement.dataset.theme = chosen;
	picture.theme();
}

byId('theme').addEventListener('click', () => {
	const dark =
		document.documentElement.dataset.theme === 'dark' ||
		(!document.documentElement.dataset.theme &&
			matchMedia('(prefers-color-scheme: dark)').matches);
	theme(dark ? 'light' : 'dark');
});
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => theme());

// ---- begin ----

addEventListener('hashchange', () => {
	const name = tabs.named(location.hash.slice(1));
	if (name) tabs.show(name);
});
document.addEventListener(
	'visibilitychange',
	() => document.hidden || (lookSoon(), lookAtFabricSoon()),
);
setInterval(() => document.hidden || age(), 1000);
setInterval(() => document.hidden || state.failure || lookSoon(), QUIET_MS);
theme();
tabs.show(tabs.named(location.hash.slice(1)) ?? 'ports');
showState();
ask('events', { n: 2000 })
	.then((answer) => {
		events.take(answer.events);
		state.missing.take(answer.events);
		image = answer.image;
		showSweeps(events.all, state.status);
		if (state.summary) lookAtFabricSoon();
		return answer;
	})
	.catch(() => null)
	.then((first) => follow(news, lost, first));
lookAtFabricSoon();
