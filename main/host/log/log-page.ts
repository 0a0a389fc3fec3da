import type { HostControl } from '../../../services/contracts/control/host.ts';
import { LogEvent, type LogLine, type LogReply } from '../../../services/contracts/control/log.ts';
import { formatCursor, parseCursor } from './cursor.ts';
import { readLinesBefore, selectLines, type StoredLine } from './history.ts';
import { createFilter, type HostLog } from './log.ts';

/** Reads the newest matching lines before a time or a cursor: those in memory, then those of the files. */
export async function readLogPage(
  log: HostLog,
  file: string,
  { limit, before = Infinity, cursor, ...conditions }: Parameters<HostControl['log']>[0],
): Promise<LogReply> {
  const filter = Object.fromEntries(
    Object.entries(conditions).filter(([, value]) => value !== undefined),
  ) as typeof conditions;
  const matches = createFilter(filter);
  const from = cursor === undefined ? { at: before, passed: before === Infinity ? 0 : Infinity } : parseCursor(cursor);
  const newest = selectLines(log.recent({ limit: Infinity }).toReversed(), { from, limit, matches: matches });
  // The ring buffer is exhausted: older lines are read from the files.
  const older = newest.isWhole
    ? await readLinesBefore(file, { from: newest.position, limit: limit - newest.lines.length, matches: matches })
    : { lines: [], position: newest.position, isWhole: false };
  const lines = [...newest.lines, ...older.lines].toReversed();
  return {
    lines: lines.map(toLogLine),
    cursor: older.isWhole ? null : formatCursor(older.position),
  };
}

function toLogLine({ at, level, service, message, fields: { event, ...fields } }: StoredLine): LogLine {
  const knownEvent = LogEvent.safeParse(event).data;
  return knownEvent === undefined
    ? { time: at, level, service, message, fields: event === undefined ? fields : { event, ...fields } }
    : { time: at, level, service, event: knownEvent, message, fields };
}
