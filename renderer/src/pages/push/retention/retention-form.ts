import type { RetentionUsage, RetentionRule } from '../../../../../services/contracts/push/retention.ts';

const units = [
  ['minutes', 'minutes'],
  ['hours', 'hours'],
  ['days', 'days'],
  ['setting', 'as the setting says'],
  ['never', 'not at all'],
] as const;
export type Unit = (typeof units)[number][0];

type Time = 'minutes' | 'hours' | 'days';
const singular: Readonly<Record<Time, string>> = { minutes: 'minute', hours: 'hour', days: 'day' };
const seconds: Readonly<Record<Unit, number>> = { minutes: 60, hours: 3600, days: 86_400, setting: 0, never: 0 };

/** A rule in the form; `key` identifies the row. */
export interface RetentionForm {
  readonly key: number;
  readonly topic: string;
  readonly count: number;
  readonly unit: Unit;
  readonly maxCount: number | null;
}

/** Returns the units in singular or plural for a number: `1 hour`. */
export function getUnits(count: number): readonly (readonly [Unit, string])[] {
  return units.map(([unit, plural]) => [unit, count === 1 && unit in singular ? singular[unit as Time] : plural]);
}

/** Converts seconds to the largest unit without a remainder. */
export function parseRetention(retentionSeconds: number | null): { readonly count: number; readonly unit: Unit } {
  if (retentionSeconds === null) return { count: 1, unit: 'setting' };
  if (retentionSeconds === 0) return { count: 1, unit: 'never' };
  const unit = (['days', 'hours'] as const).find((each) => retentionSeconds % seconds[each] === 0) ?? 'minutes';
  return { count: Math.max(1, Math.round(retentionSeconds / seconds[unit])), unit };
}

export function toRetentionRule({ topic, count, unit, maxCount }: RetentionForm): RetentionRule {
  return { topic: topic.trim(), seconds: unit === 'setting' ? null : count * seconds[unit], most: maxCount };
}

/** Formats a retention time: `12 hours` */
export function formatRetention(retentionSeconds: number): string {
  const { count, unit } = parseRetention(retentionSeconds);
  return `${String(count)} ${getUnits(count).find(([each]) => each === unit)?.[1] ?? unit}`;
}

/** Formats the effect of a rule: `Matches 3 topics, 41 messages kept` */
export function formatStored({ topics, messages }: RetentionUsage): string {
  if (topics === 0) return 'Matches no topic yet';
  const count = (total: number, singularName: string): string =>
    `${total.toLocaleString('en')} ${singularName}${total === 1 ? '' : 's'}`;
  return `Matches ${count(topics, 'topic')}, ${count(messages, 'message')} kept`;
}
