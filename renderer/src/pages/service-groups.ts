import type { ServiceState } from '../../../services/contracts/control/api.ts';

/** What services are for. */
export type ServiceGroup = 'media' | 'alerts' | 'data';

/** The groups of services in the order of the sidebar. */
export const serviceGroups: readonly (readonly [ServiceGroup, string])[] = [
  ['media', 'Media'],
  ['alerts', 'Alerts'],
  ['data', 'Data'],
];

/** What keeps Homeport running, for whoever uses it or not. */
export const ownGroup = 'Homeport itself';

/** Services by what they are for, groups without any left out; what keeps Homeport running stands last. */
export function grouped(services: readonly ServiceState[]) {
  const own = 'system';
  return [...serviceGroups, [own, ownGroup] as const]
    .map(([of, title]) => ({ title, rows: services.filter(({ group = own }) => group === of) }))
    .filter(({ rows }) => rows.length > 0);
}
