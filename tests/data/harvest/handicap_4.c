// Handicap 4.
int handicap_4(void) {
    return 1;
}
