import { createHash } from 'node:crypto';
import { parseDuration } from '../domain/durations.ts';
import { merged, type Metadata } from '../domain/metadata.ts';
import { isReadableHash } from '../hash/passwords.ts';
import type { Body } from '../http/body.ts';
import { isUuid, ok, type Answer, type Call } from '../http/auth-call.ts';
import { emailTaken, invalid, Refusal, userNotFound } from '../http/auth-error.ts';
import type { AuthParts } from '../dependencies.ts';
import { checkedEmail, checkedPhone, checkPassword } from '../users/checks.ts';
import { confirmEmail, isTaken, saveUser } from '../users/new-user.ts';
import { requireAdmin } from '../session/bearer.ts';
import { factorView, userView } from '../session/view.ts';
import type { Sql } from '../store/database.ts';
import { deleteFactor, renameFactor } from '../store/factors.ts';
import { deleteSessions } from '../store/sessions.ts';
import {
  changeIdentity,
  changeUser,
  isSortColumn,
  listUsers,
  lockedUser,
  noTokens,
  userByEmail,
  userById,
  type StoredUser,
  type UserChange,
} from '../store/users.ts';
import type { Route } from './route.ts';

const guarded =
  (answer: Route[2]): Route[2] =>
  async (parts, call) => {
    requireAdmin(parts, call);
    return answer(parts, call);
  };

export const adminUserRoutes: readonly Route[] = [
  ['GET', '/admin/users', guarded(list)],
  ['POST', '/admin/users', guarded(create)],
  ['GET', '/admin/users/*', guarded(async (parts, call) => ok(userView(await named(parts, call))))],
  ['PUT', '/admin/users/*', guarded(change)],
  ['DELETE', '/admin/users/*', guarded(remove)],
  [
    'GET',
    '/admin/users/*/factors',
    guarded(async (parts, call) => ok((await named(parts, call)).factors.map(factorView))),
  ],
  ['PUT', '/admin/users/*/factors/*', guarded(changeFactor)],
  ['DELETE', '/admin/users/*/factors/*', guarded(removeFactor)],
];

async function named({ database }: AuthParts, call: Call): Promise<StoredUser> {
  const user = await userById(database, call.id(0, 'user_id'));
  if (user === undefined) throw userNotFound();
  return user;
}

/** Parses a number of the query string. */
function count(call: Call, name: string, usual: number): number {
  const text = call.query.get(name) ?? '';
  if (text === '') return usual;
  if (/^\d{1,9}$/.test(text) && Number(text) > 0) return Number(text);
  throw invalid(`Bad Pagination Parameters: ${name} is no number above 0`);
}

async function list(parts: AuthParts, call: Call): Promise<Answer> {
  const [page, perPage] = [count(call, 'page', 1), Math.min(count(call, 'per_page', 50), 1000)];
  const asked = call.query.getAll('sort').map((text) => {
    const [column = '', direction = 'desc'] = text.split(' ', 2);
    if (!isSortColumn(column)) throw invalid(`Bad Sort Parameters: bad field for sort '${column}'`);
    if (!/^(?:asc|desc)$/i.test(direction))
      throw invalid(`Bad Sort Parameters: bad direction for sort '${direction}', only 'asc' and 'desc' allowed`);
    return { column, ascending: direction.toLowerCase() === 'asc' };
  });
  const sort = asked.length === 0 ? [{ column: 'created_at' as const, ascending: false }] : asked;
  const filter = (call.query.get('filter') ?? '').replaceAll('\0', '');
  const { users, total } = await listUsers(parts.database, { page, perPage, filter, sort });
  const last = Math.max(1, Math.ceil(total / perPage));
  const link = (to: number, rel: string): string => {
    const query = new URLSearchParams(call.query);
    query.delete('apikey');
    query.set('page', String(to));
    return `</admin/users?${query.toString()}>; rel="${rel}"`;
  };
  const links = [...(page < last ? [link(page + 1, 'next')] : []), link(last, 'last')];
  const shown = users.map((user) => ({ ...userView(user), identities: null }));
  return ok({ users: shown, aud: 'authenticated' }, { link: links.join(', '), 'x-total-count': String(total) });
}

/** Parses the fields that creating and changing a user have in common, except addresses. */
async function commonFields({ passwords }: AuthParts, body: Body, now: number): Promise<UserChange> {
  const password = body.has('password') ? body.text('password') : '';
  const hash = body.text('password_hash');
  if (password !== '' && hash !== '') throw invalid('Only a password or a password hash should be provided');
  if (password !== '') checkPassword(password);
  if (hash !== '' && !isReadableHash(hash))
    throw invalid('The password hash is of no kind that can be checked here: use bcrypt or argon2id');
  const encrypted = password === '' ? hash : await passwords.hash(password);
  const role = body.text('role');
  return {
    ...(encrypted === '' ? {} : { encrypted_password: encrypted }),
    ...(role === '' ? {} : { role }),
    ...banOf(body, now),
  };
}

function banOf(body: Body, now: number): UserChange {
  const text = body.text('ban_duration');
  if (text === '') return {};
  if (text === 'none') return { banned_until: null };
  const duration = parseDuration(text);
  if (duration === undefined)
    throw invalid(`invalid format for ban duration: time: invalid duration ${JSON.stringify(text)}`);
  if (duration <= 0) return { banned_until: null };
  // PostgreSQL limits timestamps.
  return { banned_until: Math.min(now + duration, Date.UTC(9999, 11, 31)) };
}

