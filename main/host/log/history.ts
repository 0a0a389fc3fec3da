import { open, stat, type FileHandle } from 'node:fs/promises';
import { logLevels, type LogLevel } from './format.ts';

/** A line of a log file, read back. */
export interface KeptLine {
  /** ms since the epoch. */
  readonly at: number;
  readonly level: LogLevel;
  readonly service: string;
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

const chunkBytes = 256 * 1024;
/** Bytes that one question reads at most: the files together hold 60 MiB, and nobody reads that far at once. */
const mostBytes = 16 * 1024 * 1024;
/** As many as {@link logFile} keeps. */
const oldFiles = 5;

const text = /^(\d{4}-\d\d-\d\dT[\d:.]+Z) (DEBUG|INFO |WARN |ERROR) (\S+) +(.*)$/;
const field = /([\w.-]+)=("(?:[^"\\]|\\.)*"|[[{].*?[\]}](?= \w+=|$)|\S*)(?: |$)/g;

/** A line as either format has it; undefined for one that a crash cut off or somebody else wrote. */
export function readLine(line: string): KeptLine | undefined {
  return line.startsWith('{') ? fromJson(line) : fromText(line);
}

/**
 * The lines before a moment, newest first, from the file and the older ones beside it, until `limit` of them fit or enough was
 * read. Read backwards in pieces, so that a large file costs no more than its end.
 */
export async function linesBefore(
  path: string,
  before: number,
  limit: number,
  fits: (line: KeptLine) => boolean,
): Promise<readonly KeptLine[]> {
  const found: KeptLine[] = [];
  let left = mostBytes;
  for (let number = 0; number <= oldFiles && found.length < limit && left > 0; number += 1) {
    left -= await readBackwards(number === 0 ? path : `${path}.${String(number)}`, left, (line) => {
      const read = readLine(line);
      if (read !== undefined && read.at < before && fits(read)) found.push(read);
      return found.length < limit;
    });
  }
  return found;
}

/** Gives the lines of a file from its end until `take` has enough; answers how many bytes were read. */
async function readBackwards(path: string, most: number, take: (line: string) => boolean): Promise<number> {
  let file: FileHandle;
  let at: number;
  try {
    at = (await stat(path)).size;
    file = await open(path);
  } catch {
    // Not there: the log is young.
    return 0;
  }
  await using _ = file;
  let [rest, read] = [Buffer.alloc(0), 0];
  while (at > 0 && read < most) {
    const length = Math.min(chunkBytes, at);
    at -= length;
    const piece = Buffer.alloc(length);
    await file.read(piece, 0, length, at);
    read += length;
    const whole = Buffer.concat([piece, rest]);
    // What stands before the first line end may begin in the piece before.
    const begin = at === 0 ? 0 : whole.indexOf(10) + 1;
    rest = whole.subarray(0, begin);
    for (const line of whole.subarray(begin).toString('utf8').split('\n').reverse()) {
      if (line !== '' && !take(line)) return read;
    }
  }
  return read;
}

function fromJson(line: string): KeptLine | undefined {
  try {
    const { time, level, service, message, ...fields } = JSON.parse(line) as Record<string, unknown>;
    return lineOf(time, level, service, message, fields);
  } catch {
    return undefined;
  }
}

function fromText(line: string): KeptLine | undefined {
  const [, time, level = '', service, rest = ''] = text.exec(line) ?? [];
  if (time === undefined) return undefined;
  const gap = rest.indexOf('  ');
  const message = gap < 0 ? rest : rest.slice(0, gap);
  const fields: Record<string, unknown> = {};
  if (gap >= 0)
    for (const [, name = '', value = ''] of rest.slice(gap + 2).matchAll(field)) fields[name] = valueOf(value);
  return lineOf(time, level.trim().toLowerCase(), service, message, fields);
}

function valueOf(text: string): unknown {
  if (!/^["[{]/.test(text)) return text;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

function lineOf(
  time: unknown,
  level: unknown,
  service: unknown,
  message: unknown,
  fields: Record<string, unknown>,
): KeptLine | undefined {
  const at = typeof time === 'string' ? Date.parse(time) : NaN;
  const known = logLevels.find((each) => each === level);
  if (Number.isNaN(at) || known === undefined || typeof message !== 'string') return undefined;
  return { at, level: known, service: typeof service === 'string' ? service : 'host', message, fields };
}
