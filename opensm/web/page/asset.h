// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The assets of the page, as pack.sh puts them into the program. */
#ifndef WEB_PAGE_ASSET_H
#define WEB_PAGE_ASSET_H

#include <stddef.h>

struct page_asset {
	const char *name; /* NULL: past the last */
	const unsigned char *octets;
	size_t n; /* compressed by gzip */
};

extern const struct page_asset page_assets[];

#endif
