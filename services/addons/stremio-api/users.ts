import type { IncomingMessage, ServerResponse } from 'node:http';
import { findOwn } from '../../contracts/find-own.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import { isSameSecret } from '../../kit/same-secret.ts';
import { sendReply } from '../../kit/http/respond.ts';
import { parseAddonPasswords } from '../settings.ts';
import type { AddonConfig } from '../domain/config.ts';
import { readConfig } from '../domain/read-config.ts';
import type { StoredProfile } from '../profiles/profiles.ts';
import type { RouteDependencies } from './route-dependencies.ts';
import { parseBasicAuthorization, readBody, sendEnvelope } from './response.ts';
import { isRecord } from '../../contracts/is-record.ts';

type UserHandler = (
  dependencies: RouteDependencies,
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
) => Promise<void>;

const userPaths = ['/api/v1/user', '/api/v1/user/password', '/api/v1/user/verify'];
const userHandlers: Readonly<Record<string, UserHandler>> = {
  'POST /api/v1/user': handleCreate,
  'HEAD /api/v1/user': handleExists,
  'GET /api/v1/user': handleGet,
  'PUT /api/v1/user': handleUpdate,
  'DELETE /api/v1/user': handleDelete,
  'POST /api/v1/user/password': handleChangePassword,
  'POST /api/v1/user/verify': handleVerify,
};

/** Answers `/api/v1/user` and the paths below it. Returns false for other paths. */
export async function handleUsers(
  dependencies: RouteDependencies,
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
): Promise<boolean> {
  const { pathname } = url;
  const handler = findOwn(userHandlers, `${request.method ?? ''} ${pathname}`);
  if (handler === undefined) {
    if (userPaths.includes(pathname)) throw new Problem('addons.method', 405, 'Method not allowed');
    return false;
  }
  await handler(dependencies, request, response, url);
  return true;
}

async function handleCreate(
  dependencies: RouteDependencies,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { config, password, ...rest } = await readBody(request);
  if (config === undefined || typeof password !== 'string' || password === '')
    throw new Problem('addons.missing', 400, 'config and password are required');
  if (password.length < 6) throw new Problem('addons.password_too_short', 400, 'New password is too short');
  const parsedConfig = readConfig(withoutNotes(config));
  await requirePassword(dependencies, request, { ...rest, ...parsedConfig });
  const { uuid, encryptedPassword } = await createProfile(dependencies, request, parsedConfig, password);
  await sendEnvelope(request, response, {
    status: 201,
    detail: 'User was successfully created',
    data: { uuid, encryptedPassword, ...buildNotes(parsedConfig) },
  });
}

async function handleExists(
  { profiles }: RouteDependencies,
  _request: IncomingMessage,
  response: ServerResponse,
  url: URL,
): Promise<void> {
  const exists = await profiles.exists(url.searchParams.get('uuid') ?? '');
  sendReply(response, { status: exists ? 200 : 400 });
}

async function handleGet(
  dependencies: RouteDependencies,
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
): Promise<void> {
  const { uuid, password, ownConfig, encryptedPassword } = await openCallerProfile(dependencies, request);
  const userData =
    url.searchParams.get('raw') === 'true' ? ownConfig : (await dependencies.profiles.open(uuid, password)).config;
  await sendEnvelope(request, response, {
    status: 200,
    detail: 'User details retrieved successfully',
    data: { userData: { trusted: false, ...userData, uuid }, encryptedPassword },
  });
}

async function handleUpdate(
  dependencies: RouteDependencies,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { profiles, settings } = dependencies;
  const { aggregator, requestContexts } = dependencies.catalog;
  const { uuid, password, encryptedPassword } = await openCallerProfile(dependencies, request);
  const { config } = await readBody(request);
  if (config === undefined) throw new Problem('addons.missing', 400, 'config is required');
  const parsedConfig = readConfig(withoutNotes(config));
  await requirePassword(dependencies, request, parsedConfig);
  await verifyParent(dependencies, request, parsedConfig);
  const foreign = requestContexts.isForeign(request, { hasPassword: settings.addonPassword !== '' });
  await aggregator.verifyAddons({ config: parsedConfig, uuid, addressMarkers: [encryptedPassword], foreign });
  await profiles.save(uuid, password, withoutPassword(parsedConfig), { foreign });
  await sendEnvelope(request, response, {
    status: 200,
    detail: 'User updated successfully',
    data: { uuid, ...buildNotes(parsedConfig) },
  });
}

async function handleDelete(
  dependencies: RouteDependencies,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { uuid } = await openCallerProfile(dependencies, request);
  await dependencies.profiles.remove(uuid);
  await sendEnvelope(request, response, { status: 200, detail: 'User deleted successfully' });
}

async function handleChangePassword(
  dependencies: RouteDependencies,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { uuid, password } = await openCallerProfile(dependencies, request);
  const { newPassword } = await readBody(request);
  if (typeof newPassword !== 'string') throw new Problem('addons.missing', 400, 'newPassword is required');
  const { encryptedPassword } = await dependencies.profiles.changePassword(uuid, password, newPassword);
  await sendEnvelope(request, response, {
    status: 200,
    detail: 'Password changed successfully',
    data: { uuid, encryptedPassword },
  });
}

