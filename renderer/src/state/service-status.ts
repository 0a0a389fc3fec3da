import type { ServiceState } from '../../../services/contracts/control/api.ts';

/**
 * How a service is for the person who looks: it waits for them where there is something that they can do, and is
 * idle where it runs and has nothing to do here.
 */
export type Standing = ServiceState['state'] | 'waiting' | 'idle';

/**
 * What the marks of a service say everywhere: the same trouble is never amber here and green there. It may run well and still
 * wait for somebody, such as with a monitor that is down.
 */
export function standingOf({ state, remedy, idle }: ServiceState): Standing {
  if ((state === 'up' || state === 'degraded') && remedy !== undefined) return 'waiting';
  return state === 'up' && idle === true ? 'idle' : state;
}

/** Says that a service restarts for changed settings once its running transfers have ended. */
export function restartLine(transfers: number): string {
  return `Restart pending, waiting for ${String(transfers)} ${transfers === 1 ? 'transfer' : 'transfers'}`;
}
