import * as m from '#messages/sync';
import type { ServiceTab } from '../service/tabs.ts';

/** Tabs of the service Sync in order. */
export const tabs: readonly ServiceTab[] = [
  {
    section: '',
    title: m.overview,
    load: () => import('./Overview.svelte'),
  },
  {
    section: 'syncs',
    title: m.syncs,
    load: () => import('./tasks/Tasks.svelte'),
  },
  {
    section: 'history',
    title: m.history,
    load: () => import('./jobs/History.svelte'),
  },
  {
    section: 'files',
    title: m.files,
    load: () => import('./files/Files.svelte'),
  },
  {
    section: 'remotes',
    title: m.remotes,
    adminOnly: true,
    load: () => import('./remotes/Remotes.svelte'),
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
    load: () => import('./SyncSettings.svelte'),
  },
];
