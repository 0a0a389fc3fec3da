import * as m from '#messages/data-problems';
import { implement, type ApiHandler } from '../../../contracts/api.ts';
import { dataUsersApi, type DataUser } from '../../../contracts/data/users.ts';
import { Problem } from '../../../contracts/problem.ts';
import type { Context } from '../../../contracts/service.ts';
import { isUuid } from '../http/auth-call.ts';
import { buildLink } from '../mail/requests.ts';
import { createCode } from '../one-time-tokens.ts';
import type { AuthDependencies } from '../dependencies.ts';
import { parseEmail, checkPassword } from '../users/checks.ts';
import { confirmEmail, emailProvider, isTaken, saveUser } from '../users/new-user.ts';
import { isBanned, toMillis } from '../session/bearer.ts';
import { getBaseUrl, getSiteUrl } from '../site.ts';
import { deleteSessions, listSessions } from '../store/sessions.ts';
import {
  readActivity,
  changeUser,
  listUsers,
  noTokens,
  findUserByEmail,
  findUserById,
  type Activity,
  type StoredUser,
} from '../store/users.ts';

const perPage = 50;
/** End of a permanent ban. */
const permanentBanEnd = Date.UTC(9999, 0, 1);

type UserContext = Pick<Context, 'clock' | 'publicUrl'>;

/** Creates the app API routes for users of projects. */
export function createUserRoutes(context: UserContext, deps: AuthDependencies): readonly ApiHandler[] {
  const { database } = deps;
  const { clock } = context;
  return [
    implement(dataUsersApi.list, async ({ query: { q, page } }) => {
      const sort = [{ column: 'created_at', ascending: false }] as const;
      const { users, total } = await listUsers(database, { page, perPage, filter: q.replaceAll('\0', ''), sort });
      return { users: await toDataUsers(database, users, clock.now()), total, perPage };
    }),
    implement(dataUsersApi.one, async ({ params }) => {
      const user = await getUser(database, params['id']);
      const [row, signedIn] = await Promise.all([
        getDataUser(database, user, clock.now()),
        listSessions(database, user.id),
      ]);
      return {
        ...row,
        hasPassword: (user.encrypted_password ?? '') !== '',
        signedIn: signedIn.map(({ id, created_at, used_at, user_agent, ip }) => ({
          id,
          createdAt: toMs(created_at),
          usedAt: toMs(used_at),
          userAgent: user_agent ?? '',
          ip: ip ?? '',
        })),
      };
    }),
    implement(dataUsersApi.endSession, async ({ params }) => {
      const { id } = await getUser(database, params['id']);
      const sessionId = params['session'] ?? '';
      if (isUuid(sessionId)) await deleteSessions(database, id, { only: sessionId });
      return { ok: true as const };
    }),
    implement(dataUsersApi.create, async ({ body }) => {
      const { id } = await createUser(body, deps, clock);
      return getDataUser(database, await getUser(database, id), clock.now());
    }),
    implement(dataUsersApi.change, async ({ params, body }) => {
      const { id } = await getUser(database, params['id']);
      await changePasswordAndBan(id, body, deps, clock);
      return getDataUser(database, await getUser(database, id), clock.now());
    }),
    implement(dataUsersApi.signOut, async ({ params }) => {
      const { id } = await getUser(database, params['id']);
      await deleteSessions(database, id);
      return { ok: true as const };
    }),
    implement(dataUsersApi.link, async ({ params }) =>
      createSignInLink(await getUser(database, params['id']), context, deps),
    ),
    implement(dataUsersApi.remove, async ({ params }) => {
      const { id } = await getUser(database, params['id']);
      await database.query('delete from auth.users where id = $1', [id]);
      return { ok: true as const };
    }),
  ];
}

type UserDatabase = AuthDependencies['database'];

/** @throws Problem `data.unknown_user` (404). */
async function getUser(database: UserDatabase, id = ''): Promise<StoredUser> {
  const user = isUuid(id) ? await findUserById(database, id) : undefined;
  if (user === undefined) throw new Problem('data.unknown_user', 404, m.userNotFound());
  return user;
}

