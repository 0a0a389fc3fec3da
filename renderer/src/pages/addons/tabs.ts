import type { ServiceTab } from '../service/tabs.ts';

/** The tabs of Streaming in order. A new one is one line here. */
export const tabs: readonly ServiceTab[] = [
  { at: '', title: 'Overview', load: () => import('./Overview.svelte') },
  { at: 'configurations', title: 'Configurations', load: () => import('./Profiles.svelte') },
  { at: 'services', title: 'Debrid services', load: () => import('./Services.svelte') },
  { at: 'connect', title: 'Connect', load: () => import('./Connect.svelte') },
  { at: 'settings', title: 'Settings', load: () => import('./AddonsSettings.svelte') },
];
