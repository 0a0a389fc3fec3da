import { z } from 'zod';
import type { ApiRoute } from '../../services/contracts/api.ts';
import { hostRights } from '../../services/contracts/route-access.ts';
import type { Host } from '../host/host.ts';

/** What a call of our own API is asked with: parameters of its path, and its query as an address has it. */
export interface Asked<Body> {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: Body;
}

/** Asks a service by its own API, without HTTP; undefined while it does not run. @throws Problem as the route does. */
export async function ask<Query, Body, Reply>(
  { control }: Pick<Host, 'control'>,
  route: ApiRoute<Query, Body, Reply>,
  { params = {}, query = {}, body }: Asked<Body> = {},
): Promise<Reply | undefined> {
  const handler = control.apiHandlers().find((each) => each.route === route);
  const reply = await handler?.handle({
    ...{
      params,
      query: route.query === undefined ? undefined : z.parse(route.query, query),
      body,
      identity: undefined,
      rights: hostRights,
    },
    ...{ remoteAddress: '', userAgent: '', onLeave: () => undefined, setHeader: () => undefined },
  });
  return reply as Reply | undefined;
}
