import type { ServiceTab } from '../service/tabs.ts';

/** Tabs of the Uptime page, in order. */
export const tabs: readonly ServiceTab[] = [
  { section: '', title: 'Overview', load: () => import('./overview/Overview.svelte') },
  { section: 'monitors', title: 'Monitors', load: () => import('./monitors/Monitors.svelte') },
  { section: 'outages', title: 'Outages', load: () => import('./outages/Outages.svelte') },
  { section: 'maintenance', title: 'Maintenance', load: () => import('./maintenance/Maintenance.svelte') },
  { section: 'pages', title: 'Status pages', load: () => import('./status-pages/StatusPages.svelte') },
  { section: 'report', title: 'Report', load: () => import('./Report.svelte') },
  { section: 'connect', title: 'Connect', load: () => import('./Connect.svelte') },
  { section: 'settings', title: 'Settings', adminOnly: true, load: () => import('./UptimeSettings.svelte') },
];
