import { implement, type ApiHandler } from '../../../contracts/api.ts';
import { dataUsersApi, type DataUser } from '../../../contracts/data/users.ts';
import { Problem } from '../../../contracts/problem.ts';
import type { Context } from '../../../contracts/service.ts';
import { isUuid } from '../http/auth-call.ts';
import { linkOf } from '../mail/requests.ts';
import { sixDigits } from '../one-time-tokens.ts';
import type { AuthParts } from '../dependencies.ts';
import { checkedEmail, checkPassword } from '../users/checks.ts';
import { confirmEmail, emailProvider, isTaken, saveUser } from '../users/new-user.ts';
import { isBanned, millis } from '../session/bearer.ts';
import { baseOf, siteOf } from '../site.ts';
import { deleteSessions, sessionsOf } from '../store/sessions.ts';
import {
  activityOf,
  changeUser,
  listUsers,
  noTokens,
  userByEmail,
  userById,
  type Activity,
  type StoredUser,
} from '../store/users.ts';

const perPage = 50;
/** End of a permanent ban. */
const farAway = Date.UTC(9999, 0, 1);

/** Creates the app API routes for users of projects. */
export function ownUserRoutes(context: Pick<Context, 'clock' | 'publicUrl'>, parts: AuthParts): readonly ApiHandler[] {
  const { database, passwords, timing } = parts;
  const { clock } = context;

  const find = async (id = ''): Promise<StoredUser> => {
    const user = isUuid(id) ? await userById(database, id) : undefined;
    if (user === undefined) throw new Problem('data.unknown_user', 404, 'There is no such user.');
    return user;
  };
  const shown = async (users: readonly StoredUser[]): Promise<DataUser[]> => {
    const activity = await activityOf(
      database,
      users.map(({ id }) => id),
    );
    return users.map((user) => view(user, activity.get(user.id), clock.now()));
  };
  const one = async (id: string): Promise<DataUser> => {
    const [user] = await shown([await find(id)]);
    if (user === undefined) throw new Error('the user was not listed');
    return user;
  };

  return [
    implement(dataUsersApi.list, async ({ query: { q, page } }) => {
      const sort = [{ column: 'created_at', ascending: false }] as const;
      const { users, total } = await listUsers(database, { page, perPage, filter: q.replaceAll('\0', ''), sort });
      return { users: await shown(users), total, perPage };
    }),
    implement(dataUsersApi.one, async ({ params }) => {
      const user = await find(params['id']);
      const [[row], signedIn] = await Promise.all([shown([user]), sessionsOf(database, user.id)]);
      if (row === undefined) throw new Error('the user was not listed');
      return {
        ...row,
        hasPassword: (user.encrypted_password ?? '') !== '',
        signedIn: signedIn.map(({ id, created_at, used_at, user_agent, ip }) => ({
          ...{ id, createdAt: msOf(created_at), usedAt: msOf(used_at), userAgent: user_agent ?? '', ip: ip ?? '' },
        })),
      };
    }),
    implement(dataUsersApi.endSession, async ({ params }) => {
      const { id } = await find(params['id']);
      const only = params['session'] ?? '';
      if (isUuid(only)) await deleteSessions(database, id, { only });
      return { ok: true as const };
    }),
    implement(dataUsersApi.create, async ({ body }) => {
      const email = checkedEmail(body.email);
      if (body.password !== '') checkPassword(body.password);
      if ((await userByEmail(database, email)) !== undefined) throw taken();
      const encrypted = body.password === '' ? {} : { encrypted_password: await passwords.hash(body.password) };
      const fields = { email, ...encrypted, raw_app_meta_data: emailProvider, raw_user_meta_data: {} };
      const now = clock.now();
      try {
        const made = await database.transaction(async (sql) =>
          confirmEmail(sql, await saveUser(sql, fields, { identity: { email }, now }), now),
        );
        return await one(made.id);
      } catch (error) {
        throw isTaken(error) ? taken() : error;
      }
    }),
    implement(dataUsersApi.change, async ({ params, body: { password, banned } }) => {
      const { id } = await find(params['id']);
      if (password !== undefined) checkPassword(password);
      const secret = password === undefined ? {} : { encrypted_password: await passwords.hash(password), ...noTokens };
      const ban = banned === undefined ? {} : { banned_until: banned ? farAway : null };
      await database.transaction(async (sql) => {
        await changeUser(sql, id, { ...secret, ...ban }, clock.now());
        if (password !== undefined) await deleteSessions(sql, id);
      });
      return one(id);
    }),
    implement(dataUsersApi.signOut, async ({ params }) => {
      const { id } = await find(params['id']);
      await deleteSessions(database, id);
      return { ok: true as const };
    }),
    implement(dataUsersApi.link, async ({ params }) => {
      const { id, email } = await find(params['id']);
      if (email === null || email === '') {
        throw new Problem('data.no_address', 422, 'Who came without a name has no address that a link could be for.');
      }
      const code = sixDigits();
      const hash = parts.keys.codeHash(email, code);
      const now = clock.now();
      await changeUser(database, id, { recovery_token: hash, recovery_sent_at: now }, now);
      const base = baseOf(context, parts.settings, undefined);
      const link = linkOf(base, hash, 'magiclink', siteOf(parts, { base }));
      return { link, code, validMs: timing.codeMs };
    }),
    implement(dataUsersApi.remove, async ({ params }) => {
      const { id } = await find(params['id']);
      await database.query('delete from auth.users where id = $1', [id]);
      return { ok: true as const };
    }),
  ];
}

function taken(): Problem {
  const fields = { email: 'Somebody has this address already.' };
  return new Problem('data.email_exists', 409, 'Somebody has this address already.', { fields });
}

function msOf(stored: string | null): number | null {
  return stored === null ? null : millis(stored);
}

function view(user: StoredUser, activity: Activity | undefined, now: number): DataUser {
  const { id, email, phone, confirmed_at, is_anonymous, banned_until, created_at, last_sign_in_at } = user;
  return {
    ...{ id, email: email ?? '', phone: phone ?? '', confirmed: confirmed_at !== null, anonymous: is_anonymous },
    providers: [...(activity?.providers ?? [])],
    bannedUntil: isBanned(user, now) ? msOf(banned_until) : null,
    createdAt: msOf(created_at),
    lastSignInAt: msOf(last_sign_in_at),
    sessions: activity?.sessions ?? 0,
    factors: activity?.factors ?? 0,
    metadata: user.raw_user_meta_data ?? {},
  };
}
