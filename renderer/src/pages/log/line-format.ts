import * as m from '#messages/log';
import { formatList } from '../../../../messages/format.ts';
import type { LogEvent, LogLine } from '../../../../services/contracts/control/log.ts';
import { formatFailure } from '../../state/dead-letters/job-labels.ts';
import { formatBytes } from '../../parts/text/format.ts';
import { formatCause } from '../notify/destinations/cause.ts';
import { formatKey } from '../notify/keys/key-name.ts';

/** A formatted log line. */
export interface FormattedLine {
  /** Description of the event; pages capitalize it. */
  readonly what: string;
  /** The reason, or empty. */
  readonly reason: string;
  /** Further details as text, or empty. */
  readonly facts: string;
  /** Technical details for developers: codes, numbers and stack traces, or empty. */
  readonly technical: string;
}

/** Equal lines, with the newest one in full. */
export interface RepeatedLine {
  readonly line: LogLine;
  readonly words: FormattedLine;
  readonly times: number;
  /** Time of the oldest line in ms since the epoch. */
  readonly since: number;
}

/** Number of previous rows that are searched for an equal line, so that alternating lines result in two rows. */
const maxLookBackRows = 20;

/** Fields that only developers need. */
const technicalFields = new Set([
  ...['by', 'service'],
  ...['id', 'uid', 'code', 'stack', 'kind', 'attempt', 'attempts', 'runAt', 'moreSinceTold', 'pid', 'method', 'path'],
]);

type Fields = Readonly<Record<string, unknown>>;

/** Returns the title of a setting for a path such as `services.gateway.shared`. */
type GetSettingTitle = (path: string) => string;

const stripPrefix: GetSettingTitle = (path) => path.replace(/^(services|host)\./, '');

interface EventText {
  readonly what: string;
  /** Fields that the text already contains. */
  readonly told: readonly string[];
}

/** Texts of events. Other lines are shown with their message. */
const eventFormats: Readonly<Record<LogEvent, (fields: Fields, getSettingTitle: GetSettingTitle) => EventText>> = {
  event_loop_delayed: ({ milliseconds, by }) => ({
    what: m.computerBusy({ duration: formatPause(Number(milliseconds)), cause: String(by) }),
    told: ['service', 'milliseconds', 'by'],
  }),
  event_loop_blocked: ({ milliseconds }) => ({
    what: m.homeportBusy({ duration: formatPause(Number(milliseconds)) }),
    told: ['milliseconds'],
  }),
  job_failed: ({ kind }) => ({ what: m.failureGivenUp({ failure: formatFailedJob(kind) }), told: [] }),
  job_retry_scheduled: ({ kind }) => ({ what: m.failureRetried({ failure: formatFailedJob(kind) }), told: [] }),
  delivery_failed: () => ({ what: m.failureGivenUp({ failure: formatFailedJob('notify.deliver') }), told: [] }),
  settings_saved: ({ fields }, getSettingTitle) => ({
    what: m.settingsChanged({ settings: formatList(formatValue(fields).split(' ').map(getSettingTitle), 'unit') }),
    told: ['fields'],
  }),
  sleep_detected: ({ ms }) => ({
    what: m.computerSlept({ duration: formatDuration(Number(ms)) }),
    told: ['ms'],
  }),
  host_ready: ({ version, safeMode }) => ({
    what:
      safeMode === true || safeMode === 'true'
        ? m.hostReadyInSafeMode({ version: String(version) })
        : m.hostReady({ version: String(version) }),
    told: ['version', 'safeMode'],
  }),
  backup_written: ({ bytes: size, files }) => ({
    what: m.aBackupWasWritten({ size: formatBytes(Number(size)), files: Number(files) }),
    told: ['bytes', 'files'],
  }),
  request_failed: () => ({ what: m.requestCouldNotAnswered(), told: [] }),
  vault_key_created: () => ({ what: m.keySealsPasswordsMade(), told: [] }),
  destinations_saved: ({ key }) => ({
    what: typeof key === 'string' ? m.destinationsSavedAt({ key: formatKey(key) }) : m.destinationsSaved(),
    told: ['key'],
  }),
  destinations_removed: ({ key }) => ({
    what: typeof key === 'string' ? m.destinationsRemovedAt({ key: formatKey(key) }) : m.destinationsRemoved(),
    told: ['key'],
  }),
};

/** Fields of a security event that are shown without their names. The name of the event repeats the message. */
const plainSecurityFields: ReadonlySet<string> = new Set(['event', 'account', 'address', 'target', 'detail']);

/**
 * Formats a security event: account, address, the service unless it is Homeport itself, details, and then other fields
 * with their names, such as the account that caused the event. Events without a client have the address `-`.
 */
function formatSecurityLine({ message, fields }: LogLine): FormattedLine {
  const { account, address, target, detail } = fields;
  const plain = [account, address === '-' ? '' : address, target === 'control' ? '' : target, detail]
    .filter((value) => value !== undefined && value !== '')
    .map(formatValue);
  const others = Object.entries(fields)
    .filter(([name]) => !plainSecurityFields.has(name))
    .map(([name, value]) => `${splitCamelCase(name)} ${formatValue(value)}`);
  return { what: message, reason: '', facts: [...plain, ...others].join(' · '), technical: '' };
}

