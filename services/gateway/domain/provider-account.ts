import type { Grant, Permission } from '../../contracts/control/accounts.ts';

/** Claims of the ID token and the user info. */
export type Claims = Readonly<Record<string, unknown>>;

/** Rules that map users of the provider to accounts. */
export interface MappingRules {
  readonly subjects: readonly string[];
  readonly groups: readonly string[];
  /** Lower case. */
  readonly emailDomains: readonly string[];
  readonly groupsClaim: string;
  readonly accountClaim: string;
  /** `SUBJECT=ACCOUNT` */
  readonly accounts: readonly string[];
  readonly adminGroups: readonly string[];
  /** `GROUP=SERVICE PERMISSION PATTERN` */
  readonly groupGrants: readonly string[];
}

/** Role and grants by the groups of a user. */
export interface GroupRights {
  readonly isAdministrator: boolean;
  readonly grants: readonly Grant[];
}

/** Result of the mapping: a user who may sign in, or the reason of the refusal. */
export type MappingResult =
  | {
      readonly is: 'allowed';
      /** Account that the settings assign to the subject. */
      readonly assignedAccount: string | undefined;
      /** Accounts that the settings assign to other subjects. */
      readonly assignedToOthers: readonly string[];
      /** Account name that the provider reports. */
      readonly name: string | undefined;
      readonly rights: GroupRights;
    }
  | { readonly is: 'not-allowed' }
  | { readonly is: 'email-unverified' };

/** Form of a grant of a group. The group may contain any character, as in `cn=family,ou=groups`. */
export const groupGrantPattern = /^(.+)=([a-z0-9][a-z0-9-]{0,63}) (read-write|read|write|none) (\S{1,128})$/;

/** Maps a user of the provider to an account. */
export function mapToAccount(subject: string, claims: Claims, rules: MappingRules): MappingResult {
  const groups = new Set(toList(readClaim(claims, rules.groupsClaim)));
  const rights = toRights(groups, rules);
  const assignments = rules.accounts.map(parseAssignment);
  const assignedAccount = assignments.find((each) => each.subject === subject)?.account;
  const assignedToOthers = assignments.filter((each) => each.subject !== subject).map(({ account }) => account);
  if (assignedAccount !== undefined)
    return { is: 'allowed', assignedAccount, assignedToOthers, name: undefined, rights };
  const isAllowed =
    rules.subjects.includes(subject) ||
    rules.groups.some((group) => groups.has(group)) ||
    isInDomain(claims, rules.emailDomains);
  if (!isAllowed) return { is: 'not-allowed' };
  const name = readClaim(claims, rules.accountClaim);
  // Users may enter any address that the provider does not verify, also the one after which an account is named.
  if (rules.accountClaim === 'email' && claims['email_verified'] !== true) return { is: 'email-unverified' };
  const isNamed = typeof name === 'string' && name !== '';
  return { is: 'allowed', assignedAccount, assignedToOthers, name: isNamed ? name : undefined, rights };
}

/** Parses `SUBJECT=ACCOUNT`. Subjects may contain the separator. */
function parseAssignment(entry: string): { readonly subject: string; readonly account: string } {
  const separator = entry.lastIndexOf('=');
  return { subject: entry.slice(0, separator), account: entry.slice(separator + 1) };
}

/** Returns true when the ID token lacks claims that the rules need. */
export function needsUserInfo(claims: Claims, rules: MappingRules): boolean {
  const usesGroups = [rules.groups, rules.adminGroups, rules.groupGrants].some((list) => list.length > 0);
  const usesEmail = rules.emailDomains.length > 0 || rules.accountClaim === 'email';
  return (
    readClaim(claims, rules.accountClaim) === undefined ||
    (usesGroups && readClaim(claims, rules.groupsClaim) === undefined) ||
    (usesEmail && (claims['email'] === undefined || claims['email_verified'] === undefined))
  );
}

/** Returns the role and the grants of all groups. Permissions of several groups for one resource are combined. */
function toRights(groups: ReadonlySet<string>, { adminGroups, groupGrants }: MappingRules): GroupRights {
  const grants = new Map<string, Grant>();
  for (const entry of groupGrants) {
    const [, group = '', service = '', permission = '', resource = ''] = groupGrantPattern.exec(entry) ?? [];
    if (!groups.has(group)) continue;
    const target = `${service} ${resource}`;
    const combined = combine(grants.get(target)?.permission, permission as Permission);
    grants.set(target, { service, resource, permission: combined });
  }
  return { isAdministrator: adminGroups.some((group) => groups.has(group)), grants: [...grants.values()] };
}

function combine(one: Permission | undefined, other: Permission): Permission {
  if (one === undefined || one === 'none' || one === other) return other;
  return other === 'none' ? one : 'read-write';
}

/** Returns true for a verified email address in one of the domains. */
function isInDomain(claims: Claims, domains: readonly string[]): boolean {
  const { email, email_verified: isVerified } = claims;
  if (typeof email !== 'string' || isVerified !== true) return false;
  const [, domain] = /^[^@\s]+@([^@\s]+)$/.exec(email) ?? [];
  return domain !== undefined && domains.includes(domain.toLowerCase());
}

/** Returns a claim by its name, or a nested one by its path, such as `realm_access.roles`. */
function readClaim(claims: Claims, path: string): unknown {
  if (Object.hasOwn(claims, path)) return claims[path];
  let current: unknown = claims;
  for (const name of path.split('.')) {
    if (typeof current !== 'object' || current === null || !Object.hasOwn(current, name)) return undefined;
    current = (current as Claims)[name];
  }
  return current;
}

function toList(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
}
