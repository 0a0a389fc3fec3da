/** Whether the time zone database has this name. */
export function isZone(zone: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone !== '';
  } catch {
    // There is no other way to ask.
    return false;
  }
}
