import type { ServiceTab } from '../service/tabs.ts';

/** Tabs of Delivery in order. A new tab needs one entry here. */
export const tabs: readonly ServiceTab[] = [
  { at: '', title: 'Overview', load: () => import('./Overview.svelte') },
  { at: 'keys', title: 'Destinations', service: 'notify', load: () => import('../notify/Keys.svelte') },
  { at: 'history', title: 'History', service: 'notify', load: () => import('../notify/History.svelte') },
  { at: 'problems', title: 'Problems', service: 'notify', load: () => import('./FailedDeliveries.svelte') },
  { at: 'mails', title: 'Mails', service: 'mail', load: () => import('../mail/Spool.svelte') },
  { at: 'recipients', title: 'Recipients', service: 'mail', load: () => import('../mail/Recipients.svelte') },
  { at: 'rules', title: 'Rules', service: 'mail', load: () => import('../mail/Rules.svelte') },
  { at: 'connect', title: 'Connect', load: () => import('./Connect.svelte') },
  { at: 'settings', title: 'Settings', load: () => import('./DeliverySettings.svelte') },
];
