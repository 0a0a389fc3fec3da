import * as m from '#messages/data-users';
import { formatList } from '../../../../../messages/format.ts';
import type { DataUser } from '../../../../../services/contracts/data/users.ts';
import { formatAgo } from '../../../parts/text/format.ts';

/** Returns the display name of a user. */
export function getUserName({ email, phone, id }: Pick<DataUser, 'email' | 'phone' | 'id'>): string {
  return email || phone || m.withoutName({ value: id.slice(0, 8) });
}

export function formatSessionCount(count: number): string {
  return m.sessionCount({ count });
}

/** Checks that a past time is of today and that `ago` formats it without a day. */
export function needsDay(time: number, now: number): boolean {
  return /^\d/.test(formatAgo(time, now)) && now - time >= 3_600_000;
}

const providerLabels: Readonly<Record<string, () => string>> = {
  email: m.email,
  phone: m.phone,
};

/** Lists the sign-in providers of a user: `E-mail`, `Google`. Anonymous users have none. */
export function formatProviders({ providers, anonymous }: Pick<DataUser, 'providers' | 'anonymous'>): string {
  if (providers.length === 0) return anonymous ? m.noName() : '';
  const labels = providers.map((name) => providerLabels[name]?.() ?? name.slice(0, 1).toUpperCase() + name.slice(1));
  return formatList(labels, 'unit');
}