async function handleVerify(
  dependencies: RouteDependencies,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { uuid } = await openCallerProfile(dependencies, request);
  const createdAt = new Date(await dependencies.profiles.createdAt(uuid)).toISOString().slice(0, 19).replace('T', ' ');
  await sendEnvelope(request, response, {
    status: 200,
    detail: 'User verified successfully',
    data: { uuid, createdAt },
  });
}

/** Creates a configuration after a request to each of its addons. */
export async function createProfile(
  dependencies: Pick<RouteDependencies, 'catalog' | 'context' | 'profiles' | 'settings'>,
  request: IncomingMessage,
  config: AddonConfig,
  password: string,
): Promise<StoredProfile> {
  await verifyParent(dependencies, request, config);
  const foreign = dependencies.catalog.requestContexts.isForeign(request, {
    hasPassword: dependencies.settings.addonPassword !== '',
  });
  await dependencies.catalog.aggregator.verifyAddons({ config, uuid: undefined, addressMarkers: [], foreign });
  return await dependencies.profiles.create(withoutPassword(config), password, { foreign });
}

/**
 * Checks the password of the parent configuration, which is throttled like a sign-in.
 *
 * @throws Problem 429
 */
async function verifyParent(
  { profiles, context }: Pick<RouteDependencies, 'profiles' | 'context'>,
  request: IncomingMessage,
  { parentConfig }: AddonConfig,
): Promise<void> {
  if (!parentConfig) return;
  const { uuid, password } = parentConfig;
  try {
    await withThrottle(context, request, { name: uuid, password }, () => profiles.getStored(uuid, password));
  } catch (error) {
    // A wrong password is reported as a missing parent when the configuration is saved.
    if (!(error instanceof Problem) || error.code !== 'addons.wrong_details') throw error;
  }
}

/** Returns the notes about omitted parts of a configuration; empty when all of it is supported. */
function buildNotes({ importNotes }: AddonConfig): { readonly notes?: readonly string[] } {
  return importNotes?.length ? { notes: importNotes } : {};
}

/** Removes the notes of a former import, because they do not describe the new configuration. */
export function withoutNotes(config: unknown): unknown {
  if (!isRecord(config)) return config;
  const { importNotes: _notes, ...rest } = config as Readonly<Record<string, unknown>>;
  return rest;
}

/**
 * Opens the configuration of the caller with its password. Failed attempts share the throttle of all sign-ins, by
 * configuration and address.
 *
 * @throws Problem 400; `accounts.too_many_attempts` (429)
 */
export async function openCallerProfile(
  { profiles, context }: Pick<RouteDependencies, 'profiles' | 'context'>,
  request: IncomingMessage,
): Promise<StoredProfile & { readonly password: string }> {
  const basic = parseBasicAuthorization(request);
  if (basic === undefined) throw new Problem('addons.missing', 400, 'Authorization header (Basic) is required');
  const { name, password } = basic;
  return {
    ...(await withThrottle(context, request, { name, password }, () => profiles.getStored(name, password))),
    password,
  };
}

/**
 * Opens a configuration with its password, throttled like a sign-in, because each attempt derives a key.
 *
 * @throws Problem as `open` does; `accounts.too_many_attempts` (429)
 */
export async function withThrottle<Opened>(
  { accounts, caller }: Pick<Context, 'accounts' | 'caller'>,
  request: IncomingMessage,
  { name, password }: { readonly name: string; readonly password: string },
  open: () => Promise<Opened>,
): Promise<Opened> {
  const { remoteAddress } = caller(request);
  const attempt = { service: 'addons', name: `configuration ${name.slice(0, 100)}`, secret: password, remoteAddress };
  // The key is derived after the throttle accepts the attempt, so that the throttle does not depend on the outcome.
  let opened: Opened | undefined;
  let failure: unknown;
  const isAccepted = await accounts.checkSecret(attempt, async () => {
    try {
      opened = await open();
      return true;
    } catch (error) {
      failure = error;
      return !(error instanceof Problem) || error.code !== 'addons.wrong_details';
    }
  });
  if (!isAccepted || opened === undefined) throw failure;
  return opened;
}

/**
 * Checks one of the addon passwords, if the settings contain any.
 *
 * @throws Problem `addons.addon_password` (401); `accounts.too_many_attempts` (429)
 */
export async function requirePassword(
  { settings, context }: Pick<RouteDependencies, 'settings' | 'context'>,
  request: IncomingMessage,
  fields: Readonly<Record<string, unknown>>,
): Promise<void> {
  const passwords = parseAddonPasswords(settings);
  if (passwords.length === 0) return;
  const offeredPasswords = [
    fields['addonPassword'],
    fields['accessKey'],
    fields['accessToken'],
    request.headers['x-addon-password'],
  ];
  const { remoteAddress } = context.caller(request);
  for (const secret of new Set(offeredPasswords)) {
    if (typeof secret !== 'string' || secret === '') continue;
    const attempt = { service: 'addons', name: 'addon password', secret, remoteAddress };
    if (await context.accounts.checkSecret(attempt, () => passwords.some((password) => isSameSecret(secret, password))))
      return;
  }
  throw new Problem('addons.addon_password', 401, 'Invalid addon password');
}

/** Removes the addon password, which authorizes the creation and is not part of the configuration. */
function withoutPassword({ addonPassword: _password, accessKey: _key, ...config }: AddonConfig): AddonConfig {
  return config;
}
