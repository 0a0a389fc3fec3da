import * as m from '#messages/account-problems';
import { createHash } from 'node:crypto';
import { everyone } from '../../../services/contracts/control/accounts.ts';
import { Problem } from '../../../services/contracts/problem.ts';
import type { Clock, Log, Random } from '../../../services/contracts/service.ts';
import type { HostSettings } from '../config/host-settings.ts';
import type { Changes } from './changes.ts';
import { refuseTakenName } from './names.ts';
import type { AccountReleases } from './releases.ts';
import { fingerprint } from './secrets.ts';
import {
  deleteAccount,
  deleteCreatedLinks,
  deleteResetLinks,
  endCredentials,
  hasAccount,
  insertAccount,
  replaceGrant,
  type Db,
} from './store.ts';
import type { DeclaredRow } from './tables.ts';

/** Declarations in the settings. */
export type DeclaredSettings = Pick<HostSettings, 'authUsers' | 'authAccess' | 'authTokens'>;

interface DeclaredDependencies {
  readonly changes: Changes;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly releases: AccountReleases;
}

/** Accounts, grants and tokens that the settings declare. */
export interface DeclaredAccounts {
  /**
   * Creates declared accounts, grants and tokens, and removes formerly declared ones. Unchanged ones are not touched,
   * so that a start ends no session.
   * @throws Problem `accounts.last_admin` (409)
   */
  declare(declared: DeclaredSettings): Promise<void>;
}

export function declaredAccounts(parts: DeclaredDependencies): DeclaredAccounts {
  return {
    async declare(declared) {
      await parts.changes.create([], async (db, alsoChanged) => {
        const before = await db.selectFrom('declared').selectAll().execute();
        if (before.length === 0 && Object.values(declared).every((list) => list.length === 0)) return;
        const declaring = new DeclarationRun(db, before, parts, alsoChanged);
        await declaring.accounts(declared);
        await declaring.grants(declared);
        await declaring.tokens(declared);
        await declaring.remember();
      });
      await parts.releases.carryOut();
    },
  };
}

/** Single run in one transaction. */
class DeclarationRun {
  readonly #db: Db;
  readonly #before: readonly DeclaredRow[];
  readonly #parts: DeclaredDependencies;
  readonly #changed: (name: string) => void;
  readonly #rows: DeclaredRow[] = [];

  constructor(db: Db, before: readonly DeclaredRow[], parts: DeclaredDependencies, changed: (name: string) => void) {
    this.#db = db;
    this.#before = before;
    this.#parts = parts;
    this.#changed = changed;
  }

