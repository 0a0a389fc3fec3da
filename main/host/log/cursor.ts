import type { LogPosition } from './history.ts';

/** Formats a log position as a cursor for clients. */
export function formatCursor({ at, passed }: LogPosition): string {
  return `${String(at)}.${String(passed)}`;
}

/** Parses a cursor that the API has validated. */
export function parseCursor(cursor: string): LogPosition {
  const [at, passed] = cursor.split('.').map(Number);
  return { at: at ?? Infinity, passed: passed ?? 0 };
}
