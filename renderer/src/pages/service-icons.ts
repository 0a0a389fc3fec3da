import type { IconName } from '../parts/text/icons.ts';

/** Pictures of the services that have no page, or share one. */
const own: Readonly<Record<string, IconName>> = { mail: 'mail', popups: 'computer', control: 'home' };

/** The picture of a service, or of a port of it such as `git.ssh`; `page`: its page's. */
export function serviceIcon(id: string, page: { readonly icon: IconName } | undefined): IconName {
  return own[id] ?? page?.icon ?? 'open';
}
