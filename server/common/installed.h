// Files that are installed with the program: pages, books.
#pragma once

// The folder `name` of the installation (PREFIX/share/patchmate/NAME). If the program runs from the
// build folder of a source tree: that tree's folder `in_tree`. malloc'ed; NULL if neither exists.
char *installed_folder(const char *name, const char *in_tree);
