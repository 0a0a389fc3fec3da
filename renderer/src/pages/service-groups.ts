/** What services are for. */
export type ServiceGroup = 'media' | 'alerts' | 'data';

/** The groups of services in the order of the sidebar. */
export const serviceGroups: readonly (readonly [ServiceGroup, string])[] = [
  ['media', 'Media'],
  ['alerts', 'Alerts'],
  ['data', 'Data'],
];
