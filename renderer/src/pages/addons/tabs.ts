import * as m from '#messages/addons';
import type { ServiceTab } from '../service/tabs.ts';

/** Tabs of the Streaming page, in order. */
export const tabs: readonly ServiceTab[] = [
  {
    section: '',
    title: m.overview,
    load: () => import('./overview/Overview.svelte'),
  },
  {
    section: 'configurations',
    title: m.configurations,
    load: () => import('./configurations/Profiles.svelte'),
  },
  {
    section: 'services',
    title: m.debridServices,
    load: () => import('./providers/Services.svelte'),
  },
  {
    section: 'connect',
    title: m.connect,
    load: () => import('./connect/Connect.svelte'),
  },
  {
    section: 'settings',
    title: m.settings,
    load: () => import('./AddonsSettings.svelte'),
  },
];
