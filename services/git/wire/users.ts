import { createHash } from 'node:crypto';
import type { OwnerProfile, OwnerRow } from '../store/tables.ts';
import { never, timeOf } from './time.ts';

/** Whose own view of an account is shown. */
export interface UserView {
  readonly self?: boolean;
  readonly admin?: boolean;
}

/** The email address of an account in commits that are created here: its own unless it hides that, else one that stands for it. */
export function emailOf(owner: Pick<OwnerRow, 'email' | 'id' | 'name' | 'profile'>, base: string): string {
  const { id, name } = owner;
  if (owner.email !== '' && profileOf(owner).hide_email !== true) return owner.email;
  return `${id}+${name}@noreply.${new URL(base).hostname.replace(/^\[|\]$/g, '')}`;
}

/** The account that an address of {@link emailOf} stands for. */
export function accountOfEmail(email: string): string | undefined {
  return /^\d+\+(.+)@noreply\./.exec(email)?.[1];
}

export function avatarUrl(name: string, base: string): string {
  return `${base}/avatars/${createHash('md5').update(name.toLowerCase()).digest('hex')}`;
}

export function profileOf({ profile }: Pick<OwnerRow, 'profile'>): OwnerProfile {
  return JSON.parse(profile) as OwnerProfile;
}

/** An account, or an organisation as an owner, as the peer shows it. */
export function userOf(owner: OwnerRow, base: string, { self = false, admin = false }: UserView = {}) {
  const { website = '', location = '' } = profileOf(owner);
  return {
    id: owner.id,
    login: owner.name,
    login_name: '',
    source_id: 0,
    full_name: owner.full_name,
    email: owner.kind === 'organization' ? '' : emailOf(owner, base),
    avatar_url: avatarUrl(owner.name, base),
    html_url: `${base}/${owner.name}`,
    language: '',
    is_admin: admin,
    last_login: self ? '1970-01-01T00:00:00Z' : never,
    created: timeOf(owner.created_at),
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
