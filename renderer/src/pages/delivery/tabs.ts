import * as m from '#messages/delivery';
import type { ServiceTab } from '../service/tabs.ts';

/** Tabs of Delivery in order. A new tab needs one entry here. */
export const tabs: readonly ServiceTab[] = [
  {
    section: '',
    get title() {
      return m.overview();
    },
    load: () => import('./Overview.svelte'),
  },
  {
    section: 'keys',
    get title() {
      return m.destinations();
    },
    service: 'notify',
    load: () => import('../notify/keys/Keys.svelte'),
  },
  {
    section: 'history',
    get title() {
      return m.history();
    },
    service: 'notify',
    load: () => import('../notify/history/History.svelte'),
  },
  {
    section: 'problems',
    get title() {
      return m.problems();
    },
    service: 'notify',
    load: () => import('./problems/FailedDeliveries.svelte'),
  },
  {
    section: 'mails',
    get title() {
      return m.mails();
    },
    service: 'mail',
    load: () => import('../mail/mails/Mails.svelte'),
  },
  {
    section: 'recipients',
    get title() {
      return m.recipients();
    },
    service: 'mail',
    load: () => import('../mail/recipients/Recipients.svelte'),
  },
  {
    section: 'rules',
    get title() {
      return m.rules();
    },
    service: 'mail',
    load: () => import('../mail/rules/Rules.svelte'),
  },
  {
    section: 'connect',
    get title() {
      return m.connect();
    },
    load: () => import('./Connect.svelte'),
  },
  {
    section: 'settings',
    get title() {
      return m.settings();
    },
    load: () => import('./DeliverySettings.svelte'),
  },
];
