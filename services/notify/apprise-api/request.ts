import * as m from '#messages/notify-problems';
import { METHODS, type IncomingMessage } from 'node:http';
import type { Identity } from '../../contracts/control/accounts.ts';
import { isGatewayRequest } from '../../contracts/gateway.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import type { Exchange, Route } from '../../kit/http/listener.ts';
import type { IsAllowed } from '../destinations/service-filter.ts';
import type { EngineCatalogue } from '../apprise/catalogue.ts';
import type { EngineDestinations } from '../apprise/destinations.ts';
import type { Aggregator } from '../accept/aggregator.ts';
import type { NotifyStores } from '../store/stores.ts';
import type { Settings } from '../settings.ts';
import { Key, sentences } from '../wire/notify.ts';

/** Dependencies of the Apprise API routes. */
export interface RouteDependencies {
  readonly context: Context;
  readonly stores: NotifyStores;
  readonly aggregator: Aggregator;
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
export function getKey({ request, params }: Pick<Exchange, 'request' | 'params'>): string | undefined {
  const pathKey = params['key'];
  if (pathKey !== undefined) {
    if (!Key.safeParse(pathKey).success) throw new Problem('notify.unknown_path', 404, sentences.notFound);
    return pathKey;
  }
  const headerKey = Key.safeParse(getHeader(request, 'x-apprise-config-id')?.trim());
  return headerKey.success ? headerKey.data : undefined;
}

/**
 * Authenticates a request. Credentials are always checked, so that a client learns of a wrong password even if none
 * is required.
 */
export async function identify(
  request: IncomingMessage,
  { accounts, caller }: Pick<Context, 'accounts' | 'caller'>,
  required: boolean,
): Promise<Identity | undefined> {
  const identity = await accounts.authenticate({ authorization: request.headers.authorization, ...caller(request) });
  if (identity === undefined && required) {
    throw new Problem('notify.sign_in', 401, m.signInMissing(), {
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
  request: IncomingMessage,
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
  request: IncomingMessage,
  { context, settings, stores }: Pick<RouteDependencies, 'context' | 'settings' | 'stores'>,
  key: string | undefined,
): Promise<{ readonly isClosed: boolean; readonly identity: Identity | undefined }> {
  const isKeyClosed = async (): Promise<boolean> =>
    key !== undefined && (await stores.configurations.find(key))?.options.closed === true;
  const isClosed =
    settings.closeKeys ||
    isGatewayRequest(request) ||
    (await needsSignIn(request, { context, settings })) ||
    (await isKeyClosed());
  return { isClosed, identity: await identify(request, context, isClosed) };
}

/** Returns a header as one text. */
export function getHeader({ headers }: IncomingMessage, name: string): string | undefined {
  const value = headers[name.toLowerCase()];
  return Array.isArray(value) ? value.join(', ') : value;
}

/** Returns the routes that refuse other methods of known paths as Apprise API does: 405 without a body. */
export function refuseOtherMethods(paths: readonly string[], methods: readonly string[]): readonly Route[] {
  // A route for GET also answers HEAD.
  const answered = methods.includes('GET') ? [...methods, 'HEAD'] : methods;
  const others = METHODS.filter((method) => !answered.includes(method));
  const headers = { Allow: [...methods, 'OPTIONS'].join(', ') };
  return paths.map((path) => ({
    method: others,
    path,
    handle(exchange) {
      getKey(exchange);
      return { status: 405, headers };
    },
  }));
}
