import type { Identity } from '../../contracts/control/accounts.ts';
import { refuse } from '../domain/refusals.ts';
import { answerValue, type Exchange } from './exchange.ts';

/** Answers one call; `last` is the path's last segment where the route leaves it open. */
type ApiCall = (exchange: Exchange, last: string) => Promise<void> | void;

/** Calls below `/v1` by method and path, e.g. `POST /v1/account`; a path may end in `/*`. */
export type ApiRoutes = Readonly<Record<string, ApiCall>>;

/** The call of this method and path, ready to be made. */
export function findCall(
  routes: ApiRoutes,
  method: string,
  path: string,
): ((exchange: Exchange) => unknown) | undefined {
  const exact = `${method} ${path}`;
  if (Object.hasOwn(routes, exact)) return (exchange) => routes[exact]?.(exchange, '');
  const slash = path.lastIndexOf('/');
  const open = `${method} ${path.slice(0, slash)}/*`;
  if (Object.hasOwn(routes, open)) return (exchange) => routes[open]?.(exchange, path.slice(slash + 1));
  return undefined;
}

/** @throws Problem 40101 for a stranger, and for a token that has only some of its account's rights. */
export function requireUser({ identity }: Exchange): Identity {
  if (identity === undefined || identity.limited === true) throw refuse('unauthorized');
  return identity;
}

/** @throws Problem 40101 for anyone else, as the peer has it. */
export function requireAdmin(exchange: Exchange): Identity {
  const identity = requireUser(exchange);
  if (identity.role !== 'admin') throw refuse('unauthorized');
  return identity;
}

export function answerSuccess({ response }: Exchange): void {
  answerValue(response, { success: true });
}
