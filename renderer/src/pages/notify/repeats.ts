/** Within which time the same notice is left out, in seconds and words. */
const spans = [
  [0, 'Send every time'],
  [60, 'Leave out within a minute'],
  [300, 'Leave out within 5 minutes'],
  [900, 'Leave out within 15 minutes'],
  [3600, 'Leave out within an hour'],
  [21_600, 'Leave out within 6 hours'],
  [86_400, 'Leave out within a day'],
] as const;

/** The choices of a list; what was set in another way, such as 90 seconds, is among them. */
export function repeatChoices(seconds: number): readonly (readonly [string, string])[] {
  const known = spans.some(([each]) => each === seconds);
  const all = known ? spans : [...spans, [seconds, `Leave out within ${String(seconds)} seconds`] as const];
  return all.toSorted(([a], [b]) => a - b).map(([each, words]) => [String(each), words] as const);
}
