import * as m from '#messages/delivery';
import type { ServiceTab } from '../service/tabs.ts';

/** Tabs of Delivery in order. A new tab needs one entry here. */
export const tabs: readonly ServiceTab[] = [
  {
    section: '',
    title: m.overview,
    load: () => import('./Overview.svelte'),
  },
  {
    section: 'keys',
    title: m.destinations,
    service: 'notify',
    load: () => import('../notify/keys/Keys.svelte'),
  },
  {
    section: 'history',
    title: m.history,
    viewTitle: m.notifications,
    service: 'notify',
    load: () => import('../notify/history/History.svelte'),
  },
  {
    section: 'mails',
    title: m.mails,
    parent: 'history',
    service: 'mail',
    load: () => import('../mail/mails/Mails.svelte'),
  },
  {
    section: 'recipients',
    title: m.incomingMail,
    viewTitle: m.recipients,
    service: 'mail',
    load: () => import('../mail/recipients/Recipients.svelte'),
  },
  {
    section: 'rules',
    title: m.rules,
    parent: 'recipients',
    service: 'mail',
    load: () => import('../mail/rules/Rules.svelte'),
  },
  {
    section: 'connect',
    title: m.connect,
    load: () => import('./Connect.svelte'),
  },
  {
    section: 'settings',
    title: m.settings,
    load: () => import('./DeliverySettings.svelte'),
  },
];
