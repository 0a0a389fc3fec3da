import * as m from '#messages/notify';

/** Time spans in seconds in which a repeated notification is left out, with their labels. */
const spans: readonly (readonly [number, () => string])[] = [
  [0, m.sendEveryTime],
  [60, m.leaveOutWithinMinute],
  [300, () => m.leaveOutWithinMinutes({ minutes: 5 })],
  [900, () => m.leaveOutWithinMinutes({ minutes: 15 })],
  [3600, m.leaveOutWithinHour],
  [21_600, () => m.leaveOutWithinHours({ hours: 6 })],
  [86_400, m.leaveOutWithinDay],
];

/** Returns the options, including a value such as 90 seconds that was set in another way. */
export function getRepeatOptions(seconds: number): readonly (readonly [string, string])[] {
  const isListed = spans.some(([each]) => each === seconds);
  const all = isListed ? spans : [...spans, [seconds, () => m.leaveOutWithinSeconds({ seconds })] as const];
  return all.toSorted(([a], [b]) => a - b).map(([each, label]) => [String(each), label()] as const);
}
