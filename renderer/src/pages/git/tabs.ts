import * as m from '#messages/git';
import type { ServiceTab } from '../service/tabs.ts';

/** Tabs of the service Code in order. */
export const tabs: readonly ServiceTab[] = [
  {
    section: '',
    title: m.overview,
    load: () => import('./Overview.svelte'),
  },
  {
    section: 'repositories',
    title: m.repositories,
    load: () => import('./repositories/Repositories.svelte'),
  },
  {
    section: 'history',
    title: m.history,
    load: () => import('./activity/History.svelte'),
  },
  {
    section: 'keys',
    title: m.yourSSHKeys,
    load: () => import('./Keys.svelte'),
  },
  {
    section: 'connect',
    title: m.connect,
    load: () => import('./Connect.svelte'),
  },
  {
    section: 'settings',
    title: m.settings,
    adminOnly: true,
    load: () => import('./GitSettings.svelte'),
  },
];
