import type { IncomingMessage, ServerResponse } from 'node:http';
import { Problem } from '../../contracts/problem.ts';
import { isSameSecret } from '../../kit/same-secret.ts';
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
    const read = readConfig(config);
    requirePassword(parts, request, { ...rest, ...read });
    const { uuid, encryptedPassword } = await create(parts, request, read, password);
    await sendEnvelope(request, response, {
      status: 201,
      detail: 'User was successfully created',
      data: { uuid, encryptedPassword },
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
    const read = readConfig(config);
    requirePassword(parts, request, read);
    const marks = [encryptedPassword];
    const foreign = parts.askers.isForeign(request, { known: parts.settings.addonPassword !== '' });
    await parts.aggregator.verify({ config: read, uuid, marks, foreign });
    await profiles.save(uuid, password, withoutPassword(read), { foreign });
    await sendEnvelope(request, response, { status: 200, detail: 'User updated successfully', data: { uuid } });
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
  parts: Pick<RouteParts, 'aggregator' | 'askers' | 'profiles' | 'settings'>,
  request: IncomingMessage,
  config: AddonConfig,
  password: string,
): Promise<OwnProfile> {
  const foreign = parts.askers.isForeign(request, { known: parts.settings.addonPassword !== '' });
  await parts.aggregator.verify({ config, uuid: undefined, marks: [], foreign });
  return await parts.profiles.create(withoutPassword(config), password, { foreign });
}

/** Whoever knows the configuration's password. @throws Problem 400 */
export async function signedIn(
  parts: Pick<RouteParts, 'profiles'>,
  request: IncomingMessage,
): Promise<OwnProfile & { readonly password: string }> {
  const basic = basicOf(request);
  if (basic === undefined) throw new Problem('addons.missing', 400, 'Authorization header (Basic) is required');
  return { ...(await parts.profiles.own(basic.name, basic.password)), password: basic.password };
}

/** The addon password, where the settings want one. @throws Problem `addons.addon_password` (401) */
export function requirePassword(
  { settings }: Pick<RouteParts, 'settings'>,
  { headers }: IncomingMessage,
  given: Readonly<Record<string, unknown>>,
): void {
  if (settings.addonPassword === '') return;
  const offered = [given['addonPassword'], given['accessKey'], headers['x-addon-password']];
  if (!offered.some((one) => typeof one === 'string' && isSameSecret(one, settings.addonPassword)))
    throw new Problem('addons.addon_password', 401, 'Invalid addon password');
}

/** It is for making the configuration, not part of it. */
function withoutPassword({ addonPassword: _password, accessKey: _key, ...config }: AddonConfig): AddonConfig {
  return config;
}
