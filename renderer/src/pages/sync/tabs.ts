import type { ServiceTab } from '../service/tabs.ts';

/** The tabs of Sync in order. A new one is one line here. */
export const tabs: readonly ServiceTab[] = [
  { section: '', title: 'Overview', load: () => import('./Overview.svelte') },
  { section: 'syncs', title: 'Syncs', load: () => import('./Tasks.svelte') },
  { section: 'history', title: 'History', load: () => import('./History.svelte') },
  { section: 'files', title: 'Files', load: () => import('./Files.svelte') },
  { section: 'remotes', title: 'Remotes', adminOnly: true, load: () => import('./Remotes.svelte') },
  { section: 'connect', title: 'Connect', load: () => import('./Connect.svelte') },
  { section: 'settings', title: 'Settings', adminOnly: true, load: () => import('./SyncSettings.svelte') },
];
