import type { ServiceState } from '../../../services/contracts/control/api.ts';

/** Groups of services by purpose. */
export type ServiceGroup = 'media' | 'alerts' | 'data';

/** Groups and their titles in the order of the sidebar. */
export const serviceGroups: readonly (readonly [ServiceGroup, string])[] = [
  ['media', 'Media'],
  ['alerts', 'Alerts'],
  ['data', 'Data'],
];

/** Title of the group of services that keep Homeport running. */
export const systemGroupTitle = 'Homeport itself';

/** Groups services by purpose and leaves out empty groups. The services that keep Homeport running come last. */
export function groupServices(services: readonly ServiceState[]) {
  const systemGroup = 'system';
  return [...serviceGroups, [systemGroup, systemGroupTitle] as const]
    .map(([id, title]) => ({ title, rows: services.filter(({ group = systemGroup }) => group === id) }))
    .filter(({ rows }) => rows.length > 0);
}
