import type { Identity } from '../../contracts/control/accounts.ts';

/** Who asks, and what the credential lets them do. */
export interface Visitor {
  /** Undefined: nobody signed in. */
  readonly identity: Identity | undefined;
  /** Scopes of the token; undefined where the credential is good for everything the account may do. */
  readonly scopes: readonly string[] | undefined;
  /** The credential stood in the address. */
  readonly inAddress: boolean;
  /** An SSH key that is good for one repository alone, and no account's. */
  readonly deployKey?: { readonly repository: number; readonly readOnly: boolean; readonly title: string };
  /** Id of the SSH key that the visitor signed in with, of an account or of a repository. */
  readonly sshKey?: number;
}

export const nobody: Visitor = { identity: undefined, scopes: undefined, inAddress: false };

/** What tokens of the peer may be limited to. */
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

/** Whether a text is a scope. */
export function isScope(text: string): boolean {
  const [level, category = ''] = text.split(':', 2);
  if (text === 'all' || text === 'public-only' || text === 'sudo') return true;
  return (level === 'read' || level === 'write') && (scopeCategories as readonly string[]).includes(category);
}

/** Whether the credential is good for what everybody may see, and nothing else of its account. */
export function seesPublicOnly({ identity, scopes }: Visitor): boolean {
  return identity?.limited === true || scopes?.includes('public-only') === true;
}

/** Whether the credential is good for this; what the account itself may do is another question. */
export function hasScope({ scopes }: Visitor, level: 'read' | 'write', category: ScopeCategory): boolean {
  if (scopes === undefined || scopes.includes('all') || scopes.includes(`write:${category}`)) return true;
  return level === 'read' && scopes.includes(`read:${category}`);
}
