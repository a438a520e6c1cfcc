// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// The page in a browser, over fabrics that change under it. page.mjs SHOTS [STANDBY-URL GUID]
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Browser, check, close, text } from './browser.mjs';
import { Fabric, sleep, until } from './fabric.mjs';
import { large } from './large.mjs';

const [SHOTS, STANDBY, MASTER] = process.argv.slice(2);
const ONLY = process.env.PAGE_ONLY; // one of the parts below; unset: all
const COUNTED = ['perfmgr TRUE', 'perfmgr_sweep_time_s 1'];
const shot = (page, name) => page.screenshot({ path: join(SHOTS, `${name}.png`) });
const TABS = ['links', 'events', 'sweeps', 'partitions', 'sms', 'sa', 'path', 'security'];
const browser = await new Browser().start();

async function fine(page, name) {
	check(`${name}: no complaint`, page.complaints.length === 0, page.complaints);
	check(`${name}: no foreign request`, page.foreign.length === 0, page.foreign);
}

const seen = (page, id, words, ms = 8000) =>
	until(`${words} in ${id}`, ms, async () => (await text(page, id)).includes(words)).then(
		() => true,
		(error) => error.message,
	);

async function figure(page, title) {
	return page.evaluate(
		(name) =>
			[...document.querySelectorAll('.figure')]
				.find((one) => one.querySelector('dt').textContent === name)
				?.querySelector('b').textContent,
		title,
	);
}

const count = (n) => n.toLocaleString('en-US');

// ---- a fabric that changes ----

async function numbers(fabric, page) {
	const json = async (...words) => JSON.parse(await fabric.ctl(...words, 'json'));
	const status = await json('status');
	check(
		'hosts',
		(await figure(page, 'Hosts')) === count(status.subnet.hosts),
		await figure(page, 'Hosts'),
	);
	check('switches', (await figure(page, 'Switches')) === count(status.subnet.switches));
	check(
		'cables',
		(await figure(page, 'Cables')) === count(status.subnet.links),
		await figure(page, 'Cables'),
	);
	check('SM', (await text(page, 'sm-name')).includes(status.sm_guid));
	const rows = async (tab, panel) => {
		await page.click(`#tab-${tab}`);
		await until(`rows of ${tab}`, 5000, () => page.locator(`#${panel} tbody tr`).count()).catch(
			() => 0,
		);
		await sleep(250);
		return page
			.locator(`#${panel} tbody tr:not(.space)`)
			.evaluateAll((list) =>
				list.map((row) => [...row.children].map((cell) => cell.textContent)),
			);
	};
	const partitions = await json('partitions');
	const shown = await rows('partitions', 'partitions');
	check(
		'partitions',
		shown.length === partitions.partitions.length &&
			shown[0][0] === partitions.partitions[0].p_key &&
			shown[0][3] === count(partitions.partitions[0].full),
		shown,
	);
	await page.click('#partitions button');
	await page.waitForSelector('#partition-members tbody tr');
	check(
		'members',
		(await page.locator('#partition-members tbody tr').count()) ===
			partitions.partitions[0].full,
	);
	const groups = await json('mgroups');
	check('groups', (await rows('multicast', 'mgroups'))[0]?.[0] === groups.groups[0].mgid);
	check(
		'security',
		(await rows('security', 'security'), await page.locator('#security li').count()) ===
			status.insecure_settings,
	);
	check(
		'SMs',
		(await rows('sms', 'sms')).filter((row) => row[0] === status.sm_guid).length === 1,
	);
	check(
		'SA',
		(await rows('sa', 'sa')).some((row) => row[0] === 'Requests'),
	);
	const sweeps = (await json('events', '2000')).events.filter((event) => event.kind === 'sweep');
	check(
		'sweeps',
		(await rows('sweeps', 'sweeps')).filter((row) => /sweep|heavy|light|multicast/.test(row[1]))
			.length === sweeps.length,
		sweeps,
	);
	check('timeline', (await page.locator('.timeline li').count()) === sweeps.length);
	const events = (await json('events', '2000')).events;
	check(
		'events',
		(await rows('events', 'events-body')).length === Math.min(200, events.length) ||
			(await page.locator('#events-body tr').count()) >= events.length,
		events.length,
	);
	await page.click('#tab-ports');
	await until('all ports', 5000, async () =>
		(await text(page, 'ports-count')).startsWith(count(2 * status.subnet.links)),
	).catch((error) => check('ports', false, error.message));
}

