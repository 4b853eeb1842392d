// Handicap 3.
int handicap_3(void) {
    return 1;
}
