import type { ServiceTab } from '../service/tabs.ts';

/** Tabs of the data platform in order. */
export const tabs: readonly ServiceTab[] = [
  { section: '', title: 'Overview', load: () => import('./Overview.svelte') },
  { section: 'tables', title: 'Tables', load: () => import('./tables/Tables.svelte') },
  { section: 'sql', title: 'SQL', load: () => import('./sql/Sql.svelte') },
  { section: 'users', title: 'Users', load: () => import('./users/Users.svelte') },
  { section: 'history', title: 'History', load: () => import('./history/History.svelte') },
  { section: 'connect', title: 'Connect', load: () => import('./connect/Connect.svelte') },
  { section: 'settings', title: 'Settings', load: () => import('./DataSettings.svelte') },
];
