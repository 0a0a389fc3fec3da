import type { LogLine } from '../../../../services/contracts/control/log.ts';
import { givenUpWords } from '../dead-letters/work.ts';
import { bytes } from '../../parts/text/format.ts';
import { causeOf } from '../notify/cause.ts';
import { keyName } from '../notify/key-name.ts';

/** A line of the log as a person reads it. */
export interface LineWords {
  /** What happened; a page begins it with a capital. */
  readonly what: string;
  /** The reason, where one was given; else empty. */
  readonly why: string;
  /** What else is known, in words; else empty. */
  readonly facts: string;
  /** What only who looks for a defect reads: codes, numbers and where in the program it was; else empty. */
  readonly technical: string;
}

/** Lines that stand for the same, the newest of them in full. */
export interface RepeatedLine {
  readonly line: LogLine;
  readonly words: LineWords;
  readonly times: number;
  /** Of the oldest, ms since the epoch. */
  readonly since: number;
}

/** So many rows up, a line that says the same is counted there: two lines that come by turns are two rows. */
const rowsLookedAt = 20;

/** Fields that say nothing to who does not look for a defect. */
const forDefects = new Set([
  ...['by', 'service'],
  ...['id', 'uid', 'code', 'stack', 'kind', 'attempt', 'attempts', 'runAt', 'moreSinceTold', 'pid', 'method', 'path'],
]);

type Fields = Readonly<Record<string, unknown>>;

/** How the pages call a setting whose path is `services.gateway.shared`. */
type NameOf = (path: string) => string;

const withoutPlace: NameOf = (path) => path.replace(/^(services|host)\./, '');

/** Messages that name what the program is made of, in a person's words, with the fields that these tell already. */
const known: Readonly<
  Record<string, (fields: Fields, nameOf: NameOf) => { readonly what: string; readonly told: readonly string[] }>
> = {
  'the event loop had to wait for the machine': ({ milliseconds, by }) => ({
    what: `The computer was busy: Homeport stood still for ${pauseOf(Number(milliseconds))} because of ${String(by)}`,
    told: ['service', 'milliseconds', 'by'],
  }),
  'the event loop was blocked': ({ milliseconds }) => ({
    what: `Homeport was busy for ${pauseOf(Number(milliseconds))} with one piece of work`,
    told: ['milliseconds'],
  }),
  'job failed permanently': ({ kind }) => ({ what: `${failedWords(kind)} and is given up`, told: [] }),
  'job attempt failed, retry scheduled': ({ kind }) => ({
    what: `${failedWords(kind)}; it is tried again`,
    told: [],
  }),
  // The messages of earlier versions, which remain in rotated log files.
  'a job failed for good': ({ kind }) => ({ what: `${failedWords(kind)} and is given up`, told: [] }),
  'a job failed and is tried again': ({ kind }) => ({
    what: `${failedWords(kind)}; it is tried again`,
    told: [],
  }),
  'settings changed': ({ fields }, nameOf) => ({
    what: `Settings were changed: ${worded(fields).split(' ').map(nameOf).join(', ')}`,
    told: ['fields'],
  }),
  'notification given up': () => ({ what: `${failedWords('notify.deliver')} and is given up`, told: [] }),
  'the machine slept or could not work; faults of the next moments are not told': ({ ms }) => ({
    what: `The computer slept or could not work for ${spanOf(Number(ms))}; outages right after that are not reported`,
    told: ['ms'],
  }),
  'host is ready': ({ version, safeMode }) => ({
    what: `Homeport ${String(version)} is ready${safeMode === true || safeMode === 'true' ? ', without its services (safe mode)' : ''}`,
    told: ['version', 'safeMode'],
  }),
  'backup written': ({ bytes: size, files }) => ({
    what: `A backup was written: ${bytes(Number(size))}, ${Number(files).toLocaleString('en')} files`,
    told: ['bytes', 'files'],
  }),
  'request failed': () => ({ what: 'A request could not be answered', told: [] }),
  'vault key created': () => ({ what: 'The key that seals passwords was made', told: [] }),
  'vault key made': () => ({ what: 'The key that seals passwords was made', told: [] }),
  'configuration saved': ({ key }) => ({ what: `Destinations were saved${ofKey(key)}`, told: ['key'] }),
  'configuration removed': ({ key }) => ({ what: `Destinations were removed${ofKey(key)}`, told: ['key'] }),
};

