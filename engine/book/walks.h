// A book as a set of numbers: the walks (walk.h) whose exits a search judged right. It was searched
// for once, for an hour; to make its positions from the numbers takes seconds.
//
// A file of walks is one line of text, the recipe, and then bits. The line is
//   anvil walks 1 count=… walks=… nodes=… low=… high=… rice=k net=SHA-256 book=SHA-256
// Each number follows as the count of numbers between it and the one before, in Rice code: the
// count without its lowest k bits as that many ones, a zero, then the k bits. Bits fill each byte
// from the lowest on; zeros fill the last byte.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/sha256.h"
#include "rules/error.h"

#define WALKS_MAGIC "anvil walks 1 "

enum {
    WALKS_COUNT_MAX = 10000000,
    WALKS_FILE_MAX = 16 << 20,
    WALKS_LINE_MAX = 320,
};

typedef struct WalksRecipe {
    uint32_t count;              // of openings
    uint32_t walks;              // that were looked at: every number is smaller
    uint32_t nodes;              // of the search of each exit
    uint32_t low, high;          // the bounds of its score in centipawns, of either side
    char net[SHA256_TEXT_SIZE];  // of the engine that searched; "none" without a net
    char book[SHA256_TEXT_SIZE]; // of the book as EPD, one line for each number
} WalksRecipe;

typedef struct Walks {
    WalksRecipe recipe;
    uint32_t *numbers; // recipe.count of them, ascending
} Walks;

// False, with the reason, if the bytes are not exactly what walks_write() makes. Release in either
// case.
bool walks_read(const void *bytes, size_t size, Walks *out, Refusal *err)
    __attribute__((warn_unused_result));
void walks_release(Walks *walks);
// The file, in new memory; NULL: out of memory.
uint8_t *walks_write(const Walks *walks, size_t *size);

// The book as EPD, NUL-terminated in new memory. NULL, with the reason, if its SHA-256 is not the
// recipe's: the rules of chess here make other walks.
char *walks_expand(const Walks *walks, size_t *size, Refusal *err)
    __attribute__((warn_unused_result));
// The same without that comparison; NULL: out of memory.
char *walks_print(const uint32_t *numbers, size_t count, size_t *size);
