/** Grant required by a route; see `may` of the accounts. */
export interface NeededGrant {
  readonly service: string;
  readonly permission: 'read' | 'write';
  /** `:name` is replaced by the route's path parameter. */
  readonly resource: string;
}

/**
 * Access to a route of the app API. `public`: no sign-in. `user`: every signed-in user, for routes about the caller's
 * own account or without account data. `objects`: every signed-in user; the handler checks access object by object,
 * by ownership or {@link Rights}. Tokens with scopes are excluded from `user` and `objects`. `admin`: administrators.
 * A grant: accounts that hold it. Service accounts that are not administrators can only call public routes.
 */
export type RouteAccess = 'public' | 'user' | 'objects' | 'admin' | NeededGrant;

/** Rights of a caller, for handlers that check access object by object. */
export interface Rights {
  /** All rights: administrators, and the host itself. */
  readonly all: boolean;
  may(service: string, permission: 'read' | 'write', resource: string): boolean;
}

/** Rights of the host itself, for calls within the process. */
export const hostRights: Rights = { all: true, may: () => true };

/** Requires a grant to read, by default on the whole service. */
export function mayRead(service: string, resource = '*'): NeededGrant {
  return { service, permission: 'read', resource };
}

/** Requires a grant to write, by default on the whole service. */
export function mayWrite(service: string, resource = '*'): NeededGrant {
  return { service, permission: 'write', resource };
}
