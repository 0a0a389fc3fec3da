import { randomUUID } from 'node:crypto';
import type { Metadata } from '../domain/metadata.ts';
import type { Sql } from './database.ts';
import { buildContainsPattern } from '../../../kit/like-pattern.ts';

/** Stored time in UTC without a zone: `2026-01-02T03:04:05.678`. */
export type StoredTime = string;

export interface StoredIdentity {
  readonly id: string;
  readonly provider_id: string;
  readonly user_id: string;
  readonly identity_data: Metadata;
  readonly provider: string;
  readonly last_sign_in_at: StoredTime | null;
  readonly created_at: StoredTime | null;
  readonly updated_at: StoredTime | null;
  readonly email: string | null;
}

export interface StoredFactor {
  readonly id: string;
  readonly friendly_name: string | null;
  readonly factor_type: string;
  readonly status: 'unverified' | 'verified';
  readonly created_at: StoredTime;
  readonly updated_at: StoredTime;
  readonly phone: string | null;
  readonly last_challenged_at: StoredTime | null;
}

/** Row of `auth.users` with its identities and factors. */
export interface StoredUser {
  readonly id: string;
  readonly aud: string | null;
  readonly role: string | null;
  readonly email: string | null;
  readonly phone: string | null;
  readonly encrypted_password: string | null;
  readonly email_confirmed_at: StoredTime | null;
  readonly phone_confirmed_at: StoredTime | null;
  readonly confirmed_at: StoredTime | null;
  readonly invited_at: StoredTime | null;
  readonly confirmation_token: string | null;
  readonly confirmation_sent_at: StoredTime | null;
  readonly recovery_token: string | null;
  readonly recovery_sent_at: StoredTime | null;
  readonly email_change: string | null;
  readonly email_change_token_new: string | null;
  readonly email_change_token_current: string | null;
  readonly email_change_sent_at: StoredTime | null;
  readonly email_change_confirm_status: number | null;
  readonly reauthentication_token: string | null;
  readonly reauthentication_sent_at: StoredTime | null;
  readonly last_sign_in_at: StoredTime | null;
  readonly raw_app_meta_data: Metadata | null;
  readonly raw_user_meta_data: Metadata | null;
  readonly created_at: StoredTime | null;
  readonly updated_at: StoredTime | null;
  readonly banned_until: StoredTime | null;
  readonly deleted_at: StoredTime | null;
  readonly is_anonymous: boolean;
  readonly identities: readonly StoredIdentity[];
  readonly factors: readonly StoredFactor[];
}

const timeColumns = new Set([
  'email_confirmed_at',
  'phone_confirmed_at',
  'confirmed_at',
  'invited_at',
  'confirmation_sent_at',
  'recovery_sent_at',
  'email_change_sent_at',
  'reauthentication_sent_at',
  'last_sign_in_at',
  'created_at',
  'updated_at',
  'banned_until',
  'deleted_at',
]);
const valueColumns = [
  'id',
  'aud',
  'role',
  'email',
  'phone',
  'encrypted_password',
  'confirmation_token',
  'recovery_token',
  'email_change',
  'email_change_token_new',
  'email_change_token_current',
  'email_change_confirm_status',
  'reauthentication_token',
  'raw_app_meta_data',
  'raw_user_meta_data',
  'is_anonymous',
];

function buildJsonObject(table: string, columns: readonly string[], timestampColumns: Iterable<string>): string {
  const fields = [
    ...columns.map((name) => `'${name}', ${table}.${name}`),
    ...[...timestampColumns].map((name) => `'${name}', ${table}.${name} at time zone 'utc'`),
  ];
  return `json_build_object(${fields.join(', ')})`;
}

const identityExpression = buildJsonObject(
  'i',
  ['id', 'provider_id', 'user_id', 'identity_data', 'provider', 'email'],
  ['last_sign_in_at', 'created_at', 'updated_at'],
);
const factorExpression = buildJsonObject(
  'f',
  ['id', 'friendly_name', 'factor_type', 'status', 'phone'],
  ['created_at', 'updated_at', 'last_challenged_at'],
);

/** Expression of a user as one JSON value, independent of the driver's types and the time zone of the session. */
export const userExpression = `jsonb_build_object('identities', (select coalesce(jsonb_agg(${identityExpression}
  order by i.created_at), '[]') from auth.identities i
  where i.user_id = u.id), 'factors', (select coalesce(jsonb_agg(${factorExpression} order by f.created_at), '[]')
  from auth.mfa_factors f where f.user_id = u.id)) || ${buildJsonObject('u', valueColumns, timeColumns)}::jsonb`;

/** Expression of a user in a list, without identities and factors. */
const listedUserExpression = `jsonb_build_object('identities', '[]'::jsonb, 'factors', '[]'::jsonb) ||
  ${buildJsonObject('u', valueColumns, timeColumns)}::jsonb`;

