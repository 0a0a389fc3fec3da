import type { Identity } from '../../contracts/control/accounts.ts';

/** Caller of a request with the limits of its credential. */
export interface Caller {
  /** Undefined if the caller did not sign in. */
  readonly identity: Identity | undefined;
  /** Scopes of the token. Undefined if the credential has all permissions of the account. */
  readonly scopes: readonly string[] | undefined;
  /** The credential was part of the address. */
  readonly inAddress: boolean;
  /** Deploy key: an SSH key for one repository that belongs to no account. */
  readonly deployKey?: { readonly repository: number; readonly readOnly: boolean; readonly title: string };
  /** ID of the SSH key that the caller signed in with. */
  readonly sshKey?: number;
}

export const anonymousCaller: Caller = { identity: undefined, scopes: undefined, inAddress: false };

/** Scope categories of Gitea's tokens. */
export const scopeCategories = [
  'activitypub',
  'admin',
  'issue',
  'misc',
  'notification',
  'organization',
  'package',
  'repository',
  'user',
] as const;
export type ScopeCategory = (typeof scopeCategories)[number];

/** Returns true if a text is a valid scope. */
export function isScope(text: string): boolean {
  const [level, category = ''] = text.split(':', 2);
  if (text === 'all' || text === 'public-only' || text === 'sudo') return true;
  return (level === 'read' || level === 'write') && (scopeCategories as readonly string[]).includes(category);
}

/** Returns true if the credential is limited to public data. */
export function isPublicOnly({ identity, scopes }: Caller): boolean {
  return identity?.limited === true || scopes?.includes('public-only') === true;
}

/** Returns true if the credential has a scope. The permissions of the account are checked separately. */
export function hasScope({ scopes }: Caller, level: 'read' | 'write', category: ScopeCategory): boolean {
  if (scopes === undefined || scopes.includes('all') || scopes.includes(`write:${category}`)) return true;
  return level === 'read' && scopes.includes(`read:${category}`);
}
