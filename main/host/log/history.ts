import { open, stat, type FileHandle } from 'node:fs/promises';
import { logLevels, type LogLevel } from './format.ts';
import { parseJson } from '../../../services/contracts/parse-json.ts';
import { toRecord } from '../../../services/contracts/is-record.ts';

/** Parsed line of a log file. */
export interface StoredLine {
  /** ms since the epoch. */
  readonly at: number;
  readonly level: LogLevel;
  readonly service: string;
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

const chunkBytes = 256 * 1024;
/** Maximum number of bytes per request: the files together have up to 60 MiB. */
const maxBytes = 16 * 1024 * 1024;
/** Default number of rotated files of {@link logFile}. */
const oldFiles = 5;

const text = /^(\d{4}-\d\d-\d\dT[\d:.]+Z) (DEBUG|INFO |WARN |ERROR) (\S+) +(.*)$/;
const field = /([\w.-]+)=("(?:[^"\\]|\\.)*"|[[{].*?[\]}](?= \w+=|$)|\S*)(?: |$)/g;

/** Parses a line in either format; undefined for an incomplete or foreign line. */
export function readLine(line: string): StoredLine | undefined {
  return line.startsWith('{') ? fromJson(line) : fromText(line);
}

/**
 * Reading position, from the newest line backwards: all lines after a time, and a number of lines with exactly that
 * time.
 */
export interface LogPosition {
  /** ms since the epoch. */
  readonly at: number;
  readonly passed: number;
}

/** Section of the log, newest line first. */
interface LogPiece {
  readonly lines: readonly StoredLine[];
  /** Start of the next section. */
  readonly position: LogPosition;
  /** There are no earlier lines. */
  readonly isWhole: boolean;
}

interface LogQuery {
  readonly from: LogPosition;
  readonly limit: number;
  readonly matches: (line: StoredLine) => boolean;
}

/** Returns the matching lines after a position, from lines in descending order. */
export function selectLines(lines: Iterable<StoredLine>, question: LogQuery): LogPiece {
  const walk = new LogReader(question);
  for (const line of lines) if (!walk.take(line)) break;
  return { lines: walk.lines, position: walk.position, isWhole: !walk.isFull };
}

/**
 * Returns the lines after a position from the file and its rotated files, until `limit` match or the read limit is
 * reached. Reads backwards in chunks, so that the cost does not depend on the file's size.
 */
export async function readLinesBefore(path: string, question: LogQuery): Promise<LogPiece> {
  const walk = new LogReader(question);
  for (let number = 0; number <= oldFiles && !walk.isFull; number += 1) {
    await readBackwards(number === 0 ? path : `${path}.${String(number)}`, walk);
  }
  return { lines: walk.lines, position: walk.position, isWhole: !walk.isFull };
}

/** Iterates over lines from newest to oldest and tracks the position. */
class LogReader {
  readonly lines: StoredLine[] = [];
  position: LogPosition;
  /** Enough lines were found or bytes were read. */
  isFull = false;
  readonly #question: LogQuery;
  #skipped = 0;
  #bytes = 0;

  constructor(question: LogQuery) {
    this.#question = question;
    this.position = question.from;
  }

  /** Returns whether a chunk with this oldest line was already returned and can be skipped. */
  isBehind(oldest: StoredLine | undefined): boolean {
    return oldest !== undefined && oldest.at > this.#question.from.at;
  }

  /** Returns whether more lines are needed. */
  take(line: StoredLine): boolean {
    const { from, limit, matches } = this.#question;
    if (line.at > from.at) return true;
    if (line.at === from.at && this.#skipped < from.passed) {
      this.#skipped += 1;
      return true;
    }
    const { at, passed } = this.position;
    if (line.at === at) this.position = { at, passed: passed + 1 };
    else if (line.at < at) this.position = { at: line.at, passed: 1 };
    if (matches(line)) this.lines.push(line);
    this.isFull = this.lines.length >= limit;
    return !this.isFull;
  }

  /**
   * Counts read bytes. Those of lines that were returned before do not count, since a request could never pass them
   * otherwise.
   */
  read(bytes: number): void {
    if (this.position === this.#question.from) return;
    this.#bytes += bytes;
    if (this.#bytes >= maxBytes) this.isFull = true;
  }
}

/** Passes the lines of a file from its end until there are enough. */
async function readBackwards(path: string, walk: LogReader): Promise<void> {
  let file: FileHandle;
  let at: number;
  try {
    at = (await stat(path)).size;
    file = await open(path);
  } catch {
    // The file does not exist: the log is new.
    return;
  }
  await using _ = file;
  // Text before the first line end of a chunk begins in the previous chunk; a long line spans several.
  let rest: Buffer[] = [];
  while (at > 0 && !walk.isFull) {
    const length = Math.min(chunkBytes, at);
    at -= length;
    const piece = Buffer.alloc(length);
    await file.read(piece, 0, length, at);
    const begin = at === 0 ? 0 : piece.indexOf(10) + 1;
    if (begin > 0 || at === 0) {
      const lines = Buffer.concat([piece.subarray(begin), ...rest])
        .toString('utf8')
        .split('\n');
      rest = [piece.subarray(0, begin)];
      if (!walk.isBehind(readLine(lines[0] ?? ''))) takeLines(lines, walk);
    } else rest = [piece, ...rest];
    walk.read(length);
  }
}

function takeLines(lines: readonly string[], walk: LogReader): void {
  for (const line of lines.toReversed()) {
    const read = line === '' ? undefined : readLine(line);
    if (read !== undefined && !walk.take(read)) return;
  }
}

function fromJson(line: string): StoredLine | undefined {
  const { time, level, service, message, ...fields } = toRecord(parseJson(line));
  return toLine(time, level, service, message, fields);
}

function fromText(line: string): StoredLine | undefined {
  const [, time, level = '', service, rest = ''] = text.exec(line) ?? [];
  if (time === undefined) return undefined;
  const gap = rest.indexOf('  ');
  const message = gap < 0 ? rest : rest.slice(0, gap);
  const fields: Record<string, unknown> = {};
  if (gap >= 0)
    for (const [, name = '', value = ''] of rest.slice(gap + 2).matchAll(field)) fields[name] = parseValue(value);
  return toLine(time, level.trim().toLowerCase(), service, message, fields);
}

function parseValue(text: string): unknown {
  return /^["[{]/.test(text) ? (parseJson(text) ?? text) : text;
}

function toLine(
  time: unknown,
  level: unknown,
  service: unknown,
  message: unknown,
  fields: Record<string, unknown>,
): StoredLine | undefined {
  const at = typeof time === 'string' ? Date.parse(time) : NaN;
  const knownLevel = logLevels.find((each) => each === level);
  if (Number.isNaN(at) || knownLevel === undefined || typeof message !== 'string') return undefined;
  return { at, level: knownLevel, service: typeof service === 'string' ? service : 'host', message, fields };
}
