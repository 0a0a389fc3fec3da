import type { LogPosition } from './history.ts';

/** A position in the log as clients carry it. */
export function cursorOf({ at, passed }: LogPosition): string {
  return `${String(at)}.${String(passed)}`;
}

/** The position of a cursor, whose form the API has verified. */
export function fromCursor(cursor: string): LogPosition {
  const [at, passed] = cursor.split('.').map(Number);
  return { at: at ?? Infinity, passed: passed ?? 0 };
}
