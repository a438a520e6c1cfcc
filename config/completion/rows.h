// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Only preprocessed, never compiled: turns the .def list that LIST names into the rows that
 * completion.awk reads.
 */
#define OPTION(name, kind, def, min, max, unit, flag, letter, preset, scope, state, section, help) \
	@OPTION name kind flag letter preset unit
#define ALIAS(old, name) @ALIAS old name
#define ACTION(id, flag, letter, argument, section, help) @ACTION id flag letter argument
#define COMMAND(name, ...) @COMMAND name
#include LIST
@END
