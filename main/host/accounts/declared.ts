import { createHash } from 'node:crypto';
import { everyone } from '../../../services/contracts/control/accounts.ts';
import { Problem } from '../../../services/contracts/problem.ts';
import type { Clock, Log, Random } from '../../../services/contracts/service.ts';
import type { HostSettings } from '../config/host-settings.ts';
import type { Changes } from './changes.ts';
import { refuseTakenName } from './names.ts';
import type { AccountReleases } from './releases.ts';
import { fingerprint } from './secrets.ts';
import { deleteAccount, endCredentials, hasAccount, insertAccount, replaceGrant, type Db } from './store.ts';
import type { DeclaredRow } from './tables.ts';

/** Declarations in the settings. */
export type Declared = Pick<HostSettings, 'authUsers' | 'authAccess' | 'authTokens'>;

interface DeclaredParts {
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
  declare(declared: Declared): Promise<void>;
}

export function declaredAccounts(parts: DeclaredParts): DeclaredAccounts {
  return {
    async declare(declared) {
      await parts.changes.make([], async (db, alsoChanged) => {
        const before = await db.selectFrom('declared').selectAll().execute();
        if (before.length === 0 && Object.values(declared).every((list) => list.length === 0)) return;
        const declaring = new Declaring(db, before, parts, alsoChanged);
        await declaring.accounts(declared);
        await declaring.grants(declared);
        await declaring.tokens(declared);
        await declaring.remember();
      });
      await parts.releases.carryOut();
    },
  };
}

/** One run in one transaction. */
class Declaring {
  readonly #db: Db;
  readonly #before: readonly DeclaredRow[];
  readonly #parts: DeclaredParts;
  readonly #changed: (name: string) => void;
  readonly #rows: DeclaredRow[] = [];

  constructor(db: Db, before: readonly DeclaredRow[], parts: DeclaredParts, changed: (name: string) => void) {
    this.#db = db;
    this.#before = before;
    this.#parts = parts;
    this.#changed = changed;
  }

  async accounts({ authUsers }: Declared): Promise<void> {
    const wanted = new Map(authUsers.filter(({ name }) => name !== '').map((user) => [user.name, user]));
    for (const { account } of this.#gone('account', (row) => wanted.has(row.account))) {
      await deleteAccount(this.#db, account);
      await this.#parts.releases.request(this.#db, account, { action: 'keep' });
      this.#changed(account);
    }
    for (const { name, passwordHash, role } of wanted.values()) {
      // Digest for comparison, since the first sign-in replaces the declared hash by one of our own.
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
    const found = await this.#db.selectFrom('accounts').selectAll().where('name', '=', name).executeTakeFirst();
    if (found === undefined) {
      if (!(await this.#isFree(name))) return false;
      const row = { name, kind: 'person', role, enabled: 1, description: '', created_at: this.#parts.clock.now() };
      await insertAccount(this.#db, { ...row, password_hash: hash ?? null }, []);
    } else {
      const same = found.role === role && found.kind === 'person' && Number(found.enabled) === 1;
      if (same && hash === undefined) return true;
      const password = hash === undefined ? {} : { password_hash: hash };
      await this.#db
        .updateTable('accounts')
        .set({ kind: 'person', role, enabled: 1, ...password })
        .where('name', '=', name)
        .execute();
      if (hash !== undefined) await endCredentials(this.#db, name, 'sessions');
    }
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

  async grants({ authAccess }: Declared): Promise<void> {
    const known: DeclaredRow[] = [];
    for (const { user: account, service, pattern, permission } of authAccess) {
      if (account !== everyone && !(await hasAccount(this.#db, account))) {
        this.#parts.log.error('declared grant skipped: unknown account', { account, service, pattern });
        continue;
      }
      const row = { kind: 'grant', account, name: `${service} ${pattern}`, value: permission } as const;
      known.push(row);
      const kept = await this.#db
        .selectFrom('grants')
        .select('permission')
        .where('account', '=', account)
        .where('service', '=', service)
        .where('resource', '=', pattern)
        .executeTakeFirst();
      if (kept?.permission === permission) continue;
      await replaceGrant(this.#db, account, { service, resource: pattern, permission });
      this.#changed(account);
    }
    for (const { account, name } of this.#gone('grant', (row) => known.some((each) => isSame(each, row)))) {
      const [service = '', resource = ''] = name.split(' ', 2);
      await replaceGrant(this.#db, account, { service, resource, permission: undefined });
      this.#changed(account);
    }
    // The last of several declarations for one pattern applies.
    this.#rows.push(...known.filter((row, index) => !known.slice(index + 1).some((later) => isSame(later, row))));
  }

  async tokens({ authTokens }: Declared): Promise<void> {
    const known: DeclaredRow[] = [];
    for (const { user: account, token, label } of authTokens) {
      const id = await this.#token(account, token, label.replaceAll(/\p{Cc}/gu, ' '));
      if (id !== undefined && !known.some(({ name }) => name === id)) {
        known.push({ kind: 'token', account, name: id, value: '' });
      }
    }
    for (const { account, name } of this.#gone('token', (row) => known.some((each) => isSame(each, row)))) {
      await this.#db.deleteFrom('tokens').where('account', '=', account).where('id', '=', name).execute();
      this.#changed(account);
    }
    this.#rows.push(...known);
  }

  /** Returns the id of the token; undefined when it was skipped. */
  async #token(account: string, text: string, label: string): Promise<string | undefined> {
    const hash = fingerprint(text);
    const leftOut = (why: string): undefined => {
      this.#parts.log.error(`a declared token was left out: ${why}`, { account, label });
    };
    if (account === '' || !(await hasAccount(this.#db, account))) return leftOut('there is no such account');
    const found = await this.#db.selectFrom('tokens').selectAll().where('hash', '=', hash).executeTakeFirst();
    if (found !== undefined && found.account !== account) return leftOut('another account has it');
    if (found?.label === label && found.expires_at === null) return found.id;
    this.#changed(account);
    if (found !== undefined) {
      await this.#db.updateTable('tokens').set({ label, expires_at: null }).where('id', '=', found.id).execute();
      return found.id;
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

  #gone(kind: DeclaredRow['kind'], isWanted: (row: DeclaredRow) => boolean): readonly DeclaredRow[] {
    return this.#before.filter((row) => row.kind === kind && !isWanted(row));
  }
}

function isSame(a: DeclaredRow, b: DeclaredRow): boolean {
  return a.kind === b.kind && a.account === b.account && a.name === b.name;
}

/** Declared objects can only be changed in the settings. */
export function declaredElsewhere(what: 'account' | 'grant' | 'token', name: string): Problem {
  const detail = `This ${what} is declared in homeport.yaml (${name}); change it there.`;
  return new Problem(what === 'token' ? 'accounts.provisioned_token' : 'accounts.provisioned', 409, detail);
}
