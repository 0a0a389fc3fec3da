import * as m from '#messages/control-texts';
import type { Rights } from '../route-access.ts';
import { readTexts } from '../text.ts';
import type { ServiceState } from './api.ts';
import type { ServiceStatus } from './service-status.ts';

/**
 * Returns a service as the caller may see it, with texts in the current language. The status text counts objects of all
 * accounts, so it requires read access to the whole service.
 */
export function toVisibleService(status: ServiceStatus, rights: Rights): ServiceState {
  const service: ServiceState = readTexts(status);
  if (rights.all) return service;
  const withoutOffers = {
    ...service,
    suggestedPort: null,
    listeners: service.listeners.map((listener) => ({ ...listener, suggestedPort: null })),
  };
  const { remedy, begin, ...withoutActions } = withoutOffers;
  const [allowedRemedy, allowedBegin] = [remedy, begin].map((step) => (step?.adminOnly === true ? undefined : step));
  if (rights.may(service.id, 'read', '*')) {
    return {
      ...withoutActions,
      ...(allowedRemedy && { remedy: allowedRemedy }),
      ...(allowedBegin && { begin: allowedBegin }),
    };
  }
  const redactReason = (reason: string | null): string | null => (reason === null ? null : m.reasonForAdministrators());
  const { running: _, ...withoutRunning } = withoutActions;
  return {
    ...withoutRunning,
    detail: '',
    reason: redactReason(service.reason),
    listeners: withoutOffers.listeners.map((listener) => ({ ...listener, reason: redactReason(listener.reason) })),
  };
}