async function create(parts: AuthParts, call: Call): Promise<Answer> {
  const body = await call.body();
  const [rawEmail, rawPhone, id] = [body.text('email'), body.text('phone'), body.text('id')];
  if (rawEmail === '' && rawPhone === '') throw invalid('Cannot create a user without either an email or phone');
  const email = rawEmail === '' ? null : checkedEmail(rawEmail);
  const phone = rawPhone === '' ? null : checkedPhone(rawPhone);
  if (id !== '' && !isUuid(id)) throw invalid('ID must conform to the uuid v4 format');
  const aud = body.text('aud');
  const fields = await commonFields(parts, body, call.now);
  if (email !== null && (await userByEmail(parts.database, email)) !== undefined) throw emailTaken();
  const providers = [...(email === null ? [] : ['email']), ...(phone === null ? [] : ['phone'])];
  const provided = { provider: providers[0], providers };
  const change: UserChange = {
    ...fields,
    email,
    phone,
    ...(aud === '' ? {} : { aud }),
    ...(phone !== null && body.flag('phone_confirm', false) ? { phone_confirmed_at: call.now } : {}),
    raw_app_meta_data: merged(provided, body.object('app_metadata') ?? {}),
    raw_user_meta_data: body.object('user_metadata') ?? {},
  };
  const identity: Metadata = email === null ? { phone } : { email };
  try {
    const user = await parts.database.transaction(async (sql) => {
      const made = await saveUser(sql, change, { ...(id === '' ? {} : { id }), identity, now: call.now });
      return body.flag('email_confirm', false) && email !== null ? confirmEmail(sql, made, call.now) : made;
    });
    return ok(userView(user));
  } catch (error) {
    throw isTaken(error) ? takenBy(error) : error;
  }
}

function takenBy(error: unknown): Refusal {
  const constraint = error instanceof Error && 'constraint' in error ? error.constraint : '';
  if (constraint === 'users_email_partial_key') return emailTaken();
  if (constraint === 'users_pkey') return invalid('A user with this id exists already').as(422);
  return new Refusal(422, 'phone_exists', 'Phone number already registered by another user');
}

async function change(parts: AuthParts, call: Call): Promise<Answer> {
  const before = await named(parts, call);
  const body = await call.body();
  const email = body.text('email') === '' ? undefined : checkedEmail(body.text('email'));
  const phone = body.text('phone') === '' ? undefined : checkedPhone(body.text('phone'));
  const fields = await commonFields(parts, body, call.now);
  const confirms = body.flag('email_confirm', false);
  const isNewPassword = fields.encrypted_password !== undefined;
  const write = async (sql: Sql): Promise<StoredUser> => {
    let user = (await lockedUser(sql, before.id)) ?? before;
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
        ...(app === undefined ? {} : { raw_app_meta_data: merged(user.raw_app_meta_data ?? {}, app) }),
        ...(data === undefined ? {} : { raw_user_meta_data: merged(user.raw_user_meta_data ?? {}, data) }),
      },
      call.now,
    );
  };
  try {
    return ok(userView(await parts.database.transaction(write)));
  } catch (error) {
    throw isTaken(error) ? takenBy(error) : error;
  }
}

async function remove(parts: AuthParts, call: Call): Promise<Answer> {
  const user = await named(parts, call);
  const softly = (await call.optionalBody()).flag('should_soft_delete', false);
  await parts.database.transaction(async (sql) => {
    if (!softly) {
      await sql.query('delete from auth.users where id = $1', [user.id]);
      return;
    }
    if (user.deleted_at !== null) return;
    const hide = (text: string): string =>
      createHash('sha256')
        .update(user.id + text)
        .digest('base64url');
    await changeUser(
      sql,
      user.id,
      {
        ...noTokens,
        ...(user.email === null ? {} : { email: hide(user.email) }),
        ...(user.phone === null ? {} : { phone: hide(user.phone).slice(0, 15) }),
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
      [user.id, hide('')],
    );
    await sql.query('delete from auth.mfa_factors where user_id = $1', [user.id]);
    await deleteSessions(sql, user.id);
  });
  return ok({});
}

async function factorOf(parts: AuthParts, call: Call): Promise<StoredUser['factors'][number]> {
  const user = await named(parts, call);
  const id = call.id(1, 'factor_id');
  const factor = user.factors.find((each) => each.id === id);
  if (factor === undefined) throw new Refusal(404, 'mfa_factor_not_found', 'Factor not found');
  return factor;
}

async function changeFactor(parts: AuthParts, call: Call): Promise<Answer> {
  const factor = await factorOf(parts, call);
  const name = (await call.body()).text('friendly_name');
  if (name !== '') await renameFactor(parts.database, factor.id, name, call.now);
  return ok(factorView({ ...factor, ...(name === '' ? {} : { friendly_name: name }) }));
}

async function removeFactor(parts: AuthParts, call: Call): Promise<Answer> {
  const factor = await factorOf(parts, call);
  await parts.database.transaction((sql) => deleteFactor(sql, factor.id));
  return ok(factorView(factor));
}
