import { formatDuration } from '../../../parts/text/format.ts';

/** Formats the duration of statements: `0.008 s`, `1.2 s`, `2:05`. */
export function formatRunTime(ms: number): string {
  if (ms >= 60_000) return formatDuration(ms / 1000);
  return `${(ms / 1000).toFixed(ms < 100 ? 3 : ms < 1000 ? 2 : 1)} s`;
}

const commandVerbs: Readonly<Record<string, string>> = {
  SELECT: '',
  INSERT: ' added',
  UPDATE: ' changed',
  DELETE: ' removed',
  MERGE: ' changed',
};

/** Formats the result of a command: `12 rows`, `1 row changed`; commands without rows by their PostgreSQL name. */
export function formatCommandResult(command: string, count: number): string {
  const verb = commandVerbs[command];
  return verb === undefined ? command : `${count.toLocaleString('en')} ${count === 1 ? 'row' : 'rows'}${verb}`;
}
