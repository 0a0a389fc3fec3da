import type { ServiceTab } from '../service/tabs.ts';

/** The tabs of Code in order. A new one is one line here. */
export const tabs: readonly ServiceTab[] = [
  { at: '', title: 'Overview', load: () => import('./Overview.svelte') },
  { at: 'repositories', title: 'Repositories', load: () => import('./Repositories.svelte') },
  { at: 'history', title: 'History', load: () => import('./History.svelte') },
  { at: 'keys', title: 'Your SSH keys', load: () => import('./Keys.svelte') },
  { at: 'connect', title: 'Connect', load: () => import('./Connect.svelte') },
  { at: 'settings', title: 'Settings', adminOnly: true, load: () => import('./GitSettings.svelte') },
];
