import type { IncomingMessage, ServerResponse } from 'node:http';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import { isSameSecret } from '../../kit/same-secret.ts';
import { addonPasswords } from '../settings.ts';
import type { AddonConfig } from '../domain/config.ts';
import { readConfig } from '../domain/read-config.ts';
import type { OwnProfile } from '../profiles/profiles.ts';
import type { RouteParts } from './parts.ts';
import { basicOf, readBody, sendEnvelope } from './reply.ts';

/** The peer's calls about users, `/api/v1/user` and below. False when it is none of them. */
export async function userRoutes(
  parts: RouteParts,
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
): Promise<boolean> {
  const { pathname } = url;
  if (pathname !== '/api/v1/user' && !pathname.startsWith('/api/v1/user/')) return false;
  const { profiles } = parts;
  const route = `${request.method ?? ''} ${pathname}`;
  if (route === 'POST /api/v1/user') {
    const { config, password, ...rest } = await readBody(request);
    if (config === undefined || typeof password !== 'string' || password === '')
      throw new Problem('addons.missing', 400, 'config and password are required');
    if (password.length < 6) throw new Problem('addons.password_too_short', 400, 'New password is too short');
    const read = readConfig(withoutNotes(config));
    await requirePassword(parts, request, { ...rest, ...read });
    const { uuid, encryptedPassword } = await create(parts, request, read, password);
    await sendEnvelope(request, response, {
      status: 201,
      detail: 'User was successfully created',
      data: { uuid, encryptedPassword, ...notesOf(read) },
    });
  } else if (route === 'HEAD /api/v1/user') {
    response.writeHead((await profiles.exists(url.searchParams.get('uuid') ?? '')) ? 200 : 400).end();
  } else if (route === 'GET /api/v1/user') {
    const profile = await signedIn(parts, request);
    const { uuid, password, own } = profile;
    const userData = url.searchParams.get('raw') === 'true' ? own : (await profiles.open(uuid, password)).config;
    await sendEnvelope(request, response, {
      status: 200,
      detail: 'User details retrieved successfully',
      data: {
        userData: { trusted: false, ...userData, uuid: profile.uuid },
        encryptedPassword: profile.encryptedPassword,
      },
    });
  } else if (route === 'PUT /api/v1/user') {
    const { uuid, password, encryptedPassword } = await signedIn(parts, request);
    const { config } = await readBody(request);
    if (config === undefined) throw new Problem('addons.missing', 400, 'config is required');
    const read = readConfig(withoutNotes(config));
    await requirePassword(parts, request, read);
    await checkParent(parts, request, read);
    const marks = [encryptedPassword];
    const foreign = parts.askers.isForeign(request, { known: parts.settings.addonPassword !== '' });
    await parts.aggregator.verify({ config: read, uuid, marks, foreign });
    await profiles.save(uuid, password, withoutPassword(read), { foreign });
    await sendEnvelope(request, response, {
      status: 200,
      detail: 'User updated successfully',
      data: { uuid, ...notesOf(read) },
    });
  } else if (route === 'DELETE /api/v1/user') {
    const { uuid } = await signedIn(parts, request);
    await profiles.remove(uuid);
    await sendEnvelope(request, response, { status: 200, detail: 'User deleted successfully' });
  } else if (route === 'POST /api/v1/user/password') {
    const { uuid, password } = await signedIn(parts, request);
    const { newPassword } = await readBody(request);
    if (typeof newPassword !== 'string') throw new Problem('addons.missing', 400, 'newPassword is required');
    const { encryptedPassword } = await profiles.changePassword(uuid, password, newPassword);
    await sendEnvelope(request, response, {
      status: 200,
      detail: 'Password changed successfully',
      data: { uuid, encryptedPassword },
    });
  } else if (route === 'POST /api/v1/user/verify') {
    const { uuid } = await signedIn(parts, request);
    const createdAt = new Date(await profiles.createdAt(uuid)).toISOString().slice(0, 19).replace('T', ' ');
    await sendEnvelope(request, response, {
      status: 200,
      detail: 'User verified successfully',
      data: { uuid, createdAt },
    });
  } else if (['/api/v1/user', '/api/v1/user/password', '/api/v1/user/verify'].includes(pathname)) {
    throw new Problem('addons.method', 405, 'Method not allowed');
  } else return false;
  return true;
}

