import { formatCommitDate } from '../domain/commit-time.ts';

/** Zero time of Go, which Gitea sends for a missing time. */
export const zeroTime = '0001-01-01T00:00:00Z';

/** Formats a time like Gitea: whole seconds in UTC. */
export function formatTime(ms: number): string {
  return new Date(ms).toISOString().replace(/^\+0*|\.\d{3}(?=Z$)/g, '');
}

/** Formats a commit time in the zone of its author; UTC is `Z`. */
export function gitTime(text: string): string {
  return formatCommitDate(text).replace(/\+00:00$/, 'Z');
}
