import type { ServiceTab } from '../service/tabs.ts';

/** The tabs of Uptime in order. A new one is one line here. */
export const tabs: readonly ServiceTab[] = [
  { section: '', title: 'Overview', load: () => import('./Overview.svelte') },
  { section: 'monitors', title: 'Monitors', load: () => import('./Monitors.svelte') },
  { section: 'outages', title: 'Outages', load: () => import('./Outages.svelte') },
  { section: 'maintenance', title: 'Maintenance', load: () => import('./Maintenance.svelte') },
  { section: 'pages', title: 'Status pages', load: () => import('./StatusPages.svelte') },
  { section: 'report', title: 'Report', load: () => import('./Report.svelte') },
  { section: 'connect', title: 'Connect', load: () => import('./Connect.svelte') },
  { section: 'settings', title: 'Settings', adminOnly: true, load: () => import('./UptimeSettings.svelte') },
];
