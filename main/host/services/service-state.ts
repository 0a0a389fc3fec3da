import type { ServiceState } from '../../../services/contracts/control/api.ts';
import type { DispatchTarget } from '../../../services/contracts/dispatch.ts';
import type { ServiceDescriptor } from '../../../services/contracts/service.ts';

/** What the state of a service has while no listener of it is open. */
export const withoutListeners = { address: null, port: null, listeners: [] };
/** The state without what the service said of itself while it ran. */
export const withoutWords = { detail: '', remedy: undefined, begin: undefined, idle: undefined, running: undefined };

/** A service that was not started yet. */
export function stateOfOff({ id, title, summary, group, grantable = [] }: ServiceDescriptor): ServiceState {
  return {
    id,
    title,
    summary,
    ...(group === undefined ? {} : { group }),
    grantable: [...grantable],
    state: 'off',
    detail: '',
    reason: null,
    suggestedPort: null,
    ...withoutListeners,
  };
}

/** Base address of a listener, of the main one without a name; undefined while it is not open. */
export function addressIn({ state, listeners }: ServiceState, listener?: string): string | undefined {
  if (state === 'stopping') return undefined;
  const found = listener === undefined ? listeners[0] : listeners.find(({ name }) => name === listener);
  return found?.address ?? undefined;
}

/** What of the state is due to listeners that could not open; the others are up. */
export function ofClosedListeners({ listeners }: ServiceState): Partial<ServiceState> {
  const closed = listeners.filter(({ reason }) => reason !== null);
  if (closed.length === 0) return {};
  const reason = closed.map((each) => `${each.title}: ${each.reason ?? ''}`).join(' ');
  return { state: 'degraded', detail: '', reason };
}

/** As one sees it who hands it requests; undefined for one that answers no HTTP. */
export function targetOf(
  { id, title, summary, group, capabilities, listeners }: ServiceDescriptor,
  { port }: ServiceState,
  hosts: readonly string[],
): DispatchTarget | undefined {
  const main = listeners?.[0];
  if (main?.protocol !== 'http') return undefined;
  const authenticates = main.authenticates === true;
  const needsRoot = capabilities?.includes('controlHost') === true;
  return { id, title, summary, group, port: port ?? undefined, authenticates, needsRoot, hosts };
}