async function changes(fabric, page) {
	await fabric.ctl('sim', 'unlink', 'leaf-0-0', '3');
	const start = Date.now();
	const told = await seen(page, 'verdict', 'Not healthy', 5000);
	const took = Date.now() - start;
	check(
		'a cable that is pulled is told within a second',
		told === true && took < 1000,
		`${told} ${took} ms`,
	);
	check(
		'with what it is',
		(await seen(page, 'problems', 'link down: leaf-0-0')) === true,
		await text(page, 'problems'),
	);
	console.log(`pulled cable seen after ${took} ms`);
	check(
		'the picture tells it',
		(await until('words', 3000, () =>
			page.evaluate(() => document.getElementById('picture').getAttribute('aria-label')),
		)) !== '',
	);
	await fabric.ctl('sim', 'link', 'leaf-0-0', '3');
	check(
		'it is up again',
		(await seen(page, 'verdict', 'Healthy', 5000)) === true,
		await text(page, 'verdict'),
	);
	check(
		'no problem is left',
		(await until(
			'gone',
			4000,
			async () => !(await text(page, 'problems')).includes('link down'),
		).catch((error) => error.message)) === true,
	);
}

async function keyboard(page) {
	await page.locator('#find-text').focus();
	for (
		let i = 0;
		i < 6 && (await page.evaluate(() => document.activeElement.id)) !== 'picture';
		i++
	)
		await page.keyboard.press('Tab');
	check(
		'the picture is reached by Tab',
		(await page.evaluate(() => document.activeElement.id)) === 'picture',
	);
	await page.keyboard.press('ArrowRight');
	await page.keyboard.press('ArrowRight');
	check(
		'an arrow key chooses a box',
		await until('details', 3000, () =>
			page.evaluate(() => !document.getElementById('inspector').hidden),
		),
	);
	const before = await text(page, 'picture-said');
	await page.keyboard.press('ArrowDown');
	check('and another', before !== (await text(page, 'picture-said')), before);
	await page.keyboard.press('+');
	await page.keyboard.press('0');
	await page.keyboard.press('Escape');
	check(
		'Escape closes the details',
		await page.evaluate(() => document.getElementById('inspector').hidden),
	);
	await page.click('#tab-links');
	await until('links', 3000, () => page.locator('#links button').count());
	check(
		'the rows of another table are one stop of Tab, too',
		(await page.locator('#links tbody button:not([tabindex="-1"])').count()) === 1,
	);
	await page.locator('#links tbody button').first().focus();
	for (let i = 0; i < 22; i++) await page.keyboard.press('ArrowDown');
	await page.keyboard.press('ArrowRight');
	const where = () =>
		page.evaluate(() => [
			document.activeElement?.closest('tr')?.rowIndex,
			document.activeElement?.closest('td')?.cellIndex,
			document.querySelector('#links .scroll').scrollTop > 100,
		]);
	check('arrows move there', String(await where()) === '23,1,true', await where());
	const row = () =>
		page.evaluate(() =>
			[...document.activeElement.closest('tr').children]
				.slice(0, 2)
				.map((cell) => cell.textContent)
				.join(),
		);
	const cables = await row();
	const old = await page.evaluateHandle(() => document.querySelector('#links .scroll'));
	await until('new figures', 8000, () => old.evaluate((box) => !box.isConnected));
	check('new figures leave that row', (await row()) === cables && (await where())[1] === 1, [
		await row(),
		cables,
	]);
	await page.locator('#tab-ports').focus();
	await page.keyboard.press('ArrowRight');
	check(
		'arrows change the table',
		(await page.evaluate(() => document.activeElement.id)) === 'tab-links' &&
			(await page.evaluate(() => !document.getElementById('panel-links').hidden)),
	);
	await page.keyboard.press('Home');
	await until('ports', 3000, () => page.locator('#ports-body button').count());
	check(
		'the rows of the table are one stop of Tab',
		(await page.locator('#ports-body button:not([tabindex="-1"])').count()) === 1,
	);
	const port = () => page.evaluate(() => document.activeElement?.dataset?.row);
	await page.locator('#ports-body button').first().focus();
	const first = await port();
	await page.keyboard.press('ArrowDown');
	await page.keyboard.press('ArrowDown');
	const third = await port();
	await page.keyboard.press('ArrowUp');
	check('arrows move in it', first && third && ![first, third].includes(await port()), third);
	await page.keyboard.press('End');
	await until(
		'the last row',
		3000,
		async () =>
			!(await page.evaluate((one) => one === document.activeElement?.dataset?.row, first)),
	);
	const last = await port();
	check('End goes to its end', last && last !== third, last);
	await page.keyboard.press('PageUp');
	await page.keyboard.press('Home');
	check('and Home to its beginning', (await port()) === first, await port());
	await sleep(1500);
	check('which stays when its figures change', (await port()) === first, await port());
	await page.keyboard.press('Shift+Tab');
	await page.keyboard.press('Tab');
	check('Tab comes back to the row', (await port()) === first, await port());
	await page.keyboard.press('Enter');
	check(
		'both ends of a cable are shown',
		await until('ends', 5000, async () =>
			(await text(page, 'inspector')).includes('Other end'),
		),
	);
	check('with counters', (await text(page, 'inspector')).includes('PortXmitData'));
}

