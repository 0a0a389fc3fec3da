import * as m from '#messages/uptime';
import type { ServiceTab } from '../service/tabs.ts';

/** Tabs of the Uptime page, in order. */
export const tabs: readonly ServiceTab[] = [
  {
    section: '',
    get title() {
      return m.overview();
    },
    load: () => import('./overview/Overview.svelte'),
  },
  {
    section: 'monitors',
    get title() {
      return m.monitors();
    },
    load: () => import('./monitors/Monitors.svelte'),
  },
  {
    section: 'outages',
    get title() {
      return m.outages();
    },
    load: () => import('./outages/Outages.svelte'),
  },
  {
    section: 'maintenance',
    get title() {
      return m.maintenance();
    },
    load: () => import('./maintenance/Maintenance.svelte'),
  },
  {
    section: 'pages',
    get title() {
      return m.statusPages();
    },
    load: () => import('./status-pages/StatusPages.svelte'),
  },
  {
    section: 'report',
    get title() {
      return m.report();
    },
    load: () => import('./Report.svelte'),
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
    adminOnly: true,
    load: () => import('./UptimeSettings.svelte'),
  },
];
