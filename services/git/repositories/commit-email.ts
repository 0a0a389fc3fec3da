import { parseProfile } from '../store/owner-profile.ts';
import type { OwnerRow } from '../store/tables.ts';

/** Returns the email address for commits made on the server: that of the account, or a noreply address if it is hidden. */
export function getCommitEmail(owner: Pick<OwnerRow, 'email' | 'id' | 'name' | 'profile'>, base: string): string {
  const { id, name } = owner;
  if (owner.email !== '' && parseProfile(owner).hide_email !== true) return owner.email;
  return `${id}+${name}@noreply.${new URL(base).hostname.replace(/^\[|\]$/g, '')}`;
}

/** Returns the account of a noreply address built by {@link getCommitEmail}. */
export function findAccountOfEmail(email: string): string | undefined {
  return /^\d+\+(.+)@noreply\./.exec(email)?.[1];
}
