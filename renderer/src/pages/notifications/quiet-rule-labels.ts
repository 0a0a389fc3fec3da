import type { PushRule } from '../../../../services/contracts/push/rules.ts';
import { formatSpan } from '../../parts/text/time-spans.ts';

/** Formats the effect of a rule on one line. */
export function formatRule({ mode, quiet, repeatMinutes }: PushRule, general: boolean): string {
  const hours = quiet.map(formatSpan).join('; ');
  const defaultText = general ? 'Never quiet' : 'Quiet as all topics';
  const effect = {
    silent: 'Silent: no sound, no popup',
    always: 'Always heard, also while it is quiet',
    normal: hours === '' ? defaultText : `Quiet: ${hours}`,
  }[mode];
  if (mode === 'silent' || repeatMinutes === null) return effect;
  return `${effect}; urgent ${repeatMinutes === 0 ? 'comes once' : `again every ${String(repeatMinutes)} min`}`;
}

export const modes = [
  ['normal', 'Quiet hours'],
  ['always', 'Always'],
  ['silent', 'Silent'],
] as const satisfies readonly (readonly [PushRule['mode'], string])[];

export const modeDescriptions: Readonly<Record<PushRule['mode'], string>> = {
  normal: 'While it is quiet, messages wait and are summed up afterwards. High and urgent ones come at once.',
  always: 'Messages come at once, however quiet it is.',
  silent: 'Messages come without a sound and without a popup, urgent ones too.',
};

/** Intervals at which an urgent message is repeated; empty for the default. */
export const repeatOptions = [
  ['0', 'Once'],
  ['1', 'Every minute'],
  ['2', 'Every 2 minutes'],
  ['5', 'Every 5 minutes'],
  ['10', 'Every 10 minutes'],
  ['15', 'Every 15 minutes'],
  ['30', 'Every 30 minutes'],
  ['60', 'Every hour'],
] as const;