/** Makes a configuration after asking each of its addons. */
export async function create(
  parts: Pick<RouteParts, 'aggregator' | 'askers' | 'context' | 'profiles' | 'settings'>,
  request: IncomingMessage,
  config: AddonConfig,
  password: string,
): Promise<OwnProfile> {
  await checkParent(parts, request, config);
  const foreign = parts.askers.isForeign(request, { known: parts.settings.addonPassword !== '' });
  await parts.aggregator.verify({ config, uuid: undefined, marks: [], foreign });
  return await parts.profiles.create(withoutPassword(config), password, { foreign });
}

/** The password of the configuration it inherits from is a guess like any other. @throws Problem 429 */
async function checkParent(
  { profiles, context }: Pick<RouteParts, 'profiles' | 'context'>,
  request: IncomingMessage,
  { parentConfig }: AddonConfig,
): Promise<void> {
  if (!parentConfig) return;
  const { uuid, password } = parentConfig;
  try {
    await throttled(context, request, { name: uuid, password }, () => profiles.own(uuid, password));
  } catch (error) {
    // A wrong one is reported when the configuration is saved, as one that is gone.
    if (!(error instanceof Problem) || error.code !== 'addons.wrong_details') throw error;
  }
}

/** What was left out of a configuration, for the answer; nothing where all of it is understood. */
function notesOf({ importNotes }: AddonConfig): { readonly notes?: readonly string[] } {
  return importNotes?.length ? { notes: importNotes } : {};
}

/** Notes of an earlier import are no longer about what is saved now. */
export function withoutNotes(config: unknown): unknown {
  if (typeof config !== 'object' || config === null || Array.isArray(config)) return config;
  const { importNotes: _notes, ...rest } = config as Readonly<Record<string, unknown>>;
  return rest;
}

/**
 * Opens the configuration of the caller with its password. Guesses share the throttle of all sign-ins, by configuration and
 * address.
 *
 * @throws Problem 400; `accounts.too_many_attempts` (429)
 */
export async function signedIn(
  { profiles, context }: Pick<RouteParts, 'profiles' | 'context'>,
  request: IncomingMessage,
): Promise<OwnProfile & { readonly password: string }> {
  const basic = basicOf(request);
  if (basic === undefined) throw new Problem('addons.missing', 400, 'Authorization header (Basic) is required');
  const { name, password } = basic;
  return { ...(await throttled(context, request, { name, password }, () => profiles.own(name, password))), password };
}

/**
 * Opens something with a password of a configuration, throttled like a sign-in. What is not throttled costs a derived key
 * per guess.
 *
 * @throws Problem as `open` does; `accounts.too_many_attempts` (429)
 */
export async function throttled<Opened>(
  { accounts, caller }: Pick<Context, 'accounts' | 'caller'>,
  request: IncomingMessage,
  { name, password }: { readonly name: string; readonly password: string },
  open: () => Promise<Opened>,
): Promise<Opened> {
  const { remoteAddress } = caller(request);
  const given = { service: 'addons', name: `configuration ${name.slice(0, 100)}`, secret: password, remoteAddress };
  // The key is derived after the throttle lets the guess through, which it decides without knowing the outcome.
  let opened: Opened | undefined;
  let failure: unknown;
  const isRight = await accounts.checkSecret(given, async () => {
    try {
      opened = await open();
      return true;
    } catch (error) {
      failure = error;
      return !(error instanceof Problem) || error.code !== 'addons.wrong_details';
    }
  });
  if (!isRight || opened === undefined) throw failure;
  return opened;
}

/**
 * Checks one of the addon passwords, where the settings have any.
 *
 * @throws Problem `addons.addon_password` (401); `accounts.too_many_attempts` (429)
 */
export async function requirePassword(
  { settings, context }: Pick<RouteParts, 'settings' | 'context'>,
  request: IncomingMessage,
  given: Readonly<Record<string, unknown>>,
): Promise<void> {
  const passwords = addonPasswords(settings);
  if (passwords.length === 0) return;
  const offered = [
    given['addonPassword'],
    given['accessKey'],
    given['accessToken'],
    request.headers['x-addon-password'],
  ];
  const { remoteAddress } = context.caller(request);
  for (const secret of new Set(offered)) {
    if (typeof secret !== 'string' || secret === '') continue;
    const attempt = { service: 'addons', name: 'addon password', secret, remoteAddress };
    if (await context.accounts.checkSecret(attempt, () => passwords.some((one) => isSameSecret(secret, one)))) return;
  }
  throw new Problem('addons.addon_password', 401, 'Invalid addon password');
}

/** It is for making the configuration, not part of it. */
function withoutPassword({ addonPassword: _password, accessKey: _key, ...config }: AddonConfig): AddonConfig {
  return config;
}