async function finds(fabric, page) {
	await page.fill('#find-text', 'leaf-2-1');
	await page.keyboard.press('Enter');
	check(
		'a node is found and shown',
		await until('node', 4000, async () => (await text(page, 'inspector')).includes('leaf-2-1')),
	);
	const guid = JSON.parse(await fabric.ctl('status', 'json')).sm_guid;
	await page.fill('#find-text', guid);
	await page.keyboard.press('Enter');
	check(
		'by the GUID of a port, too',
		await until('node', 4000, async () => (await text(page, 'inspector')).includes('host-')),
		await text(page, 'inspector'),
	);
	await page.fill('#find-text', '0xdead');
	await page.keyboard.press('Enter');
	check('or it says that there is none', (await seen(page, 'found', 'no node has')) === true);
	await page.fill('#find-text', '');
	await page.keyboard.press('Enter');
	await page.click('#tab-path');
	await page.fill('#path-from', 'host-0');
	await page.fill('#path-to', 'host-15');
	await page.keyboard.press('Enter');
	check(
		'a path is told',
		await until('hops', 5000, async () => (await text(page, 'path')).includes('arrives after')),
	);
	await page.fill('#path-to', 'nothing-like-that');
	await page.keyboard.press('Enter');
	check(
		'and why there is none',
		await until('why', 5000, async () => (await text(page, 'path')).includes('✕')),
	);
	await sleep(100);
	page.complaints = page.complaints.filter((said) => !said.includes('404')); // of that path
	await page.click('#tab-ports');
	await page.fill('#ports-text', 'leaf-1-1');
	check(
		'ports are filtered',
		await until('filter', 4000, async () => (await text(page, 'ports-count')).startsWith('4 ')),
	);
	await page.fill('#ports-text', '');
	await page.click('#tab-events');
	await page.click('#theme');
	await page.reload();
	await browser.ready(page);
	check(
		'the table and the theme stay after a reload',
		(await page.evaluate(() => document.documentElement.dataset.theme)) === 'dark' &&
			(await page.locator('#panel-events').isVisible()),
	);
	await page.click('#theme');
	await page.click('#tab-ports');
}

