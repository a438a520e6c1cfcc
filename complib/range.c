// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Sets of integers as ranges: LIDs, MLIDs, P_Keys, ports. See range.h.
 *
 * The ranges are sorted and neither touch nor overlap, so a set has one representation, and a
 * change replaces one stretch of neighbouring ranges by at most two. last + 1 is never computed
 * before it is known that last is not the greatest number.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <complib/range.h>

static struct range *range_at(const struct range_set *set, guint i)
{
	return &g_array_index(set->ranges, struct range, i);
}

void range_set_init(struct range_set *set)
{
	set->ranges = g_array_new(FALSE, FALSE, sizeof(struct range));
}

void range_set_clear(struct range_set *set)
{
	g_array_free(set->ranges, TRUE);
	set->ranges = NULL;
}

/* The first range that does not end before value; the number of ranges if there is none. */
static guint range_search(const struct range_set *set, uint64_t value)
{
	guint low = 0, high = set->ranges->len;

	while (low < high) {
		guint middle = low + (high - low) / 2;

		if (range_at(set, middle)->last < value)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void range_replace(struct range_set *set, guint begin, guint end, const struct range *with,
			  guint count)
{
	if (end > begin)
		g_array_remove_range(set->ranges, begin, end - begin);
	if (count)
		g_array_insert_vals(set->ranges, begin, with, count);
}

void range_set_add(struct range_set *set, uint64_t first, uint64_t last)
{
	/* A neighbour that only touches is merged as well. */
	uint64_t before = first ? first - 1 : first, after = last == UINT64_MAX ? last : last + 1;
	guint begin = range_search(set, before), end = begin;
	struct range merged = {first, last};

	g_assert(first <= last);
	for (; end < set->ranges->len && range_at(set, end)->first <= after; end++) {
		merged.first = MIN(merged.first, range_at(set, end)->first);
		merged.last = MAX(merged.last, range_at(set, end)->last);
	}
	range_replace(set, begin, end, &merged, 1);
}

void range_set_remove(struct range_set *set, uint64_t first, uint64_t last)
{
	guint begin = range_search(set, first), end = begin, count = 0;
	struct range rest[2];

	g_assert(first <= last);
	while (end < set->ranges->len && range_at(set, end)->first <= last)
		end++;
	if (begin == end)
		return;
	if (range_at(set, begin)->first < first)
		rest[count++] = (struct range){range_at(set, begin)->first, first - 1};
	if (range_at(set, end - 1)->last > last)
		rest[count++] = (struct range){last + 1, range_at(set, end - 1)->last};
	range_replace(set, begin, end, rest, count);
}

bool range_set_contains(const struct range_set *set, uint64_t value)
{
	guint i = range_search(set, value);

	return i < set->ranges->len && range_at(set, i)->first <= value;
}

uint64_t range_set_count(const struct range_set *set)
{
	uint64_t count = 0;

	for (guint i = 0; i < set->ranges->len; i++) {
		uint64_t span = range_at(set, i)->last - range_at(set, i)->first;

		if (span == UINT64_MAX)
			return UINT64_MAX;
		count += span + 1;
	}
	return count;
}

bool range_set_find(const struct range_set *set, uint64_t count, uint64_t align, uint64_t *first)
{
	g_assert(count > 0 && align > 0 && (align & (align - 1)) == 0);
	for (guint i = 0; i < set->ranges->len; i++) {
		const struct range *range = range_at(set, i);
		uint64_t gap = -range->first & (align - 1); /* to the next multiple */
		uint64_t span = range->last - range->first;

		if (gap <= span && span - gap >= count - 1) {
			*first = range->first + gap;
			return true;
		}
	}
	return false;
}

static const char *skip_blanks(const char *p)
{
	return p + strspn(p, " \t");
}

/* Parses an unsigned number; returns the text after it and any blanks, or NULL if there is none. */
static const char *parse_number(const char *p, uint64_t *value)
{
	bool hex = p[0] == '0' && (p[1] == 'x' || p[1] == 'X');
	char *end;

	if (hex)
		p += 2;
	/* strtoull would take a sign, a second 0x, or nothing. */
	if (!(hex ? g_ascii_isxdigit(p[0]) && p[1] != 'x' && p[1] != 'X' : g_ascii_isdigit(p[0])))
		return NULL;
	errno = 0;
	*value = strtoull(p, &end, hex ? 16 : 10);
	return errno ? NULL : skip_blanks(end);
}

bool range_parse(const char *text, struct range *range)
{
	struct range parsed;
	const char *p = parse_number(skip_blanks(text), &parsed.first);

	if (!p)
		return false;
	parsed.last = parsed.first;
	if (*p == '-')
		p = parse_number(skip_blanks(p + 1), &parsed.last);
	if (!p || *p || parsed.first > parsed.last)
		return false;
	*range = parsed;
	return true;
}
