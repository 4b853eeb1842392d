// The positions that a book has already, in a hash table: open addressing, at most half full.
#pragma once

#include "rules/types.h"

typedef struct KeySet {
    Key *keys; // 0: free. The key 0 counts as 1.
    size_t mask;
} KeySet;

// Room for `most` keys. False: out of memory.
bool key_set_init(KeySet *set, size_t most) __attribute__((warn_unused_result));
void key_set_release(KeySet *set);
// True if the key was not there; it is now.
bool key_set_add(KeySet *set, Key key);
