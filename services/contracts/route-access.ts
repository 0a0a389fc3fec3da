/** A grant somebody must hold; see `may` of the accounts. */
export interface NeededGrant {
  readonly service: string;
  readonly permission: 'read' | 'write';
  /** `:name` stands for what the route's path has under that parameter. */
  readonly resource: string;
}

/**
 * Who may call a route of our own API. `public`: no sign-in; `user`: any signed-in person, since it is about the own account or
 * shows nothing that belongs to anybody; `objects`: any signed-in person, and the handler shows and changes only the objects
 * that are the caller's own or that {@link Rights} allow; neither with a token of limited rights; `admin`: administrators; or
 * whoever holds a grant. Service accounts that do not administrate use none but the public ones.
 */
export type RouteAccess = 'public' | 'user' | 'objects' | 'admin' | NeededGrant;

/** What a caller may do, for those who show or change objects one by one. */
export interface Rights {
  /** Everything: administrators, and the host itself. */
  readonly all: boolean;
  may(service: string, permission: 'read' | 'write', resource: string): boolean;
}

/** The rights of the host itself, which asks in the process. */
export const hostRights: Rights = { all: true, may: () => true };

/** For those with a grant to read; without a resource, one on the whole service. */
export function mayRead(service: string, resource = '*'): NeededGrant {
  return { service, permission: 'read', resource };
}

/** For those with a grant to write; without a resource, one on the whole service. */
export function mayWrite(service: string, resource = '*'): NeededGrant {
  return { service, permission: 'write', resource };
}
