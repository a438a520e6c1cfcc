// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// A daemon over a simulated fabric, opensm-web beside it, and a browser that looks at the page.
import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const BUILD = process.env.top_builddir;

export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

// Calls it until it answers with something true; the reason is for the message when it never does.
export async function until(reason, ms, call) {
	const end = Date.now() + ms;
	for (;;) {
		const value = await call();
		if (value) return value;
		if (Date.now() > end) throw new Error(`not within ${ms} ms: ${reason}`);
		await sleep(20);
	}
}

async function freePort() {
	const server = createServer();
	await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
	const { port } = server.address();
	await new Promise((resolve) => server.close(resolve));
	return port;
}

export class Fabric {
	// spec: as for opensm --sim; options: lines of opensm.conf
	constructor(spec, options = []) {
		this.spec = spec;
		this.dir = mkdtempSync(join(tmpdir(), 'page.'));
		this.options(options);
	}

	options(lines) {
		writeFileSync(join(this.dir, 'opensm.conf'), lines.map((line) => `${line}\n`).join(''));
	}

	startDaemon() {
		const d = this.dir;
		this.daemon = spawn(
			join(BUILD, 'opensm/opensm'),
			[
				'-F',
				join(d, 'opensm.conf'),
				'--sim',
				this.spec,
				'--control-socket',
				join(d, 'sm'),
				'-f',
				join(d, 'log'),
			],
			{ stdio: 'ignore', env: { ...process.env, OSM_CACHE_DIR: d, OSM_TMP_DIR: d } },
		);
	}

	startWeb() {
		const conf = join(this.dir, 'web.conf');
		this.web = spawn(join(BUILD, 'opensm/web/opensm-web'), ['-F', conf], {
			stdio: ['ignore', 'ignore', 'pipe'],
		});
		this.web.stderr.on('data', (text) => {
			this.said = (this.said ?? '') + text;
		});
	}

	async stopWeb() {
		await end(this.web, 'SIGTERM');
	}

	async start(patience = 20000) {
		this.startDaemon();
		this.port = await freePort();
		this.url = `http://127.0.0.1:${this.port}`;
		writeFileSync(
			join(this.dir, 'web.conf'),
			`listen 127.0.0.1:${this.port}\ncontrol_socket ${this.dir}/sm\n`,
		);
		this.startWeb();
		await until(`${this.spec} is up: ${this.said}`, patience, async () => {
			try {
				const answer = await this.api('health');
				return answer.last_sweep || answer.master;
			} catch {
				return false;
			}
		});
		return this;
	}

	async api(name) {
		const answer = await fetch(`${this.url}/api/v1/${name}`);
		return answer.json();
	}

	ctl(...words) {
		return new Promise((resolve, reject) => {
			execFile(
				join(BUILD, 'opensm/opensmctl/opensmctl'),
				['-s', join(this.dir, 'sm'), ...words],
				(error, out, said) =>
					error && error.code > 19 ? reject(new Error(said || out)) : resolve(out),
			);
		});
	}

	async stopDaemon(signal = 'SIGTERM') {
		await end(this.daemon, signal);
	}

	async stop() {
		await Promise.all([end(this.daemon, 'SIGKILL'), end(this.web, 'SIGKILL')]);
		rmSync(this.dir, { recursive: true, force: true });
	}

	log() {
		return readFileSync(join(this.dir, 'log'), 'utf8');
	}
}

function end(process, signal) {
	if (!process || process.exitCode !== null || process.signalCode !== null) return null;
	return new Promise((resolve) => {
		process.once('exit', resolve);
		process.kill(signal);
	});
}