async function toDataUsers(database: UserDatabase, users: readonly StoredUser[], now: number): Promise<DataUser[]> {
  const activity = await readActivity(
    database,
    users.map(({ id }) => id),
  );
  return users.map((user) => toDataUser(user, activity.get(user.id), now));
}

async function getDataUser(database: UserDatabase, user: StoredUser, now: number): Promise<DataUser> {
  const [row] = await toDataUsers(database, [user], now);
  if (row === undefined) throw new Error('the user was not listed');
  return row;
}

/**
 * Creates a user whose address counts as confirmed.
 * @throws Problem `data.email_exists` (409).
 */
async function createUser(
  body: { readonly email: string; readonly password: string },
  { database, passwords }: AuthDependencies,
  clock: Context['clock'],
): Promise<StoredUser> {
  const email = parseEmail(body.email);
  if (body.password !== '') checkPassword(body.password);
  if ((await findUserByEmail(database, email)) !== undefined) throw createTakenError();
  const encrypted = body.password === '' ? {} : { encrypted_password: await passwords.hash(body.password) };
  const fields = { email, ...encrypted, raw_app_meta_data: emailProvider, raw_user_meta_data: {} };
  const now = clock.now();
  try {
    return await database.transaction(async (sql) =>
      confirmEmail(sql, await saveUser(sql, fields, { identity: { email }, now }), now),
    );
  } catch (error) {
    throw isTaken(error) ? createTakenError() : error;
  }
}

/** Changes the password, which ends all sessions, and the ban of a user. */
async function changePasswordAndBan(
  id: string,
  { password, banned }: { readonly password?: string | undefined; readonly banned?: boolean | undefined },
  { database, passwords }: AuthDependencies,
  clock: Context['clock'],
): Promise<void> {
  if (password !== undefined) checkPassword(password);
  const passwordChange =
    password === undefined ? {} : { encrypted_password: await passwords.hash(password), ...noTokens };
  const ban = banned === undefined ? {} : { banned_until: banned ? permanentBanEnd : null };
  await database.transaction(async (sql) => {
    await changeUser(sql, id, { ...passwordChange, ...ban }, clock.now());
    if (password !== undefined) await deleteSessions(sql, id);
  });
}

/**
 * Creates a link and a code that sign a user in once.
 * @throws Problem `data.no_address` (422).
 */
async function createSignInLink(
  { id, email }: StoredUser,
  context: UserContext,
  deps: AuthDependencies,
): Promise<{ link: string; code: string; validMs: number }> {
  const { database, keys, settings } = deps;
  const { timing } = deps.protection;
  if (email === null || email === '') {
    throw new Problem('data.no_address', 422, m.userWithoutEmail());
  }
  const code = createCode();
  const hash = keys.hashCode(email, code);
  const now = context.clock.now();
  await changeUser(database, id, { recovery_token: hash, recovery_sent_at: now }, now);
  const base = getBaseUrl(context, settings, undefined);
  const link = buildLink(base, hash, 'magiclink', getSiteUrl(deps, { base }));
  return { link, code, validMs: timing.codeLifetimeMs };
}

function createTakenError(): Problem {
  const fields = { email: m.emailExists() };
  return new Problem('data.email_exists', 409, m.emailExists(), { fields });
}

function toMs(stored: string | null): number | null {
  return stored === null ? null : toMillis(stored);
}

function toDataUser(user: StoredUser, activity: Activity | undefined, now: number): DataUser {
  const { id, email, phone, confirmed_at, is_anonymous, banned_until, created_at, last_sign_in_at } = user;
  return {
    id,
    email: email ?? '',
    phone: phone ?? '',
    confirmed: confirmed_at !== null,
    anonymous: is_anonymous,
    providers: [...(activity?.providers ?? [])],
    bannedUntil: isBanned(user, now) ? toMs(banned_until) : null,
    createdAt: toMs(created_at),
    lastSignInAt: toMs(last_sign_in_at),
    sessions: activity?.sessions ?? 0,
    factors: activity?.factors ?? 0,
    metadata: user.raw_user_meta_data ?? {},
  };
}
