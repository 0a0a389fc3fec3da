import type { ServiceTab } from '../service/tabs.ts';

/** Tabs of the data platform in order. */
export const tabs: readonly ServiceTab[] = [
  { section: '', title: 'Overview', load: () => import('./Overview.svelte') },
  { section: 'tables', title: 'Tables', load: () => import('./Tables.svelte') },
  { section: 'sql', title: 'SQL', load: () => import('./Sql.svelte') },
  { section: 'users', title: 'Users', load: () => import('./Users.svelte') },
  { section: 'history', title: 'History', load: () => import('./History.svelte') },
  { section: 'connect', title: 'Connect', load: () => import('./Connect.svelte') },
  { section: 'settings', title: 'Settings', load: () => import('./DataSettings.svelte') },
];