async function findOne(sql: Sql, text: string, values: readonly unknown[]): Promise<StoredUser | undefined> {
  const [row] = await sql.query<{ value: string }>(text, values);
  return row === undefined ? undefined : (JSON.parse(row.value) as StoredUser);
}

const selectUsers = `select (${userExpression})::text as value from auth.users u`;

export function findUserById(sql: Sql, id: string): Promise<StoredUser | undefined> {
  return findOne(sql, `${selectUsers} where u.id = $1`, [id]);
}

/** Locks the row of a user until the transaction ends. */
export async function lockUser(sql: Sql, id: string): Promise<StoredUser | undefined> {
  await sql.query('select 1 from auth.users where id = $1 for update', [id]);
  return findUserById(sql, id);
}

export function findUserByEmail(sql: Sql, email: string): Promise<StoredUser | undefined> {
  return findOne(sql, `${selectUsers} where u.email = $1 and u.is_sso_user = false`, [email]);
}

const tokenColumns = {
  confirmation: ['confirmation_token'],
  recovery: ['recovery_token'],
  email_change: ['email_change_token_new', 'email_change_token_current'],
} as const;

/** Finds the user of a link. */
export function findUserByToken(
  sql: Sql,
  kind: keyof typeof tokenColumns,
  hash: string,
): Promise<StoredUser | undefined> {
  // The condition repeats that of the partial index, so that it is used.
  const where = tokenColumns[kind].map((column) => `(u.${column} = $1 and u.${column}::text !~ '^[0-9 ]*$')`);
  return findOne(sql, `${selectUsers} where ${where.join(' or ')} limit 1`, [hash]);
}

/** Finds the user with this token who changes from or to an address. */
export function findUserByEmailChange(sql: Sql, email: string, hash: string): Promise<StoredUser | undefined> {
  return findOne(
    sql,
    `${selectUsers} where (u.email = $1 and u.email_change_token_current in ($2, $3)) or (u.email_change = $1
      and u.email_change_token_new in ($2, $3)) limit 1`,
    [email, hash, `pkce_${hash}`],
  );
}

/** Columns that can be written. Times are ms since the epoch. */
export type UserChange = Readonly<
  Partial<{
    aud: string;
    role: string;
    email: string | null;
    phone: string | null;
    encrypted_password: string | null;
    email_confirmed_at: number | null;
    phone_confirmed_at: number | null;
    invited_at: number | null;
    confirmation_token: string;
    confirmation_sent_at: number | null;
    recovery_token: string;
    recovery_sent_at: number | null;
    email_change: string;
    email_change_token_new: string;
    email_change_token_current: string;
    email_change_sent_at: number | null;
    email_change_confirm_status: number;
    reauthentication_token: string;
    reauthentication_sent_at: number | null;
    raw_app_meta_data: Metadata;
    raw_user_meta_data: Metadata;
    banned_until: number | null;
    deleted_at: number | null;
    is_anonymous: boolean;
  }>
>;

/** Change that invalidates sent codes and links. */
export const noTokens: UserChange = {
  confirmation_token: '',
  confirmation_sent_at: null,
  recovery_token: '',
  recovery_sent_at: null,
  email_change_token_new: '',
  email_change_token_current: '',
  email_change_sent_at: null,
  reauthentication_token: '',
  reauthentication_sent_at: null,
};

function toColumnValues(change: Readonly<Record<string, unknown>>): [string, unknown][] {
  return Object.entries(change).map(([name, value]) => {
    if (typeof value === 'number' && timeColumns.has(name)) return [name, new Date(value).toISOString()];
    return [name, typeof value === 'object' && value !== null ? JSON.stringify(value) : value];
  });
}

/** Updates a user and returns the new row. */
export async function changeUser(sql: Sql, id: string, change: UserChange, now: number): Promise<StoredUser> {
  const fields = toColumnValues({ ...change, updated_at: now });
  const sets = fields.map(([name], index) => `${name} = $${index + 2}`);
  const values = fields.map(([, value]) => value);
  const user = await findOne(
    sql,
    `update auth.users u set ${sets.join(', ')} where u.id = $1 returning (${userExpression})::text as value`,
    [id, ...values],
  );
  if (user === undefined) throw new Error('the user no longer exists');
  return user;
}

const nilUuid = '00000000-0000-0000-0000-000000000000';

