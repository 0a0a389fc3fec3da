/** What a provider says of a person: the claims of its ID token, with those of its user info. */
export type Claims = Readonly<Record<string, unknown>>;

/** Who may sign in by a provider, and as whom. */
export interface PeopleRules {
  readonly subjects: readonly string[];
  readonly groups: readonly string[];
  readonly groupsClaim: string;
  readonly accountClaim: string;
  /** `SUBJECT=ACCOUNT` */
  readonly accounts: readonly string[];
}

/** What came of it. `named`: the owner wrote the account down for this very subject, so that it may be an administrator's. */
export type Found =
  | { readonly is: 'account'; readonly name: string; readonly named: boolean }
  | { readonly is: 'not-allowed' }
  | { readonly is: 'nameless' };

/** The account of the person that a provider has signed in. */
export function accountOf(subject: string, claims: Claims, rules: PeopleRules): Found {
  const pair = rules.accounts.find((each) => each.slice(0, each.lastIndexOf('=')) === subject);
  if (pair !== undefined) return { is: 'account', name: pair.slice(pair.lastIndexOf('=') + 1), named: true };
  const groups = listOf(claims[rules.groupsClaim]);
  const isAllowed = rules.subjects.includes(subject) || groups.some((group) => rules.groups.includes(group));
  if (!isAllowed) return { is: 'not-allowed' };
  const name = claims[rules.accountClaim];
  return typeof name === 'string' && name !== '' ? { is: 'account', name, named: false } : { is: 'nameless' };
}

/** Whether the ID token alone does not say enough to decide. */
export function wantsMore(claims: Claims, { groups, groupsClaim, accountClaim }: PeopleRules): boolean {
  return claims[accountClaim] === undefined || (groups.length > 0 && claims[groupsClaim] === undefined);
}

function listOf(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
}
