import type { Request, RequestHandler } from 'express';
import type { Identity } from '../../contracts/control/accounts.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import type { AttachmentFolder } from '../attachments/folder.ts';
import type { IsServed } from '../destinations/served.ts';
import type { EngineCatalogue } from '../apprise/catalogue.ts';
import type { EngineDestinations } from '../apprise/destinations.ts';
import type { Aggregator } from '../accept/aggregator.ts';
import type { ConfigurationStore } from '../store/configurations.ts';
import type { Settings } from '../settings.ts';
import { Key, sentences } from '../wire/notify.ts';

/** What the routes of the peer's API need. */
export interface RouteParts {
  readonly context: Context;
  readonly aggregator: Aggregator;
  readonly folder: AttachmentFolder;
  readonly configurations: ConfigurationStore;
  readonly engine: EngineDestinations;
  readonly engineCatalogue: EngineCatalogue;
  readonly settings: Settings;
  readonly isServed: IsServed;
}

/** The key a request is about: from its path or, as newer clients send it, from a header. @throws Problem 404. */
export function keyOf(request: Request): string | undefined {
  const inPath = request.params['key'];
  if (typeof inPath === 'string') {
    if (!Key.safeParse(inPath).success) throw new Problem('notify.unknown_path', 404, sentences.notFound);
    return inPath;
  }
  const inHeader = Key.safeParse(request.get('x-apprise-config-id')?.trim());
  return inHeader.success ? inHeader.data : undefined;
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

/** Refuses other methods of a known path as the peer does: 405, no body. */
export function onlyMethods(...methods: readonly string[]): RequestHandler {
  return (request, response) => {
    response.status(405).setHeader('Allow', [...methods, 'OPTIONS'].join(', '));
    response.end();
  };
}