/** Formats a line: its text and reason, and separately the technical details. */
export function formatLine(line: LogLine, getSettingTitle = stripPrefix): FormattedLine {
  if (line.service === 'security') return formatSecurityLine(line);
  const { event, message, fields } = line;
  const { what, told } =
    event === undefined ? { what: message, told: [] } : eventFormats[event](fields, getSettingTitle);
  const remainingFields = Object.entries(fields).filter(([name]) => !told.includes(name));
  const { error, reason } = fields;
  const reasonText = formatCause(typeof reason === 'string' ? reason : getReason(error));
  const [facts, technical] = [new Array<string>(), new Array<string>()];
  for (const [name, value] of remainingFields) {
    if (name === 'reason' && typeof value === 'string') continue;
    if (name === 'error') technical.push(...getErrorDetails(value));
    else if (name === 'key' || name === 'configuration') facts.push(`${name} ${formatKey(formatValue(value))}`);
    else (technicalFields.has(name) ? technical : facts).push(`${splitCamelCase(name)} ${formatValue(value)}`);
  }
  return { what, reason: reasonText, facts: facts.join(', '), technical: technical.join('\n') };
}

/** Numbers and seconds, but not digits in names (`nas1`) or versions (`1.2`), which distinguish lines. */
const numberPattern = /(?<![\w.])\d+(?:\.\d(?= s\b))?(?![\w]|\.\d)/g;

/** Groups equal lines of a day within a few rows, newest first. */
export function groupRepeats(
  lines: readonly LogLine[],
  sameDay: (first: number, second: number) => boolean,
  getSettingTitle = stripPrefix,
): readonly RepeatedLine[] {
  const rows: { line: LogLine; words: FormattedLine; times: number; since: number; key: string }[] = [];
  for (const line of lines) {
    const formatted = formatLine(line, getSettingTitle);
    // Numbers are ignored in the comparison, except in lines without an event, where they may be the only difference.
    const text = line.event === undefined ? line.message : formatted.what.replaceAll(numberPattern, '#');
    // Accounts and addresses of security events may differ in a number only.
    const details =
      line.service === 'security'
        ? `${formatted.facts}\n${formatted.technical}`
        : formatted.facts.replaceAll(numberPattern, '#');
    const comparisonKey = [line.service, line.level, text, formatted.reason, details].join('\n');
    const row = rows
      .slice(-maxLookBackRows)
      .find((each) => each.key === comparisonKey && sameDay(each.line.time, line.time));
    if (row === undefined) rows.push({ line, words: formatted, times: 1, since: line.time, key: comparisonKey });
    else Object.assign(row, { times: row.times + 1, since: line.time });
  }
  return rows;
}

/** Formats lines for a file, oldest first and with all fields. */
export function formatAsText(lines: readonly LogLine[]): string {
  return lines
    .toReversed()
    .map(({ time, level, service, message, fields }) =>
      `${new Date(time).toISOString()} ${level} ${service}: ${message} ${formatFields(fields)}`.trimEnd(),
    )
    .join('\n');
}

function getReason(error: unknown): string {
  if (typeof error === 'string') return error;
  if (typeof error !== 'object' || error === null || !('message' in error)) return '';
  return typeof error.message === 'string' ? error.message : '';
}

function getErrorDetails(error: unknown): readonly string[] {
  if (typeof error !== 'object' || error === null) return [];
  return Object.entries(error)
    .filter(([name, value]) => name !== 'message' && value !== 'Error')
    .map(([name, value]) => (name === 'stack' ? formatValue(value) : `${splitCamelCase(name)} ${formatValue(value)}`));
}

function formatFields(fields: object): string {
  return Object.entries(fields)
    .map(([name, value]) => `${name} ${formatValue(value)}`)
    .join(', ');
}

/** Formats a value without braces and quotes. */
function formatValue(value: unknown): string {
  if (Array.isArray(value)) return value.map(formatValue).join(' ');
  if (typeof value === 'object' && value !== null) return formatFields(value);
  // Values of lines from an earlier run are strings.
  if (value === true || value === 'true') return m.yes();
  if (value === false || value === 'false') return m.no();
  return String(value);
}

/** Splits a camel-case name into words: `moreSinceTold`. */
function splitCamelCase(name: string): string {
  return name.replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

/** Formats a short duration: `0.8 s`, `2 s` */
function formatPause(ms: number): string {
  return m.secondsCount({ seconds: ms < 1000 ? Math.max(1, Math.round(ms / 100)) / 10 : Math.round(ms / 1000) });
}

/** Formats a duration: `12 min`, `9 s` */
function formatDuration(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds < 120) return m.secondsCount({ seconds });
  const minutes = Math.round(seconds / 60);
  return minutes < 120 ? m.minutesCount({ minutes }) : m.hoursCount({ hours: Math.round(minutes / 60) });
}

/** Formats the failure of a kind of job. */
function formatFailedJob(kind: unknown): string {
  return formatFailure(String(kind), 1);
}
