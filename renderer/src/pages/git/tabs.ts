import type { ServiceTab } from '../service/tabs.ts';

/** Tabs of the service Code in order. */
export const tabs: readonly ServiceTab[] = [
  { section: '', title: 'Overview', load: () => import('./Overview.svelte') },
  { section: 'repositories', title: 'Repositories', load: () => import('./repositories/Repositories.svelte') },
  { section: 'history', title: 'History', load: () => import('./activity/History.svelte') },
  { section: 'keys', title: 'Your SSH keys', load: () => import('./Keys.svelte') },
  { section: 'connect', title: 'Connect', load: () => import('./Connect.svelte') },
  { section: 'settings', title: 'Settings', adminOnly: true, load: () => import('./GitSettings.svelte') },
];
