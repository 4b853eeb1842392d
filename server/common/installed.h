// Files that come with the program and are installed beside it: pages, books.
#pragma once

// The folder `name` of the installation (PREFIX/share/patchmate/NAME), or, where the program runs
// from the build folder of a source tree, that tree's folder `in_tree`. malloc'ed; NULL: neither.
char *installed_folder(const char *name, const char *in_tree);
