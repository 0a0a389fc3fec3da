import type { ServiceTab } from '../service/tabs.ts';

/** The tabs of Streaming in order. A new one is one line here. */
export const tabs: readonly ServiceTab[] = [
  { section: '', title: 'Overview', load: () => import('./Overview.svelte') },
  { section: 'configurations', title: 'Configurations', load: () => import('./Profiles.svelte') },
  { section: 'services', title: 'Debrid services', load: () => import('./Services.svelte') },
  { section: 'connect', title: 'Connect', load: () => import('./Connect.svelte') },
  { section: 'settings', title: 'Settings', load: () => import('./AddonsSettings.svelte') },
];
