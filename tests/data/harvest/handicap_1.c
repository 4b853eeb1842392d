// Handicap 1.
int handicap_1(void) {
    return 1;
}