/** Inserts a user, and an identity when one is given. */
export async function insertUser(
  sql: Sql,
  change: UserChange,
  {
    id = randomUUID(),
    identity: data,
    now,
  }: { readonly id?: string; readonly identity?: Metadata; readonly now: number },
): Promise<StoredUser> {
  const empty = { confirmation_token: '', recovery_token: '', email_change_token_new: '', email_change: '' };
  const fields = toColumnValues({
    instance_id: nilUuid,
    id,
    aud: 'authenticated',
    role: 'authenticated',
    ...empty,
    ...change,
    created_at: now,
    updated_at: now,
  });
  const columns = fields.map(([name]) => name).join(', ');
  const placeholders = fields.map((_, index) => `$${index + 1}`).join(', ');
  await sql.query(
    `insert into auth.users (${columns}) values (${placeholders})`,
    fields.map(([, value]) => value),
  );
  if (data !== undefined) await insertIdentity(sql, id, data, now);
  const user = await findUserById(sql, id);
  if (user === undefined) throw new Error('a trigger removed the new user');
  return user;
}

/** Inserts the email identity of a user. */
export async function insertIdentity(sql: Sql, userId: string, data: Metadata, now: number): Promise<void> {
  const all = { email: '', email_verified: false, phone_verified: false, ...data, sub: userId };
  await sql.query(
    `insert into auth.identities (provider_id, user_id, identity_data, provider, last_sign_in_at, created_at, updated_at)
     values ($1, $2, $3, 'email', $4, $4, $4)`,
    [userId, userId, JSON.stringify(all), new Date(now).toISOString()],
  );
}

/** Updates the email identity of a user, or creates it. */
export async function changeIdentity(sql: Sql, userId: string, change: Metadata, now: number): Promise<void> {
  const changed = await sql.query(
    `update auth.identities set identity_data = identity_data || $2::jsonb, updated_at = $3 where user_id = $1
      and provider = 'email' returning id`,
    [userId, JSON.stringify(change), new Date(now).toISOString()],
  );
  if (changed.length === 0) await insertIdentity(sql, userId, change, now);
}

export interface UserPage {
  readonly users: readonly StoredUser[];
  readonly total: number;
}

const sortable = {
  created_at: 'u.created_at',
  updated_at: 'u.updated_at',
  last_sign_in_at: 'u.last_sign_in_at',
  email: 'u.email',
} as const;
export type SortColumn = keyof typeof sortable;
export const isSortColumn = (name: string): name is SortColumn => Object.hasOwn(sortable, name);

/** Lists a page of users. The filter matches parts of addresses, phone numbers and names, and complete ids. */
export async function listUsers(
  sql: Sql,
  {
    page,
    perPage,
    filter,
    sort,
  }: {
    readonly page: number;
    readonly perPage: number;
    readonly filter: string;
    readonly sort: readonly { readonly column: SortColumn; readonly ascending: boolean }[];
  },
): Promise<UserPage> {
  const like = buildContainsPattern(filter);
  const where = `u.aud = 'authenticated' and ($1 = '' or u.email ilike $2 or u.phone like $2
    or u.id::text = lower($1) or u.raw_user_meta_data ->> 'full_name' ilike $2
    or u.raw_user_meta_data ->> 'name' ilike $2)`;
  const order = sort.map(({ column, ascending }) => `${sortable[column]} ${ascending ? 'asc' : 'desc'}`);
  const rows = await sql.query<{ value: string }>(
    `select (${listedUserExpression})::text as value from auth.users u where ${where}
      order by ${[...order, 'u.id'].join(', ')} limit $3 offset $4`,
    [filter, like, perPage, (page - 1) * perPage],
  );
  const [count] = await sql.query<{ total: string }>(
    `select count(*)::text as total from auth.users u where ${where}`,
    [filter, like],
  );
  return { users: rows.map(({ value }) => JSON.parse(value) as StoredUser), total: Number(count?.total ?? 0) };
}

/** Identity providers of a user, and the numbers of sessions and verified factors. */
export interface Activity {
  readonly providers: readonly string[];
  readonly sessions: number;
  readonly factors: number;
}

/** Reads the activity of users, by id. */
export async function readActivity(sql: Sql, ids: readonly string[]): Promise<ReadonlyMap<string, Activity>> {
  const rows = await sql.query<{ id: string; providers: string; sessions: string; factors: string }>(
    `select u.id::text,
       (select coalesce(string_agg(distinct i.provider, ' '), '') from auth.identities i where i.user_id = u.id) as providers,
       (select count(*) from auth.sessions s where s.user_id = u.id)::text as sessions,
       (select count(*) from auth.mfa_factors f where f.user_id = u.id and f.status = 'verified')::text as factors
     from auth.users u where u.id = any($1::uuid[])`,
    [ids],
  );
  return new Map(
    rows.map(({ id, providers, sessions, factors }) => [
      id,
      { providers: providers.split(' ').filter(Boolean), sessions: Number(sessions), factors: Number(factors) },
    ]),
  );
}
