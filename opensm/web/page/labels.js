// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// Names where there is little room. What all names side by side have in common is left out first,
// at "-", "/" and the like: "leaf-0-1" beside "leaf-1-0" is "0-1", and "node1/mlx5_0" beside
// "node2/mlx5_0" is "node1".

const SEPARATOR = /[-_. /:;]/;

const reversed = (name) => name.split('').reverse().join('');

function commonStart(names) {
	let n = names[0].length;
	for (const name of names) {
		let i = 0;
		while (i < n && name[i] === names[0][i]) i++;
		n = i;
	}
	return names[0].slice(0, n);
}

// Numbers of letters that can be left out at the start of each name.
function cuts(names) {
	const start = commonStart(names),
		shortest = Math.min(...names.map((name) => name.length));
	return start
		.split('')
		.flatMap((letter, i) => (SEPARATOR.test(letter) && i + 1 < shortest ? [i + 1] : []));
}

// Map from each name to its shorter forms, the longest first. Equal names count as one.
export function shortNames(all) {
	const distinct = new Set(all),
		names = [...distinct],
		short = new Map();
	if (names.length < 2) return short;
	const starts = [0, ...cuts(names)],
		ends = [0, ...cuts(names.map(reversed)).slice(-1)];
	for (const name of names)
		short.set(
			name,
			ends
				.flatMap((end) => starts.map((start) => name.slice(start, name.length - end)))
				.filter((form) => form && form !== name)
				.sort((a, b) => b.length - a.length),
		);
	// A form that two names share tells nothing.
	const uses = new Map();
	for (const forms of short.values())
		for (const form of new Set(forms)) uses.set(form, (uses.get(form) ?? 0) + 1);
	for (const [name, forms] of short)
		short.set(
			name,
			forms.filter((form) => uses.get(form) === 1 && !distinct.has(form)),
		);
	return short;
}

// What of a name fits; '' if that is next to nothing. measure(words): their width.
export function fitted(name, forms, width, measure) {
	const whole = measure(name);
	if (whole <= width) return name;
	const form = (forms ?? []).find((one) => measure(one) <= width);
	if (form) return form;
	const letters = Math.floor((name.length * width) / whole) - 1;
	if (letters < 3) return '';
	const tail = Math.ceil(letters / 2);
	return `${name.slice(0, letters - tail)}…${name.slice(-tail)}`;
}
