import { AccountName, type Account } from '../../../services/contracts/control/accounts.ts';
import type { ProviderAccount, ProviderUser } from '../../../services/contracts/control/provider-users.ts';
import { Problem } from '../../../services/contracts/problem.ts';
import type { Clock } from '../../../services/contracts/service.ts';
import type { SecurityLog } from '../log/security-log.ts';
import { checkFields, prepareAccount } from './account-list.ts';
import type { Changes } from './changes.ts';
import type { Directory, Member } from './directory.ts';
import type { Passwords } from './passwords.ts';
import { formatGrantList, mergeProviderGrants, parseGrants } from './provider-grants.ts';
import { readGrants, replaceGrants, type Db } from './store.ts';
import type { ProviderIdentityRow } from './tables.ts';

export interface ProviderAccountDependencies {
  readonly kysely: Db;
  readonly directory: Directory;
  readonly changes: Changes;
  readonly passwords: Passwords;
  readonly clock: Clock;
  readonly security: SecurityLog;
}

/** Codes of problems with a name that belongs to another account or object. */
const takenCodes: ReadonlySet<string> = new Set(['accounts.exists', 'accounts.name_reserved', 'accounts.data_pending']);

/**
 * Finds or creates the accounts of users of OpenID providers, and applies the role and the grants of their groups. A
 * user is identified by issuer and subject; the name that the provider reports counts only for the first sign-in.
 */
export class ProviderAccounts {
  readonly #parts: ProviderAccountDependencies;

  constructor(parts: ProviderAccountDependencies) {
    this.#parts = parts;
  }

  /** Returns the account of a user, with the role and grants of the user's current groups. */
  readonly resolve = async (user: ProviderUser): Promise<ProviderAccount> => {
    checkFields({ grants: user.grants });
    const { directory } = this.#parts;
    const identity = await this.#findLink(user);
    const name = user.assignedAccount ?? identity?.account ?? user.name;
    if (name === undefined) return { is: 'nameless' };
    const member = directory.member(name);
    if (member === undefined) return user.mayCreate ? this.#create(user, name) : { is: 'unknown', name };
    const { account } = member;
    if (!account.enabled || account.kind !== 'person') return { is: 'unusable', name };
    const isIdentified = user.assignedAccount !== undefined || identity?.account === name;
    if (!isIdentified && !(await this.#mayLink(user, member))) return { is: 'name-taken', name };
    if (account.role === 'admin' && !isTrustedAdministrator(user, identity)) return { is: 'administrator', name };
    await this.#apply(user, account);
    return { is: 'account', name };
  };

  /** Returns the account that a user has without the settings. */
  async #findLink(user: ProviderUser): Promise<ProviderIdentityRow | undefined> {
    const identity = await findIdentity(this.#parts.kysely, user);
    return identity?.link === 'assigned' ? undefined : identity;
  }

  /**
   * Returns whether the first sign-in with a name may link an existing account. With automatic accounts, only one that
   * has no other credentials; otherwise the owner created it for the user, so it must not have another one yet.
   */
  async #mayLink({ issuer, mayCreate }: ProviderUser, { account, tokens }: Member): Promise<boolean> {
    if (mayCreate && (account.hasPassword || tokens.size > 0)) return false;
    const other = await this.#parts.kysely
      .selectFrom('provider_identities')
      .select('subject')
      .where('issuer', '=', issuer)
      .where('account', '=', account.name)
      .where('link', '<>', 'assigned')
      .executeTakeFirst();
    return other === undefined;
  }

  async #create(user: ProviderUser, name: string): Promise<ProviderAccount> {
    const { changes, clock, security } = this.#parts;
    if (!AccountName.safeParse(name).success) return { is: 'nameless' };
    const role = user.isAdministrator ? 'admin' : 'user';
    const prepared = await prepareAccount({ name, role, grants: user.grants }, this.#parts);
    try {
      const account = await changes.create([name], async (db) => {
        // Another request of the same user may have created it in the meantime, under the name of that time.
        const existing = await findIdentity(db, user);
        if (existing !== undefined && existing.link !== 'assigned') return existing.account;
        await prepared.insert(db);
        await saveIdentity(db, {
          issuer: user.issuer,
          subject: user.subject,
          account: name,
          link: 'created',
          role: user.isAdministrator ? 'admin' : '',
          grants: JSON.stringify(user.grants),
          created_at: clock.now(),
        });
        return undefined;
      });
      if (account !== undefined) return { is: 'account', name: account };
    } catch (error) {
      if (error instanceof Problem && takenCodes.has(error.code)) return { is: 'name-taken', name };
      throw error;
    }
    security.record({ event: 'account_created', account: name, detail: `person, ${role}, OpenID provider` });
    return { is: 'account', name };
  }

  /** Applies the groups of a user. The last administrator keeps the role. */
  async #apply(user: ProviderUser, account: Account): Promise<void> {
    try {
      await this.#change(user, account, { keepsRole: false });
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== 'accounts.last_admin') throw error;
      await this.#change(user, account, { keepsRole: true });
    }
  }

  async #change(user: ProviderUser, before: Account, { keepsRole }: { readonly keepsRole: boolean }): Promise<void> {
    const { changes, clock, directory, security } = this.#parts;
    const { name } = before;
    const isDeclared = directory.member(name)?.declared.has('account') === true;
    if (!(await this.#isOutdated(user, before, { keepsRole: keepsRole || isDeclared }))) return;
    await changes.create([name], async (db) => {
      const stored = await findIdentity(db, user);
      // What groups assigned to the user's former account does not count for this one.
      const identity = stored?.account === name ? stored : undefined;
      const current = await readRole(db, name);
      const { role, assignedRole } = toRole(user, identity, current, keepsRole || isDeclared);
      const { grants, assigned } = mergeProviderGrants({
        current: await readGrants(db, name),
        formerlyAssigned: parseGrants(identity?.grants ?? '[]'),
        assigned: user.grants,
      });
      if (role !== current) await db.updateTable('accounts').set({ role }).where('name', '=', name).execute();
      checkFields({ grants });
      await replaceGrants(db, name, grants);
      await saveIdentity(db, {
        issuer: user.issuer,
        subject: user.subject,
        account: name,
        link: getLink(user, identity),
        role: assignedRole,
        grants: JSON.stringify(assigned),
        created_at: identity === undefined ? clock.now() : Number(identity.created_at),
      });
    });
    const after = directory.member(name)?.account;
    if (after === undefined) return;
    if (after.role !== before.role)
      security.record({
        event: 'role_changed',
        account: name,
        detail: `${before.role} to ${after.role}, groups of the provider`,
      });
    if (formatGrantList(after.grants) !== formatGrantList(before.grants))
      security.record({
        event: 'grants_changed',
        account: name,
        detail: `groups of the provider: ${formatGrantList(after.grants)}`,
      });
  }

  /** Returns whether a sign-in changes anything: most do not, and need no write. */
  async #isOutdated(
    user: ProviderUser,
    { name, role, grants }: Account,
    { keepsRole }: { readonly keepsRole: boolean },
  ): Promise<boolean> {
    const identity = await findIdentity(this.#parts.kysely, user);
    if (identity?.account !== name) return true;
    const formerlyAssigned = parseGrants(identity.grants);
    const merged = mergeProviderGrants({ current: grants, formerlyAssigned, assigned: user.grants });
    const next = toRole(user, identity, role, keepsRole);
    return (
      identity.link !== getLink(user, identity) ||
      next.role !== role ||
      next.assignedRole !== identity.role ||
      formatGrantList(merged.grants) !== formatGrantList(grants) ||
      formatGrantList(merged.assigned) !== formatGrantList(formerlyAssigned)
    );
  }
}

