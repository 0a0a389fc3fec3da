import * as m from '#messages/notifications';
import type { PushRule } from '../../../../services/contracts/push/rules.ts';
import { formatSpan } from '../../parts/text/time-spans.ts';

/** Formats the effect of a rule on one line. */
export function formatRule({ mode, quiet, repeatMinutes }: PushRule, general: boolean): string {
  const hours = quiet.map(formatSpan).join('; ');
  const defaultText = general ? m.neverQuiet() : m.quietAsAllTopics();
  const effect = {
    silent: m.silentEffect(),
    always: m.alwaysEffect(),
    normal: hours === '' ? defaultText : m.quietHours({ hours }),
  }[mode];
  if (mode === 'silent' || repeatMinutes === null) return effect;
  return repeatMinutes === 0 ? m.effectOnce({ effect }) : m.effectRepeated({ effect, minutes: repeatMinutes });
}

/** Returns the modes of a rule and their labels. */
export function listModes(): readonly (readonly [PushRule['mode'], string])[] {
  return [
    ['normal', m.normalMode()],
    ['always', m.alwaysMode()],
    ['silent', m.silentMode()],
  ];
}

export const modeDescriptions: Readonly<Record<PushRule['mode'], () => string>> = {
  normal: m.normalDescription,
  always: m.alwaysDescription,
  silent: m.silentDescription,
};

/** Returns the intervals at which an urgent message is repeated; empty for the default. */
export function listRepeatOptions(): readonly (readonly [string, string])[] {
  const intervals = [1, 2, 5, 10, 15, 30];
  return [
    ['0', m.once()],
    ...intervals.map((minutes) => [String(minutes), m.everyMinutes({ minutes })] as const),
    ['60', m.everyHour()],
  ];
}
