import type { Request, RequestHandler } from 'express';
import type { Identity } from '../../contracts/control/accounts.ts';
import { isGatewayRequest } from '../../contracts/gateway.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import type { AttachmentFolder } from '../attachments/folder.ts';
import type { IsAllowed } from '../destinations/service-filter.ts';
import type { EngineCatalogue } from '../apprise/catalogue.ts';
import type { EngineDestinations } from '../apprise/destinations.ts';
import type { Aggregator } from '../accept/aggregator.ts';
import type { ConfigurationStore } from '../store/configurations.ts';
import type { Settings } from '../settings.ts';
import { Key, sentences } from '../wire/notify.ts';

/** Dependencies of the Apprise API routes. */
export interface RouteDependencies {
  readonly context: Context;
  readonly aggregator: Aggregator;
  readonly folder: AttachmentFolder;
  readonly configurations: ConfigurationStore;
  readonly engine: EngineDestinations;
  readonly engineCatalogue: EngineCatalogue;
  readonly settings: Settings;
  readonly isAllowed: IsAllowed;
}

/**
 * Returns the key of a request: from its path or, for newer clients, from a header.
 *
 * @throws Problem 404.
 */
export function getKey(request: Request): string | undefined {
  const pathKey = request.params['key'];
  if (typeof pathKey === 'string') {
    if (!Key.safeParse(pathKey).success) throw new Problem('notify.unknown_path', 404, sentences.notFound);
    return pathKey;
  }
  const headerKey = Key.safeParse(request.get('x-apprise-config-id')?.trim());
  return headerKey.success ? headerKey.data : undefined;
}

/**
 * Authenticates a request. Credentials are always checked, so that a client learns of a wrong password even if none
 * is required.
 */
export async function identify(
  request: Request,
  { accounts, caller }: Pick<Context, 'accounts' | 'caller'>,
  required: boolean,
): Promise<Identity | undefined> {
  const identity = await accounts.authenticate({ authorization: request.get('authorization'), ...caller(request) });
  if (identity === undefined && required) {
    throw new Problem('notify.sign_in', 401, 'Sign in to use this service.', {
      headers: { 'WWW-Authenticate': 'Basic realm="notify", charset="UTF-8"' },
    });
  }
  return identity;
}

/**
 * Returns whether a request has to come from an account. The gateway has authorized the requests that it forwards. Of
 * the other requests, only those of programs on this computer are accepted without a sign-in, if the settings trust
 * them; Homeport's own requests are not among them.
 */
export async function needsSignIn(
  request: Request,
  { context, settings }: Pick<RouteDependencies, 'context' | 'settings'>,
): Promise<boolean> {
  if (settings.requireSignIn) return true;
  if (isGatewayRequest(request)) return false;
  return !settings.trustLocalPrograms || !(await context.isLocalProgram(request));
}

/**
 * Authenticates a request that reads or changes a key, whose configuration contains passwords. Any program on this
 * computer may do that, unless the settings or the key forbid it. Requests through a gateway do not count as local.
 * `isClosed`: a sign-in is required.
 *
 * @throws Problem 401
 */
export async function identifyForKey(
  request: Request,
  { context, configurations, settings }: Pick<RouteDependencies, 'context' | 'configurations' | 'settings'>,
  key: string | undefined,
): Promise<{ readonly isClosed: boolean; readonly identity: Identity | undefined }> {
  const isKeyClosed = async (): Promise<boolean> =>
    key !== undefined && (await configurations.find(key))?.options.closed === true;
  const isClosed =
    settings.closeKeys ||
    isGatewayRequest(request) ||
    (await needsSignIn(request, { context, settings })) ||
    (await isKeyClosed());
  return { isClosed, identity: await identify(request, context, isClosed) };
}

/** Rejects other methods of a known path as Apprise API does: 405 without a body. */
export function allowMethods(...methods: readonly string[]): RequestHandler {
  return (request, response) => {
    response.status(405).setHeader('Allow', [...methods, 'OPTIONS'].join(', '));
    response.end();
  };
}
