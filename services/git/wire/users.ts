import { createHash } from 'node:crypto';
import type { OwnerProfile, OwnerRow } from '../store/tables.ts';
import { zeroTime, formatTime } from './time.ts';

/** Options for the account's own view and for administrators. */
export interface UserView {
  readonly self?: boolean;
  readonly admin?: boolean;
}

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

export function avatarUrl(name: string, base: string): string {
  return `${base}/avatars/${createHash('md5').update(name.toLowerCase()).digest('hex')}`;
}

export function parseProfile({ profile }: Pick<OwnerRow, 'profile'>): OwnerProfile {
  return JSON.parse(profile) as OwnerProfile;
}

/** Converts an account, or an organization as an owner, to JSON. */
export function toUserJson(owner: OwnerRow, base: string, { self = false, admin = false }: UserView = {}) {
  const { website = '', location = '' } = parseProfile(owner);
  return {
    id: owner.id,
    login: owner.name,
    login_name: '',
    source_id: 0,
    full_name: owner.full_name,
    email: owner.kind === 'organization' ? '' : getCommitEmail(owner, base),
    avatar_url: avatarUrl(owner.name, base),
    html_url: `${base}/${owner.name}`,
    language: '',
    is_admin: admin,
    last_login: self ? '1970-01-01T00:00:00Z' : zeroTime,
    created: formatTime(owner.created_at),
    restricted: false,
    active: self,
    prohibit_login: false,
    location,
    website,
    description: owner.description,
    visibility: owner.visibility,
    followers_count: 0,
    following_count: 0,
    starred_repos_count: 0,
    username: owner.name,
  };
}
