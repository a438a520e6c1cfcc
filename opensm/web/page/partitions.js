// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// Partitions and their members; multicast groups and theirs.
import { ask } from './poll.js';
import { byId, count, element, replace, table } from './words.js';

const MEMBERS_SHOWN = 500;
let opened = null;

async function open(pKey) {
	opened = pKey;
	const box = byId('partition-members');
	replace(box, element('p', { text: 'asking …' }));
	try {
		const answer = await ask(`partitions/${pKey}`);
		if (opened === pKey) replace(box, ...members(answer, pKey));
	} catch (failure) {
		replace(box, element('p', { class: 'bad', text: failure.message }));
	}
}

function members(answer, pKey) {
	const partition = answer.partitions?.[0] ?? {};
	const list = partition.members ?? [];
	const title = `Members of ${partition.name ?? pKey}`;
	return [
		element('h3', { text: title }),
		table(
			title,
			[
				['Node', ''],
				['Port', 'number'],
				['Port GUID', 'code'],
				['Membership', ''],
			],
			list
				.slice(0, MEMBERS_SHOWN)
				.map((member) => [
					member.node || '(not in the fabric now)',
					String(member.port ?? ''),
					member.port_guid,
					member.membership,
				]),
		),
		list.length > MEMBERS_SHOWN
			? element('p', {
					class: 'note',
					text: `and ${count(list.length - MEMBERS_SHOWN)} more: opensmctl partitions ${pKey}`,
				})
			: null,
	];
}

export async function showPartitions() {
	const answer = await ask('partitions');
	const problems = answer.problems ?? [];
	replace(
		byId('partitions'),
		...problems.map((problem) =>
			element('p', { class: 'bad', text: `✕ ${problem.text ?? problem}` }),
		),
		table(
			'Partitions',
			[
				['P_Key', 'code'],
				['Name', ''],
				['IPoIB', ''],
				['Full', 'number'],
				['Limited', 'number'],
				['Groups', 'number'],
				['Members', ''],
			],
			answer.partitions.map((partition) => [
				partition.p_key,
				partition.name,
				partition.ipoib ? 'yes' : 'no',
				count(partition.full),
				count(partition.limited),
				count(partition.groups),
				element('button', {
					class: 'link',
					text: 'Show',
					'aria-label': `Show members of ${partition.name}`,
					onclick: () => open(partition.p_key),
				}),
			]),
		),
	);
	if (opened) await open(opened);
}

export async function showGroups() {
	const answer = await ask('mgroups');
	const refused = answer.refused ?? [];
	const who = (group) =>
		group.members
			.slice(0, 4)
			.map((member) => member.node ?? member.port_guid)
			.join(', ') + (group.members.length > 4 ? ` and ${group.members.length - 4} more` : '');
	replace(
		byId('mgroups'),
		...refused
			.slice(0, 50)
			.map((join) =>
				element('p', {
					class: 'bad',
					text: `✕ ${join.node ?? join.port_guid} may not join ${join.mgid}: ${join.reason}`,
				}),
			),
		table(
			'Multicast groups',
			[
				['MGID', 'code'],
				['MLID', 'code'],
				['P_Key', 'code'],
				['Rate', ''],
				['MTU', 'number'],
				['SL', 'number'],
				['Members', 'number'],
				['The first of them', ''],
			],
			answer.groups
				.slice(0, MEMBERS_SHOWN)
				.map((group) => [
					group.mgid,
					group.mlid,
					group.p_key,
					group.rate,
					String(group.mtu),
					String(group.sl),
					count(group.members.length),
					who(group),
				]),
		),
		answer.groups.length > MEMBERS_SHOWN
			? element('p', {
					class: 'note',
					text: `and ${count(answer.groups.length - MEMBERS_SHOWN)} more: opensmctl mgroups`,
				})
			: null,
	);
}
