import type { ServiceTab } from '../service/tabs.ts';

/** The tabs of the data platform in order. A new one is one line here. */
export const tabs: readonly ServiceTab[] = [
  { section: '', title: 'Overview', load: () => import('./Overview.svelte') },
  { section: 'tables', title: 'Tables', load: () => import('./Tables.svelte') },
  { section: 'sql', title: 'SQL', load: () => import('./Sql.svelte') },
  { section: 'users', title: 'Users', load: () => import('./Users.svelte') },
  { section: 'history', title: 'History', load: () => import('./History.svelte') },
  { section: 'connect', title: 'Connect', load: () => import('./Connect.svelte') },
  { section: 'settings', title: 'Settings', load: () => import('./DataSettings.svelte') },
];
