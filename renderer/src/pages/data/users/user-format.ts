import type { DataUser } from '../../../../../services/contracts/data/users.ts';
import { formatAgo } from '../../../parts/text/format.ts';

/** Returns the display name of a user. */
export function getUserName({ email, phone, id }: Pick<DataUser, 'email' | 'phone' | 'id'>): string {
  return email || phone || `Without a name (${id.slice(0, 8)})`;
}

export function formatSessionCount(count: number): string {
  return count === 1 ? '1 session' : `${count.toLocaleString('en')} sessions`;
}

/** Returns `today, ` before past times that `ago` formats without a day. */
export function formatDayPrefix(time: number, now: number): string {
  return /^\d/.test(formatAgo(time, now)) && now - time >= 3_600_000 ? 'today, ' : '';
}

const providerLabels: Readonly<Record<string, string>> = { email: 'E-mail', phone: 'Phone' };

/** Lists the sign-in providers of a user: `E-mail`, `Google`. Anonymous users have none. */
export function formatProviders({ providers, anonymous }: Pick<DataUser, 'providers' | 'anonymous'>): string {
  if (providers.length === 0) return anonymous ? 'No name' : '';
  return providers.map((name) => providerLabels[name] ?? name.slice(0, 1).toUpperCase() + name.slice(1)).join(', ');
}
