// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// All subnet managers that are known, which one is master, and how far standbys have followed.
import { byId, count, element, plural, replace, span, table } from './words.js';

function sms(status) {
	return table(
		'Subnet managers',
		[
			['GUID', 'code'],
			['State', ''],
			['Priority', 'number'],
			['Role', ''],
		],
		(status.known_sms ?? []).map((sm) => [
			sm.guid,
			sm.state,
			String(sm.priority),
			[sm.self && 'this one', /^master$/i.test(sm.state) && 'manages the subnet']
				.filter(Boolean)
				.join(', '),
		]),
	);
}

function followed(master) {
	if (!master) return null;
	return element('p', {
		class: master.polls_missed ? 'bad' : '',
		text: `This is a standby. The master is ${master.guid}; ${
			master.heard
				? `last heard ${span(master.heard_seconds_ago)} ago`
				: 'it was not heard yet'
		}${
			master.polls_missed ? `, ${plural(master.polls_missed, 'poll')} without an answer` : ''
		}.`,
	});
}

function standbys(replication, alone) {
	const list = replication?.standbys ?? [];
	if (!list.length)
		return element('p', {
			class: 'note',
			text: alone
				? 'There is no other SM: if this one ends, no other takes over.'
				: 'Nothing is replicated to another SM.',
		});
	return table(
		'Standbys that have a replica',
		[
			['Standby', 'code'],
			['Replica', ''],
			['Options', ''],
		],
		list.map((standby) => [
			standby.guid,
			`${standby.in_step ? '✓' : '✕'} ${standby.state}`,
			standby.agreement ?? '',
		]),
	);
}

export function showSms({ status, health }) {
	if (!status) return;
	replace(
		byId('sms'),
		followed(health?.master),
		sms(status),
		...(health?.sms ?? []).map((sight) =>
			element('p', { class: 'note', text: sight.text ?? '' }),
		),
		element('h3', { text: 'Standbys' }),
		standbys(status.replication, (status.known_sms ?? []).length < 2),
		element('p', {
			class: 'note',
			text: `${status.version}; routing engine ${status.routing_engine || '–'}; ${count(
				status.mads?.qp0_sent,
			)} SMPs sent, ${count(status.mads?.qp0_timeouts)} timed out.`,
		}),
	);
}
