/** Claims of the ID token and the user info. */
export type Claims = Readonly<Record<string, unknown>>;

/** Rules that map users of the provider to accounts. */
export interface MappingRules {
  readonly subjects: readonly string[];
  readonly groups: readonly string[];
  readonly groupsClaim: string;
  readonly accountClaim: string;
  /** `SUBJECT=ACCOUNT` */
  readonly accounts: readonly string[];
}

/** Result of the mapping. `named` means that the settings list the subject, which is required for administrators. */
export type MappingResult =
  | { readonly is: 'account'; readonly name: string; readonly named: boolean }
  | { readonly is: 'not-allowed' }
  | { readonly is: 'nameless' };

/** Maps a user of the provider to an account. */
export function mapToAccount(subject: string, claims: Claims, rules: MappingRules): MappingResult {
  const entry = rules.accounts.find((each) => each.slice(0, each.lastIndexOf('=')) === subject);
  if (entry !== undefined) return { is: 'account', name: entry.slice(entry.lastIndexOf('=') + 1), named: true };
  const groups = toList(claims[rules.groupsClaim]);
  const isAllowed = rules.subjects.includes(subject) || groups.some((group) => rules.groups.includes(group));
  if (!isAllowed) return { is: 'not-allowed' };
  const name = claims[rules.accountClaim];
  return typeof name === 'string' && name !== '' ? { is: 'account', name, named: false } : { is: 'nameless' };
}

/** Returns true when the ID token lacks claims that the rules need. */
export function needsUserInfo(claims: Claims, { groups, groupsClaim, accountClaim }: MappingRules): boolean {
  return claims[accountClaim] === undefined || (groups.length > 0 && claims[groupsClaim] === undefined);
}

function toList(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
}
