// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
int main(void)
{
	return 0;
}