/** A line in words: the sentence, its reason, and apart from them what is for those who mend the program. */
export function wordsOf({ message, fields }: LogLine, nameOf = withoutPlace): LineWords {
  const { what, told } = known[message]?.(fields, nameOf) ?? { what: message, told: [] };
  const rest = Object.entries(fields).filter(([name]) => !told.includes(name));
  const { error, reason } = fields;
  const why = causeOf(typeof reason === 'string' ? reason : reasonOf(error));
  const [facts, technical] = [new Array<string>(), new Array<string>()];
  for (const [name, value] of rest) {
    if (name === 'reason' && typeof value === 'string') continue;
    if (name === 'error') technical.push(...besidesReason(value));
    else if (name === 'key' || name === 'configuration') facts.push(`${name} ${keyName(worded(value))}`);
    else (forDefects.has(name) ? technical : facts).push(`${spaced(name)} ${worded(value)}`);
  }
  return { what, why, facts: facts.join(', '), technical: technical.join('\n') };
}

/** Numbers by themselves, and seconds: those of a name (`nas1`) or a version (`1.2`) tell one from another. */
const figures = /(?<![\w.])\d+(?:\.\d(?= s\b))?(?![\w]|\.\d)/g;

/** The lines, newest first, with those that say the same as one a few rows above counted there, day by day. */
export function withoutRepeats(
  lines: readonly LogLine[],
  sameDay: (one: number, other: number) => boolean,
  nameOf = withoutPlace,
): readonly RepeatedLine[] {
  const rows: { line: LogLine; words: LineWords; times: number; since: number; says: string }[] = [];
  for (const line of lines) {
    const words = wordsOf(line, nameOf);
    // Figures differ from one to the next; those of a message that has no words of ours may be all that it tells.
    const what = words.what === line.message ? line.message : words.what.replaceAll(figures, '#');
    const says = [line.service, line.level, what, words.why, words.facts.replaceAll(figures, '#')].join('\n');
    const row = rows.slice(-rowsLookedAt).find((each) => each.says === says && sameDay(each.line.time, line.time));
    if (row === undefined) rows.push({ line, words, times: 1, since: line.time, says });
    else Object.assign(row, { times: row.times + 1, since: line.time });
  }
  return rows;
}

/** The lines as a file has them, oldest first and with everything. */
export function asText(lines: readonly LogLine[]): string {
  return lines
    .toReversed()
    .map(({ time, level, service, message, fields }) =>
      `${new Date(time).toISOString()} ${level} ${service}: ${message} ${pairs(fields)}`.trimEnd(),
    )
    .join('\n');
}

function reasonOf(error: unknown): string {
  if (typeof error === 'string') return error;
  if (typeof error !== 'object' || error === null || !('message' in error)) return '';
  return typeof error.message === 'string' ? error.message : '';
}

function besidesReason(error: unknown): readonly string[] {
  if (typeof error !== 'object' || error === null) return [];
  return Object.entries(error)
    .filter(([name, value]) => name !== 'message' && value !== 'Error')
    .map(([name, value]) => (name === 'stack' ? worded(value) : `${spaced(name)} ${worded(value)}`));
}

function pairs(fields: object): string {
  return Object.entries(fields)
    .map(([name, value]) => `${name} ${worded(value)}`)
    .join(', ');
}

/** Braces and quotes are for programs. */
function worded(value: unknown): string {
  if (Array.isArray(value)) return value.map(worded).join(' ');
  if (typeof value === 'object' && value !== null) return pairs(value);
  // Lines of an earlier run come as text.
  if (value === true || value === 'true') return 'yes';
  if (value === false || value === 'false') return 'no';
  return String(value);
}

/** `moreSinceTold` as words. */
function spaced(name: string): string {
  return name.replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

/** Of which key of Delivery they are. */
function ofKey(key: unknown): string {
  return typeof key === 'string' ? `: ${keyName(key)}` : '';
}

/** `0.8 s`, `2 s` */
function pauseOf(ms: number): string {
  return `${String(ms < 1000 ? Math.max(1, Math.round(ms / 100)) / 10 : Math.round(ms / 1000))} s`;
}

/** `12 min`, `9 s` */
function spanOf(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds < 120) return `${String(seconds)} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 120 ? `${String(minutes)} min` : `${String(Math.round(minutes / 60))} h`;
}

/** What did not come about, as the first half of a sentence. */
function failedWords(kind: unknown): string {
  return givenUpWords(String(kind), 1);
}
