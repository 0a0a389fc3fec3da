import type { ServiceTab } from '../service/tabs.ts';

/** Tabs of Delivery in order. A new tab needs one entry here. */
export const tabs: readonly ServiceTab[] = [
  { section: '', title: 'Overview', load: () => import('./Overview.svelte') },
  { section: 'keys', title: 'Destinations', service: 'notify', load: () => import('../notify/keys/Keys.svelte') },
  { section: 'history', title: 'History', service: 'notify', load: () => import('../notify/history/History.svelte') },
  {
    section: 'problems',
    title: 'Problems',
    service: 'notify',
    load: () => import('./problems/FailedDeliveries.svelte'),
  },
  { section: 'mails', title: 'Mails', service: 'mail', load: () => import('../mail/mails/Mails.svelte') },
  {
    section: 'recipients',
    title: 'Recipients',
    service: 'mail',
    load: () => import('../mail/recipients/Recipients.svelte'),
  },
  { section: 'rules', title: 'Rules', service: 'mail', load: () => import('../mail/rules/Rules.svelte') },
  { section: 'connect', title: 'Connect', load: () => import('./Connect.svelte') },
  { section: 'settings', title: 'Settings', load: () => import('./DeliverySettings.svelte') },
];
