import type { ServiceTab } from '../service/tabs.ts';

/** Tabs of Network in order. A new tab needs one entry here. */
export const tabs: readonly ServiceTab[] = [
  { section: '', title: 'Overview', load: () => import('./Overview.svelte') },
  { section: 'other', title: 'Other services', load: () => import('./sharing/ExternalServices.svelte') },
  { section: 'sign-in', title: 'Sign-in', load: () => import('./SignIn.svelte') },
  { section: 'connect', title: 'Connect', load: () => import('./connect/Connect.svelte') },
  { section: 'settings', title: 'Settings', load: () => import('./NetworkSettings.svelte') },
];
