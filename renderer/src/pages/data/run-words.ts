import { formatDuration } from '../../parts/text/format.ts';

/** How long statements ran, in seconds: `0.008 s`, `1.2 s`, `2:05`. */
export function took(ms: number): string {
  if (ms >= 60_000) return formatDuration(ms / 1000);
  return `${(ms / 1000).toFixed(ms < 100 ? 3 : ms < 1000 ? 2 : 1)} s`;
}

const deeds: Readonly<Record<string, string>> = {
  SELECT: '',
  INSERT: ' added',
  UPDATE: ' changed',
  DELETE: ' removed',
  MERGE: ' changed',
};

/** What a statement did: `12 rows`, `1 row changed`; what is about no rows by the name PostgreSQL gives it. */
export function didWords(command: string, count: number): string {
  const deed = deeds[command];
  return deed === undefined ? command : `${count.toLocaleString('en')} ${count === 1 ? 'row' : 'rows'}${deed}`;
}
