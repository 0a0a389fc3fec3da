import type { ServiceTab } from '../service/tabs.ts';

/** The tabs of the data platform in order. A new one is one line here. */
export const tabs: readonly ServiceTab[] = [
  { at: '', title: 'Overview', load: () => import('./Overview.svelte') },
  { at: 'tables', title: 'Tables', load: () => import('./Tables.svelte') },
  { at: 'sql', title: 'SQL', load: () => import('./Sql.svelte') },
  { at: 'users', title: 'Users', load: () => import('./Users.svelte') },
  { at: 'history', title: 'History', load: () => import('./History.svelte') },
  { at: 'connect', title: 'Connect', load: () => import('./Connect.svelte') },
  { at: 'settings', title: 'Settings', load: () => import('./DataSettings.svelte') },
];
