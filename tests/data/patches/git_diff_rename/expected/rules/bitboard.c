int bits(int x) {
    return x & 15;
}
