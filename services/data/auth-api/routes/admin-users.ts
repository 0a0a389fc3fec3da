import { createHash } from 'node:crypto';
import { parseDuration } from '../domain/durations.ts';
import { mergeMetadata, type Metadata } from '../domain/metadata.ts';
import { isReadableHash } from '../hash/passwords.ts';
import type { Body } from '../http/body.ts';
import { isUuid, createOkResponse, type AuthResponse, type AuthCall } from '../http/auth-call.ts';
import {
  createEmailTakenError,
  createValidationError,
  AuthError,
  createUserNotFoundError,
} from '../http/auth-error.ts';
import type { AuthDependencies } from '../dependencies.ts';
import { parseEmail, parsePhone, checkPassword } from '../users/checks.ts';
import { confirmEmail, isTaken, saveUser } from '../users/new-user.ts';
import { requireAdmin } from '../session/bearer.ts';
import { toFactorView, toUserView } from '../session/view.ts';
import type { Sql } from '../store/database.ts';
import { deleteFactor, renameFactor } from '../store/factors.ts';
import { deleteSessions } from '../store/sessions.ts';
import {
  changeIdentity,
  changeUser,
  isSortColumn,
  listUsers,
  lockUser,
  noTokens,
  findUserByEmail,
  findUserById,
  type StoredUser,
  type UserChange,
} from '../store/users.ts';
import type { Route } from './route.ts';

const adminOnly =
  (handler: Route['answer']): Route['answer'] =>
  async (deps, call) => {
    await requireAdmin(deps, call);
    return handler(deps, call);
  };

export const adminUserRoutes: readonly Route[] = [
  { method: 'GET', path: '/admin/users', answer: adminOnly(list) },
  { method: 'POST', path: '/admin/users', answer: adminOnly(create) },
  {
    method: 'GET',
    path: '/admin/users/:user',
    answer: adminOnly(async (deps, call) => createOkResponse(toUserView(await getUser(deps, call)))),
  },
  { method: 'PUT', path: '/admin/users/:user', answer: adminOnly(change) },
  { method: 'DELETE', path: '/admin/users/:user', answer: adminOnly(remove) },
  {
    method: 'GET',
    path: '/admin/users/:user/factors',
    answer: adminOnly(async (deps, call) => createOkResponse((await getUser(deps, call)).factors.map(toFactorView))),
  },
  { method: 'PUT', path: '/admin/users/:user/factors/:factor', answer: adminOnly(changeFactor) },
  { method: 'DELETE', path: '/admin/users/:user/factors/:factor', answer: adminOnly(removeFactor) },
];

async function getUser({ database }: AuthDependencies, call: AuthCall): Promise<StoredUser> {
  const user = await findUserById(database, call.id('user'));
  if (user === undefined) throw createUserNotFoundError();
  return user;
}

/** Parses a number of the query string. */
function parseCount(call: AuthCall, name: string, defaultValue: number): number {
  const text = call.query.get(name) ?? '';
  if (text === '') return defaultValue;
  if (/^\d{1,9}$/.test(text) && Number(text) > 0) return Number(text);
  throw createValidationError(`Bad Pagination Parameters: ${name} is no number above 0`);
}

async function list(deps: AuthDependencies, call: AuthCall): Promise<AuthResponse> {
  const [page, perPage] = [parseCount(call, 'page', 1), Math.min(parseCount(call, 'per_page', 50), 1000)];
  const requested = call.query.getAll('sort').map((text) => {
    const [column = '', direction = 'desc'] = text.split(' ', 2);
    if (!isSortColumn(column)) throw createValidationError(`Bad Sort Parameters: bad field for sort '${column}'`);
    if (!/^(?:asc|desc)$/i.test(direction))
      throw createValidationError(
        `Bad Sort Parameters: bad direction for sort '${direction}', only 'asc' and 'desc' allowed`,
      );
    return { column, ascending: direction.toLowerCase() === 'asc' };
  });
  const sort = requested.length === 0 ? [{ column: 'created_at' as const, ascending: false }] : requested;
  const filter = (call.query.get('filter') ?? '').replaceAll('\0', '');
  const { users, total } = await listUsers(deps.database, { page, perPage, filter, sort });
  const last = Math.max(1, Math.ceil(total / perPage));
  const link = (to: number, rel: string): string => {
    const query = new URLSearchParams(call.query);
    query.delete('apikey');
    query.set('page', String(to));
    return `</admin/users?${query.toString()}>; rel="${rel}"`;
  };
  const links = [...(page < last ? [link(page + 1, 'next')] : []), link(last, 'last')];
  const userViews = users.map((user) => ({ ...toUserView(user), identities: null }));
  return createOkResponse(
    { users: userViews, aud: 'authenticated' },
    { link: links.join(', '), 'x-total-count': String(total) },
  );
}

