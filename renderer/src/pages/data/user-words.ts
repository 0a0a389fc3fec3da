import type { DataUser } from '../../../../services/contracts/data/users.ts';
import { formatAgo } from '../../parts/text/format.ts';

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
  return /^\d/.test(formatAgo(time, now)) && now - time >= 3_600_000 ? 'today, ' : '';
}

const providerWords: Readonly<Record<string, string>> = { email: 'E-mail', phone: 'Phone' };

/** What a user signs in by: `E-mail`, `Google`; who came without a name by nothing of their own. */
export function signsInBy({ providers, anonymous }: Pick<DataUser, 'providers' | 'anonymous'>): string {
  if (providers.length === 0) return anonymous ? 'No name' : '';
  return providers.map((name) => providerWords[name] ?? name.slice(0, 1).toUpperCase() + name.slice(1)).join(', ');
}
