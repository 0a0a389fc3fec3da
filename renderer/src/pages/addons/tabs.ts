import type { ServiceTab } from '../service/tabs.ts';

/** Tabs of the Streaming page, in order. */
export const tabs: readonly ServiceTab[] = [
  { section: '', title: 'Overview', load: () => import('./overview/Overview.svelte') },
  { section: 'configurations', title: 'Configurations', load: () => import('./configurations/Profiles.svelte') },
  { section: 'services', title: 'Debrid services', load: () => import('./providers/Services.svelte') },
  { section: 'connect', title: 'Connect', load: () => import('./connect/Connect.svelte') },
  { section: 'settings', title: 'Settings', load: () => import('./AddonsSettings.svelte') },
];
