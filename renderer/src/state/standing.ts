import type { ServiceState } from '../../../services/contracts/control/api.ts';

/** How a service is for the person who looks: it waits for them where there is something that they can do. */
export type Standing = ServiceState['state'] | 'waiting';

/**
 * What the marks of a service say everywhere: the same trouble is never amber here and green there. It may run well and still
 * wait for somebody, such as with a monitor that is down.
 */
export function standingOf({ state, remedy }: ServiceState): Standing {
  return (state === 'up' || state === 'degraded') && remedy !== undefined ? 'waiting' : state;
}
