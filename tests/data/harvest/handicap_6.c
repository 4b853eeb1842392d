// Handicap 6.
int handicap_6(void) {
    return 1;
}
