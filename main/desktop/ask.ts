import { z } from 'zod';
import type { ApiRoute } from '../../services/contracts/api.ts';
import { hostRights } from '../../services/contracts/route-access.ts';
import type { Host } from '../host/running-host.ts';

/** Parameters and query of an internal API request. */
export interface PendingRequest<Body> {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: Body;
}

/**
 * Calls a route of a service without HTTP; undefined while the service is not running.
 * @throws Problem as the route does.
 */
export async function request<Query, Body, Reply>(
  { control }: Pick<Host, 'control'>,
  route: ApiRoute<Query, Body, Reply>,
  { params = {}, query = {}, body }: PendingRequest<Body> = {},
): Promise<Reply | undefined> {
  const handler = control.apiHandlers().find((each) => each.route === route);
  const reply = await handler?.handle({
    params,
    query: route.query === undefined ? undefined : z.parse(route.query, query),
    body,
    identity: undefined,
    rights: hostRights,
    remoteAddress: '',
    userAgent: '',
    onLeave: () => undefined,
    addHeader: () => undefined,
  });
  return reply as Reply | undefined;
}
