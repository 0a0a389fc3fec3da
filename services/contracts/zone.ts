/** Returns whether the time zone database contains a name. */
export function isZone(zone: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone !== '';
  } catch {
    // `Intl` has no other way to validate a name.
    return false;
  }
}