/** Parses the fields that creating and changing a user have in common, except addresses. */
async function commonFields({ passwords }: AuthDependencies, body: Body, now: number): Promise<UserChange> {
  const password = body.has('password') ? body.text('password') : '';
  const hash = body.text('password_hash');
  if (password !== '' && hash !== '')
    throw createValidationError('Only a password or a password hash should be provided');
  if (password !== '') checkPassword(password);
  if (hash !== '' && !isReadableHash(hash))
    throw createValidationError('The password hash is of no kind that can be checked here: use bcrypt or argon2id');
  const encrypted = password === '' ? hash : await passwords.hash(password);
  const role = body.text('role');
  return {
    ...(encrypted === '' ? {} : { encrypted_password: encrypted }),
    ...(role === '' ? {} : { role }),
    ...parseBan(body, now),
  };
}

function parseBan(body: Body, now: number): UserChange {
  const text = body.text('ban_duration');
  if (text === '') return {};
  if (text === 'none') return { banned_until: null };
  const duration = parseDuration(text);
  if (duration === undefined)
    throw createValidationError(`invalid format for ban duration: time: invalid duration ${JSON.stringify(text)}`);
  if (duration <= 0) return { banned_until: null };
  // PostgreSQL limits timestamps.
  return { banned_until: Math.min(now + duration, Date.UTC(9999, 11, 31)) };
}

async function create(deps: AuthDependencies, call: AuthCall): Promise<AuthResponse> {
  const body = await call.body();
  const [rawEmail, rawPhone, id] = [body.text('email'), body.text('phone'), body.text('id')];
  if (rawEmail === '' && rawPhone === '')
    throw createValidationError('Cannot create a user without either an email or phone');
  const email = rawEmail === '' ? null : parseEmail(rawEmail);
  const phone = rawPhone === '' ? null : parsePhone(rawPhone);
  if (id !== '' && !isUuid(id)) throw createValidationError('ID must conform to the uuid v4 format');
  const aud = body.text('aud');
  const fields = await commonFields(deps, body, call.now);
  if (email !== null && (await findUserByEmail(deps.database, email)) !== undefined) throw createEmailTakenError();
  const providers = [...(email === null ? [] : ['email']), ...(phone === null ? [] : ['phone'])];
  const providerMetadata = { provider: providers[0], providers };
  const change: UserChange = {
    ...fields,
    email,
    phone,
    ...(aud === '' ? {} : { aud }),
    ...(phone !== null && body.flag('phone_confirm', false) ? { phone_confirmed_at: call.now } : {}),
    raw_app_meta_data: mergeMetadata(providerMetadata, body.object('app_metadata') ?? {}),
    raw_user_meta_data: body.object('user_metadata') ?? {},
  };
  const identity: Metadata = email === null ? { phone } : { email };
  try {
    const user = await deps.database.transaction(async (sql) => {
      const created = await saveUser(sql, change, { ...(id === '' ? {} : { id }), identity, now: call.now });
      return body.flag('email_confirm', false) && email !== null ? confirmEmail(sql, created, call.now) : created;
    });
    return createOkResponse(toUserView(user));
  } catch (error) {
    throw isTaken(error) ? toTakenError(error) : error;
  }
}

function toTakenError(error: unknown): AuthError {
  const constraint = error instanceof Error && 'constraint' in error ? error.constraint : '';
  if (constraint === 'users_email_partial_key') return createEmailTakenError();
  if (constraint === 'users_pkey') return createValidationError('A user with this id exists already').withStatus(422);
  return new AuthError(422, 'phone_exists', 'Phone number already registered by another user');
}

