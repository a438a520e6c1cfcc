// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// All subnet managers that are known, which one is master, and how far standbys have followed.
import { byId, count, element, plural, replace, span, table } from './words.js';

const titled = (word) => word.charAt(0).toUpperCase() + word.slice(1).toLowerCase();

// What is known of each SM: a master has read their priorities, and every SM has heard others tell
// what they see. A standby knows at least which SM is its master.
export function smsOf({ health, status }) {
	const byGuid = new Map();
	const add = (sm) => byGuid.set(sm.guid, { ...byGuid.get(sm.guid), ...sm });
	if (health?.master) add({ guid: health.master.guid, state: 'Master' });
	for (const sm of status?.known_sms ?? []) add(sm);
	for (const sm of health?.sms ?? []) add(sm);
	return [...byGuid.values()].map((sm) => ({
		...sm,
		state: titled(sm.state),
		priority: sm.self ? status.sm_priority : sm.priority,
	}));
}

// Of this SM, by its port; null: not known.
export const ownGuid = (state) =>
	state.status?.sm_guid ?? smsOf(state).find((sm) => sm.self)?.guid ?? null;

function role(sm) {
	return [sm.self && 'this one', sm.state === 'Master' && 'manages the subnet']
		.filter(Boolean)
		.join(', ');
}

function sight(sm) {
	if (!sm.tells) return '';
	const sees = `${plural(sm.switches, 'switch', 'switches')} and ${plural(sm.ports, 'port')}`;
	return sm.able && sm.settable_ports === sm.ports
		? sees
		: `✕ ${sees}, can configure ${count(sm.settable_ports)} of these`;
}

function sms(list) {
	return table(
		'Subnet managers',
		[
			['GUID', 'code'],
			['State', ''],
			['Priority', 'number'],
			['Role', ''],
			['Sees', ''],
			['Last heard', 'number'],
		],
		list.map((sm) => [
			sm.guid,
			sm.state,
			String(sm.priority ?? ''),
			role(sm),
			sight(sm),
			sm.heard_seconds_ago === undefined ? '' : `${span(sm.heard_seconds_ago)} ago`,
		]),
	);
}

function followed(master) {
	return element('p', {
		class: master.polls_missed ? 'bad' : '',
		text: `This is a standby. The master is SM ${master.guid}; ${
			master.heard
				? `it answered ${span(master.heard_seconds_ago)} ago`
				: 'it has not answered yet'
		}${
			master.polls_missed ? `, ${plural(master.polls_missed, 'poll')} without an answer` : ''
		}.`,
	});
}

function agreement(row) {
	const list = row.differences ?? [];
	const differ = list.slice(0, 3).map((one) => one.option);
	return row.agreement === 'same'
		? 'the same'
		: row.agreement === 'differs'
			? `✕ ${differ.join(', ')}${list.length > 3 ? ` and ${list.length - 3} more` : ''} differ`
			: 'not known';
}

// A standby: what it has of its master.
function replica(replication) {
	return element('p', {
		text: !replication.key
			? 'Nothing is replicated, as replication_key_file is not set.'
			: `${
					replication.whole
						? 'All that the master replicates is stored here.'
						: '✕ Nothing of what the master replicates is stored here yet.'
				} Options and files of the two: ${agreement(replication)}.`,
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
			['Options and files', ''],
		],
		list.map((standby) => [
			standby.guid,
			`${standby.in_step ? '✓' : '✕'} ${standby.state}`,
			agreement(standby),
		]),
	);
}

export function showSms(state) {
	const { status, health } = state;
	if (!status) return;
	const list = smsOf(state),
		{ replication } = status;
	replace(
		byId('sms'),
		health?.master ? followed(health.master) : null,
		sms(list),
		element('h3', { text: 'Replication' }),
		replication?.of ? replica(replication) : standbys(replication, list.length < 2),
		element('p', {
			class: 'note',
			text: `${status.version}; routing engine ${
				(status.routing_engine ?? '').replace('<none>', '') || '–'
			}; ${count(
				status.mads?.qp0_sent,
			)} SMPs sent, ${count(status.mads?.qp0_timeouts)} timed out.`,
		}),
	);
}
