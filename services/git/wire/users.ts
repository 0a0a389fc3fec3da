import { createHash } from 'node:crypto';
import { getCommitEmail } from '../repositories/commit-email.ts';
import { parseProfile } from '../store/owner-profile.ts';
import type { OwnerRow } from '../store/tables.ts';
import { zeroTime, formatTime } from './time.ts';

/** Options for the account's own view and for administrators. */
export interface UserView {
  readonly self?: boolean;
  readonly admin?: boolean;
}

export function avatarUrl(name: string, base: string): string {
  return `${base}/avatars/${createHash('md5').update(name.toLowerCase()).digest('hex')}`;
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
