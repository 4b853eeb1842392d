// Why something was refused or could not be done, for a person: names the thing and where it
// stands. What the engine's parts and those who use them tell each other.
#pragma once

#include <stdbool.h>

typedef struct Refusal {
    char message[320];
} Refusal;

// Fills `err`, if there is one, as printf does and returns false.
__attribute__((format(printf, 2, 3))) bool refused(Refusal *err, const char *format, ...);
