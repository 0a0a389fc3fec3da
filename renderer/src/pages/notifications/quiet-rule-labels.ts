import * as m from '#messages/notifications';
import type { PushRule } from '../../../../services/contracts/push/rules.ts';
import { formatSpan } from '../../parts/text/time-spans.ts';

/** Formats the effect of a rule on one line. */
export function formatRule({ mode, quiet, repeatMinutes }: PushRule, general: boolean): string {
  const hours = quiet.map(formatSpan).join('; ');
  const defaultText = general ? m.neverQuiet() : m.quietAsAllTopics();
  const effect = {
    silent: m.silentNoSoundNoPopup(),
    always: m.alwaysHeardAlsoWhileIt(),
    normal: hours === '' ? defaultText : m.quietAt({ hours }),
  }[mode];
  if (mode === 'silent' || repeatMinutes === null) return effect;
  return m.withRepeat({ effect, minutes: repeatMinutes });
}

/** Modes of a rule with their labels. */
export const modes = [
  ['normal', m.modeNormal],
  ['always', m.modeAlways],
  ['silent', m.modeSilent],
] as const satisfies readonly (readonly [PushRule['mode'], () => string])[];

/** Descriptions of the modes of a rule. */
export const modeDescriptions: Readonly<Record<PushRule['mode'], () => string>> = {
  normal: m.whileItIsQuietMessages,
  always: m.messagesComeAtOnceHowever,
  silent: m.messagesComeWithoutASound,
};

/** Intervals in minutes at which an urgent message is repeated; 0 for a single notification. */
const repeatIntervals = [0, 1, 2, 5, 10, 15, 30, 60];

/** Returns the options for the interval of urgent messages, with a current value that was set through the API. */
export function getRepeatOptions(current: number | null): readonly (readonly [minutes: string, label: string])[] {
  const intervals = current === null || repeatIntervals.includes(current) ? [] : [current];
  return [...repeatIntervals, ...intervals].map((minutes) => [String(minutes), m.repeatEvery({ minutes })] as const);
}
