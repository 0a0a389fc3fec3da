import * as m from '#messages/push';
import type { RetentionUsage, RetentionRule } from '../../../../../services/contracts/push/retention.ts';

const units = ['minutes', 'hours', 'days', 'setting', 'never'] as const;
export type Unit = (typeof units)[number];

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
  return units.map((unit) => [unit, m.retentionUnit({ unit, count })]);
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
  return m.retentionTime({ unit, count });
}

/** Formats the effect of a rule: `Matches 3 topics, 41 messages kept` */
export function formatStored({ topics, messages }: RetentionUsage): string {
  if (topics === 0) return m.matchesNoTopicYet();
  return m.matchesTopics({ topics, messages });
}
