import type { ServiceState } from '../../../services/contracts/control/api.ts';

/** How a service is for the person who looks: it may run well and still wait for somebody, such as with a monitor that is down. */
export type Standing = ServiceState['state'] | 'waiting';

/** What the marks of a service say everywhere: the same trouble is never amber here and green there. */
export function standingOf({ state, remedy }: ServiceState): Standing {
  return state === 'up' && remedy !== undefined ? 'waiting' : state;
}
