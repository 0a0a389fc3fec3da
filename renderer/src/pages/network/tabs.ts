import * as m from '#messages/network';
import type { ServiceTab } from '../service/tabs.ts';

/** Tabs of Network in order. A new tab needs one entry here. */
export const tabs: readonly ServiceTab[] = [
  {
    section: '',
    get title() {
      return m.overview();
    },
    load: () => import('./Overview.svelte'),
  },
  {
    section: 'other',
    get title() {
      return m.otherServices();
    },
    load: () => import('./sharing/ExternalServices.svelte'),
  },
  {
    section: 'sign-in',
    get title() {
      return m.signIn();
    },
    load: () => import('./SignIn.svelte'),
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
    load: () => import('./NetworkSettings.svelte'),
  },
];
