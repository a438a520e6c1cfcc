// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// Asks opensm-web. One request waits for news; what it tells decides what else is asked again.

const API = '/api/v1/';
const PATIENCE_MS = 20000;
const WAIT_MS = 40000;
const RETRY_MS = [500, 1000, 2000, 4000];

export class Failure extends Error {
	constructor(message, status, master) {
		super(message);
		this.status = status; // 0: not connected
		this.master = master;
	}
}

function address(name, args) {
	const query = new URLSearchParams(args);
	const text = query.toString();
	return API + name + (text ? `?${text}` : '');
}

// The answer as an object; throws a Failure. stale: old counters will do.
export async function ask(name, args = {}, { patience = PATIENCE_MS, stale = false } = {}) {
	let answer, body;
	try {
		answer = await fetch(address(name, args), {
			signal: AbortSignal.timeout(patience),
			headers: stale ? { 'Cache-Control': 'max-stale' } : {},
		});
		body = await answer.text();
	} catch (error) {
		throw new Failure(
			error.name === 'TimeoutError' ? 'no answer' : 'opensm-web cannot be reached',
			0,
		);
	}
	let data;
	try {
		data = JSON.parse(body);
	} catch {
		throw new Failure(`unexpected answer (${answer.status})`, answer.status);
	}
	if (!answer.ok)
		throw new Failure(data.error ?? `status ${answer.status}`, answer.status, data.master);
	return data;
}

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

// Calls news(answer) for each answer with news, and lost(failure) when there is none any more.
// first: the answer that is known already, or null.
export async function follow(news, lost, first) {
	let since = first?.serial ?? 0,
		run = first?.run ?? null,
		failures = 0;
	for (;;) {
		try {
			const answer = await ask('wait', { since }, { patience: WAIT_MS });
			const restarted = run !== null && run !== answer.run;
			failures = 0;
			run = answer.run;
			since = answer.serial;
			news(answer, restarted);
		} catch (failure) {
			if (!(failure instanceof Failure)) throw failure;
			lost(failure);
			since = 0;
			await sleep(RETRY_MS[Math.min(failures++, RETRY_MS.length - 1)]);
		}
	}
}
