// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// A browser that looks at the page, what it must never see, and checks that are counted.
import { createRequire } from 'node:module';
import { join } from 'node:path';

const require = createRequire(join(process.env.PAGE_MODULES, 'x.js'));
const { chromium } = require('playwright-core');
const axe = require.resolve('axe-core/axe.min.js');

let passed = 0,
	failed = 0;

export function check(what, ok, detail = '') {
	if (ok) return ++passed;
	failed++;
	console.log(
		`FAIL ${what}: ${typeof detail === 'string' ? detail : JSON.stringify(detail)}`.slice(
			0,
			2000,
		),
	);
	return 0;
}

export function close() {
	console.log(`${passed} passed, ${failed} failed`);
	process.exitCode = failed || !passed ? 1 : 0;
}

export class Browser {
	async start() {
		this.browser = await chromium.launch({
			executablePath: '/usr/bin/chromium',
			args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
		});
		return this;
	}

	// A page of its own. What it complains about is in page.complaints.
	async open(
		url,
		{ width = 1440, height = 1000, dark = false, touch = false, routes = [] } = {},
	) {
		const context = await this.browser.newContext({
			viewport: { width, height },
			hasTouch: touch,
			colorScheme: dark ? 'dark' : 'light',
		});
		const page = await context.newPage();
		page.complaints = [];
		page.foreign = [];
		page.on(
			'console',
			(said) =>
				['error', 'warning'].includes(said.type()) &&
				page.complaints.push(`${said.text()} ${said.location().url}`),
		);
		page.on('pageerror', (error) => page.complaints.push(`${error.message} ${error.stack}`));
		page.on('dialog', (dialog) => {
			page.complaints.push(dialog.message());
			dialog.dismiss();
		});
		page.on(
			'request',
			(request) =>
				request.url().startsWith(url) ||
				request.url().startsWith('data:') ||
				page.foreign.push(request.url()),
		);
		for (const [pattern, answer] of routes) await page.route(pattern, answer);
		await page.goto(`${url}/`);
		return page;
	}

	async ready(page, patience = 20000) {
		await page.waitForFunction(() => document.body.dataset.ready, null, { timeout: patience });
		return Number(await page.evaluate(() => document.body.dataset.ready));
	}

	// Names the rules that are broken, and where.
	async axe(page) {
		await page.evaluate(require('node:fs').readFileSync(axe, 'utf8'));
		const found = await page.evaluate(() =>
			globalThis.axe.run({
				runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice'],
			}),
		);
		return found.violations.map(
			(rule) =>
				`${rule.id}: ${rule.nodes
					.slice(0, 3)
					.map((node) => `${node.html.slice(0, 120)} ${node.any[0]?.message ?? ''}`)
					.join(' | ')}`,
		);
	}

	async stop() {
		await this.browser.close();
	}
}

export const text = (page, id) =>
	page.evaluate((name) => document.getElementById(name).textContent, id);
