import * as m from '#messages/state';
import type { ServiceState } from '../../../services/contracts/control/api.ts';

/**
 * Status of a service for the user: `waiting` when it needs an action of the user, `idle` when it is running without
 * anything to do.
 */
export type ServiceStatus = ServiceState['state'] | 'waiting' | 'idle';

/**
 * Returns the status that all indicators of a service show, so that they agree. A running service may still be
 * waiting, for example while a monitor is down.
 */
export function getServiceStatus({ state, remedy, idle }: ServiceState): ServiceStatus {
  if ((state === 'up' || state === 'degraded') && remedy !== undefined) return 'waiting';
  return state === 'up' && idle === true ? 'idle' : state;
}

/** Formats the notice of a service that restarts for changed settings once its running transfers have ended. */
export function formatRestartPending(transfers: number): string {
  return m.restartPending({ count: transfers });
}
