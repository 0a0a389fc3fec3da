import type { ServiceTab } from '../service/tabs.ts';

/** The tabs of Network in order. A new one is one line here. */
export const tabs: readonly ServiceTab[] = [
  { at: '', title: 'Overview', load: () => import('./Overview.svelte') },
  { at: 'other', title: 'Other services', load: () => import('./ExternalServices.svelte') },
  { at: 'sign-in', title: 'Sign-in', load: () => import('./SignIn.svelte') },
  { at: 'connect', title: 'Connect', load: () => import('./Connect.svelte') },
  { at: 'settings', title: 'Settings', load: () => import('./NetworkSettings.svelte') },
];
