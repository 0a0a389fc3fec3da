import * as m from '#messages/sync';
import type { ServiceTab } from '../service/tabs.ts';

/** Tabs of the service Sync in order. */
export const tabs: readonly ServiceTab[] = [
  {
    section: '',
    get title() {
      return m.overview();
    },
    load: () => import('./Overview.svelte'),
  },
  {
    section: 'syncs',
    get title() {
      return m.syncs();
    },
    load: () => import('./tasks/Tasks.svelte'),
  },
  {
    section: 'history',
    get title() {
      return m.history();
    },
    load: () => import('./jobs/History.svelte'),
  },
  {
    section: 'files',
    get title() {
      return m.files();
    },
    load: () => import('./files/Files.svelte'),
  },
  {
    section: 'remotes',
    get title() {
      return m.remotes();
    },
    adminOnly: true,
    load: () => import('./remotes/Remotes.svelte'),
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
    load: () => import('./SyncSettings.svelte'),
  },
];