async function restart(fabric, page) {
	await fabric.stopDaemon('SIGKILL');
	check(
		'a daemon that is gone is told',
		(await seen(page, 'verdict', 'Not connected', 6000)) === true,
		await text(page, 'verdict'),
	);
	await fabric.stopWeb();
	check(
		'and that opensm-web is gone',
		(await seen(page, 'verdict', 'opensm-web cannot be reached', 6000)) === true,
		await text(page, 'verdict'),
	);
	fabric.startWeb();
	fabric.startDaemon();
	check(
		'and its return',
		(await seen(page, 'verdict', 'Healthy', 20000)) === true,
		await text(page, 'verdict'),
	);
	check(
		'with its data',
		await until('hosts', 8000, async () => (await figure(page, 'Hosts')) === '16').catch(
			() => false,
		),
	);
}

async function small() {
	const fabric = await new Fabric('fattree:4', COUNTED).start();
	try {
		const page = await browser.open(fabric.url);
		await browser.ready(page);
		await fine(page, 'first look');
		await numbers(fabric, page);
		await keyboard(page);
		await finds(fabric, page);
		await changes(fabric, page);
		await fine(page, 'a fabric that changes');
		for (const [name, how] of [
			['light', {}],
			['dark', { dark: true }],
			['narrow', { width: 390, height: 844 }],
		]) {
			const other = await browser.open(fabric.url, how);
			await browser.ready(other);
			await sleep(300);
			const found = await browser.axe(other);
			check(`axe, ${name}`, found.length === 0, found);
			for (const tab of name === 'light' ? TABS : TABS.slice(0, 3)) {
				await other.click(`#tab-${tab}`);
				await sleep(250);
				const more = await browser.axe(other);
				check(`axe, ${name}, ${tab}`, more.length === 0, more);
			}
			await other.context().close();
		}
		page.complaints.length = 0;
		await restart(fabric, page);
	} finally {
		await fabric.stop();
	}
}

// ---- names that are not nice ----

async function names() {
	const evil = '<img src=x onerror=alert(1)>';
	const fabric = new Fabric('', COUNTED);
	fabric.spec = join(fabric.dir, 'evil.net');
	writeFileSync(
		fabric.spec,
		`Switch 4 "S-0000000000000001" # "${evil}"\n[1] "H-0000000000000011"[1]\n` +
			`[2] "H-0000000000000021"[1]\n\nHca 1 "H-0000000000000011" # "${evil} a"\n[1] "S-0000000000000001"[1]\n\n` +
			`Hca 1 "H-0000000000000021" # "b</script><script>alert(2)</script>"\n[1] "S-0000000000000001"[2]\n`,
	);
	await fabric.start();
	try {
		const page = await browser.open(fabric.url);
		await browser.ready(page);
		await sleep(500);
		check(
			'a name is text',
			(await seen(page, 'ports-body', evil)) === true,
			await text(page, 'ports-body'),
		);
		await fabric.ctl('sim', 'unlink', evil, '2');
		await seen(page, 'verdict', 'Not healthy');
		check(
			'in problems, too',
			(await seen(page, 'problems', '<script>')) === true,
			await text(page, 'problems'),
		);
		await page.click('#tab-events');
		check('and in events', (await seen(page, 'events-body', '<img')) === true);
		check(
			'no element came of it',
			(await page.evaluate(
				() => document.querySelectorAll('img[src=x], main script').length,
			)) === 0,
		);
		await fine(page, 'names');
	} finally {
		await fabric.stop();
	}
}

// ---- shapes that are not tidy, and partitions with members that are not there ----

