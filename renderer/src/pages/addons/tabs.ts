import * as m from '#messages/addons';
import type { ServiceTab } from '../service/tabs.ts';

/** Tabs of the Streaming page, in order. */
export const tabs: readonly ServiceTab[] = [
  {
    section: '',
    get title() {
      return m.overview();
    },
    load: () => import('./overview/Overview.svelte'),
  },
  {
    section: 'configurations',
    get title() {
      return m.configurations();
    },
    load: () => import('./configurations/Profiles.svelte'),
  },
  {
    section: 'services',
    get title() {
      return m.debridServices();
    },
    load: () => import('./providers/Services.svelte'),
  },
  {
    section: 'connect',
    get title() {
      return m.connect();
    },
    load: () => import('./connect/Connect.svelte'),
  },
  {
    section: 'settings',
    get title() {
      return m.settings();
    },
    load: () => import('./AddonsSettings.svelte'),
  },
];
