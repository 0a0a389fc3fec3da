import type { Kysely } from 'kysely';
import { Account, everyone, Grant } from '../../../services/contracts/control/accounts.ts';
import type { AccountRow, DeclaredRow, GrantRow, SessionRow, Tables, TokenRow } from './tables.ts';

/** Database, or a transaction of it. */
export type Db = Kysely<Tables>;

/** Stored data of an account in addition to the public {@link Account}. */
export interface StoredAccount {
  readonly account: Account;
  readonly passwordHash: string | null;
  readonly tokens: readonly TokenRow[];
  readonly sessions: readonly SessionRow[];
  /** Declared properties: `account`, `grant <service> <pattern>`, `token <id>`. */
  readonly declared: ReadonlySet<string>;
  readonly hasSecondFactor: boolean;
}

/** Loads all accounts, or the one with this name, with everything that belongs to them. */
export async function load(db: Db, name?: string): Promise<readonly StoredAccount[]> {
  const accountNames = name === undefined ? [] : [name];
  const accounts = db.selectFrom('accounts').selectAll().orderBy('name');
  const grants = db.selectFrom('grants').selectAll().orderBy('account').orderBy('position');
  const tokens = db.selectFrom('tokens').selectAll().orderBy('created_at').orderBy('id');
  const sessions = db.selectFrom('sessions').selectAll().orderBy('created_at').orderBy('id');
  const declared = db.selectFrom('declared').selectAll();
  const factors = db.selectFrom('second_factors').select('account').where('confirmed', '=', 1);
  const all = name === undefined;
  const [accountRows, grantRows, tokenRows, sessionRows, declaredRows, factorRows] = [
    await (all ? accounts : accounts.where('name', 'in', accountNames)).execute(),
    await (all ? grants : grants.where('account', 'in', accountNames)).execute(),
    await (all ? tokens : tokens.where('account', 'in', accountNames)).execute(),
    await (all ? sessions : sessions.where('account', 'in', accountNames)).execute(),
    await (all ? declared : declared.where('account', 'in', accountNames)).execute(),
    await (all ? factors : factors.where('account', 'in', accountNames)).execute(),
  ];
  const grantsByAccount = Map.groupBy(grantRows, (row) => row.account);
  const tokensByAccount = Map.groupBy(tokenRows.map(readToken), (row) => row.account);
  const sessionsByAccount = Map.groupBy(sessionRows.map(readSession), (row) => row.account);
  const declaredByAccount = Map.groupBy(declaredRows, (row) => row.account);
  const withFactor = new Set(factorRows.map(({ account }) => account));
  return accountRows.map((row) => ({
    account: readAccount(row, {
      grants: grantsByAccount.get(row.name) ?? [],
      declared: declaredByAccount.get(row.name) ?? [],
      hasSecondFactor: withFactor.has(row.name),
    }),
    declared: new Set(declaredByAccount.get(row.name)?.map((each) => `${each.kind} ${each.name}`.trim())),
    passwordHash: row.password_hash,
    hasSecondFactor: withFactor.has(row.name),
    tokens: tokensByAccount.get(row.name) ?? [],
    sessions: sessionsByAccount.get(row.name) ?? [],
  }));
}

/** Locks the accounts against other changes on all hosts until the transaction ends. Returns the new revision. */
export async function nextRevision(db: Db): Promise<number> {
  const row = await db
    .updateTable('revision')
    .set((expression) => ({ value: expression('value', '+', 1) }))
    .where('id', '=', 1)
    .returning('value')
    .executeTakeFirstOrThrow();
  return Number(row.value);
}

export async function currentRevision(db: Db): Promise<number> {
  const row = await db.selectFrom('revision').select('value').where('id', '=', 1).executeTakeFirstOrThrow();
  return Number(row.value);
}

export async function hasAccount(db: Db, name: string): Promise<boolean> {
  return (await db.selectFrom('accounts').select('name').where('name', '=', name).executeTakeFirst()) !== undefined;
}

