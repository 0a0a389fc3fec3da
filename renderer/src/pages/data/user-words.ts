import type { DataUser } from '../../../../services/contracts/data/users.ts';
import { ago } from '../../parts/text/format.ts';

/** What a user is called. */
export function nameOf({ email, phone, id }: Pick<DataUser, 'email' | 'phone' | 'id'>): string {
  return email || phone || `Without a name (${id.slice(0, 8)})`;
}

/** `1 session`, `3 sessions`. */
export function sessionsOf(count: number): string {
  return count === 1 ? '1 session' : `${count.toLocaleString('en')} sessions`;
}

/** What stands before a past time that is told by its hour alone: `today, `. */
export function dayBefore(time: number, now: number): string {
  return /^\d/.test(ago(time, now)) && now - time >= 3_600_000 ? 'today, ' : '';
}
