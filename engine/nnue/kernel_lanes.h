// Adds and subtracts rows with vectors of any width: accumulate(). It uses the vector types of the
// compiler. Each kernel that has vectors includes this file once, and defines before:
//   VECTOR_BYTES   the width
//   TARGET         an attribute that lets the compiler use such vectors, or nothing
// Lanes are unsigned so that sums wrap.

typedef uint16_t Lanes
    __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(int16_t)), may_alias));

enum {
    VECTORS = NET_WIDTH * (int)sizeof(int16_t) / VECTOR_BYTES, // in a row
    TILE = 8,                                                  // vectors held in registers
};

static inline const Lanes *lanes_of(const int16_t *row) {
    return (const Lanes *)row;
}

// One row is added and one subtracted: a quiet move.
TARGET static void accumulate_move(Lanes *out, const Lanes *from, const NetDelta *delta) {
    const Lanes *plus = lanes_of(delta->plus[0]), *minus = lanes_of(delta->minus[0]);
    for (int i = 0; i < VECTORS; i++)
        out[i] = from[i] + plus[i] - minus[i];
}

// One row is added and two are subtracted: a capture.
TARGET static void accumulate_capture(Lanes *out, const Lanes *from, const NetDelta *delta) {
    const Lanes *plus = lanes_of(delta->plus[0]);
    const Lanes *moved = lanes_of(delta->minus[0]), *captured = lanes_of(delta->minus[1]);
    for (int i = 0; i < VECTORS; i++)
        out[i] = from[i] + plus[i] - moved[i] - captured[i];
}

TARGET static void accumulate_any(Lanes *out, const Lanes *from, const NetDelta *delta) {
    for (int first = 0; first < VECTORS; first += TILE) {
        Lanes sum[TILE];
        for (int i = 0; i < TILE; i++)
            sum[i] = from[first + i];
        for (int r = 0; r < delta->plus_count; r++)
            for (int i = 0; i < TILE; i++)
                sum[i] += lanes_of(delta->plus[r])[first + i];
        for (int r = 0; r < delta->minus_count; r++)
            for (int i = 0; i < TILE; i++)
                sum[i] -= lanes_of(delta->minus[r])[first + i];
        for (int i = 0; i < TILE; i++)
            out[first + i] = sum[i];
    }
}

TARGET static void accumulate(int16_t *out, const int16_t *from, const NetDelta *delta) {
    Lanes *to = (Lanes *)out;
    if (delta->plus_count == 1 && delta->minus_count == 1)
        accumulate_move(to, lanes_of(from), delta);
    else if (delta->plus_count == 1 && delta->minus_count == 2)
        accumulate_capture(to, lanes_of(from), delta);
    else
        accumulate_any(to, lanes_of(from), delta);
}
