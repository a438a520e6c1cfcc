// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// Partitions and their members; multicast groups and theirs.
import { ask } from './poll.js';
import { byId, count, element, mark, plural, replace, table } from './words.js';

const MEMBERS_SHOWN = 500;
let opened = null;

const called = ({ name, p_key }) => name || `partition ${p_key}`;

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
	const title = `Members of ${called({ p_key: pKey, ...partition })}`;
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

// ---- problems ----

// "partition 'NAME' (P_KEY): GUID ... is not in the subnet"; the name is that of the last "(P_KEY)"
const ABSENT =
	/^partition ('.*' \(0x[0-9a-f]{4}\)|0x[0-9a-f]{4}): GUID (0x[0-9a-f]{16}) is not in the subnet$/;

function whereOf(list) {
	const byFile = new Map();
	for (const { file, line } of list)
		if (file && line) byFile.set(file, [...(byFile.get(file) ?? []), line]);
	return [...byFile]
		.map(([file, lines]) => {
			const shown = [...new Set(lines)];
			return `${file}:${shown.slice(0, 4).join(', ')}${shown.length > 4 ? ' …' : ''}`;
		})
		.join('; ');
}

// Members that are not in the subnet, by partition, and the other problems; each with its place.
export function groupProblems(problems) {
	const byPartition = new Map(),
		others = [];
	for (const problem of problems) {
		const [, partition, guid] = ABSENT.exec(problem.text) ?? [];
		if (!partition) {
			others.push({ ...problem, where: whereOf([problem]) });
			continue;
		}
		if (!byPartition.has(partition)) byPartition.set(partition, []);
		byPartition.get(partition).push({ ...problem, guid });
	}
	const absent = [...byPartition].map(([partition, members]) => ({
		partition,
		members,
		where: whereOf(members),
	}));
	return { absent, others };
}

const shownAbsent = new Set();

function placeOf(where) {
	return where ? element('span', { class: 'note', text: ` ${where}` }) : null;
}

function absentLine({ partition, members, where }, more) {
	const few = members.length === 1;
	const box = element('details', { open: shownAbsent.has(partition) });
	box.addEventListener('toggle', () => shownAbsent[box.open ? 'add' : 'delete'](partition));
	box.append(
		element(
			'summary',
			{},
			mark('warning'),
			` ${more ? 'At least ' : ''}${plural(members.length, 'member')} of partition ${partition} ${
				few ? 'is' : 'are'
			} not on the fabric`,
			placeOf(where),
		),
		element(
			'ul',
			{ class: 'guids' },
			...members.map((member) =>
				element(
					'li',
					{},
					element('code', { text: member.guid }),
					placeOf(whereOf([member])),
				),
			),
		),
	);
	return box;
}

function otherLine({ severity, text, where }) {
	const grave = severity === 'error';
	return element(
		'p',
		{ class: grave ? 'bad' : 'problem' },
		mark(grave ? 'bad' : 'warning'),
		` ${text}`,
		placeOf(where),
	);
}

function problemLines(problems) {
	const { absent, others } = groupProblems(problems);
	const more = problems.some(({ text }) => /^\d+ more problems with partitions$/.test(text));
	const rank = ({ severity }) => (severity === 'error' ? 0 : 1);
	return [
		...others.sort((a, b) => rank(a) - rank(b)).map(otherLine),
		...absent.map((one) => absentLine(one, more)),
	];
}

export async function showPartitions() {
	const answer = await ask('partitions');
	const lines = problemLines(answer.problems ?? []);
	replace(
		byId('partitions'),
		lines.length ? element('div', { class: 'troubles' }, ...lines) : null,
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
				partition.name || '(no name)',
				partition.ipoib ? 'yes' : 'no',
				count(partition.full),
				count(partition.limited),
				count(partition.groups),
				element('button', {
					class: 'link',
					text: 'Show',
					'aria-label': `Show members of ${called(partition)}`,
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
		...refused.slice(0, 50).map((join) =>
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
