import * as m from '#messages/frame';
import type { ServiceState } from '../../../services/contracts/control/api.ts';

/** Groups of services by purpose. */
export type ServiceGroup = 'media' | 'alerts' | 'data';

/** Returns the groups and their titles in the order of the sidebar. */
export function listServiceGroups(): readonly (readonly [ServiceGroup, string])[] {
  return [
    ['media', m.mediaGroup()],
    ['alerts', m.alertsGroup()],
    ['data', m.dataGroup()],
  ];
}

/** Group of the services that keep Homeport running. */
export const systemGroup = 'system';

/** Groups services by purpose and leaves out empty groups. The services that keep Homeport running come last. */
export function groupServices(services: readonly ServiceState[]) {
  return [...listServiceGroups(), [systemGroup, m.homeportItself()] as const]
    .map(([id, title]) => ({ id, title, rows: services.filter(({ group = systemGroup }) => group === id) }))
    .filter(({ rows }) => rows.length > 0);
}
