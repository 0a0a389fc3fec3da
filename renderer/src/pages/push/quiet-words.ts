import type { PushRule } from '../../../../services/contracts/push-rules.ts';

/** Days in the words of a line, and what a person calls them. */
export const dayChoices = [
  ['', 'Every day'],
  ['mon-fri', 'Monday to Friday'],
  ['sat sun', 'Saturday and Sunday'],
  ['sun-thu', 'Sunday to Thursday'],
  ['fri sat', 'Friday and Saturday'],
  ['mon', 'Monday'],
  ['tue', 'Tuesday'],
  ['wed', 'Wednesday'],
  ['thu', 'Thursday'],
  ['fri', 'Friday'],
  ['sat', 'Saturday'],
  ['sun', 'Sunday'],
] as const;

/** A line of quiet hours in its parts: `mon-fri 22:00-07:00`. Times as an input has them, empty while there is none. */
export interface Span {
  readonly days: string;
  readonly from: string;
  readonly to: string;
}

export function readSpan(line: string): Span {
  const [, days = '', from = '', to = ''] = /^\s*(.*?)\s*(\d+:\d\d)?\s*-\s*(\d+:\d\d)?\s*$/.exec(line) ?? [];
  const said = days
    .toLowerCase()
    .replaceAll(/\s*-\s*/g, '-')
    .replaceAll(/\s+/g, ' ');
  // An input has no 24:00, and a span to 00:00 lasts as long.
  const time = (text: string): string => text.replace(/^24:/, '00:').replace(/^\d:/, '0$&');
  return { days: said === 'daily' ? '' : said, from: time(from), to: time(to) };
}

export function writeSpan({ days, from, to }: Span): string {
  return `${days} ${from}-${to}`.trim();
}

function spanWords(line: string): string {
  const { days, from, to } = readSpan(line);
  const said = dayChoices.find(([key]) => key === days)?.[1] ?? days;
  return from === to ? `${said}, all day` : `${said} ${from}–${to}`;
}

/** What a rule does, on one line. */
export function ruleWords({ mode, quiet, repeatMinutes }: PushRule, general: boolean): string {
  const hours = quiet.map(spanWords).join('; ');
  const rest = general ? 'Never quiet' : 'Quiet as all topics';
  const what = {
    silent: 'Silent: no sound, no popup',
    always: 'Always heard, also while it is quiet',
    normal: hours === '' ? rest : `Quiet: ${hours}`,
  }[mode];
  if (mode === 'silent' || repeatMinutes === null) return what;
  return `${what} · urgent ${repeatMinutes === 0 ? 'comes once' : `again every ${String(repeatMinutes)} min`}`;
}

export const modes = [
  ['normal', 'Quiet hours'],
  ['always', 'Always'],
  ['silent', 'Silent'],
] as const satisfies readonly (readonly [PushRule['mode'], string])[];

export const modeWords: Readonly<Record<PushRule['mode'], string>> = {
  normal: 'While it is quiet, priority 3 waits and is summed up afterwards. High and urgent ones come at once.',
  always: 'Messages come at once, however quiet it is.',
  silent: 'Messages come without a sound and without a popup, urgent ones too.',
};

/** How often an urgent message comes again; empty: nothing is said. */
export const repeats = [
  ['0', 'Once'],
  ['1', 'Every minute'],
  ['2', 'Every 2 minutes'],
  ['5', 'Every 5 minutes'],
  ['10', 'Every 10 minutes'],
  ['15', 'Every 15 minutes'],
  ['30', 'Every 30 minutes'],
  ['60', 'Every hour'],
] as const;
