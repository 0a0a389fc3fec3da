import type { ProviderAccount, ProviderUser } from '../../../services/contracts/control/provider-users.ts';
import { Problem } from '../../../services/contracts/problem.ts';
import type { Clock } from '../../../services/contracts/service.ts';
import type { SecurityLog } from '../log/security-log.ts';
import { checkFields, prepareAccount } from './account-list.ts';
import type { Changes } from './changes.ts';
import type { Passwords } from './passwords.ts';
import { decideAccount } from './provider-decision.ts';
import { areSameGrants, formatGrantList } from './provider-grants.ts';
import { saveIdentity } from './provider-identities.ts';
import { applyRights, hasNewRights, type ChangedRights } from './provider-rights.ts';
import type { Db } from './store.ts';

export interface ProviderAccountDependencies {
  readonly kysely: Db;
  readonly changes: Changes;
  readonly passwords: Passwords;
  readonly clock: Clock;
  readonly security: SecurityLog;
}

/** Result of a transaction, with what the security log records after it. */
interface StoredResult {
  readonly result: ProviderAccount;
  readonly createdRole?: 'admin' | 'user';
  readonly changed?: readonly ChangedRights[];
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
    const { kysely, changes } = this.#parts;
    const decision = await decideAccount(kysely, user);
    if (decision.is === 'refuse') return decision.refusal;
    const name = decision.is === 'create' ? decision.name : decision.account.name;
    if (decision.is === 'open' && !(await hasNewRights(kysely, user, decision.account))) {
      await changes.ensureLoaded(name);
      return { is: 'account', name };
    }
    try {
      return await this.#apply(user);
    } catch (error) {
      if (error instanceof Problem && takenCodes.has(error.code)) return { is: 'name-taken', name };
      throw error;
    }
  };

  /** Creates the account or applies the groups. The last administrator keeps the role. */
  async #apply(user: ProviderUser): Promise<ProviderAccount> {
    try {
      return await this.#store(user, { keepsRole: false });
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== 'accounts.last_admin') throw error;
      return this.#store(user, { keepsRole: true });
    }
  }

  /** Decides again within the transaction, since another request may have changed or removed the account meanwhile. */
  async #store(user: ProviderUser, options: { readonly keepsRole: boolean }): Promise<ProviderAccount> {
    const { changes, clock } = this.#parts;
    const stored = await changes.create([], async (db, alsoChanged): Promise<StoredResult> => {
      const decision = await decideAccount(db, user);
      if (decision.is === 'refuse') return { result: decision.refusal };
      if (decision.is === 'create') {
        alsoChanged(decision.name);
        return this.#create(db, user, decision.name);
      }
      const changed = await applyRights(db, user, decision.account, { ...options, now: clock.now() });
      for (const { account } of changed) alsoChanged(account);
      return { result: { is: 'account', name: decision.account.name }, changed };
    });
    this.#record(stored);
    return stored.result;
  }

  async #create(db: Db, user: ProviderUser, name: string): Promise<StoredResult> {
    const role = user.isAdministrator ? 'admin' : 'user';
    // Without a password there is nothing to hash, which would be too slow within a transaction.
    const prepared = await prepareAccount({ name, role, grants: user.grants }, this.#parts);
    await prepared.insert(db);
    await saveIdentity(db, {
      issuer: user.issuer,
      subject: user.subject,
      account: name,
      link: 'created',
      role: user.isAdministrator ? 'admin' : '',
      grants: JSON.stringify(user.grants),
      created_at: this.#parts.clock.now(),
    });
    return { result: { is: 'account', name }, createdRole: role };
  }

  #record({ result, createdRole, changed = [] }: StoredResult): void {
    const { security } = this.#parts;
    if (createdRole !== undefined && result.is === 'account')
      security.record({
        event: 'account_created',
        account: result.name,
        detail: `person, ${createdRole}, OpenID provider`,
      });
    for (const { account, before, after } of changed) {
      if (after.role !== before.role)
        security.record({
          event: 'role_changed',
          account,
          detail: `${before.role} to ${after.role}, groups of the provider`,
        });
      if (!areSameGrants(after.grants, before.grants))
        security.record({
          event: 'grants_changed',
          account,
          detail: `groups of the provider: ${formatGrantList(after.grants)}`,
        });
    }
  }
}
