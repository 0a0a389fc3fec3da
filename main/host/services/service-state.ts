import * as m from '#messages/host-texts';
import type { ServiceStatus } from '../../../services/contracts/control/service-status.ts';
import type { DispatchTarget } from '../../../services/contracts/dispatch.ts';
import type { ServiceAction } from '../../../services/contracts/health.ts';
import { Problem } from '../../../services/contracts/problem.ts';
import { readText } from '../../../services/contracts/text.ts';
import type { ServiceDescriptor } from '../../../services/contracts/service.ts';

/** Part of the state while no listener is open. */
export const withoutListeners = { address: null, port: null, listeners: [] };
/** Part of the state that clears the reports of the previous run. */
export const withoutStatus = { detail: '', remedy: undefined, begin: undefined, idle: undefined, running: undefined };

/** Returns the state of a service that was not started yet. */
export function getStoppedState({ id, title, summary, group, grantable = [] }: ServiceDescriptor): ServiceStatus {
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

/** Returns the base address of a listener, by default of the main one; undefined while it is closed. */
export function findAddress({ state, listeners }: ServiceStatus, listener?: string): string | undefined {
  if (state === 'stopping') return undefined;
  const openListener = listener === undefined ? listeners[0] : listeners.find(({ name }) => name === listener);
  return openListener?.address ?? undefined;
}

/** Returns the part of the state that results from closed listeners. */
export function getListenerFailures({ listeners }: ServiceStatus): Partial<ServiceStatus> {
  const closed = listeners.filter(({ reason }) => reason !== null);
  if (closed.length === 0) return {};
  const reason = (): string =>
    closed.map(({ title, reason: why }) => `${readText(title)}: ${readText(why ?? '')}`).join(' ');
  return { state: 'degraded', detail: '', reason };
}

/** Returns the service as a dispatching service sees it, in the current language; undefined without HTTP. */
export function toDispatchTarget(
  { id, title, summary, sharedSummary, group, capabilities, listeners }: ServiceDescriptor,
  { port }: ServiceStatus,
  hosts: readonly string[],
): DispatchTarget | undefined {
  const main = listeners?.[0];
  if (main?.protocol !== 'http') return undefined;
  const authenticates = main.authenticates === true;
  const needsRoot = capabilities?.includes('controlHost') === true;
  return {
    id,
    title: readText(title),
    summary: readText(summary),
    sharedSummary: readText(sharedSummary ?? summary),
    group,
    port: port ?? undefined,
    authenticates,
    needsRoot,
    hosts,
  };
}

/** Returns the action by which an administrator replaces an unreadable stored key. */
export function findKeyRemedy(id: string, error: unknown): ServiceAction | undefined {
  const key = error instanceof Problem && error.code === 'vault.key_unreadable' ? error.fields['key'] : undefined;
  if (key === undefined) return undefined;
  const path = `/api/services/${id}/keys/${encodeURIComponent(key)}/replace`;
  return { label: m.replaceKey, to: '/', post: { path, body: {} }, adminOnly: true };
}
