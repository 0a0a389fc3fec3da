/** Time spans in seconds in which a repeated notification is left out, with their labels. */
const spans = [
  [0, 'Send every time'],
  [60, 'Leave out within a minute'],
  [300, 'Leave out within 5 minutes'],
  [900, 'Leave out within 15 minutes'],
  [3600, 'Leave out within an hour'],
  [21_600, 'Leave out within 6 hours'],
  [86_400, 'Leave out within a day'],
] as const;

/** Returns the options, including a value such as 90 seconds that was set in another way. */
export function getRepeatOptions(seconds: number): readonly (readonly [string, string])[] {
  const isListed = spans.some(([each]) => each === seconds);
  const all = isListed ? spans : [...spans, [seconds, `Leave out within ${String(seconds)} seconds`] as const];
  return all.toSorted(([a], [b]) => a - b).map(([each, label]) => [String(each), label] as const);
}
