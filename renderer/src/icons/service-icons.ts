import type { IconName } from './icons.ts';

/** Icons of the services that have no page or share one. */
const ownIcons: Readonly<Record<string, IconName>> = { mail: 'mail', popups: 'computer', control: 'home' };

/** Returns the icon of a service or of one of its ports such as `git.ssh`; `page` is the page of the service. */
export function getServiceIcon(id: string, page: { readonly icon: IconName } | undefined): IconName {
  return ownIcons[id] ?? page?.icon ?? 'open';
}
