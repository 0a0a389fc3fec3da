import type { TestHost } from '../support/host.ts';
import { getDetailPages } from './detail-pages.ts';

/** A page of the household and the name of its screenshot. */
export interface ScreenshotPage {
  readonly name: string;
  readonly path: string;
  readonly dark?: boolean;
}

/** Returns the ten pages that the documentation shows in each language, in wide windows and on phones. */
export function getLanguagePages(): readonly ScreenshotPage[] {
  return [
    { name: 'home', path: '/' },
    { name: 'inbox', path: '/inbox' },
    { name: 'downloads', path: '/downloads' },
    { name: 'streaming', path: '/addons' },
    { name: 'messages', path: '/push' },
    { name: 'delivery', path: '/delivery' },
    { name: 'uptime', path: '/uptime' },
    { name: 'sync', path: '/sync' },
    { name: 'code', path: '/git/repositories/ada~lamp' },
    { name: 'settings', path: '/settings' },
  ];
}

/** Returns the pages of the user guides, in English. */
export async function getGuidePages(host: TestHost): Promise<readonly ScreenshotPage[]> {
  const details = await getDetailPages(host);
  return [
    // The repository is one of the pages in each language.
    ...details.filter(([name]) => name !== 'repository').map(([name, path]) => ({ name, path })),
    { name: 'inbox-dark', path: '/inbox', dark: true },
    { name: 'mail-recipients', path: '/delivery/recipients' },
    { name: 'network', path: '/network' },
    { name: 'accounts', path: '/settings/accounts' },
    { name: 'quiet-hours', path: '/settings/notifications' },
  ];
}
