/** For how long the same notice is left out, in seconds and words. */
const spans = [
  [0, 'Always send it again'],
  [60, 'Leave it out for a minute'],
  [300, 'Leave it out for 5 minutes'],
  [900, 'Leave it out for 15 minutes'],
  [3600, 'Leave it out for an hour'],
  [21_600, 'Leave it out for 6 hours'],
  [86_400, 'Leave it out for a day'],
] as const;

/** The choices of a list; what was set in another way, such as 90 seconds, is among them. */
export function repeatChoices(seconds: number): readonly (readonly [string, string])[] {
  const known = spans.some(([each]) => each === seconds);
  const all = known ? spans : [...spans, [seconds, `Leave it out for ${String(seconds)} seconds`] as const];
  return all.toSorted(([a], [b]) => a - b).map(([each, words]) => [String(each), words] as const);
}
