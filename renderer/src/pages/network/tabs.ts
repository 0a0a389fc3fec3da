import * as m from '#messages/network';
import { certificate } from '#messages/network-certificate';
import type { ServiceTab } from '../service/tabs.ts';

/** Tabs of Network in order. A new tab needs one entry here. */
export const tabs: readonly ServiceTab[] = [
  {
    section: '',
    title: m.overview,
    load: () => import('./Overview.svelte'),
  },
  {
    section: 'other',
    title: m.otherServices,
    load: () => import('./sharing/ExternalServices.svelte'),
  },
  {
    section: 'sign-in',
    title: m.signIn,
    load: () => import('./SignIn.svelte'),
  },
  {
    section: 'connect',
    title: m.connect,
    load: () => import('./connect/Connect.svelte'),
  },
  {
    section: 'certificate',
    title: certificate,
    load: () => import('./certificate/Certificate.svelte'),
  },
  {
    section: 'settings',
    title: m.settings,
    load: () => import('./NetworkSettings.svelte'),
  },
];
