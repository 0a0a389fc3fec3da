import type { Identity } from '../../contracts/control/accounts.ts';
import { refuse } from '../domain/refusals.ts';
import { answerValue, type Exchange } from './exchange.ts';

/** Handler of an API route; `last` is the last path segment of wildcard routes. */
type ApiCall = (exchange: Exchange, last: string) => Promise<void> | void;

/** Routes below `/v1` by method and path, for example `POST /v1/account`; a path may end in `/*`. */
export type ApiRoutes = Readonly<Record<string, ApiCall>>;

/** Returns the handler for a method and path. */
export function findCall(
  routes: ApiRoutes,
  method: string,
  path: string,
): ((exchange: Exchange) => unknown) | undefined {
  const exact = `${method} ${path}`;
  if (Object.hasOwn(routes, exact)) return (exchange) => routes[exact]?.(exchange, '');
  const slash = path.lastIndexOf('/');
  const wildcard = `${method} ${path.slice(0, slash)}/*`;
  if (Object.hasOwn(routes, wildcard)) return (exchange) => routes[wildcard]?.(exchange, path.slice(slash + 1));
  return undefined;
}

/**
 * Returns the identity of the caller.
 *
 * @throws Problem 40101 for visitors and for tokens limited to some grants
 */
export function requireUser({ identity }: Exchange): Identity {
  if (identity === undefined || identity.limited === true) throw refuse('unauthorized');
  return identity;
}

/**
 * Returns the identity of an administrator.
 *
 * @throws Problem 40101 for others, as in ntfy
 */
export function requireAdmin(exchange: Exchange): Identity {
  const identity = requireUser(exchange);
  if (identity.role !== 'admin') throw refuse('unauthorized');
  return identity;
}

export function answerSuccess({ response }: Exchange): void {
  answerValue(response, { success: true });
}
