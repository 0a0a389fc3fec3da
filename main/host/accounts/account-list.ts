import * as m from '#messages/account-problems';
import {
  AccountName,
  everyone,
  Grant,
  type Account,
  type AccountChange,
  type Accounts,
  type NewAccount,
} from '../../../services/contracts/control/accounts.ts';
import { Problem } from '../../../services/contracts/problem.ts';
import type { Clock } from '../../../services/contracts/service.ts';
import type { SecurityLog } from '../log/security-log.ts';
import { isTokenShaped } from './authorization-header.ts';
import { buildDeclaredProblem } from './declared.ts';
import type { Changes } from './changes.ts';
import type { Directory } from './directory.ts';
import { refuseTakenName } from './names.ts';
import { isForeignHash, type Passwords } from './passwords.ts';
import type { AccountReleases } from './releases.ts';
import {
  deleteAccount,
  deleteCreatedLinks,
  deleteResetLinks,
  endCredentials,
  hasAccount,
  insertAccount,
  replaceGrant,
  replaceGrants,
  type Db,
} from './store.ts';

export interface AccountListDependencies {
  readonly directory: Directory;
  readonly changes: Changes;
  readonly passwords: Passwords;
  readonly clock: Clock;
  readonly releases: AccountReleases;
  readonly security: SecurityLog;
}

/** Account that is ready to be written, with its password hashed. */
export interface PreparedAccount {
  readonly name: string;
  /** @throws Problem `accounts.exists`, `accounts.name_reserved`, `accounts.data_pending` (409) */
  insert(db: Db): Promise<void>;
}

type List = Pick<Accounts, 'list' | 'find' | 'create' | 'change' | 'remove' | 'setGrant'>;

/** Creates the operations of the list of accounts. */
export function accountList(parts: AccountListDependencies): List {
  const { directory, changes, releases, security } = parts;

  return {
    list: async () => directory.members().flatMap(({ account }) => (account.name === everyone ? [] : [account])),

    find: async (name) => directory.member(name)?.account,

    async create(account) {
      const prepared = await prepareAccount(account, parts);
      await changes.create([prepared.name], (db) => prepared.insert(db));
      const created = getExistingAccount(directory, prepared.name);
      security.record({ event: 'account_created', account: created.name, detail: `${created.kind}, ${created.role}` });
      return created;
    },

    change: (name, change) => changeAccount(name, change, parts),

    async remove(name, request = { action: 'keep' }) {
      if (name === everyone) throw buildReservedProblem();
      if (directory.member(name)?.declared.has('account')) throw buildDeclaredProblem('account', name);
      await changes.create([name], async (db) => {
        if (!(await hasAccount(db, name))) throw buildUnknownAccountProblem(name);
        await deleteAccount(db, name);
        await releases.request(db, name, request);
      });
      const recipient = request.action === 'transfer' ? ` to ${request.to}` : '';
      security.record({ event: 'account_removed', account: name, detail: `data: ${request.action}${recipient}` });
      await releases.carryOut();
    },

    async setGrant(name, service, resource, permission) {
      if (permission !== undefined) checkFields({ grants: [{ service, resource, permission }] });
      if (directory.member(name)?.declared.has(`grant ${service} ${resource}`)) {
        throw buildDeclaredProblem('grant', `${name}, ${resource}`);
      }
      await changes.create([name], async (db) => {
        if (!(await hasAccount(db, name))) throw buildUnknownAccountProblem(name);
        await replaceGrant(db, name, { service, resource, permission });
      });
      const detail = `${service} ${resource}: ${permission ?? 'removed'}`;
      security.record({ event: 'grants_changed', account: name, detail });
    },
  };
}

async function changeAccount(
  name: string,
  change: AccountChange,
  { directory, changes, passwords, security }: AccountListDependencies,
): Promise<Account> {
  checkChange(name, change);
  const before = getExistingAccount(directory, name);
  refuseDeclared(directory, name, change);
  const { password, role, enabled, description, language, grants } = change;
  const passwordHash = password === undefined ? change.passwordHash : await passwords.hash(password);
  const isOnlyLanguage = Object.entries(change).every(([field, value]) => field === 'language' || value === undefined);
  const work = async (db: Db): Promise<void> => {
    if (!(await hasAccount(db, name))) throw buildUnknownAccountProblem(name);
    await db
      .updateTable('accounts')
      .set({
        name,
        ...(passwordHash === undefined ? {} : { password_hash: passwordHash }),
        ...(role === undefined ? {} : { role }),
        ...(enabled === undefined ? {} : { enabled: enabled ? 1 : 0 }),
        ...(description === undefined ? {} : { description }),
        ...(language === undefined ? {} : { language: language === '' ? null : language }),
      })
      .where('name', '=', name)
      .execute();
    if (grants !== undefined) await replaceGrants(db, name, grants);
    if (enabled === false) await endCredentials(db, name, 'all');
    // A new password ends existing sessions, since the old one may be known to others.
    else if (passwordHash !== undefined) await endCredentials(db, name, 'sessions');
    if (enabled === false || passwordHash !== undefined) await deleteResetLinks(db, name);
    if (enabled === false || role === 'user') await deleteCreatedLinks(db, name);
  };
  await changes.create([name], work, isOnlyLanguage ? { onlyLanguage: true } : {});
  const after = getExistingAccount(directory, name);
  recordChanges(security, before, after, passwordHash !== undefined);
  return after;
}

