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

/** What the routes of the peer's API need. */
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

/** The key a request is about: from its path or, as newer clients send it, from a header. @throws Problem 404. */
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
 * Who a request comes from. Given credentials are always checked, so that a client learns of a wrong password even while
 * none is asked for.
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
 * Returns whether a request has to come from an account. The gateway has decided about what it passes on; of the other
 * requests only those of programs on this computer pass without a sign-in, as long as the settings trust these; Homeport's
 * own requests are not among them.
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
 * Who may read or change a key, of which configurations hold the passwords: any program of this machine, unless the settings
 * or the key say otherwise. What comes by a gateway is nobody of this machine. `isClosed`: it is for those who signed in.
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

/** Refuses other methods of a known path as the peer does: 405, no body. */
export function allowMethods(...methods: readonly string[]): RequestHandler {
  return (request, response) => {
    response.status(405).setHeader('Allow', [...methods, 'OPTIONS'].join(', '));
    response.end();
  };
}
