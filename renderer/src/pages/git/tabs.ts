import type { ServiceTab } from '../service/tabs.ts';

/** The tabs of Git in order. A new one is one line here. */
export const tabs: readonly ServiceTab[] = [
  { at: '', title: 'Repositories', load: () => import('./Repositories.svelte') },
  { at: 'keys', title: 'Your SSH keys', load: () => import('./Keys.svelte') },
  { at: 'settings', title: 'Settings', adminOnly: true, load: () => import('./GitSettings.svelte') },
];