// A switch with hosts and with switches below, a cable that leads back, names with "/".
function untidy() {
	const switches = [1, 2, 3].map((n) => `S-000000000000000${n}`),
		hosts = [];
	const ports = [['[7] "S-0000000000000001"[8]', '[8] "S-0000000000000001"[7]'], [], []];
	for (let leaf = 0; leaf < 3; leaf++)
		for (let i = 0; i < 2; i++) {
			const host = `H-00000000000000${leaf + 1}${i}`;
			ports[leaf].push(`[${i + 1}] "${host}"[1]`);
			hosts.push(
				`Hca 1 "${host}" # "rack${leaf}/node${i}/mlx5_0"\n[1] "${switches[leaf]}"[${i + 1}]\n`,
			);
		}
	for (let leaf = 1; leaf < 3; leaf++) {
		ports[0].push(`[${leaf + 2}] "${switches[leaf]}"[3]`);
		ports[leaf].push(`[3] "${switches[0]}"[${leaf + 2}]`);
	}
	return [
		...switches.map(
			(one, i) => `Switch 8 "${one}" # "rack${i}/switch"\n${ports[i].join('\n')}\n`,
		),
		...hosts,
	].join('\n');
}

const PARTITIONS = `Default=0x7fff: ALL=full;
storage=0x10: 0xdead0001, 0xdead0002=full, ALL;
0x11: 0xdead0001,
	0xdead0003;
`;

// On a small telephone nothing is wider than the screen, or has no room.
async function narrow(fabric) {
	const page = await browser.open(fabric.url, { width: 360, height: 740, touch: true });
	await browser.ready(page);
	for (const tab of ['ports', ...TABS, 'multicast']) {
		await page.click(`#tab-${tab}`);
		await sleep(250);
		const wide = await page.evaluate(() =>
			[...document.querySelectorAll('body *')]
				.filter((one) => {
					const box = one.getBoundingClientRect();
					return (
						box.right > innerWidth + 1 &&
						box.width > 1 &&
						!one.closest('.scroll, .tabs, .hidden, .troubles')
					);
				})
				.map((one) => `${one.tagName} ${one.id} ${one.className}`),
		);
		check(`360 px, ${tab}: nothing is wider than the screen`, wide.length === 0, wide);
		check(
			`360 px, ${tab}: the page does not scroll sideways`,
			await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth),
		);
		await shot(page, `narrow-${tab}`);
	}
	await page.context().close();
}

async function shapes() {
	const fabric = new Fabric('', COUNTED);
	fabric.spec = join(fabric.dir, 'untidy.net');
	const file = join(fabric.dir, 'partitions.conf');
	writeFileSync(fabric.spec, untidy());
	writeFileSync(file, PARTITIONS);
	fabric.options([...COUNTED, `partition_config_file ${file}`]);
	await fabric.start();
	try {
		const page = await browser.open(fabric.url);
		await browser.ready(page);
		await until('LIDs', 5000, () => page.locator('#ports-body tr[aria-rowindex]').count());
		const ports = await page
			.locator('#ports-body tr[aria-rowindex]')
			.evaluateAll((list) =>
				list.map((row) => [...row.children].map((cell) => cell.textContent)),
			);
		check(
			'each port with a link has a LID',
			ports.length > 12 && ports.every((row) => row[3] === 'down' || Number(row[8]) > 0),
			ports,
		);
		await page.fill('#find-text', 'rack0/switch');
		await page.keyboard.press('Enter');
		await seen(page, 'inspector', 'rack0/switch');
		check(
			'a switch has its LID and its loop in the details',
			/LID\d+/.test(await text(page, 'inspector')) &&
				(await text(page, 'inspector')).includes('Cables back to itself1'),
			await text(page, 'inspector'),
		);
		await page.click('#tab-partitions');
		check(
			'absent members are told by partition',
			(await seen(page, 'partitions', "2 members of partition 'storage' (0x0010) are")) ===
				true &&
				(await seen(page, 'partitions', '2 members of partition 0x0011 are')) === true,
			await text(page, 'partitions'),
		);
		check(
			'with file and line',
			(await text(page, 'partitions')).includes(`${file}:2`),
			await text(page, 'partitions'),
		);
		check(
			'one line each',
			(await page.locator('#partitions .troubles > *').count()) === 3, // and one is empty
			await text(page, 'partitions'),
		);
		await page.click('#partitions summary');
		check('they are shown', await page.locator('#partitions .guids code').first().isVisible());
		const found = await browser.axe(page);
		check('axe, problems with partitions', found.length === 0, found);
		await shot(page, 'untidy');
		await narrow(fabric);
		await fabric.ctl('sim', 'unlink', 'rack2/switch', '3');
		check(
			'hosts behind a switch that is gone are gone',
			(await seen(page, 'figures', '✕ 2 gone')) === true &&
				(await seen(page, 'figures', '✕ 1 gone')) === true,
			await text(page, 'figures'),
		);
		// Asked for its hosts when it was about to go.
		page.complaints = page.complaints.filter((said) => !/404.*nodes\?switch=/.test(said));
		await fine(page, 'untidy');
	} finally {
		await fabric.stop();
	}
}

