import type { RetentionUsage, RetentionRule } from '../../../../services/contracts/push/retention.ts';

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

/** A rule as the form shows it; `key` tells the rows apart. */
export interface KeepingForm {
  readonly key: number;
  readonly topic: string;
  readonly count: number;
  readonly unit: Unit;
  readonly most: number | null;
}

/** The units to choose from, in the words that fit a number: `1 hour`. */
export function unitsFor(count: number): readonly (readonly [Unit, string])[] {
  return units.map(([unit, words]) => [unit, count === 1 && unit in singular ? singular[unit as Time] : words]);
}

/** Seconds in the largest unit that has them whole. */
export function readLife(kept: number | null): { readonly count: number; readonly unit: Unit } {
  if (kept === null) return { count: 1, unit: 'setting' };
  if (kept === 0) return { count: 1, unit: 'never' };
  const unit = (['days', 'hours'] as const).find((each) => kept % seconds[each] === 0) ?? 'minutes';
  return { count: Math.max(1, Math.round(kept / seconds[unit])), unit };
}

export function ruleOfForm({ topic, count, unit, most }: KeepingForm): RetentionRule {
  return { topic: topic.trim(), seconds: unit === 'setting' ? null : count * seconds[unit], most };
}

/** `12 hours` */
export function lifeWords(kept: number): string {
  const { count, unit } = readLife(kept);
  return `${String(count)} ${unitsFor(count).find(([each]) => each === unit)?.[1] ?? unit}`;
}

/** `Matches 3 topics, 41 messages kept` */
export function keptWords({ topics, messages }: RetentionUsage): string {
  if (topics === 0) return 'Matches no topic yet';
  const count = (many: number, one: string): string => `${many.toLocaleString('en')} ${one}${many === 1 ? '' : 's'}`;
  return `Matches ${count(topics, 'topic')}, ${count(messages, 'message')} kept`;
}