/** Returns whether a user can sign in and administrate. */
export async function hasAdministrator(db: Db): Promise<boolean> {
  const row = await db
    .selectFrom('accounts')
    .select('name')
    .where('kind', '=', 'person')
    .where('role', '=', 'admin')
    .where('enabled', '=', 1)
    .where('password_hash', 'is not', null)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

export async function insertAccount(db: Db, row: AccountRow, grants: readonly Grant[]): Promise<void> {
  await db.insertInto('accounts').values(row).execute();
  await replaceGrants(db, row.name, grants);
}

export async function replaceGrants(db: Db, account: string, grants: readonly Grant[]): Promise<void> {
  await db.deleteFrom('grants').where('account', '=', account).execute();
  const rows = grants.map((grant, position): GrantRow => ({ account, position, ...grant }));
  for (const chunk of slices(rows, 100)) await db.insertInto('grants').values(chunk).execute();
}

/** Returns the grants of an account in their order. */
export async function readGrants(db: Db, account: string): Promise<readonly Grant[]> {
  const rows = await db.selectFrom('grants').selectAll().where('account', '=', account).orderBy('position').execute();
  return rows.map(({ service, resource, permission }) => Grant.parse({ service, resource, permission }));
}

/** Sets one grant of an account, or removes it when the permission is undefined. */
export async function replaceGrant(
  db: Db,
  account: string,
  { service, resource, permission }: Omit<Grant, 'permission'> & { readonly permission: string | undefined },
): Promise<void> {
  const rows = await db.selectFrom('grants').selectAll().where('account', '=', account).orderBy('position').execute();
  const existing = rows.find((row) => row.service === service && row.resource === resource);
  if (permission === undefined) {
    if (existing === undefined) return;
    await db
      .deleteFrom('grants')
      .where('account', '=', account)
      .where('service', '=', service)
      .where('resource', '=', resource)
      .execute();
  } else if (existing === undefined) {
    const position = (rows.at(-1)?.position ?? -1) + 1;
    await db.insertInto('grants').values({ account, position, service, resource, permission }).execute();
  } else {
    await db
      .updateTable('grants')
      .set({ permission })
      .where('account', '=', account)
      .where('service', '=', service)
      .where('resource', '=', resource)
      .execute();
  }
}

/** Ends all sessions and, unless limited to sessions, all tokens of an account. */
export async function endCredentials(db: Db, account: string, which: 'all' | 'sessions'): Promise<void> {
  await db.deleteFrom('sessions').where('account', '=', account).execute();
  if (which === 'all') await db.deleteFrom('tokens').where('account', '=', account).execute();
}

export async function deleteAccount(db: Db, name: string): Promise<void> {
  await endCredentials(db, name, 'all');
  await db.deleteFrom('grants').where('account', '=', name).execute();
  await db.deleteFrom('declared').where('account', '=', name).execute();
  await db.deleteFrom('second_factors').where('account', '=', name).execute();
  await db.deleteFrom('passkeys').where('account', '=', name).execute();
  await db.deleteFrom('provider_identities').where('account', '=', name).execute();
  await db.deleteFrom('one_time_links').where('account', '=', name).execute();
  await deleteCreatedLinks(db, name);
  await db.deleteFrom('accounts').where('name', '=', name).execute();
}

/** Deletes the links that set a new password of an account. */
export async function deleteResetLinks(db: Db, account: string): Promise<void> {
  await db.deleteFrom('one_time_links').where('kind', '=', 'reset').where('account', '=', account).execute();
}

/** Deletes the links that an account created, since it may no longer create any. */
export async function deleteCreatedLinks(db: Db, account: string): Promise<void> {
  await db.deleteFrom('one_time_links').where('created_by', '=', account).execute();
}

/** Returns whether the settings declare an account, its role and its password. */
export async function isDeclaredAccount(db: Db, account: string): Promise<boolean> {
  const row = await db
    .selectFrom('declared')
    .select('account')
    .where('kind', '=', 'account')
    .where('account', '=', account)
    .executeTakeFirst();
  return row !== undefined;
}

/** Removes the authenticator app, the recovery codes and the passkeys. Returns whether the second factor was enabled. */
export async function deleteSecondFactor(db: Db, account: string): Promise<boolean> {
  await db.deleteFrom('passkeys').where('account', '=', account).execute();
  const removed = await db.deleteFrom('second_factors').where('account', '=', account).returning('confirmed').execute();
  return removed.some(({ confirmed }) => Number(confirmed) === 1);
}

/** Deletes expired credentials. Returns the affected accounts. */
export async function deleteExpired(db: Db, now: number): Promise<readonly string[]> {
  const sessions = await db.deleteFrom('sessions').where('expires_at', '<=', now).returning('account').execute();
  const tokens = await db.deleteFrom('tokens').where('expires_at', '<=', now).returning('account').execute();
  await db.deleteFrom('one_time_links').where('expires_at', '<=', now).execute();
  return [...new Set([...sessions, ...tokens].map((row) => row.account))];
}

/** Keeps the newest `limit - 1`, so that one more fits. Returns the number of deleted ones. */
export async function deleteOldest(
  db: Db,
  table: 'tokens' | 'sessions',
  account: string,
  limit: number,
): Promise<number> {
  const rows = await db
    .selectFrom(table)
    .select('id')
    .where('account', '=', account)
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .execute();
  const oldest = rows.slice(limit - 1).map((row) => row.id);
  if (oldest.length > 0) await db.deleteFrom(table).where('id', 'in', oldest).execute();
  return oldest.length;
}

/** Returns the account of a token or session that another host may have created. */
export async function findAccountByHash(
  db: Db,
  table: 'tokens' | 'sessions',
  hash: string,
): Promise<string | undefined> {
  const row = await db.selectFrom(table).select('account').where('hash', '=', hash).executeTakeFirst();
  return row?.account;
}

export function* slices<T>(all: readonly T[], size: number): Generator<readonly T[]> {
  for (let index = 0; index < all.length; index += size) yield all.slice(index, index + size);
}

interface AccountParts {
  readonly grants: readonly GrantRow[];
  readonly declared: readonly DeclaredRow[];
  readonly hasSecondFactor: boolean;
}

function readAccount(row: AccountRow, { grants, declared, hasSecondFactor }: AccountParts): Account {
  const account = {
    name: row.name,
    kind: row.kind,
    role: row.role,
    enabled: Number(row.enabled) === 1,
    description: row.description,
    hasPassword: row.password_hash !== null,
    grants: grants.map(({ service, resource, permission }) => Grant.parse({ service, resource, permission })),
    createdAt: Number(row.created_at),
    ...(typeof row.language === 'string' && row.language !== '' ? { language: row.language } : {}),
    ...(hasSecondFactor ? { secondFactor: true } : {}),
    ...(declared.some(({ kind }) => kind === 'account') ? { provisioned: true } : {}),
  };
  // Name that is not an account: it represents everyone and has grants only.
  if (row.name === everyone) return { ...Account.parse({ ...account, name: 'everyone' }), name: everyone };
  return Account.parse(account);
}

function readToken(row: TokenRow): TokenRow {
  return {
    ...row,
    created_at: Number(row.created_at),
    expires_at: row.expires_at === null ? null : Number(row.expires_at),
    last_used_at: row.last_used_at === null ? null : Number(row.last_used_at),
  };
}

function readSession(row: SessionRow): SessionRow {
  return {
    ...row,
    created_at: Number(row.created_at),
    expires_at: Number(row.expires_at),
    used_at: Number(row.used_at),
    by_password: Number(row.by_password),
  };
}