// ---- 40,000 hosts: the answers of such a fabric, made here ----

async function many() {
	const fabric = await new Fabric('fattree:4', []).start();
	try {
		const page = await browser.open(fabric.url, { routes: large() });
		const first = await browser.ready(page);
		console.log(`39,366 hosts: first picture after ${first} ms`);
		await sleep(800);
		check(
			'many hosts are counted',
			(await figure(page, 'Hosts')) === '39,366',
			await figure(page, 'Hosts'),
		);
		await page.click('#zoom-in');
		await sleep(400);
		await page.click('#zoom-reset');
		await sleep(400);
		const ms = await page.evaluate(
			() => performance.getEntriesByName('picture').at(-1).duration,
		);
		console.log(`39,366 hosts: painted in ${ms.toFixed(0)} ms`);
		check('painting is quick', ms < 500, ms);
		const cdp = await page.context().newCDPSession(page);
		await cdp.send('Performance.enable');
		const busy = async () =>
			(await cdp.send('Performance.getMetrics')).metrics.find(
				(one) => one.name === 'TaskDuration',
			).value;
		const before = await busy();
		await sleep(4000);
		const share = ((await busy()) - before) / 4;
		console.log(`39,366 hosts: ${(100 * share).toFixed(1)} % of a core when idle`);
		check('an idle page costs nothing', share < 0.05, share);
		await shot(page, 'hosts-40000');
		await fine(page, 'many hosts');
	} finally {
		await fabric.stop();
	}
}

// ---- pictures for people ----

async function picture(fabric, name, how = {}) {
	const page = await browser.open(fabric.url, how);
	await browser.ready(page);
	await sleep(how.wait ?? 800);
	await shot(page, name);
	await fine(page, name);
	await page.context().close();
}

async function run(fabric, commands) {
	for (const words of commands) await fabric.ctl('sim', ...words);
}