/** The name at the provider may be chosen by the user, so it does not open an administrator's account. */
function isTrustedAdministrator(user: ProviderUser, identity: ProviderIdentityRow | undefined): boolean {
  if (user.assignedAccount !== undefined) return true;
  return identity !== undefined && (identity.link === 'created' || identity.role === 'admin');
}

/** Returns how a user has an account, which an assignment in the settings does not change. */
function getLink({ assignedAccount }: ProviderUser, identity: ProviderIdentityRow | undefined): string {
  const existing = identity?.link ?? 'assigned';
  if (existing !== 'assigned') return existing;
  return assignedAccount === undefined ? 'name' : 'assigned';
}

/** Returns the role by the groups. Only a role that groups assigned is taken away when they no longer do. */
function toRole(
  { isAdministrator }: ProviderUser,
  identity: ProviderIdentityRow | undefined,
  current: string,
  keepsRole: boolean,
): { readonly role: string; readonly assignedRole: string } {
  const formerlyAssigned = identity?.role ?? '';
  if (keepsRole) return { role: current, assignedRole: formerlyAssigned };
  if (isAdministrator) return { role: 'admin', assignedRole: current === 'admin' ? formerlyAssigned : 'admin' };
  return { role: formerlyAssigned === 'admin' ? 'user' : current, assignedRole: '' };
}

function findIdentity(
  db: Db,
  { issuer, subject }: Pick<ProviderUser, 'issuer' | 'subject'>,
): Promise<ProviderIdentityRow | undefined> {
  return db
    .selectFrom('provider_identities')
    .selectAll()
    .where('issuer', '=', issuer)
    .where('subject', '=', subject)
    .executeTakeFirst();
}

async function saveIdentity(db: Db, row: ProviderIdentityRow): Promise<void> {
  await db
    .insertInto('provider_identities')
    .values(row)
    .onConflict((conflict) => conflict.columns(['issuer', 'subject']).doUpdateSet(row))
    .execute();
}

async function readRole(db: Db, name: string): Promise<string> {
  const row = await db.selectFrom('accounts').select('role').where('name', '=', name).executeTakeFirst();
  return row?.role ?? 'user';
}