async function change(deps: AuthDependencies, call: AuthCall): Promise<AuthResponse> {
  const before = await getUser(deps, call);
  const body = await call.body();
  const email = body.text('email') === '' ? undefined : parseEmail(body.text('email'));
  const phone = body.text('phone') === '' ? undefined : parsePhone(body.text('phone'));
  const fields = await commonFields(deps, body, call.now);
  const confirms = body.flag('email_confirm', false);
  const isNewPassword = fields.encrypted_password !== undefined;
  const write = async (sql: Sql): Promise<StoredUser> => {
    let user = (await lockUser(sql, before.id)) ?? before;
    if (confirms) user = await confirmEmail(sql, user, call.now);
    if (isNewPassword) await deleteSessions(sql, user.id);
    if (email !== undefined) await changeIdentity(sql, user.id, { email, email_verified: confirms }, call.now);
    const app = body.object('app_metadata');
    const data = body.object('user_metadata');
    return changeUser(
      sql,
      user.id,
      {
        ...fields,
        ...(isNewPassword ? noTokens : {}),
        ...(email === undefined ? {} : { email, ...(user.is_anonymous && confirms ? { is_anonymous: false } : {}) }),
        ...(phone === undefined ? {} : { phone }),
        ...(body.flag('phone_confirm', false) ? { phone_confirmed_at: call.now } : {}),
        ...(app === undefined ? {} : { raw_app_meta_data: mergeMetadata(user.raw_app_meta_data ?? {}, app) }),
        ...(data === undefined ? {} : { raw_user_meta_data: mergeMetadata(user.raw_user_meta_data ?? {}, data) }),
      },
      call.now,
    );
  };
  try {
    return createOkResponse(toUserView(await deps.database.transaction(write)));
  } catch (error) {
    throw isTaken(error) ? toTakenError(error) : error;
  }
}

async function remove(deps: AuthDependencies, call: AuthCall): Promise<AuthResponse> {
  const user = await getUser(deps, call);
  const isSoft = (await call.optionalBody()).flag('should_soft_delete', false);
  await deps.database.transaction(async (sql) => {
    if (!isSoft) {
      await sql.query('delete from auth.users where id = $1', [user.id]);
      return;
    }
    if (user.deleted_at !== null) return;
    const anonymize = (text: string): string =>
      createHash('sha256')
        .update(user.id + text)
        .digest('base64url');
    await changeUser(
      sql,
      user.id,
      {
        ...noTokens,
        ...(user.email === null ? {} : { email: anonymize(user.email) }),
        ...(user.phone === null ? {} : { phone: anonymize(user.phone).slice(0, 15) }),
        encrypted_password: null,
        email_change: '',
        deleted_at: call.now,
        raw_user_meta_data: {},
        raw_app_meta_data: {},
      },
      call.now,
    );
    await sql.query(
      `update auth.identities set identity_data = '{}', provider_id = $2 || id::text where user_id = $1`,
      [user.id, anonymize('')],
    );
    await sql.query('delete from auth.mfa_factors where user_id = $1', [user.id]);
    await deleteSessions(sql, user.id);
  });
  return createOkResponse({});
}

async function getFactor(deps: AuthDependencies, call: AuthCall): Promise<StoredUser['factors'][number]> {
  const user = await getUser(deps, call);
  const id = call.id('factor');
  const factor = user.factors.find((each) => each.id === id);
  if (factor === undefined) throw new AuthError(404, 'mfa_factor_not_found', 'Factor not found');
  return factor;
}

async function changeFactor(deps: AuthDependencies, call: AuthCall): Promise<AuthResponse> {
  const factor = await getFactor(deps, call);
  const name = (await call.body()).text('friendly_name');
  if (name !== '') await renameFactor(deps.database, factor.id, name, call.now);
  return createOkResponse(toFactorView({ ...factor, ...(name === '' ? {} : { friendly_name: name }) }));
}

async function removeFactor(deps: AuthDependencies, call: AuthCall): Promise<AuthResponse> {
  const factor = await getFactor(deps, call);
  await deps.database.transaction((sql) => deleteFactor(sql, factor.id));
  return createOkResponse(toFactorView(factor));
}