// One fat tree of 1,024 hosts: whole, with a congested group, with a dead leaf.
async function fatTree() {
	const fabric = await new Fabric('fattree:16', COUNTED).start(60000);
	const busy = [['traffic', 'random', '300', '6%']];
	const dead = [['unlink', 'spine-9-1', '12']];
	for (let i = 0; i < 16; i++)
		busy.push(['traffic', 'add', `host-${200 + i}`, `host-${40 + (i % 8)}`, '60%']);
	for (let port = 9; port <= 16; port++) dead.push(['unlink', 'leaf-3-2', String(port)]);
	try {
		await picture(fabric, 'fat-tree-16');
		const page = await browser.open(fabric.url);
		await browser.ready(page);
		await run(fabric, busy);
		const scroll = page.locator('#ports-scroll');
		for (let i = 0; i < 4; i++) {
			const before = await text(page, 'ports-count');
			await scroll.evaluate((box) => (box.scrollTop = box.scrollHeight));
			await until(
				'more ports',
				8000,
				async () => before !== (await text(page, 'ports-count')),
			);
		}
		const loaded = await text(page, 'ports-count');
		const where = await scroll.evaluate((box) => (box.scrollTop -= 2000));
		const old = await page.evaluateHandle(() => document.querySelector('#ports-body tr + tr'));
		await until('new figures', 8000, () => old.evaluate((row) => !row.isConnected));
		check(
			'new figures leave the place in a long table',
			loaded.startsWith('2,500') &&
				(await text(page, 'ports-count')) === loaded &&
				(await scroll.evaluate((box) => box.scrollTop)) === where,
			[loaded, await text(page, 'ports-count')],
		);
		check(
			'congestion is told',
			(await seen(page, 'problems', 'busy')) === true,
			await text(page, 'problems'),
		);
		await picture(fabric, 'fat-tree-16-congested');
		await picture(fabric, 'fat-tree-16-dark', { dark: true });
		await run(fabric, [['traffic', 'clear'], ...dead]);
		check(
			'a dead leaf is told',
			(await seen(page, 'problems', 'leaf-3-2 and its 8 hosts are gone')) === true,
		);
		check(
			'with its hosts in the figures',
			(await seen(page, 'figures', '✕ 8 gone')) === true,
			await text(page, 'figures'),
		);
		await sleep(2500);
		await shot(page, 'fat-tree-16-dead-leaf');
		await fine(page, 'a dead leaf');
	} finally {
		await fabric.stop();
	}
}

async function pictures() {
	await fatTree();
	const others = [
		[
			'telephone',
			'fattree:8',
			[['unlink', 'leaf-1-0', '5']],
			{ width: 390, height: 844, wait: 2500 },
		],
		['two-hosts', 'xgft:2:1', []],
		['torus', 'torus:4x4x4', []],
		['ring', 'torus:12x1x1', []],
	];
	for (const [name, spec, commands, how] of others) {
		const fabric = await new Fabric(spec, COUNTED).start(60000);
		try {
			await run(fabric, commands);
			await picture(fabric, name, how);
		} finally {
			await fabric.stop();
		}
	}
}

// ---- a standby ----

async function standby() {
	const page = await browser.open(STANDBY);
	check(
		'a standby says so',
		(await seen(page, 'verdict', 'Standby', 10000)) === true,
		await text(page, 'verdict'),
	);
	check(
		'and who is master',
		(await text(page, 'verdict')).includes(MASTER),
		await text(page, 'verdict'),
	);
	check(
		'where the picture would be, it says why there is none',
		(await seen(page, 'picture-none', MASTER)) === true,
		await text(page, 'picture-none'),
	);
	for (const tab of ['ports', 'links', 'partitions', 'multicast', 'path']) {
		await page.click(`#tab-${tab}`);
		check(
			`so does ${tab}`,
			(await seen(page, `panel-${tab}`, `SM ${MASTER}`)) === true,
			await text(page, `panel-${tab}`),
		);
		check(
			`and ${tab} has nothing else`,
			(await page.locator(`#panel-${tab} > *:visible`).count()) === 1,
		);
	}
	await page.click('#tab-sms');
	check('its SMs are shown', (await seen(page, 'sms', MASTER)) === true, await text(page, 'sms'));
	const rows = await page
		.locator('#sms tbody tr')
		.evaluateAll((list) =>
			list.map((row) => [...row.children].map((cell) => cell.textContent)),
		);
	check(
		'each with its state',
		rows.length === 2 &&
			rows.some((row) => row[0] === MASTER && row[1] === 'Master') &&
			rows.some((row) => row[1] === 'Standby' && row.includes('this one')),
		rows,
	);
	check('there is another SM', !(await text(page, 'sms')).includes('no other SM'));
	const found = await browser.axe(page);
	check('axe, standby', found.length === 0, found);
	await shot(page, 'standby');
	await fine(page, 'standby');
}

try {
	if (STANDBY) {
		await standby();
	} else {
		for (const part of [small, names, shapes, many, pictures])
			if (!ONLY || ONLY === part.name) await part();
	}
} catch (error) {
	check('the test ran to its end', false, error.stack);
} finally {
	await browser.stop();
}
close();