  async accounts({ authUsers }: DeclaredSettings): Promise<void> {
    const declaredAccounts = new Map(authUsers.filter(({ name }) => name !== '').map((user) => [user.name, user]));
    for (const { account } of this.#findRemoved('account', (row) => declaredAccounts.has(row.account))) {
      await deleteAccount(this.#db, account);
      await this.#parts.releases.request(this.#db, account, { action: 'keep' });
      this.#changed(account);
    }
    for (const { name, passwordHash, role } of declaredAccounts.values()) {
      // Digest for comparison, since the first sign-in replaces the declared hash by Homeport's format.
      const value = createHash('sha256').update(passwordHash).digest('hex');
      const isNew = !this.#before.some((row) => row.kind === 'account' && row.account === name && row.value === value);
      if (!(await this.#account(name, role, isNew ? passwordHash : undefined))) continue;
      this.#rows.push({ kind: 'account', account: name, name: '', value });
    }
  }

  /**
   * Without a hash the password is unchanged.
   * @returns false when another account or a service has the name
   */
  async #account(name: string, role: string, hash: string | undefined): Promise<boolean> {
    const accountRow = await this.#db.selectFrom('accounts').selectAll().where('name', '=', name).executeTakeFirst();
    if (accountRow === undefined) {
      if (!(await this.#isFree(name))) return false;
      const row = { name, kind: 'person', role, enabled: 1, description: '', created_at: this.#parts.clock.now() };
      await insertAccount(this.#db, { ...row, password_hash: hash ?? null }, []);
    } else {
      const same = accountRow.role === role && accountRow.kind === 'person' && Number(accountRow.enabled) === 1;
      if (same && hash === undefined) return true;
      const password = hash === undefined ? {} : { password_hash: hash };
      await this.#db
        .updateTable('accounts')
        .set({ kind: 'person', role, enabled: 1, ...password })
        .where('name', '=', name)
        .execute();
      if (hash !== undefined) await endCredentials(this.#db, name, 'sessions');
      if (role !== 'admin') await deleteCreatedLinks(this.#db, name);
    }
    // A link that was created before must not replace a declared password.
    await deleteResetLinks(this.#db, name);
    this.#changed(name);
    return true;
  }

  async #isFree(name: string): Promise<boolean> {
    try {
      await refuseTakenName(this.#db, name);
      return true;
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      this.#parts.log.error('declared account skipped', { account: name, reason: error.detail });
      return false;
    }
  }

  async grants({ authAccess }: DeclaredSettings): Promise<void> {
    const existingRows: DeclaredRow[] = [];
    for (const { user: account, service, pattern, permission } of authAccess) {
      if (account !== everyone && !(await hasAccount(this.#db, account))) {
        this.#parts.log.error('declared grant skipped: unknown account', { account, service, pattern });
        continue;
      }
      const row = { kind: 'grant', account, name: `${service} ${pattern}`, value: permission } as const;
      existingRows.push(row);
      const insertedRow = await this.#db
        .selectFrom('grants')
        .select('permission')
        .where('account', '=', account)
        .where('service', '=', service)
        .where('resource', '=', pattern)
        .executeTakeFirst();
      if (insertedRow?.permission === permission) continue;
      await replaceGrant(this.#db, account, { service, resource: pattern, permission });
      this.#changed(account);
    }
    for (const { account, name } of this.#findRemoved('grant', (row) =>
      existingRows.some((each) => isSame(each, row)),
    )) {
      const [service = '', resource = ''] = name.split(' ', 2);
      await replaceGrant(this.#db, account, { service, resource, permission: undefined });
      this.#changed(account);
    }
    // The last of several declarations for one pattern applies.
    this.#rows.push(
      ...existingRows.filter((row, index) => !existingRows.slice(index + 1).some((later) => isSame(later, row))),
    );
  }

  async tokens({ authTokens }: DeclaredSettings): Promise<void> {
    const existingRows: DeclaredRow[] = [];
    for (const { user: account, token, label } of authTokens) {
      const id = await this.#token(account, token, label.replaceAll(/\p{Cc}/gu, ' '));
      if (id !== undefined && !existingRows.some(({ name }) => name === id)) {
        existingRows.push({ kind: 'token', account, name: id, value: '' });
      }
    }
    for (const { account, name } of this.#findRemoved('token', (row) =>
      existingRows.some((each) => isSame(each, row)),
    )) {
      await this.#db.deleteFrom('tokens').where('account', '=', account).where('id', '=', name).execute();
      this.#changed(account);
    }
    this.#rows.push(...existingRows);
  }

  /** Returns the id of the token; undefined when it was skipped. */
  async #token(account: string, text: string, label: string): Promise<string | undefined> {
    const hash = fingerprint(text);
    const skip = (reason: string): undefined => {
      this.#parts.log.error('declared token skipped', { account, label, reason });
    };
    if (account === '' || !(await hasAccount(this.#db, account))) return skip('there is no such account');
    const tokenRow = await this.#db.selectFrom('tokens').selectAll().where('hash', '=', hash).executeTakeFirst();
    if (tokenRow !== undefined && tokenRow.account !== account) return skip('another account has it');
    if (tokenRow?.label === label && tokenRow.expires_at === null) return tokenRow.id;
    this.#changed(account);
    if (tokenRow !== undefined) {
      await this.#db.updateTable('tokens').set({ label, expires_at: null }).where('id', '=', tokenRow.id).execute();
      return tokenRow.id;
    }
    const id = this.#parts.random.text(16);
    const unused = { expires_at: null, last_used_at: null, last_used_from: null, scopes: null };
    await this.#db
      .insertInto('tokens')
      .values({ id, hash, account, label, created_at: this.#parts.clock.now(), ...unused })
      .execute();
    return id;
  }

  async remember(): Promise<void> {
    await this.#db.deleteFrom('declared').execute();
    for (const row of this.#rows) await this.#db.insertInto('declared').values(row).execute();
    // The declared state is displayed with the account.
    for (const { account } of [...this.#before, ...this.#rows]) this.#changed(account);
  }

  #findRemoved(kind: DeclaredRow['kind'], isWanted: (row: DeclaredRow) => boolean): readonly DeclaredRow[] {
    return this.#before.filter((row) => row.kind === kind && !isWanted(row));
  }
}

function isSame(a: DeclaredRow, b: DeclaredRow): boolean {
  return a.kind === b.kind && a.account === b.account && a.name === b.name;
}

/** Declared objects can only be changed in the settings. */
export function buildDeclaredProblem(kind: 'account' | 'grant' | 'token', name: string): Problem {
  const details = { account: m.accountDeclared, grant: m.grantDeclared, token: m.tokenDeclared };
  const detail = details[kind]({ name });
  return new Problem(kind === 'token' ? 'accounts.provisioned_token' : 'accounts.provisioned', 409, detail);
}
