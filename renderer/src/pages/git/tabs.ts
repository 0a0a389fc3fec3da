import * as m from '#messages/git';
import type { ServiceTab } from '../service/tabs.ts';

/** Tabs of the service Code in order. */
export const tabs: readonly ServiceTab[] = [
  {
    section: '',
    get title() {
      return m.overview();
    },
    load: () => import('./Overview.svelte'),
  },
  {
    section: 'repositories',
    get title() {
      return m.repositories();
    },
    load: () => import('./repositories/Repositories.svelte'),
  },
  {
    section: 'history',
    get title() {
      return m.history();
    },
    load: () => import('./activity/History.svelte'),
  },
  {
    section: 'keys',
    get title() {
      return m.yourSSHKeys();
    },
    load: () => import('./Keys.svelte'),
  },
  {
    section: 'connect',
    get title() {
      return m.connect();
    },
    load: () => import('./Connect.svelte'),
  },
  {
    section: 'settings',
    get title() {
      return m.settings();
    },
    adminOnly: true,
    load: () => import('./GitSettings.svelte'),
  },
];
