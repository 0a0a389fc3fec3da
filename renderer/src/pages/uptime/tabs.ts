import type { ServiceTab } from '../service/tabs.ts';

/** The tabs of Uptime in order. A new one is one line here. */
export const tabs: readonly ServiceTab[] = [
  { at: '', title: 'Overview', load: () => import('./Overview.svelte') },
  { at: 'monitors', title: 'Monitors', load: () => import('./Monitors.svelte') },
  { at: 'outages', title: 'Outages', load: () => import('./Outages.svelte') },
  { at: 'maintenance', title: 'Maintenance', load: () => import('./Maintenance.svelte') },
  { at: 'pages', title: 'Status pages', load: () => import('./StatusPages.svelte') },
  { at: 'report', title: 'Report', load: () => import('./Report.svelte') },
  { at: 'connect', title: 'Connect', load: () => import('./Connect.svelte') },
  { at: 'settings', title: 'Settings', adminOnly: true, load: () => import('./UptimeSettings.svelte') },
];
