import type { DataUser } from '../../../../services/contracts/data/users.ts';

/** What a user is called. */
export function nameOf({ email, phone, id }: Pick<DataUser, 'email' | 'phone' | 'id'>): string {
  return email || phone || `Without a name (${id.slice(0, 8)})`;
}

/** `1 session`, `3 sessions`. */
export function sessionsOf(count: number): string {
  return count === 1 ? '1 session' : `${count.toLocaleString('en')} sessions`;
}
