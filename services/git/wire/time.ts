import { writtenDate } from '../domain/commit-time.ts';

/** What the peer writes for a time that never was. */
export const never = '0001-01-01T00:00:00Z';

/** A time as the peer writes it, whole seconds in UTC. */
export function timeOf(ms: number): string {
  return new Date(ms).toISOString().replace(/^\+0*|\.\d{3}(?=Z$)/g, '');
}

/** A time with the zone of who wrote it; UTC is `Z`. */
export function gitTime(text: string): string {
  return writtenDate(text).replace(/\+00:00$/, 'Z');
}
