import type { ServiceTab } from '../service/tabs.ts';

/** Tabs of the service Sync in order. */
export const tabs: readonly ServiceTab[] = [
  { section: '', title: 'Overview', load: () => import('./Overview.svelte') },
  { section: 'syncs', title: 'Syncs', load: () => import('./tasks/Tasks.svelte') },
  { section: 'history', title: 'History', load: () => import('./jobs/History.svelte') },
  { section: 'files', title: 'Files', load: () => import('./files/Files.svelte') },
  { section: 'remotes', title: 'Remotes', adminOnly: true, load: () => import('./remotes/Remotes.svelte') },
  { section: 'connect', title: 'Connect', load: () => import('./Connect.svelte') },
  { section: 'settings', title: 'Settings', adminOnly: true, load: () => import('./SyncSettings.svelte') },
];
