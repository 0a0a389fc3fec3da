/**
 * Age from which the work of a host with an earlier version, which does not identify itself, counts as interrupted, ms.
 */
export const unknownHostAfterMs = 2 * 60 * 60_000;
