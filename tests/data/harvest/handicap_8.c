// Handicap 8.
int handicap_8(void) {
    return 1;
}