/** Validates the fields and hashes the password, which is too slow within a transaction. */
export async function prepareAccount(
  account: NewAccount,
  { passwords, clock }: Pick<AccountListDependencies, 'passwords' | 'clock'>,
): Promise<PreparedAccount> {
  const { name, kind = 'person', role = 'user', description = '', enabled = true, grants = [] } = account;
  const checkedName = AccountName.safeParse(name);
  if (!checkedName.success) throw buildInvalidProblem('name', m.nameInvalid());
  checkFields({ ...account, description, grants });
  const input = account.passwordHash ?? null;
  const password_hash = account.password === undefined ? input : await passwords.hash(account.password);
  const row = { name, kind, role, description, enabled: enabled ? 1 : 0, password_hash, created_at: clock.now() };
  return {
    name,
    async insert(db) {
      await refuseTakenName(db, name);
      await insertAccount(db, row, grants);
    },
  };
}

/** @throws Problem `accounts.unknown` (404) */
export function getExistingAccount(directory: Directory, name: string): Account {
  const account = directory.member(name)?.account;
  if (account === undefined) throw buildUnknownAccountProblem(name);
  return account;
}

export function buildUnknownAccountProblem(name: string): Problem {
  return new Problem('accounts.unknown', 404, m.accountNotFound({ name: name.slice(0, 64) }));
}

export function buildReservedProblem(): Problem {
  return new Problem('accounts.reserved', 409, m.everyoneReserved({ everyone }));
}

export function buildInvalidProblem(field: string, message: string): Problem {
  return new Problem('accounts.invalid', 400, message, { fields: { [field]: message } });
}

function recordChanges(security: SecurityLog, before: Account, after: Account, newPassword: boolean): void {
  const account = after.name;
  if (newPassword) security.record({ event: 'password_changed', account });
  if (before.role !== after.role) {
    security.record({ event: 'role_changed', account, detail: `${before.role} to ${after.role}` });
  }
  if (before.enabled !== after.enabled) {
    security.record({ event: 'account_changed', account, detail: after.enabled ? 'enabled' : 'disabled' });
  }
  if (JSON.stringify(before.grants) !== JSON.stringify(after.grants)) {
    const grants = after.grants.map(({ service, resource, permission }) => `${service} ${resource}: ${permission}`);
    security.record({ event: 'grants_changed', account, detail: grants.join(', ') || 'none' });
  }
}

/** Refuses changes of declared properties: password, role and state of an account, and single grants. */
function refuseDeclared(directory: Directory, name: string, change: AccountChange): void {
  const member = directory.member(name);
  if (member === undefined || member.declared.size === 0) return;
  const { password, passwordHash, role = member.account.role, enabled = member.account.enabled } = change;
  const isTouched =
    (password ?? passwordHash) !== undefined || role !== member.account.role || enabled !== member.account.enabled;
  if (isTouched && member.declared.has('account')) throw buildDeclaredProblem('account', name);
  if (change.grants === undefined) return;
  for (const { service, resource, permission } of member.account.grants) {
    if (!member.declared.has(`grant ${service} ${resource}`)) continue;
    const isKept = change.grants.some(
      (grant) => grant.service === service && grant.resource === resource && grant.permission === permission,
    );
    if (!isKept) throw buildDeclaredProblem('grant', `${name}, ${resource}`);
  }
}

function checkChange(name: string, change: AccountChange): void {
  checkFields(change);
  const { password, passwordHash, role, enabled } = change;
  if (name === everyone && (password ?? passwordHash ?? role ?? enabled) !== undefined) throw buildReservedProblem();
}

/**
 * Validates the fields of any account; the app's own pages require stronger passwords, while clients of the peers set
 * short ones.
 */
export function checkFields({ password, passwordHash, description, grants }: AccountChange): void {
  if (passwordHash !== undefined && !isForeignHash(passwordHash)) {
    throw buildInvalidProblem('passwordHash', m.hashInvalid());
  }
  if (password !== undefined) {
    if (password === '' || password.length > 1024) throw buildInvalidProblem('password', m.passwordLength());
    if (isTokenShaped(password)) throw buildInvalidProblem('password', m.passwordLikeToken());
  }
  if (description !== undefined && (description.length > 1000 || description.includes('\0'))) {
    throw buildInvalidProblem('description', m.descriptionTooLong());
  }
  if ((grants?.length ?? 0) > 1000) throw buildInvalidProblem('grants', m.tooManyGrants());
  grants?.forEach((grant, index) => {
    const { success } = Grant.safeParse(grant);
    if (!success || !/^[a-z0-9][a-z0-9-]{0,63}$/.test(grant.service) || /\p{Cc}/u.test(grant.resource)) {
      throw buildInvalidProblem(`grants.${index}`, m.grantInvalid());
    }
  });
}
