import type { ServiceTab } from '../service/tabs.ts';

/** The tabs of Sync in order. A new one is one line here. */
export const tabs: readonly ServiceTab[] = [
  { at: '', title: 'Overview', load: () => import('./Overview.svelte') },
  { at: 'syncs', title: 'Syncs', load: () => import('./Tasks.svelte') },
  { at: 'history', title: 'History', load: () => import('./History.svelte') },
  { at: 'files', title: 'Files', load: () => import('./Files.svelte') },
  { at: 'remotes', title: 'Remotes', adminOnly: true, load: () => import('./Remotes.svelte') },
  { at: 'connect', title: 'Connect', load: () => import('./Connect.svelte') },
  { at: 'settings', title: 'Settings', adminOnly: true, load: () => import('./SyncSettings.svelte') },
];
