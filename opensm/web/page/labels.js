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

// Map from each name to its forms, the whole one first: {text, like}, where like is the longest of
// that form, so that names side by side are cut alike. Equal names count as one.
export function shortNames(all) {
	const names = [...new Set(all)],
		short = new Map(names.map((name) => [name, []]));
	if (names.length < 2) return short;
	const starts = [0, ...cuts(names)],
		ends = [0, ...cuts(names.map(reversed)).slice(-1)];
	const forms = ends.flatMap((end) =>
		starts.map((start) => names.map((name) => name.slice(start, name.length - end))),
	);
	for (const form of forms.sort((a, b) => b[0].length - a[0].length)) {
		// One that two names share, or that has nothing of a name, tells nothing.
		if (form.includes('') || new Set(form).size < names.length) continue;
		const like = form.reduce((a, b) => (b.length > a.length ? b : a));
		names.forEach((name, i) => short.get(name).push({ text: form[i], like }));
	}
	return short;
}

// What of a name fits; '' if that is next to nothing. measure(words): their width.
export function fitted(name, forms, width, measure) {
	const alike = (forms ?? []).find(({ like }) => measure(like) <= width);
	if (alike) return alike.text;
	const whole = measure(name);
	if (whole <= width) return name;
	const form = (forms ?? []).find(({ text }) => measure(text) <= width);
	if (form) return form.text;
	const letters = Math.floor((name.length * width) / whole) - 1;
	if (letters < 3) return '';
	const tail = Math.ceil(letters / 2);
	return `${name.slice(0, letters - tail)}…${name.slice(-tail)}`;
}
