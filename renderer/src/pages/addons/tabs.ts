import type { ServiceTab } from '../service/tabs.ts';

/** The tabs of Addons in order. A new one is one line here. */
export const tabs: readonly ServiceTab[] = [
  { at: '', title: 'Configurations', load: () => import('./Profiles.svelte') },
  { at: 'services', title: 'Services', load: () => import('./Services.svelte') },
  { at: 'settings', title: 'Settings', load: () => import('./AddonsSettings.svelte') },
];
