import * as m from '#messages/uptime';
import type { ServiceTab } from '../service/tabs.ts';

/** Tabs of the Uptime page, in order. */
export const tabs: readonly ServiceTab[] = [
  {
    section: '',
    title: m.monitors,
    load: () => import('./list/Monitors.svelte'),
  },
  {
    section: 'outages',
    title: m.outages,
    load: () => import('./outages/Outages.svelte'),
  },
  {
    section: 'maintenance',
    title: m.maintenance,
    load: () => import('./maintenance/Maintenance.svelte'),
  },
  {
    section: 'pages',
    title: m.statusPages,
    load: () => import('./status-pages/StatusPages.svelte'),
  },
  {
    section: 'report',
    title: m.report,
    load: () => import('./Report.svelte'),
  },
  {
    section: 'connect',
    title: m.connect,
    load: () => import('./Connect.svelte'),
  },
  {
    section: 'settings',
    title: m.settings,
    adminOnly: true,
    load: () => import('./UptimeSettings.svelte'),
  },
];
